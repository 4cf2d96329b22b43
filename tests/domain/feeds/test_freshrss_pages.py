"""Feeds from pages in OPML, as FreshRSS writes and reads them."""

from __future__ import annotations

import json
from typing import Any

import pytest
from lxml import etree

from tidings.base.times import Instant
from tidings.domain.feeds import opml
from tidings.domain.feeds.opml_settings import WRITTEN

HEAD = '<opml version="2.0" xmlns:frss="https://freshrss.org/opml"><body>'


def read(attributes: str) -> opml.OpmlDocument:
    outline = f'<outline text="Notices" xmlUrl="https://town.example/notices" {attributes}/>'
    return opml.read(f"{HEAD}{outline}</body></opml>".encode())


def page_of(document: opml.OpmlDocument) -> tuple[str, dict[str, Any]]:
    (found,) = document.subscriptions
    return found.values.get("kind", ""), json.loads(found.values.get("selectors") or "{}")


def write(kind: str, selectors: dict[str, Any]) -> bytes:
    values = dict.fromkeys(WRITTEN, "") | {"kind": kind, "selectors": json.dumps(selectors)}
    feed = opml.OpmlFeed("Notices", "https://town.example/notices", "", "", list(values.values()))
    return opml.write([(["All"], [feed])], created_at=Instant(0))


def test_a_page_by_xpath_is_read() -> None:
    document = read(
        'type="HTML+XPath" frss:xPathItem="//li[@class=\'n\']" frss:xPathItemTitle="descendant::a" '
        'frss:xPathItemContent="." frss:xPathItemUri="descendant::a/@href" frss:xPathItemAuthor="&quot;Town&quot;" '
        'frss:xPathItemTimestamp="i" frss:xPathItemTimeFormat="!d.m.Y \\a\\t H:i" frss:xPathItemThumbnail="" '
        'frss:xPathItemCategories="b" frss:xPathItemUid="@id" frss:ttl="-60"'
    )

    assert page_of(document) == (
        "html+xpath",
        {
            "item": "//li[@class='n']",
            "title": "descendant::a",
            "link": "descendant::a/@href",
            "content": ".",
            "author": '"Town"',
            "date": {"selector": "i", "format": "%d.%m.%Y at %H:%M"},
            "id": "@id",
            "tags": "b",
        },
    )
    assert document.ignored_settings == []


def test_json_by_dots_is_read() -> None:
    document = read(
        'type="JSON+DotNotation" frss:jsonItem="data.items" frss:jsonItemTitle="meta.title" '
        'frss:jsonItemUri="meta.links[0]"'
    )

    assert page_of(document) == ("json", {"item": "data.items", "title": "meta.title", "link": "meta.links[0]"})


def test_json_in_a_script_is_read() -> None:
    document = read(
        'type="HTML+XPath+JSON+DotNotation" frss:xPathToJson="//script[@id=\'__NEXT_DATA__\']" '
        'frss:jsonItem="props.posts" frss:jsonItemTitle="title"'
    )

    assert page_of(document) == (
        "json in html",
        {"item": "props.posts", "title": "title", "script": 'script[id="__NEXT_DATA__"]'},
    )


@pytest.mark.parametrize(
    ("attributes", "reason"),
    [
        ('type="XML+XPath" frss:xPathItem="//item"', "feeds of the type XML+XPath cannot be made here"),
        ('type="HTML+XPath" frss:xPathItem="//li[" frss:xPathItemTitle="a"', "item: XPath: Invalid expression"),
        (
            'type="HTML+XPath+JSON+DotNotation" frss:xPathToJson="//div" frss:jsonItem="a" frss:jsonItemTitle="b"',
            "the script //div has to be given as a CSS selector",
        ),
    ],
)
def test_what_cannot_be_taken_over_is_told(attributes: str, reason: str) -> None:
    document = read(attributes)

    assert page_of(document) == ("", {})
    assert reason in str(document.ignored_settings[0])


def test_an_attribute_of_another_reader_with_our_name_is_ignored() -> None:
    document = read('type="rss" kind="podcast" selectors="none"')

    assert page_of(document) == ("", {})
    assert document.ignored_settings == []


@pytest.mark.parametrize(
    ("kind", "selectors", "written"),
    [
        (
            "html+xpath",
            {"item": "//li", "title": "a", "link": "a@href", "date": {"selector": "i", "format": "%d.%m.%Y at %H:%M"}},
            {
                "type": "HTML+XPath",
                "xPathItem": "//li",
                "xPathItemTitle": "a",
                "xPathItemUri": "a/@href",
                "xPathItemTimestamp": "i",
                "xPathItemTimeFormat": "d.m.Y \\a\\t H:i",
            },
        ),
        (
            "json",
            {"item": "$.data.items[*]", "title": "meta.title", "tags": "labels[*]"},
            {
                "type": "JSON+DotNotation",
                "jsonItem": "data.items",
                "jsonItemTitle": "meta.title",
                "jsonItemCategories": "labels",
            },
        ),
        ("html+css", {"item": "li", "title": "a"}, {"type": "rss"}),
        ("json", {"item": "$..items", "title": "t"}, {"type": "rss"}),
        ("html+xpath", {"item": "//li", "title": {"selector": "a", "capture": "x(.*)"}}, {"type": "rss"}),
    ],
)
def test_a_page_is_written_for_both(kind: str, selectors: dict[str, Any], written: dict[str, str]) -> None:
    document = write(kind, selectors)

    (outline,) = etree.fromstring(document).iterfind(".//outline[@xmlUrl]")
    freshrss = {str(name).partition("}")[2]: text for name, text in outline.items() if "freshrss" in str(name)}
    assert {"type": outline.get("type"), **freshrss} == written
    assert page_of(opml.read(document)) == (kind, selectors)
