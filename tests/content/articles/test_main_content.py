"""The article of a page: what belongs to its text stays, whatever the names of its elements."""

from __future__ import annotations

import pytest

from tidings.content.articles import main_content
from tidings.content.articles.tree_readability import strip_page

SENTENCE = "Rain fell on the valley for the third day, and the river, which had been low, rose again. "
PARAGRAPH = f"<p>{SENTENCE * 3}</p>"


def find_article(html: str) -> str:
    page = main_content.parse_page(html)
    assert page is not None
    return main_content.find_article(page)


def article_of(inside: str, *, around: str = "") -> str:
    """Return the article of a page that has `inside` between its paragraphs."""
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


@pytest.mark.parametrize(
    "part",
    [
        "<div class='related-posts'><p>Other news of the valley, for those who read on.</p></div>",
        "<div class='jp-relatedposts'><p>Other news of the valley, for those who read on.</p></div>",
        "<div class='sharedaddy'><p>Other news of the valley, for those who read on.</p></div>",
        "<p class='byline'>Other news, by A. Writer</p>",
        "<button>Other news</button>",
    ],
)
def test_what_stands_around_the_text_goes(part: str) -> None:
    assert "Other news" not in article_of(part)


@pytest.mark.parametrize("name", ["related", "modal-enabled", "share"])
def test_a_name_says_nothing_of_an_element_with_most_of_the_text(name: str) -> None:
    popular = f"<ol class='list'><li><p>{SENTENCE.replace('Rain', 'Hail') * 9}</p></li></ol>"
    story = f"<div><h2>Weather</h2><div class='{name}'>{PARAGRAPH * 12}</div></div>"

    assert "Rain fell" in find_article(f"<html><body><div>{story}</div><div>{popular}</div></body></html>")


def test_a_part_whose_name_begins_like_that_of_share_buttons_stays() -> None:
    part = f"<div class='section' id='sharing-with-others'><p>Sharing: {SENTENCE}</p></div>"

    assert "Sharing: " in article_of(part)


def test_the_frame_of_an_embedded_post_stays() -> None:
    post = "<blockquote><p>The dam <a href='https://x.example/1'>holds, said the engineer.</a></p></blockquote>"

    assert "holds, said the engineer." in article_of(f"<div class='embed'>{post}</div>")


def test_the_title_of_the_page_is_not_repeated_above_the_text() -> None:
    page = "<html><head><title>Rain in the valley | The Paper</title></head><body><div>{}</div></body></html>"
    heading, other = "<h1>Rain in the valley</h1>", "<h2>What comes</h2>"

    assert "Rain in the valley" not in find_article(page.format(f"{heading}{PARAGRAPH * 6}"))
    assert "What comes" in find_article(page.format(f"{other}{PARAGRAPH * 6}"))
    assert "Rain in the valley" in find_article(page.format(f"{PARAGRAPH}{heading}{PARAGRAPH * 6}"))


def test_a_caption_that_a_gallery_repeats_comes_once() -> None:
    caption = "The dam above the valley, seen from the village on Tuesday."
    slide = f"<figure><img src='/dam.jpg'><figcaption><span class='caption'>{caption}</span></figcaption></figure>"

    assert article_of(f"<div>{slide}<p class='caption-mobile'>{caption}</p></div>").count(caption) == 1


def test_a_short_post_with_many_comments_is_the_article() -> None:
    comment = f"<li class='comment'>{PARAGRAPH}</li>"
    comments = f"<ul class='comment-list'>{comment * 9}</ul>"
    post = f"<article><div class='entry-content'><p>{SENTENCE.replace('Rain', 'Snow') * 2}</p></div></article>"

    found = find_article(f"<html><body><main>{post}<div id='more'>{comments}</div></main></body></html>")

    assert "Snow fell" in found
    assert "Rain fell" not in found


def test_the_article_with_the_heading_of_the_page_is_not_one_that_is_recommended_below() -> None:
    other = f"<article class='post'>{PARAGRAPH * 4}</article>"
    first = f"<article class='post'><h1>Snow</h1>{PARAGRAPH.replace('Rain', 'Snow') * 2}</article>"

    found = find_article(f"<html><body><div>{first}{other * 3}</div></body></html>")

    assert "Snow fell" in found
    assert "Rain fell" not in found


def test_all_sections_of_an_article_stay() -> None:
    first = f"<section><div><div>{PARAGRAPH.replace('Rain', 'Snow') * 3}</div></div></section>"
    second = f"<section><div><div>{PARAGRAPH * 9}</div></div></section>"
    third = f"<section><div><div>{PARAGRAPH.replace('Rain', 'Hail') * 3}</div></div></section>"

    found = find_article(f"<html><body><article><div>{first}{second}{third}</div></article></body></html>")

    assert all(word in found for word in ("Snow fell", "Rain fell", "Hail fell"))


