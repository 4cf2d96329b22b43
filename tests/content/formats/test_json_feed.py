"""JSON Feed, and values of wrong types."""

from __future__ import annotations

import json
from contextlib import suppress
from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from content.formats.documents import ADDRESS, feed
from tidings.base.times import from_datetime
from tidings.content.errors import FeedError, NotAFeed
from tidings.content.model import FeedFormat, ParsedEnclosure, ParsedEntry

VERSION = "https://jsonfeed.org/version/1.1"


def document(**fields: Any) -> str:
    return json.dumps({"version": VERSION, "home_page_url": "https://site.example/", "items": []} | fields)


def item(**fields: Any) -> ParsedEntry:
    return feed(document(items=[{"id": "1"} | fields])).entries[0]


def test_the_feed_describes_itself() -> None:
    found = feed(
        document(
            title=" The News ",
            description="All of it",
            language="de_AT",
            favicon="/f.ico",
            icon="/i.png",
            feed_url="https://site.example/feed.json",
            hubs=[{"type": "rssCloud", "url": "https://c.example/"}, {"type": "WebSub", "url": "https://h.example/"}],
        )
    )

    assert (found.format, found.title, found.description) == (FeedFormat.JSON, "The News", "All of it")
    assert (found.site_url, found.language) == ("https://site.example/", "de-at")
    assert found.icon_url == "https://news.example/f.ico"
    assert (found.self_url, found.hubs) == ("https://site.example/feed.json", ("https://h.example/",))


def test_a_feed_that_names_no_site_is_its_own() -> None:
    found = feed(json.dumps({"version": VERSION, "items": [{"id": "1"}]}))

    assert (found.title, found.site_url, found.entries[0].url) == (ADDRESS, ADDRESS, "")


@pytest.mark.parametrize(
    ("fields", "url"),
    [
        ({"url": "https://a.example/", "external_url": "https://b.example/"}, "https://a.example/"),
        ({"external_url": "https://b.example/"}, "https://b.example/"),
        ({"url": "/a"}, "https://site.example/a"),
        ({"url": "javascript:x", "external_url": "https://b.example/"}, "https://b.example/"),
        ({}, ""),
    ],
)
def test_the_url_is_the_page_of_the_item(fields: dict[str, Any], url: str) -> None:
    assert item(**fields).url == url


@pytest.mark.parametrize(
    ("fields", "content"),
    [
        ({"content_html": "<b>h</b>", "content_text": "t", "summary": "s"}, "<b>h</b>"),
        ({"content_html": " ", "content_text": "1 < 2", "summary": "s"}, "1 &lt; 2"),
        ({"summary": "1 < 2"}, "1 &lt; 2"),
        ({}, ""),
    ],
)
def test_content_is_html_else_the_escaped_text(fields: dict[str, Any], content: str) -> None:
    assert item(**fields).content == content


@pytest.mark.parametrize(
    ("fields", "title"),
    [
        ({"title": "T &amp; C", "summary": "s"}, "T & C"),
        ({"summary": "s", "content_text": "t", "content_html": "<p>h</p>"}, "s"),
        ({"content_text": "a <b> c", "content_html": "<p>h</p>"}, "a <b> c"),
        ({"content_html": "<p>h</p>"}, "h"),
        ({"url": "https://a.example/"}, "https://a.example/"),
    ],
)
def test_an_item_without_a_title_gets_an_excerpt_as_title(fields: dict[str, Any], title: str) -> None:
    assert item(**fields).title == title


def test_authors_of_the_item_and_of_the_feed_are_joined() -> None:
    items = [{"id": "1", "author": {"name": "B"}, "authors": [{"name": "A"}, {"url": "https://x.example/"}]}]

    found = feed(document(items=items, authors=[{"name": "C"}], author={"name": "A"}))

    assert found.entries[0].author == "A, B, C"


def test_the_rest_of_an_item_is_read() -> None:
    found = item(
        date_published="soon",
        date_modified="2006-01-02T15:04:05Z",
        tags=["b", " a ", "b", ""],
        language="fr",
        attachments=[
            {"url": "/a.mp3", "mime_type": "audio/mpeg", "size_in_bytes": 7, "duration_in_seconds": 200.5},
            {"url": "/a.mp3"},
            {"mime_type": "audio/mpeg"},
        ],
    )

    assert found.published_at == from_datetime(datetime(2006, 1, 2, 15, 4, 5, tzinfo=UTC))
    assert (found.tags, found.language, found.duration_minutes) == (("a", "b"), "fr", 3)
    assert found.enclosures == (ParsedEnclosure("https://site.example/a.mp3", "audio/mpeg", 7),)


