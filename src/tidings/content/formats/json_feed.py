"""Parses JSON Feed 1.0 and 1.1. A wrong value costs only that value, a wrong item only that item.

The JSON may have values of the wrong type and may end too early: what is complete is read.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator
from typing import Any, Final

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from tidings.base.times import Instant
from tidings.content import dates
from tidings.content.dates import DateOrder
from tidings.content.formats import text
from tidings.content.formats.entry_builder import (
    EntryIdentity,
    UnhashedEntry,
    build_entries,
    order_of_dates,
    unique_sorted,
)
from tidings.content.formats.extensions import (
    duration_minutes,
    join_names,
    main_url,
    parse_duration_minutes,
    unique_by_url,
)
from tidings.content.formats.text import remove_unstorable, unescape_again
from tidings.content.model import FeedFormat, ParsedEnclosure, ParsedEntry, ParsedFeed
from tidings.content.urls import absolute_url, tidy_url, web_url
from tidings.content.xml.elements import normalize_language

# JSON

_MAX_INT: Final = 2**63 - 1
_ITEMS: Final = re.compile(r'"items"\s*:\s*\[')
_NEXT_OBJECT: Final = re.compile(r"[\s,]*(?=\{)")
_BETWEEN_OBJECTS: Final = re.compile(r"\}\s*,\s*(?=\{)")
# Each failure may read the whole rest of the text; a fixed number of failures keeps the time linear.
_MAX_FAILURES: Final = 8

_lenient: Final = json.JSONDecoder(strict=False)


class JsonDocument(Struct, frozen=True):
    """A JSON object that may have been damaged."""

    value: dict[str, Any]
    is_cut_off: bool = False
    """Whether something at the end or in the middle could not be read and was left out."""


def read_json(source: str) -> JsonDocument | None:
    """Return the object of the text, as far as it can be read; None if there is none."""
    try:
        value = msgspec.json.decode(source)
    except (msgspec.DecodeError, RecursionError, UnicodeEncodeError):
        return _read_damaged(source)
    return JsonDocument(value) if isinstance(value, dict) else None


def as_text(value: object) -> str:
    """Return a string as it is and a number as written; "" for every other value."""
    if isinstance(value, str):
        return remove_unstorable(value)
    if isinstance(value, bool) or value is None:
        return ""
    if isinstance(value, int):
        return str(value) if abs(value) <= _MAX_INT else ""
    if isinstance(value, float) and math.isfinite(value):
        return str(int(value)) if value.is_integer() and abs(value) <= _MAX_INT else repr(value)
    return ""


def as_texts(value: object) -> list[str]:
    """Return the strings of a list, or the parts of a single string between commas."""
    if isinstance(value, list):
        return [text for each in value if (text := as_text(each))]
    return as_text(value).split(",") if value else []


def as_objects(value: object) -> list[dict[str, Any]]:
    """Return the objects of a list, or a list of the single object found in place of a list."""
    if isinstance(value, dict):
        return [value]
    return [each for each in value if isinstance(each, dict)] if isinstance(value, list) else []


def as_number(value: object) -> int:
    """Return a non-negative integer, even from a string or a fraction; 0 for every other value."""
    if isinstance(value, str):
        value = value.strip()
        return int(value) if value.isascii() and value.isdigit() and len(value) <= 18 else 0
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        return 0
    return int(value) if 0 <= value <= _MAX_INT else 0


def _read_damaged(source: str) -> JsonDocument | None:
    """Return what precedes the list of items, and the complete items."""
    try:
        value = _lenient.decode(source)
    except (ValueError, RecursionError):
        pass
    else:
        return JsonDocument(value) if isinstance(value, dict) else None
    items = _ITEMS.search(source)
    if items is None:
        return None
    head = _read_object(source[: items.end()] + "]}") or {}
    return JsonDocument(head | {"items": _complete_items(source, items.end())}, is_cut_off=True)


def _complete_items(source: str, position: int) -> list[Any]:
    items, failures = [], 0
    while failures < _MAX_FAILURES and (start := _NEXT_OBJECT.match(source, position)):
        try:
            item, position = _lenient.raw_decode(source, start.end())
            items.append(item)
        except (ValueError, RecursionError):
            failures += 1
            following = _BETWEEN_OBJECTS.search(source, start.end())
            position = following.end() if following else len(source)
    return items


def _read_object(source: str) -> dict[str, Any] | None:
    try:
        value = _lenient.decode(source)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None


# Feed

_Object = dict[str, Any]


class JsonFeedDefaults(Struct, frozen=True):
    """Values of the feed that an item without its own inherits."""

    url: str
    site_url: str
    language: str = ""
    authors: tuple[str, ...] = ()
    now: Instant | None = None
    date_order: DateOrder | None = None
    """The order of the numbers in its dates; None if they do not show it."""


def read_json_feed(source: str, *, url: str, now: Instant | None = None) -> ParsedFeed | None:
    """Return the feed; None if the text is not a JSON object that can be a feed. url: the URL of the document."""
    value = read_json(source)
    if value is None or not _looks_like_feed(value.value):
        return None
    document, is_cut_off = value.value, value.is_cut_off
    feed = JsonFeedDefaults(
        url=url,
        site_url=web_url(as_text(document.get("home_page_url")), url) or url,
        language=normalize_language(as_text(document.get("language"))),
        authors=tuple(_authors(document)),
        now=now,
    )
    items = document.get("items")
    listed = items if isinstance(items, list) else []
    if order := order_of_dates(listed, _dates, now):
        feed = replace(feed, date_order=order)
    built = build_entries(_read_item(item, feed) for item in listed)
    return ParsedFeed(
        format=FeedFormat.JSON,
        title=text.title_to_text(as_text(document.get("title"))) or feed.site_url,
        site_url=tidy_url(feed.site_url),
        description=text.title_to_text(as_text(document.get("description"))),
        language=feed.language,
        icon_url=absolute_url(as_text(document.get("favicon")) or as_text(document.get("icon")), url),
        self_url=absolute_url(as_text(document.get("feed_url")), url),
        hubs=tuple(dict.fromkeys(_hubs(document, url))),
        entries=built.entries,
        other_hashes=built.other_hashes,
        skipped=built.skipped + is_cut_off,
        is_cut_off=is_cut_off,
        limits_reached=built.limits_reached,
    )


def _looks_like_feed(document: _Object) -> bool:
    return isinstance(document.get("items"), list) or "jsonfeed" in as_text(document.get("version"))


def _read_item(item: object, feed: JsonFeedDefaults) -> UnhashedEntry | None:
    if not isinstance(item, dict) or not item:
        return None
    url = _first_web_url(item, feed)
    body, summary, markup = (as_text(item.get(key)) for key in ("content_text", "summary", "content_html"))
    identity = _identity(item, url, body + markup + summary)
    body, summary = (part if part.strip() else "" for part in (body, summary))
    content = unescape_again(markup) if markup.strip() else text.escape_html(body or summary)
    title = text.title_to_text(as_text(item.get("title")))
    entry = ParsedEntry(
        hash="",
        url=tidy_url(url),
        title=title
        or text.excerpt(text.escape_html(summary) or text.escape_html(body) or content)
        or url
        or feed.site_url,
        content=content,
        base_url=url or feed.site_url,
        author=join_names((*feed.authors, *_authors(item))),
        language=normalize_language(as_text(item.get("language"))) or feed.language,
        published_at=_published_at(item, feed),
        tags=unique_sorted(as_texts(item.get("tags"))),
        enclosures=unique_by_url(_enclosures(item, feed)),
        duration_minutes=_duration_minutes(item),
    )
    return UnhashedEntry(identity, entry)


def _identity(item: _Object, url: str, entry_text: str) -> EntryIdentity:
    key = next((found for key in ("id", "url", "external_url") if (found := as_text(item.get(key)).strip())), "")
    rest = as_text(item.get("title")) + as_text(item.get("date_published"))
    return EntryIdentity(id=key, url=url, texts=(entry_text.strip() or rest,))


def _first_web_url(item: _Object, feed: JsonFeedDefaults) -> str:
    urls = (web_url(as_text(item.get(key)), feed.site_url) for key in ("url", "external_url"))
    return next((url for url in urls if url), "") or main_url(_enclosures(item, feed))


def _published_at(item: _Object, feed: JsonFeedDefaults) -> Instant | None:
    for written in _dates(item):
        if (instant := dates.parse_date(written, feed.now, feed.date_order)) is not None:
            return instant
    return None


def _dates(item: object) -> list[str]:
    if not isinstance(item, dict):
        return []
    return [as_text(item.get(key)) for key in ("date_published", "date_modified")]


def _authors(json_object: _Object) -> Iterator[str]:
    """Yield names of `authors` (1.1) and `author` (1.0); both may be an object, a list of objects, or a name."""
    for key in ("authors", "author"):
        value = json_object.get(key)
        for author in as_objects(value):
            yield text.collapse_whitespace(as_text(author.get("name")))
        for name in as_texts(value):
            yield text.collapse_whitespace(name)


def _attachments(item: _Object) -> list[_Object]:
    return as_objects(item.get("attachments"))


def _enclosures(item: _Object, feed: JsonFeedDefaults) -> Iterator[ParsedEnclosure]:
    for key in ("image", "banner_image"):
        yield ParsedEnclosure(absolute_url(as_text(item.get(key)), feed.site_url), "image/*")
    for attachment in _attachments(item):
        yield ParsedEnclosure(
            absolute_url(as_text(attachment.get("url")), feed.site_url),
            as_text(attachment.get("mime_type")).strip(),
            as_number(attachment.get("size_in_bytes")),
        )


def _duration_minutes(item: _Object) -> int:
    durations = [each.get("duration_in_seconds") for each in _attachments(item)]
    return max(
        (duration_minutes(as_number(each)) or parse_duration_minutes(as_text(each)) for each in durations), default=0
    )


def _hubs(document: _Object, url: str) -> Iterator[str]:
    for hub in as_objects(document.get("hubs")):
        if as_text(hub.get("type")).lower() == "websub" and (hub_url := absolute_url(as_text(hub.get("url")), url)):
            yield hub_url