def test_a_heading_with_a_link_stays_above_its_paragraph() -> None:
    assert "A lamp for the cellar" in article_of(f"<h3><a href='/shop'>A lamp for the cellar</a></h3>{PARAGRAPH}")
    assert "A lamp for the cellar" not in article_of("<h3><a href='/shop'>A lamp for the cellar</a></h3><hr>")


def test_a_picture_that_leads_to_its_own_file_stays() -> None:
    links = "<a href='/File:Map.svg'><img src='/Map.svg.png' width='220' height='200'></a><a href='/File:Map.svg'>+</a>"

    assert "/Map.svg.png" in article_of(f"<div class='thumb'><div class='inner'>{links}</div></div>")


def test_blanks_around_addresses_are_no_part_of_them() -> None:
    found = article_of("<p><a href='/next\n  '>The dam</a> and more about it, as written. <img src='dam.gif '></p>")

    assert 'href="/next"' in found
    assert 'src="dam.gif"' in found


def described(description: str, body: str, *, head: str = "") -> str:
    """Return the article of a page whose head describes it."""
    meta = f"<meta property='og:description' content='{description}'>"
    return find_article(f"<html><head>{meta}{head}</head><body>{body}</body></html>")


OTHER = f"<p>{SENTENCE.replace('Rain', 'Hail') * 3}</p>"
SHORT = "<p>The bridge is open again, and the first carts crossed it in the early morning of Tuesday.</p>"


@pytest.mark.parametrize("box", ["<article>", "<div class='hentry'>", "<div itemprop='articleBody'>"])
def test_a_short_article_that_is_described_is_not_exchanged_for_a_longer_part(box: str) -> None:
    end = f"</{box[1:-1].partition(' ')[0]}>"
    body = f"<div>{box}<div>{SHORT}</div>{end}</div><div><div><div class='text'>{OTHER * 3}</div></div></div>"

    article = described("The bridge is open again, and the first carts crossed", body)

    assert "The bridge is open" in article
    assert "Hail" not in article


def test_the_described_beginning_stands_before_the_text() -> None:
    top = f"<div class='top'><div>{SHORT}</div></div>"
    body = f"<div>{top}<div class='story'>{PARAGRAPH * 6}</div></div>"

    article = described("The bridge is open again, and the first carts crossed", body)

    assert article.index("The bridge is open") < article.index("Rain fell")


@pytest.mark.parametrize("hidden", ["<p hidden>", "<p style='display:none'>", "<aside><p>", "<p><a href='/next'>"])
def test_a_description_in_another_part_of_the_page_changes_nothing(hidden: str) -> None:
    text = "The bridge is open again, and the first carts crossed it."

    article = described(text, f"<div>{hidden}{text}</a></p></aside><div class='story'>{PARAGRAPH * 6}</div></div>")

    assert "The bridge" not in article


def test_a_text_in_noscript_is_the_article_of_a_page_for_scripts() -> None:
    article = find_article(f"<html><body><noscript>{PARAGRAPH * 4}</noscript></body></html>")

    assert article.count("Rain fell") == 12
    assert "<noscript" not in article


def test_a_note_about_scripts_in_noscript_goes() -> None:
    assert "JavaScript" not in article_of("<noscript><p>Please enable JavaScript to see the comments.</p></noscript>")


@pytest.mark.parametrize("name", ["page-header-region", "extra-wide"])
def test_an_element_with_most_of_the_paragraphs_is_kept_whatever_its_name(name: str) -> None:
    story = f"<div class='{name}'><h2>Weather</h2><div>{PARAGRAPH * 12}</div></div>"

    assert "Rain fell" in find_article(f"<html><body><div>{story}</div><div>{OTHER * 2}</div></body></html>")


def test_the_text_for_search_engines_replaces_an_excerpt() -> None:
    text = f"{SENTENCE * 9}\\nThe end &amp; all."
    data = f'{{"@type": "NewsArticle", "headline": "Weather", "articleBody": "{text}"}}'
    script = f"<script type='application/ld+json'>{data}</script>"

    article = find_article(f"<html><head>{script}</head><body><div>{PARAGRAPH}</div></body></html>")

    assert article.count("Rain fell") == 9
    assert "<p>The end &amp; all.</p>" in article


def test_a_short_text_for_search_engines_does_not_replace_the_article() -> None:
    data = '{"headline": "Weather", "articleBody": "Hail fell on the valley, and more is to come."}'
    script = f"<script type='application/ld+json'>{data}</script>"

    article = find_article(f"<html><head>{script}</head><body><div>{PARAGRAPH * 3}</div></body></html>")

    assert "Rain fell" in article
    assert "Hail" not in article