def test_invalid_values_do_not_affect_other_values() -> None:
    found = item(
        id=17,
        title={"text": "t"},
        url=None,
        tags="one, two",
        content_html=["<p>"],
        summary=3.5,
        date_published=1136214245,
        authors={"name": "A"},
        attachments={"url": "https://f.example/a", "size_in_bytes": "12", "duration_in_seconds": -1},
    )

    assert (found.title, found.content, found.author) == ("3.5", "3.5", "A")
    assert found.tags == ("one", "two")
    assert found.published_at == from_datetime(datetime(2006, 1, 2, 15, 4, 5, tzinfo=UTC))
    assert found.enclosures == (ParsedEnclosure("https://f.example/a", "", 12),)
    assert item(id=17).hash == item(id="17").hash == item(id=17.0).hash


def test_a_value_that_is_no_item_is_skipped_and_counted() -> None:
    found = feed(document(items=["text", None, {}, [], {"id": "1"}]))

    assert (len(found.entries), found.skipped) == (1, 4)


@pytest.mark.parametrize("mark", ["\ufeff", "\n  ", ""])
@pytest.mark.parametrize("codec", ["utf-8", "utf-16", "utf-32"])
def test_marks_and_wide_encodings_are_read(mark: str, codec: str) -> None:
    assert feed((mark + document(title="Zoë")).encode(codec)).title == "Zoë"


@pytest.mark.slow
def test_a_document_cut_off_keeps_its_whole_items() -> None:
    whole = document(items=[{"id": str(number), "title": "t" * number} for number in range(1, 20)])

    for length in range(whole.index("items") + 20, len(whole) - 3):
        found = feed(whole[:length])
        assert len(found.entries) == whole[:length].count("}")
        assert found.skipped == 1
        assert found.site_url == "https://site.example/"


@pytest.mark.parametrize("damage", ['{"id": "2", "title": oops}', '{"id": "2" "title": "t"}', '{"id": "2", }'])
def test_a_damaged_item_does_not_affect_other_items(damage: str) -> None:
    found = feed(f'{{"version": "{VERSION}", "items": [{{"id": "1"}}, {damage}, {{"id": "3"}}]}}')

    assert [len(found.entries), found.skipped] == [2, 1]


@pytest.mark.parametrize("source", ["{}", '{"foo": 1}', '{"items": 3}', "[]", "[{}]", "{", '"text"', '{"a": ' * 50_000])
def test_json_that_is_no_feed_is_refused(source: str) -> None:
    with pytest.raises(NotAFeed):
        feed(source)


def test_characters_that_no_database_stores_are_removed() -> None:
    found = feed(
        '{"version": "jsonfeed", "items": [{"id": "1", "title": "a\\u0000b\\ud800c", "content_html": "\\u0000x"}]}'
    )

    assert (found.entries[0].title, found.entries[0].content) == ("abc", "x")


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=5,
)
KEYS = ["id", "url", "title", "content_html", "content_text", "summary", "tags", "authors", "author", "attachments",
        "date_published", "date_modified", "language"]  # fmt: skip
ODD_ITEMS = st.lists(JSON | st.dictionaries(st.sampled_from(KEYS), JSON), max_size=4)


@pytest.mark.slow
@given(ODD_ITEMS, st.dictionaries(st.sampled_from(["title", "home_page_url", "authors", "hubs", "icon"]), JSON))
def test_any_json_values_are_parsed_or_refused(items: list[Any], fields: dict[str, Any]) -> None:
    found = feed(document(**fields, items=items))

    assert len(found.entries) + found.skipped <= len(items)


@pytest.mark.slow
@given(st.text(), st.integers(0, 400))
def test_any_damaged_json_is_parsed_or_refused(noise: str, place: int) -> None:
    whole = document(items=[{"id": str(number), "title": "text"} for number in range(10)])

    with suppress(FeedError):
        feed((whole[:place] + noise + whole[place:]).encode("utf-8", "replace"))
