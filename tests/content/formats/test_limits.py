"""Limits on elements, entries and lengths."""

from __future__ import annotations

import json

import pytest

from content.formats.documents import feed, rss
from tidings.content.formats import parse_feed
from tidings.content.formats.entry_builder import (
    MAX_ENCLOSURES,
    MAX_ENTRIES,
    MAX_INHERITED_TAGS,
    MAX_NAME_CHARS,
    MAX_TAGS,
    MAX_TITLE_CHARS,
)

TOO_MANY = 70_000


@pytest.mark.slow
def test_a_document_of_only_elements_is_read_up_to_the_limit() -> None:
    found = feed(rss("<item><guid>1</guid></item>" + "<i/>" * TOO_MANY + "<item><guid>2</guid></item>"))

    assert len(found.entries) == 1


def test_cdata_sections_do_not_count() -> None:
    body = "<i></i>" * TOO_MANY
    found = feed(rss(f"<item><guid>1</guid><description><![CDATA[{body}]]></description></item>"))

    assert found.entries[0].content == body


def test_an_unclosed_cdata_section_counts() -> None:
    found = feed(rss("<item><guid>1</guid></item><item><title><![CDATA[" + "</title><i/>" * TOO_MANY))

    assert [entry.content for entry in found.entries] == [""]


def test_a_short_document_is_cut_when_it_is_damaged() -> None:
    dense = rss("<item><guid>1</guid></item>" + "<i>" * 36_000 + "<item><guid>2</guid></item>")

    assert [entry.hash for entry in feed(dense).entries] == [feed(rss("<item><guid>1</guid></item>")).entries[0].hash]


def test_a_json_document_of_only_objects_is_read_up_to_the_limit() -> None:
    document = {
        "version": "https://jsonfeed.org/version/1.1",
        "items": [{"id": "1"}, {"id": "2", "x": [{}] * TOO_MANY}],
    }

    found = parse_feed(json.dumps(document, separators=(",", ":")).encode(), url="https://site.example/feed.json")

    assert len(found.entries) == 1


@pytest.mark.slow
def test_the_first_entries_up_to_the_limit_are_read() -> None:
    items = "".join(f"<item><guid>{number}</guid><link>/{number}</link></item>" for number in range(MAX_ENTRIES + 1))

    found = feed(rss(items + " " * 1_000_000))

    assert len(found.entries) == MAX_ENTRIES
    assert found.entries[0].url.endswith("/0")


def test_names_and_lists_are_cut() -> None:
    item = (
        f"<item><title>{'t' * 9_999}</title><author>{'a' * 9_999}</author>"
        + "".join(f"<category>{number}{'c' * 999}</category>" for number in range(1_100))
        + "".join(f"<enclosure url='/{number}'/>" for number in range(1_100))
        + "</item>"
    )

    entry = feed(rss(item)).entries[0]

    assert (len(entry.title), len(entry.author)) == (MAX_TITLE_CHARS, MAX_NAME_CHARS)
    assert (len(entry.tags), len(entry.enclosures)) == (MAX_TAGS, MAX_ENCLOSURES)
    assert max(map(len, entry.tags)) == MAX_NAME_CHARS


def test_entries_inherit_a_limited_number_of_tags() -> None:
    tags = "".join(f"<category>{number}</category>" for number in range(99))

    assert len(feed(rss(f"{tags}<item><guid>1</guid></item>")).entries[0].tags) == MAX_INHERITED_TAGS


def test_a_very_long_base_is_ignored() -> None:
    long = f"https://site.example/{'x' * 3_000}/"

    found = feed(rss(f"<link>{long}</link><item><guid>1</guid><link>page</link><enclosure url='file'/></item>"))

    assert (found.entries[0].url, found.entries[0].enclosures) == (found.site_url, ())
