"""Translates what the REST API of Miniflux returns, and what its tables hold, into the records of an archive.

Checked with Miniflux 2.3.4; its entries have the same hashes as ours, so that the next poll recognises them.
"""

from __future__ import annotations

import base64
import html
import re
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, Final, TypeVar

import msgspec
from msgspec import Struct

from tidings.archives import records
from tidings.archives.records import ArchivedCategory, ArchivedEnclosure, ArchivedEntry, ArchivedFeed
from tidings.base.errors import InvalidInput
from tidings.base.messages import verbatim
from tidings.content.pages import selectors_text
from tidings.domain.entries.entries import STATUS_BY_NAME
from tidings.domain.feeds.feeds import EditedFeedField, Feed

# Maximum number of entries that Miniflux returns in one page.
PAGE: Final = 1000
_SETTINGS: Final = (*records.FEED_SETTINGS, *records.FEED_SECRETS)
# Only the path tells: behind a reverse proxy the server may be known by another name.
# One address, or several without a blank between them.
_ADDRESSES: Final = re.compile(r"https?://[^\s\"'<>]++")
_HOST: Final = re.compile(r"https?://[^/]")
_PROXIED: Final = re.compile(r"/proxy/[\w-]{43}=/([\w-]+={0,2})")
# Columns whose name in the API is another one.
_API_NAMES: Final = {
    "entry_direction": "entry_sorting_direction",
    "entry_order": "entry_sorting_order",
    "url_rewrite_rules": "urlrewrite_rules",
}
T = TypeVar("T")
_DEFAULTS: Final = {field.name: field.default for field in msgspec.structs.fields(Feed)}


class _Category(Struct):
    title: str
    hide_globally: bool = False


class _Feed(Struct):
    id: int
    feed_url: str
    category: _Category
    site_url: str = ""
    title: str = ""
    description: str = ""
    language: str = ""


class _Enclosure(Struct):
    url: str
    mime_type: str = ""
    size: int = 0
    media_progression: int = 0


class _Entry(Struct):
    id: int
    feed_id: int
    hash: str
    status: str
    published_at: datetime
    starred: bool = False
    created_at: datetime | None = None
    changed_at: datetime | None = None
    title: str = ""
    url: str = ""
    author: str = ""
    comments_url: str = ""
    language: str = ""
    reading_time: int = 0
    content: str = ""
    tags: list[str] | None = None
    enclosures: list[_Enclosure] | None = None


class _Page(Struct):
    total: int
    entries: list[_Entry] | None = None


class MinifluxPage(Struct, frozen=True):
    """A page of the entries of a Miniflux server."""

    total: int
    """Number of all entries that match the query, on this page or not."""
    last_id: int
    """0 if the page is empty."""
    entries: list[ArchivedEntry]


def read_settings(document: bytes) -> dict[str, Any]:
    """Return the settings of the user in the response to /v1/me, with names of ours where they are the same."""
    settings: dict[str, Any] = _decoded(document, dict[str, Any], "/v1/me")
    return settings


def read_categories(document: bytes) -> list[ArchivedCategory]:
    categories: list[_Category] = _decoded(document, list[_Category], "/v1/categories")
    return [ArchivedCategory(category.title, category.hide_globally) for category in categories]


def read_feeds(document: bytes) -> list[ArchivedFeed]:
    """Return the feeds. Their titles stay unchanged: Miniflux does not say which ones its user wrote."""
    feeds: list[_Feed] = _decoded(document, list[_Feed], "/v1/feeds")
    members: list[dict[str, Any]] = _decoded(document, list[dict[str, Any]], "/v1/feeds")
    return [_feed(feed, values) for feed, values in zip(feeds, members, strict=True)]


def read_entries(document: bytes) -> MinifluxPage:
    """Return the entries in a response to /v1/entries. Raises InvalidInput."""
    page: _Page = _decoded(document, _Page, "/v1/entries")
    entries = page.entries or []
    return MinifluxPage(page.total, entries[-1].id if entries else 0, [_entry(entry) for entry in entries])


def settings_of_row(row: Mapping[str, Any]) -> dict[str, Any]:
    """Return the settings in a row of the table `users`, with the names that they have in the API."""
    settings = {_API_NAMES.get(name, name): value for name, value in row.items()}
    if (rate := settings.get("media_playback_rate")) is not None:
        settings["media_playback_rate"] = float(rate)
    return settings