@pytest.mark.parametrize(
    "data", ["", "{", "[[[[[[[[[[[]]]]]]]]]]]", '{"@graph": 5, "headline": 1, "articleBody": [1]}']
)
def test_broken_data_for_search_engines_says_nothing(data: str) -> None:
    script = f"<script type='application/ld+json'>{data}</script>"

    assert "Rain fell" in find_article(f"<html><head>{script}</head><body><div>{PARAGRAPH * 3}</div></body></html>")


@pytest.mark.parametrize("part", ["<nav>%s</nav>", "<div class='sidebar'>%s</div>", "<footer>%s</footer>"])
def test_navigation_is_no_text_of_a_page(part: str) -> None:
    page = main_content.parse_page(f"<html><body>{part % 'Chapter 1'}<div>{SENTENCE}</div></body></html>")
    assert page is not None

    strip_page(page)

    assert page.text_content() == SENTENCE


def test_navigation_with_most_of_the_text_stays() -> None:
    page = main_content.parse_page(f"<html><body><nav>{SENTENCE}</nav><div>Chapter 1</div></body></html>")
    assert page is not None

    strip_page(page)

    assert SENTENCE in page.text_content()


@pytest.mark.parametrize("name", ["author-info", "entry-footer", "postmetadata", "tag-links", "recentcomments"])
def test_what_publishing_systems_put_around_a_text_goes(name: str) -> None:
    assert "Written by" not in article_of(
        f"<div class='{name}'><p>Written by somebody who lives in the valley.</p></div>"
    )


def test_related_posts_go_even_as_articles() -> None:
    post = "<article><p>Other news of the valley, for those who read on.</p></article>"

    assert "Other news" not in article_of(f"<section class='related-posts'>{post}</section>")


def test_a_sentence_in_an_element_with_a_better_name_is_not_the_article() -> None:
    hours = "Open on Monday, Tuesday, Wednesday, Thursday, Friday, from nine to five, except in August."
    contact = f"<div class='body-text'><p>{hours}</p></div>"
    text = f"<div><div class='text-wrap'><p>{SENTENCE.replace(',', '') * 12}</p></div></div>"
    noise = "".join(f"<div><p><a href='/{n}'>{SENTENCE}</a></p></div>" for n in range(20))

    article = find_article(f"<html><body><div>{contact}</div>{text}{noise}</body></html>")

    assert "Rain fell" in article


def test_all_posts_of_a_discussion_are_the_article() -> None:
    post = "<article class='post'><div class='post-text'><div class='message'>%s. %s</div></div></article>"
    posts = "".join(post % (word, SENTENCE * 4) for word in ("First", "Second", "Third"))
    noise = "".join(f"<div><p><a href='/{n}'>{SENTENCE}</a></p></div>" for n in range(30))

    article = find_article(f"<html><body><div id='thread'><div>{posts}</div></div>{noise}</body></html>")

    assert all(word in article for word in ("First.", "Second.", "Third."))


def test_a_dialog_with_many_paragraphs_goes() -> None:
    dialog = f"<div class='modal'><div><div class='modal__body'>{OTHER * 4}</div></div></div>"

    article = find_article(f"<html><body><div class='text'>{PARAGRAPH * 3}</div>{dialog}</body></html>")

    assert "Rain fell" in article
    assert "Hail" not in article


def test_a_beginning_in_front_of_a_part_does_not_make_it_the_article() -> None:
    walk = "A walk along the river after three days of rain, from the mill to the old bridge and back again. "
    described = walk + walk.replace("walk", "ride")
    lead = f"<header><div class='teaser'>{described}</div></header>"
    pieces = "".join(f"<div><div><p>{word}. {SENTENCE * 3}</p></div></div>" for word in ("One", "Two", "Three"))
    text = f"<div><div><div class='text'><p>Zero. {SENTENCE * 4}</p></div></div></div>{pieces}"
    meta = f"<meta name='description' content='{described}'>"

    article = find_article(f"<html><head>{meta}</head><body><article>{lead}{text}</article></body></html>")

    assert all(word in article for word in ("Zero.", "One.", "Two.", "Three."))


def test_a_standfirst_in_a_heading_does_not_bring_in_what_is_around_a_short_article() -> None:
    heading = f"<header><h1>The river</h1><h2>{SENTENCE}{SENTENCE}</h2></header>"
    text = f"<div class='text'><p>{SENTENCE.replace('Rain', 'Hail') * 2}</p></div>"
    login = "<div>To read on, become a member</div>"
    links = "<div><ul>" + "<li><a href='/x'>Other news</a></li>" * 5 + "</ul></div>"

    article = find_article(f"<html><body><article>{heading}<div>{text}{login}</div></article>{links}</body></html>")

    assert "Hail fell" in article
    assert "become a member" not in article


