"""The next page of an article: only a link to this page's URL with the next number."""

from __future__ import annotations

import pytest

from tidings.content.articles import WebPage
from tidings.content.articles.extract import extract_article
from tidings.content.articles.page_joining import is_repeated

PAGE = "https://blog.example/2026/rain.html"


def next_of(url: str, link: str) -> str:
    html = f"<html><body><p>{'It rained. ' * 40}</p>{link}</body></html>"
    return extract_article(WebPage(html.encode(), "utf-8", url)).next_url


@pytest.mark.parametrize(
    ("url", "href"),
    [
        ("https://blog.example/rain", "/rain?page=2"),
        ("https://blog.example/rain?page=2", "?page=3"),
        ("https://blog.example/rain?id=7", "?id=7&amp;page=2"),
        ("https://blog.example/rain/", "/rain/page/2/"),
        ("https://blog.example/rain/2/", "/rain/3/"),
        ("https://blog.example/rain.html", "rain-2.html"),
        ("http://blog.example/rain_2.html", "https://blog.example/rain_3.html#top"),
    ],
)
def test_the_next_page_has_the_next_number(url: str, href: str) -> None:
    assert next_of(url, f"<a href='{href}'>Next page »</a>") != ""
    assert next_of(url, f"<a rel='next' href='{href}'>Read on</a>") != ""
    assert next_of(url, f"<a href='{href}'>Comments</a>") == ""


@pytest.mark.parametrize(
    ("url", "href"),
    [
        ("https://blog.example/rain", "/snow"),
        ("https://blog.example/rain", "/snow?page=2"),
        ("https://blog.example/rain", "/rain?page=3"),
        ("https://blog.example/rain?page=2", "?page=1"),
        ("https://blog.example/rain", "https://other.example/rain?page=2"),
        ("https://blog.example/rain", "/rain/comment-page-2/"),
        ("https://blog.example/", "/page/2/"),
        ("https://blog.example/2026/01/", "/2026/03/"),
        ("https://blog.example/rain", "javascript:page(2)"),
        ("https://blog.example/rain", "http://[2"),
    ],
)
def test_other_links_lead_elsewhere(url: str, href: str) -> None:
    assert next_of(url, f"<a rel='next' href='{href}'>Next</a>") == ""


def test_the_urls_of_a_continuation_are_absolute() -> None:
    text = "<p>It rained, and rained, and rained. <a href='b'>b</a></p>" * 20
    picture = "<img src='/1.png' srcset='2.png 2x' alt=''><img alt='' data-srcset='3.png 2x' src='4.png'>"
    page = f"<html><body><article>{text}{picture}{text}</article></body></html>".encode()

    content = extract_article(WebPage(page, "utf-8", "https://blog.example/x/y", is_continuation=True)).content

    for url in ("x/b", "1.png", "x/2.png 2x", "x/3.png 2x", "x/4.png"):
        assert f'"https://blog.example/{url}"' in content


def test_a_page_that_begins_like_an_earlier_one_is_repeated() -> None:
    assert is_repeated("<div><p>One  two</p></div>", ["<p>One two</p>"])
    assert is_repeated("<p> </p>", [])
    assert not is_repeated("<p>Three</p>", ["<p>One two</p>"])
