"""JSON Feed 1.0 and 1.1. One odd value costs that value, one odd item that item, never the feed."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from msgspec import Struct

from tidings.domain.feeds import FeedFormat, ParsedEnclosure, ParsedEntry, ParsedFeed
from tidings.domain.formats import dates, text
from tidings.domain.formats.addresses import absolute, web
from tidings.domain.formats.drafts import Draft, finish, unique_sorted
from tidings.domain.formats.identity import Identity
from tidings.domain.formats.inherited import language
from tidings.domain.formats.loose_json import as_number, as_objects, as_text, as_texts, read_json
from tidings.domain.formats.media import once_each
from tidings.domain.formats.people import joined
from tidings.domain.times import Instant

_Object = dict[str, Any]


class Feed(Struct, frozen=True):
    """What an item falls back to."""

    url: str
    site_url: str
    language: str = ""
    authors: tuple[str, ...] = ()
    now: Instant | None = None


def read_json_feed(source: str, *, url: str, now: Instant | None = None) -> ParsedFeed | None:
    """None when the text is not a JSON object that could be a feed. url: the document's address."""
    found = read_json(source)
    if found is None or not _looks_like_feed(found.value):
        return None
    document, is_cut_off = found.value, found.is_cut_off
    feed = Feed(
        url=url,
        site_url=web(as_text(document.get("home_page_url")), url) or url,
        language=language(as_text(document.get("language"))),
        authors=tuple(_authors(document)),
        now=now,
    )
    items = document.get("items")
    finished = finish(_read_item(item, feed) for item in (items if isinstance(items, list) else ()))
    return ParsedFeed(
        format=FeedFormat.JSON,
        title=text.from_title(as_text(document.get("title"))) or feed.site_url,
        site_url=feed.site_url,
        description=text.from_title(as_text(document.get("description"))),
        language=feed.language,
        icon_url=absolute(as_text(document.get("favicon")) or as_text(document.get("icon")), url),
        self_url=absolute(as_text(document.get("feed_url")), url),
        hubs=tuple(dict.fromkeys(_hubs(document, url))),
        entries=finished.entries,
        skipped=finished.skipped + is_cut_off,
    )


def _looks_like_feed(document: _Object) -> bool:
    return isinstance(document.get("items"), list) or "jsonfeed" in as_text(document.get("version"))


def _read_item(item: object, feed: Feed) -> Draft | None:
    if not isinstance(item, dict) or not item:
        return None
    url = _first_web(item, feed)
    body, summary, markup = (as_text(item.get(key)) for key in ("content_text", "summary", "content_html"))
    content = markup if markup.strip() else text.escaped(body if body.strip() else summary)
    identity = _identity(item, url, body + markup + summary)
    title = text.from_title(as_text(item.get("title")))
    entry = ParsedEntry(
        hash="",
        url=url,
        title=title or text.excerpt(text.escaped(summary) or text.escaped(body) or markup) or url or feed.site_url,
        content=content,
        base_url=url or feed.site_url,
        author=joined((*feed.authors, *_authors(item))),
        language=language(as_text(item.get("language"))) or feed.language,
        published_at=_published(item, feed.now),
        tags=unique_sorted(as_texts(item.get("tags"))),
        enclosures=once_each(_enclosures(item, feed)),
        duration_minutes=_duration_minutes(item),
    )
    return Draft(identity, entry)


def _identity(item: _Object, url: str, says: str) -> Identity:
    key = next((found for key in ("id", "url", "external_url") if (found := as_text(item.get(key)).strip())), "")
    rest = as_text(item.get("title")) + as_text(item.get("date_published"))
    return Identity(id=key, url=url, says=says.strip() or rest)


def _first_web(item: _Object, feed: Feed) -> str:
    addresses = (web(as_text(item.get(key)), feed.site_url) for key in ("url", "external_url"))
    return next((address for address in addresses if address), "")


def _published(item: _Object, now: Instant | None) -> Instant | None:
    for key in ("date_published", "date_modified"):
        if (instant := dates.read(as_text(item.get(key)), now)) is not None:
            return instant
    return None


def _authors(holder: _Object) -> Iterator[str]:
    """`authors` of 1.1 and `author` of 1.0; both may be an object, a list of them, or just a name."""
    for key in ("authors", "author"):
        value = holder.get(key)
        for author in as_objects(value):
            yield text.one_line(as_text(author.get("name")))
        for name in as_texts(value):
            yield text.one_line(name)


def _attachments(item: _Object) -> list[_Object]:
    return as_objects(item.get("attachments"))


def _enclosures(item: _Object, feed: Feed) -> Iterator[ParsedEnclosure]:
    for attachment in _attachments(item):
        yield ParsedEnclosure(
            absolute(as_text(attachment.get("url")), feed.site_url),
            as_text(attachment.get("mime_type")).strip(),
            as_number(attachment.get("size_in_bytes")),
        )


def _duration_minutes(item: _Object) -> int:
    longest = max((as_number(each.get("duration_in_seconds")) for each in _attachments(item)), default=0)
    return min(longest // 60, 2**31 - 1)


def _hubs(document: _Object, url: str) -> Iterator[str]:
    for hub in as_objects(document.get("hubs")):
        if as_text(hub.get("type")).lower() == "websub" and (address := absolute(as_text(hub.get("url")), url)):
            yield address
