"""What its text shows to be no part of an article goes; lines of the article that look similar stay."""

from __future__ import annotations

import pytest

from content.articles.test_main_content import PARAGRAPH, SENTENCE, article_of, find_article
from tidings.content.articles.main_content import parse_page

OTHER = "<a href='/other'>The bridge that held</a>"
LINKED = "<p>It is in <a href='/x'>The Journal of Rivers and of All the Valleys</a>, as announced.</p>"


def words(html: str) -> list[str]:
    page = parse_page(html)
    assert page is not None
    text: str = page.text_content()
    return text.split()


@pytest.mark.parametrize(
    "part",
    [
        f"<p>Related: {OTHER}</p>",
        f"<p><strong>Lire aussi :</strong> {OTHER}</p>",
        f"<p>Read more:</p><ul><li>{OTHER}</li><li><a href='/x'>Elsewhere in the valley</a></li></ul>",
        f"<p>You may also like...</p><p>{OTHER}</p><p><a href='/x'>Elsewhere in the valley</a></p>",
        "<p><strong><a href='/other'>THE BRIDGE THAT HELD ALL WINTER</a></strong></p>",
        "<div><center><span>Advertisement</span></center></div>",
        "<p>Image 2 of 5</p>",
        "<p><a href='/s'>Facebook</a> | <a href='/s'>WhatsApp</a> | <a href='/s'>Email</a></p>",
        "<div class='info'><p>Last updated: Tuesday, November 19, 2019 08:38 AM</p></div>",
        "<p class='slides-noscript'>Only with scripts, as this gallery says in a whole sentence.</p>",
        "<div class='d-none d-print-block'><p>Only on paper, as this gallery says in a whole sentence.</p></div>",
        "<p><span class='timestamp'>19 November, 11:21</span></p>",
    ],
)
def test_lines_that_are_no_part_of_the_text_go(part: str) -> None:
    assert words(article_of(part)) == words(article_of(""))


@pytest.mark.parametrize(
    "part",
    [
        f"<p>Related to this is {OTHER}, which was built in the same year.</p>",
        "<p>READ THIS TWICE: THE RIVER ROSE</p>",
        f"<p>{OTHER}</p>",
        "<p>Close to the river, Facebook and Email were down.</p>",
        "<p>Published in 1919, the book is rare. It has 300 pages.</p>",
        "<p>Advertisement is what they called it.</p>",
        "<div class='d-none d-md-block'><p>On wider windows, as this part says in a whole sentence.</p></div>",
        f"<div class='part'>{LINKED}</div><div class='part'>{PARAGRAPH}</div>",
        f"<ul><li>{'<img src=a.jpg>' * 3}<p>The only one of its kind, as a list of one item.</p></li></ul>",
    ],
)
def test_lines_of_the_text_that_look_similar_stay(part: str) -> None:
    assert len(article_of(part)) > len(article_of("")) + 20


def test_links_that_appear_beside_a_name_do_not_cut_the_sentence() -> None:
    popup = f"<span class='rollover-box'><a href='/1'>More of him</a><a href='/2'>All of it</a>{OTHER}</span>"

    assert "Omar spoke." in article_of(f"<p>{SENTENCE} Omar{popup} spoke.</p>")


def test_a_heading_goes_with_the_links_that_it_announced() -> None:
    text = f"<div class='story'>{PARAGRAPH * 6}<h3>Our other texts</h3><p>Related: {OTHER}</p></div>"

    assert "Our other texts" not in find_article(f"<html><body><div>{text}</div></body></html>")


def test_a_last_heading_that_nothing_followed_stays() -> None:
    text = f"<div class='story'>{PARAGRAPH * 6}<h3>Our other texts</h3></div>"

    assert "Our other texts" in find_article(f"<html><body><div>{text}</div></body></html>")


def test_the_title_goes_from_a_box_of_its_own() -> None:
    title = "The river rose again in the valley on the third day of rain and then fell"
    html = f"<html><head><title>{title} – News</title></head><body><div>"
    story = f"<div class='story'><div class='head'><h1>{title}</h1></div>{PARAGRAPH * 6}</div>"

    assert title not in find_article(f"{html}{story}</div></body></html>")


def test_a_heading_with_a_link_stays_above_a_player() -> None:
    player = "<div><iframe src='https://www.youtube.com/embed/x'></iframe></div>"

    assert "The dam holds" in article_of(f"<h3><a href='/x'>The dam holds</a></h3>{player}{PARAGRAPH}")
