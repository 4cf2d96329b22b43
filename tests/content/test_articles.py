"""Extraction of the article from a page."""

from __future__ import annotations

import pytest

from tidings.content.articles import WebPage, is_same_host
from tidings.content.articles.extract import extract_article
from tidings.content.articles.page_text import decode_page, page_base_url
from tidings.content.cleaning import clean

URL = "https://example.org/2026/story"
FIRST = "The rain came late in the year, lasted for days, and left the fields under water."
SECOND = "Nobody had seen so much of it since the old bridge was built, said those who remember."
THIRD = "By the weekend the sun was back, the roads were dry, and the talk was of something else."
FOURTH = "The mayor promised new drains, better pumps, and a warning that comes before the water."
MENU = "<nav><a href='/'>Home</a><a href='/news'>News</a></nav>"


def story(*parts: str, before: str = "", after: str = "") -> str:
    return (
        f"<html><head><title>Rain</title></head><body>{MENU}<div id='wrapper'><article>{before}<div class='text'>"
        f"{''.join(parts)}</div>{after}</article></div><footer>All rights reserved</footer></body></html>"
    )


def paragraphs(*texts: str) -> str:
    return "".join(f"<p>{text}</p>" for text in texts)


WHOLE = paragraphs(FIRST, SECOND, THIRD, FOURTH)
HALVES = paragraphs(FIRST, SECOND), paragraphs(THIRD, FOURTH)


def read(html: str, *, scraper_rules: str = "") -> str:
    """Return the text of the article as pages show it."""
    article = extract_article(WebPage(html.encode(), "utf-8", URL, scraper_rules))
    return clean(article.content, base_url=article.base_url)


def in_order(text: str, *parts: str) -> bool:
    places = [text.find(part) for part in parts]
    return -1 not in places and places == sorted(places)


def test_the_article_is_found_without_its_surroundings() -> None:
    found = read(story(WHOLE))

    assert in_order(found, FIRST, SECOND, THIRD, FOURTH)
    assert "News" not in found
    assert "rights reserved" not in found


def test_the_article_has_no_attributes_of_the_extraction() -> None:
    found = extract_article(WebPage(story(WHOLE, "<img src='/a.jpg'>").encode(), "utf-8", URL)).content

    assert "tidings" not in found


@pytest.mark.parametrize(
    "picture",
    [
        pytest.param('<img src="/big.jpg">', id="picture"),
        pytest.param('<figure><img src="/big.jpg"><figcaption>Seen from above</figcaption></figure>', id="figure"),
        pytest.param('<div class="media"><div><img src="/big.jpg" width="640"></div></div>', id="in boxes"),
        pytest.param('<a href="/big.jpg"><img src="/big.jpg"></a>', id="leads to itself"),
        pytest.param('<img src="dot.gif" data-src="/big.jpg">', id="lazy"),
        pytest.param('<img data-original="/big.jpg">', id="lazy without source"),
        pytest.param('<noscript><img src="/big.jpg"></noscript>', id="without scripts"),
        pytest.param('<img src="data:image/gif;base64,R0"><noscript><img src="/big.jpg"></noscript>', id="placeholder"),
        pytest.param('<picture><source srcset="/big.webp"><img src="/big.jpg"></picture>', id="choice"),
        pytest.param('<figure class="media has-share-buttons"><img src="/big.jpg"></figure>', id="odd class"),
        pytest.param('<ul class="gallery"><li><img src="/big.jpg"></li><li><img src="/b.jpg"></li></ul>', id="gallery"),
    ],
)
def test_an_image_inside_the_text_stays_in_place(picture: str) -> None:
    found = read(story(HALVES[0], picture, HALVES[1]))

    assert in_order(found, SECOND, "https://example.org/big.jpg", THIRD)
    assert found.count('src="https://example.org/big.jpg"') == 1


def test_the_caption_of_an_image_is_kept() -> None:
    caption = "<figure><img src='/a.jpg'><figcaption>Seen from above</figcaption></figure>"

    assert in_order(read(story(HALVES[0], caption, HALVES[1])), SECOND, "a.jpg", "Seen from above", THIRD)


def test_the_image_before_the_article_comes_first() -> None:
    lead = "<header><h1>Rain</h1><figure><img src='/lead.jpg'></figure></header>"

    assert in_order(read(story(WHOLE, before=lead)), "lead.jpg", FIRST)


def test_pictures_come_in_the_order_of_the_page() -> None:
    pictures = "".join(f"<div><img src='/{number}.jpg'></div>" for number in range(1, 6))
    found = read(story(HALVES[0], pictures, HALVES[1], before="<img src='/0.jpg'>"))

    assert in_order(found, "/0.jpg", FIRST, *(f"/{number}.jpg" for number in range(1, 6)), THIRD)


@pytest.mark.parametrize(
    "picture",
    [
        pytest.param('<img src="/unwanted.jpg" width="1" height="1">', id="pixel"),
        pytest.param('<img src="/unwanted.jpg" width="40" height="40">', id="small"),
        pytest.param('<img src="/unwanted/logo.png">', id="logo"),
        pytest.param('<img class="avatar" src="/unwanted.jpg">', id="portrait"),
        pytest.param('<aside><img src="/unwanted.jpg"></aside>', id="aside"),
        pytest.param('<div class="related-stories"><img src="/unwanted.jpg"></div>', id="related"),
        pytest.param('<div id="newsletter"><form><img src="/unwanted.jpg"></form></div>', id="form"),
        pytest.param('<div><a href="/other"><img src="/unwanted.jpg"></a><a href="/other">Snow</a></div>', id="teaser"),
        pytest.param('<a href="/other"><img src="/unwanted.jpg"><b>Snow</b></a>', id="teaser in one"),
        pytest.param('<img src="data:image/gif;base64,R0lGODlhAQABAunwanted">', id="placeholder"),
    ],
)
def test_images_outside_the_article_are_left_out(picture: str) -> None:
    assert "unwanted" not in read(story(HALVES[0], f"<div>{picture}</div>", HALVES[1]))


