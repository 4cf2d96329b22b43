"""Selectors of pages: what is accepted, and what is said about the rest. Suggestions of selectors."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tidings.base.errors import InvalidInput
from tidings.content.errors import NoItems, PageUnreadable
from tidings.content.pages import (
    PageDocument,
    PageReading,
    parse_selectors,
    read_page,
    selectors_text,
    suggest,
    written_selectors,
)


def read(kind: str, selectors: dict[str, Any], body: str) -> PageReading:
    document = PageDocument(body.encode(), "https://site.example/", selectors=parse_selectors(kind, selectors))
    return read_page(document)


@pytest.mark.parametrize(
    ("kind", "selectors", "message"),
    [
        ("html+css", {"title": "a"}, "selectors: item: send a selector"),
        ("html+css", {"item": "li"}, "selectors: title: send a selector of the title, the link or the content"),
        ("html+css", {"item": "li", "title": "a:nope"}, "selectors: title: 'a:nope' is not a selector we know"),
        ("html+css", {"item": "li", "title": 7}, "selectors: title: send a text, or an object"),
        ("html+css", {"item": "li", "title": {"sel": "a"}}, "unknown field `sel`"),
        ("html+css", {"item": "li", "title": {"selector": "a", "format": "%d"}}, "for dates only"),
        ("html+css", {"item": "li", "title": "a", "date": {"format": "%Q"}}, "'%Q' is not a format of dates"),
        ("html+css", {"item": "x" * 3000, "title": "a"}, "longer than 2000 characters"),
        ("html+css", {"item": "li", "title": "a" * 20_001}, "too long, 20000 characters at most"),
        ("html+xpath", {"item": "//li[@class='a]", "title": "a"}, "Unfinished literal, at character 16"),
        ("html+xpath", {"item": "//li", "title": "exslt:node-set(a)"}, "exslt:node-set() at character 1"),
        ("html+xpath", {"item": "//li", "title": "unparsed-text('x')"}, "unparsed-text() at character 1"),
        ("html+xpath", {"item": "//li[$x]", "title": "a"}, "no variables: see character 6"),
        ("json in html", {"item": "$.a", "title": "b", "script": "script["}, "selectors: script: The selector ends"),
        ("dotted", {"item": "a", "title": "b"}, "kind: send one of html+css, html+xpath, json, json in html"),
    ],
)
def test_a_wrong_part_is_named(kind: str, selectors: dict[str, Any], message: str) -> None:
    with pytest.raises(InvalidInput) as caught:
        parse_selectors(kind, selectors)

    assert message in str(caught.value)


def test_a_text_in_an_xpath_is_not_taken_for_a_call() -> None:
    parse_selectors("html+xpath", {"item": "//li[contains(., 'document(x) costs $5')]", "title": "."})


def test_the_stored_text_is_the_same_in_any_order() -> None:
    first = written_selectors({"link": "a@href", "item": "li", "title": "a", "author": ""})
    second = written_selectors({"item": "li", "title": "a", "link": "a@href"})

    assert selectors_text(first) == selectors_text(second) == '{"item":"li","title":"a","link":"a@href"}'


def test_an_attribute_selector_with_an_at_sign_is_not_an_attribute() -> None:
    parsed = parse_selectors("html+css", {"item": "li", "title": "a[href*='@x']", "link": "a[title]@href"})

    assert (parsed.fields["title"].attribute, parsed.fields["link"].attribute) == ("", "href")


def test_nothing_found_says_what_there_is() -> None:
    rows = "".join(f'<tr class="entry"><td><a href="/{one}">Decision number {one}</a></td></tr>' for one in range(5))

    with pytest.raises(NoItems, match=r"nothing on the page matches li\. It has tr\.entry \(5\)"):
        read("html+css", {"item": "li", "title": "a"}, f"<table>{rows}</table>")
    with pytest.raises(NoItems, match=r"matches \.posts \(\$\.data\)\. It has entries, total"):
        read("json", {"item": "$.data.posts[*]", "title": "t"}, '{"data": {"entries": [], "total": 0}}')


def test_a_document_of_another_kind_is_named() -> None:
    page = '<!doctype html><script id="app">{}</script>'

    with pytest.raises(PageUnreadable, match="answers with a page, not with JSON"):
        read("json", {"item": "$.a", "title": "t"}, page)
    with pytest.raises(PageUnreadable, match="script#app"):
        read("json in html", {"item": "$.a", "title": "t"}, page)
    with pytest.raises(PageUnreadable, match="The JSON cannot be read"):
        read("json", {"item": "$.a", "title": "t"}, '{"a": [1, 2')


def test_fields_without_a_value_are_counted_and_shown_what_there_is() -> None:
    page = '<p class="n"><a href="/1">One</a><i class="by">Ann</i></p><p class="n"><b>Two</b></p>'

    reading = read("html+css", {"item": ".n", "title": "a", "date": ".when", "author": ".by"}, page)

    fields = {one.name: one for one in reading.fields}
    assert (fields["title"].hits, fields["title"].misses, fields["title"].example) == (1, 1, "One")
    assert (fields["author"].hits, fields["author"].misses) == (1, 1)
    assert (fields["date"].hits, fields["date"].misses) == (0, 2)
    assert fields["date"].instead == ("p.n", "a", "i.by")


def test_a_text_that_is_no_date_is_a_miss_with_the_text() -> None:
    reading = read("html+css", {"item": "p", "title": "b", "date": "i"}, "<p><b>One</b><i>soon</i></p>")

    (_title, date) = reading.fields
    assert (date.hits, date.misses, date.example) == (0, 1, "soon")


def test_navigation_is_not_suggested_first() -> None:
    links = "".join(f'<li><a href="/{one}">Menu entry number {one}</a></li>' for one in range(9))
    cards = "".join(
        f'<div class="teaser"><h3><a href="/n/{one}">What happened in week {one}</a></h3>'
        f'<span class="date">2026-01-{one + 1:02}</span><p class="summary">Text.</p></div>'
        for one in range(5)
    )

    found = suggest(f"<nav><ul>{links}</ul></nav><main>{cards}</main>".encode())

    assert found[0].items == 5
    assert found[0].selectors == {
        "item": "div.teaser", "title": "h3", "link": "h3 a@href", "date": ".date", "content": ".summary",
    }  # fmt: skip
    assert found[0].examples[0] == "What happened in week 0"


def test_what_is_suggested_can_be_read() -> None:
    days = "".join(
        f'<section><h2>Day {day}</h2><article><a href="/{day}">The long story of day {day}</a></article></section>'
        for day in range(4)
    )
    state = json.dumps({"props": {"list": [{"headline": f"Story {one}", "url": f"/{one}"} for one in range(3)]}})
    page = f'{days}<script id="__NEXT_DATA__" type="application/json">{state}</script>'

    for one in suggest(page.encode()):
        reading = read(one.kind, dict(one.selectors), page)
        assert reading.items == one.items
        assert reading.feed.entries


def test_a_page_without_repetition_has_no_suggestions() -> None:
    assert suggest(b"<h1>Contact</h1><p>Write to us.</p>") == []
    assert suggest(b'{"ok": true}') == []
    assert suggest(b"{") == []
    assert suggest(b"") == []
