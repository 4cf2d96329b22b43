"""Hostile pages and selectors: each is bounded in time and memory, and the next page is read."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator

import pytest

from tidings.base.times import Instant
from tidings.content.errors import FeedError, PageUnreadable
from tidings.content.pages import PageReading
from tidings.net.fetch import FetchResponse
from tidings.services.polling.page_reader import PageReader
from tidings.services.worker_pool import ProcessLimits

pytestmark = pytest.mark.slow

CSS = '{"item": "li", "title": "."}'
GOOD = "<ul><li>One</li><li>Two</li></ul>"
MANY = "<li><a href=/x>x</a></li>" * 400_000
DEEP = "<div>" * 100_000 + "x"
WIDE = "<b>x</b>" * 1_000_000


@pytest.fixture(scope="module")
def reader() -> Iterator[PageReader]:
    reader = PageReader(limits=ProcessLimits(cpu_s=1))
    yield reader
    reader.close()


def read(reader: PageReader, body: str, kind: str = "html+css", selectors: str = CSS) -> PageReading:
    response = FetchResponse(status=200, url="https://site.example/", body=body.encode())
    return asyncio.run(reader.read(kind, selectors, response, Instant(0)))


def test_a_page_is_read(reader: PageReader) -> None:
    assert [entry.title for entry in read(reader, GOOD).feed.entries] == ["One", "Two"]


def test_the_first_thousand_of_many_items_are_read(reader: PageReader) -> None:
    body = "".join(f"<li>Item {number}</li>" for number in range(100_000))

    reading = read(reader, body)

    assert reading.items == 100_000
    assert len(reading.feed.entries) == 1_000
    assert "entries" in reading.feed.limits_reached


@pytest.mark.parametrize(
    ("body", "kind", "selectors"),
    [
        (MANY, "html+css", '{"item": "li", "title": "a", "link": "a", "tags": "*", "content": "*"}'),
        (MANY, "html+xpath", '{"item": "//*//*//*", "title": "//*//*//*"}'),
        (DEEP, "html+xpath", '{"item": "//*//*//*//*", "title": "."}'),
        (DEEP, "html+css", '{"item": "div div div div div div", "title": "."}'),
        (WIDE, "html+css", '{"item": "b ~ b ~ b ~ b", "title": "."}'),
        ("[" * 1_000_000, "json", '{"item": "$..*", "title": "."}'),
        ('{"a":' * 100_000 + "1" + "}" * 100_000, "json", '{"item": "$..a", "title": "."}'),
        ("[" + "[0]," * 1_000_000 + "0]", "json", '{"item": "$..*..*..*", "title": "."}'),
        ("<script>[" + "[0]," * 1_000_000, "json in html", '{"item": "$..*", "title": "b", "script": "script"}'),
    ],
)
def test_what_needs_too_much_is_an_error_or_bounded(reader: PageReader, body: str, kind: str, selectors: str) -> None:
    try:
        reading = read(reader, body, kind, selectors)
    except FeedError:
        pass
    else:
        assert len(reading.feed.entries) <= 1_000

    assert [entry.title for entry in read(reader, GOOD).feed.entries] == ["One", "Two"]


def test_an_endless_xpath_says_that_it_is_too_much(reader: PageReader) -> None:
    selectors = '{"item": "//*[count(//*//*//*) > count(//*//*)]", "title": "."}'

    with pytest.raises(PageUnreadable, match="too large or too tangled"):
        read(reader, MANY[:500_000], "html+xpath", selectors)


def test_an_xpath_cannot_read_files(reader: PageReader) -> None:
    """Even one that was stored without a check."""
    selectors = """{"item": "document('/etc/hostname')", "title": "."}"""

    with pytest.raises(PageUnreadable, match="not a function of XPath"):
        read(reader, GOOD, "html+xpath", selectors)


def test_an_entity_does_not_expand(reader: PageReader) -> None:
    body = '<!DOCTYPE html [<!ENTITY a SYSTEM "file:///etc/hostname">]><ul><li>One &a;</li></ul>'

    for kind, selectors in (("html+css", CSS), ("html+xpath", '{"item": "//li", "title": "."}')):
        (entry,) = read(reader, body, kind, selectors).feed.entries
        assert entry.title == "One &a;"
