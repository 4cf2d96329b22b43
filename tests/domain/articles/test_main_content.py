"""The article of a page: what belongs to its text stays, whatever the names of its elements."""

from __future__ import annotations

import pytest

from tidings.domain.articles import main_content

SENTENCE = "Rain fell on the valley for the third day, and the river, which had been low, rose again. "
PARAGRAPH = f"<p>{SENTENCE * 3}</p>"


def find_article(html: str) -> str:
    page = main_content.parse_page(html)
    assert page is not None
    return main_content.find_article(page)


def article_of(inside: str, *, around: str = "") -> str:
    """Returns the article of a page that has `inside` between its paragraphs."""
    text = f"<div class='story'>{PARAGRAPH * 3}{inside}{PARAGRAPH * 3}</div>"
    return find_article(f"<html><body><div id='page'>{around}{text}</div></body></html>")


@pytest.mark.parametrize(
    "part",
    [
        "<blockquote class='twitter-tweet'><p>The dam holds, said the engineer.</p></blockquote>",
        "<blockquote><div class='comment'>The dam holds, said the engineer.</div></blockquote>",
        "<p>See <a class='tweet-link' href='/x'>The dam holds, said the engineer.</a> for more, as written there.</p>",
        "<p>And <span class='sponsor'>The dam holds, said the engineer.</span> is what the paper had to say.</p>",
        "<ul><li>The dam holds, said the engineer.</li><li>oats</li></ul>",
        "<ul><li>oats</li><li>The dam holds, said the engineer.</li></ul>",
        "<table><tr><th>Day</th><th>mm</th></tr><tr><td>1</td><td>The dam holds, said the engineer.</td></tr></table>",
    ],
)
def test_parts_of_the_text_stay(part: str) -> None:
    assert "The dam holds, said the engineer." in article_of(part)


def test_a_list_of_single_words_stays() -> None:
    assert "<li>oats</li>" in article_of("<ul><li>oats</li><li>rye</li></ul>")


def test_a_small_table_of_data_stays() -> None:
    assert "<td>31</td>" in article_of("<table><tr><th>Day</th><th>mm</th></tr><tr><td>1</td><td>31</td></tr></table>")


def test_a_table_of_links_goes() -> None:
    cell = "<td><a href='/x'>Other places</a></td>"
    table = f"<div><table><tr>{cell}{cell}</tr><tr>{cell}{cell}</tr></table></div>"

    assert "Other places" not in article_of(table)


def test_headings_with_a_link_to_themselves_stay() -> None:
    assert "What comes" in article_of("<h2>What comes <a href='#next'>Link to this part</a></h2>")


@pytest.mark.parametrize("dialog", ["<div role='dialog'>", "<div class='modal fade'>"])
def test_dialogs_of_the_page_go(dialog: str) -> None:
    assert "Choose a colour" not in article_of(
        f"{dialog}<p>Choose a colour for the captions, and their size.</p></div>"
    )


def test_paragraphs_before_a_part_of_the_article_are_part_of_it() -> None:
    first = PARAGRAPH.replace("Rain", "Snow") * 2
    page = f"<div>{first}<div class='more'><div>{PARAGRAPH * 9}</div></div></div>"

    assert "Snow fell" in find_article(f"<html><body><div>{page}</div></body></html>")


def test_paragraphs_before_a_table_of_data_are_part_of_the_article() -> None:
    rows = f"<tr><th>Day</th><th>What</th></tr>{f'<tr><td>1</td><td>{SENTENCE * 3}</td></tr>' * 9}"
    page = f"<div><p>{SENTENCE.replace('Rain', 'Snow')}</p><table><tbody>{rows}</tbody></table></div>"

    assert "Snow fell" in find_article(f"<html><body><div>{page}</div></body></html>")


def test_all_pictures_of_a_gallery_stay() -> None:
    pictures = "".join(f"<li><img src='/photos/{number}.jpg' alt=''></li>" for number in range(9))

    assert article_of(f"<ul class='gallery'>{pictures}</ul>").count("<img") == 9


def test_hidden_parts_go() -> None:
    assert "Not to be seen" not in article_of("<p style='display: none'>Not to be seen, whoever it is that asks.</p>")