def test_unrelated_images_of_the_page_are_left_out() -> None:
    html = story(WHOLE).replace("<footer>", "<div><img src='/unwanted.jpg'></div><footer><img src='/unwanted2.jpg'>")

    assert "unwanted" not in read(html)


def test_a_player_inside_the_text_stays() -> None:
    player = '<div class="video"><iframe src="https://player.vimeo.com/video/1"></iframe></div>'

    assert in_order(read(story(HALVES[0], player, HALVES[1])), SECOND, "player.vimeo.com", THIRD)


def test_hidden_parts_stay_hidden() -> None:
    hidden = "<div hidden><p>Unwanted words</p></div><div style='display: none'><p>Unwanted as well</p></div>"

    assert "Unwanted" not in read(story(HALVES[0], hidden, HALVES[1]))


def test_without_a_result_of_readability_most_of_the_page_is_used() -> None:
    table = "".join(f"<tr><td><font>{text}</font></td></tr>" for text in ("Rain", "Snow", "Hail and sun", "Wind"))
    html = f"<html><body><table>{table}</table><ul><li>{FIRST}</li><li>{SECOND}</li></ul></body></html>"

    assert "The rain came late" in read(html)


@pytest.mark.parametrize(
    "html", ["", " ", "<html></html>", "<!-- nothing -->", "<html><body><img src='a.jpg'></body></html>"]
)
def test_a_page_without_text_has_no_article(html: str) -> None:
    assert "<p>" not in read(html)


def test_a_scraper_rule_goes_first() -> None:
    assert read(story(WHOLE), scraper_rules="footer, .text > p:first-child") == f"<p>{FIRST}</p>All rights reserved"


@pytest.mark.parametrize("rule", [".nowhere", "p:unheard-of(", ""])
def test_a_scraper_rule_without_a_match_falls_back_to_readability(rule: str) -> None:
    assert FIRST in read(story(WHOLE), scraper_rules=rule)


@pytest.mark.parametrize(
    ("head", "base"),
    [
        ("", URL),
        ('<base href="https://cdn.example.org/a/">', "https://cdn.example.org/a/"),
        ("<BASE target=_top HREF='/b/'>", "https://example.org/b/"),
        ("<base href=/c/>", "https://example.org/c/"),
        ('<base href="javascript:alert(1)">', URL),
        ('<base href="">', URL),
        ("<base target=_blank>", URL),
        ('<base href="/d?a=1&amp;b=2">', "https://example.org/d?a=1&b=2"),
    ],
)
def test_relative_urls_have_the_base_of_the_page(head: str, base: str) -> None:
    assert page_base_url(f"<html><head>{head}</head><body>", URL) == base


@pytest.mark.parametrize(
    ("said", "meta", "encoding"),
    [
        ("windows-1251", "", "cp1251"),
        ("WINDOWS-1251", "<meta charset=koi8-r>", "cp1251"),
        ("", "<meta charset=koi8-r>", "koi8-r"),
        ("", "<META HTTP-EQUIV='Content-Type' CONTENT='text/html; charset=windows-1251'>", "cp1251"),
        ("no-such-thing", "<meta charset='windows-1251'>", "cp1251"),
        ("latin-1", "", "utf-8"),
        ("", "", "utf-8"),
        ("", "", "utf-16"),
    ],
)
def test_the_encoding_of_the_page_is_detected(said: str, meta: str, encoding: str) -> None:
    page = WebPage(f"<html><head>{meta}</head><body>Дождь".encode(encoding), said, URL)

    assert decode_page(page).endswith("Дождь")


@pytest.mark.parametrize(
    ("url", "other", "same"),
    [
        ("https://example.org/a", "http://EXAMPLE.org:8080/b", True),
        ("https://example.org/a", "https://www.example.org/a", False),
        ("https://example.org/a", "https://example.org.evil.test/", False),
        ("https://example.org/a", "https://[broken", False),
    ],
)
def test_a_scraper_rule_fits_the_host_it_was_made_for(url: str, other: str, *, same: bool) -> None:
    assert is_same_host(url, other) is same


def test_a_text_in_table_cells_is_found_completely() -> None:
    halves = ("<br>".join((FIRST, SECOND)), "<br>".join((THIRD, FOURTH)))
    rows = "".join(f"<tr><td><table><tr><td>{half}</td></tr></table></td></tr>" for half in halves)

    found = read(f"<body>{MENU}<table>{rows}</table><p>© 2026</p></body>")

    assert in_order(found, FIRST, SECOND, THIRD, FOURTH)
    assert "News" not in found


def test_a_list_of_links_does_not_replace_a_short_text() -> None:
    links = "".join(f"<li><a href='/{at}'>Another story of the day, number {at}</a></li>" for at in range(30))

    found = read(f"<body><div><p>{FIRST}</p></div><div><ul>{links}</ul></div></body>")

    assert "number 7" not in found