@pytest.mark.parametrize("box", ["<article><div>%s</div></article>", "<div class='hentry'>%s</div>"])
def test_a_short_article_that_is_marked_is_not_exchanged_for_a_sidebar(box: str) -> None:
    links = "".join(f"<li>{SENTENCE}<a href='/{n}'>{SENTENCE}</a></li>" for n in range(12))

    article = find_article(f"<html><body>{box % (SHORT * 2)}<div><ul>{links}</ul></div></body></html>")

    assert "The bridge is open" in article
    assert "Rain" not in article


def test_a_marked_introduction_does_not_hide_the_article() -> None:
    lines = "<br>".join([SENTENCE] * 20)

    article = find_article(f"<html><body><div class='hentry'>{SHORT}</div><table><tr><td>{lines}</table></body></html>")

    assert "Rain fell" in article


@pytest.mark.parametrize(
    "part",
    [
        "<figure><img src='a.jpg'><figcaption><span class='off-screen'>Image label</span>Dam</figcaption></figure>",
        "<div class='screenreader-only'>Image label</div>",
    ],
)
def test_labels_for_screen_readers_go(part: str) -> None:
    assert "Image label" not in article_of(part)


def test_a_date_between_paragraphs_goes() -> None:
    assert "May 2024" not in article_of("<time datetime='2024-05-02'>2 May 2024</time>")


def test_a_date_in_a_sentence_stays() -> None:
    assert "<time datetime=" in article_of("<p>It began on <time datetime='2024-05-02'>2 May 2024</time>, at noon.</p>")


def test_the_title_below_a_gallery_goes() -> None:
    title = "The river rises in the valley"
    slide = f"<div class='slide'><div>{title}</div></div>"
    text = f"<div class='story'>{PARAGRAPH * 3}{slide}{PARAGRAPH * 3}</div>"

    article = find_article(f"<html><head><title>{title} - The Post</title></head><body>{text}</body></html>")

    assert "Rain fell" in article
    assert title not in article


def test_a_paragraph_that_begins_with_the_title_stays() -> None:
    title = "The river rises in the valley"
    text = f"<div>{PARAGRAPH * 3}<p>{title} since Monday, said the engineer.</p>{PARAGRAPH}</div>"

    assert title in find_article(f"<html><head><title>{title}</title></head><body>{text}</body></html>")


def test_a_link_past_an_advertisement_goes() -> None:
    assert "Continue reading" not in article_of("<div><p><a href='#after'>Continue reading the story</a></p></div>")


def test_a_table_of_contents_stays() -> None:
    lines = "".join(f"<p><a href='#{n}'>The story of day {n}</a></p>" for n in range(3))

    assert article_of(f"<div>{lines}</div>").count("The story of day") == 3


@pytest.mark.parametrize(
    "note", ["Media playback is unsupported on your device", "Your browser does not support video"]
)
def test_notes_of_players_go(note: str) -> None:
    assert note not in article_of(f"<div><p>{note}</p></div>")


def test_the_picture_that_a_page_shares_stands_before_a_text_without_pictures() -> None:
    meta = "<meta property='og:image' content='https://example.org/river.jpg'>"
    image = "<img src='/files/river-800x600.jpg'><img src='/files/other.jpg'>"
    top = f"<div>{image}<p>{SENTENCE * 12}</p></div>"
    text = f"<div class='text'>{PARAGRAPH.replace('Rain', 'Hail') * 9}</div>"

    article = find_article(f"<html><head>{meta}</head><body><div>{top}</div><div>{text}</div></body></html>")

    assert article.count("<img") == 1
    assert "river-800x600.jpg" in article


def test_a_picture_that_a_page_shares_but_does_not_show_is_not_invented() -> None:
    meta = "<meta property='og:image' content='https://example.org/river.jpg'>"

    assert "<img" not in find_article(f"<html><head>{meta}</head><body><div>{PARAGRAPH * 3}</div></body></html>")


def test_a_gallery_below_the_text_stays() -> None:
    items = "".join(f"<li><a href='/{n}.jpg'><img src='/s{n}.jpg'></a></li>" for n in range(4))
    teaser = "<div class='teaser'><img src='/other.jpg'></div>"
    text = f"<div class='text'>{PARAGRAPH * 6}</div>"
    article = f"<article>{text}<div class='picture-gallery'><ul>{items}</ul></div>{teaser}</article>"

    found = find_article(f"<html><body>{article}<div>{OTHER}</div></body></html>")

    assert found.count("<img") == 4
    assert "other.jpg" not in found