def feed_of_row(row: Mapping[str, Any]) -> ArchivedFeed:
    """Return the feed in a row of the table `feeds` with its `category_title`. Raises InvalidInput."""
    values = {_API_NAMES.get(name, name): value for name, value in row.items() if value is not None}
    return _feed(_converted(values | {"category": {"title": row["category_title"]}}, _Feed, "feeds"), values)


def entry_of_row(row: Mapping[str, Any], enclosures: Sequence[Mapping[str, Any]]) -> ArchivedEntry:
    """Return the entry in a row of the table `entries`, with the rows of its enclosures. Raises InvalidInput."""
    values = {name: value for name, value in row.items() if value is not None}
    values["enclosures"] = [{name: value for name, value in each.items() if value is not None} for each in enclosures]
    return _entry(_converted(values, _Entry, "entries"))


def _converted(values: dict[str, Any], kind: type[T], table: str) -> T:
    try:
        return msgspec.convert(values, kind)
    except msgspec.ValidationError as error:
        text = f"row {values.get('id')} of the table {table} is not as Miniflux writes it: {error}"
        raise InvalidInput(verbatim(text)) from error


def _feed(feed: _Feed, values: Mapping[str, Any]) -> ArchivedFeed:
    if isinstance(selectors := values.get("selectors"), dict):
        # Of another Tidings: its API has an object where archives have text.
        values = {**values, "selectors": selectors_text(selectors)}
    return ArchivedFeed(
        number=feed.id,
        category=feed.category.title,
        feed_url=feed.feed_url,
        site_url=feed.site_url,
        title=feed.title,
        description=feed.description,
        language=feed.language,
        edited=EditedFeedField.TITLE,
        settings={name: values[name] for name in _SETTINGS if values.get(name, _DEFAULTS[name]) != _DEFAULTS[name]},
    )


def _entry(entry: _Entry) -> ArchivedEntry:
    return ArchivedEntry(
        feed=entry.feed_id,
        hash=entry.hash,
        status=entry.status if entry.status in STATUS_BY_NAME else "read",
        starred=entry.starred,
        published_at=entry.published_at,
        created_at=entry.created_at,
        changed_at=entry.changed_at,
        title=entry.title,
        url=entry.url,
        author=entry.author,
        comments_url=entry.comments_url,
        language=entry.language,
        reading_time=min(max(0, entry.reading_time), 2**31 - 1),
        tags=entry.tags or [],
        enclosures=[
            ArchivedEnclosure(
                _original(each.url, in_html=False),
                each.mime_type,
                max(0, each.size),
                max(0, each.media_progression),
            )
            for each in entry.enclosures or ()
        ],
        content=_original(entry.content, in_html=True),
    )


def _original(text: str, *, in_html: bool) -> str:
    """Return the text with the URLs of media instead of URLs of Miniflux's media proxy, which has a key."""
    if "/proxy/" not in text:
        return text

    def replace(addresses: re.Match[str]) -> str:
        written, reached, at = addresses[0], 0, 0
        pieces: list[str] = []
        # Once an end was searched for without success, no other beginning has one.
        while (host := _HOST.search(written, at)) and (proxied := _PROXIED.search(written, host.end())):
            at = proxied.end()
            if url := _proxied_url(proxied):
                pieces += (written[reached : host.start()], html.escape(url) if in_html else url)
                reached = at
        return "".join(pieces) + written[reached:]

    return _ADDRESSES.sub(replace, text)


def _proxied_url(match: re.Match[str]) -> str:
    """Return the URL of the original, "" if this is not a URL of a media proxy."""
    try:
        url = base64.b64decode(match[1], altchars="-_", validate=True).decode()
    except ValueError:
        return ""
    return url if url.startswith(("http://", "https://")) else ""


def _decoded(document: bytes, kind: Any, path: str) -> Any:
    try:
        return msgspec.json.decode(document, type=kind)
    except (msgspec.MsgspecError, UnicodeDecodeError) as error:
        text = f"the server does not answer {path} as Miniflux does: {str(error)[:200]}"
        raise InvalidInput(verbatim(text)) from error
