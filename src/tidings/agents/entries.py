"""The tools that find and read entries. Reading does not mark as read."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Annotated, Final

from msgspec import Meta, Struct
from msgspec.structs import replace

from tidings.agents.fences import address, fenced, one_line, readable
from tidings.agents.tool import (
    MAX_PAGE,
    Arguments,
    EntryId,
    FromStrangers,
    ToolCall,
    Tools,
    number,
    page_of,
    text,
)
from tidings.base.errors import InvalidField
from tidings.base.messages import msg
from tidings.base.times import DAY, LATEST, MINUTE, Instant, from_datetime, zone_info
from tidings.content.markdown import to_markdown
from tidings.domain.accounts.rights import KeyScope
from tidings.domain.entries.entries import (
    Direction,
    Entry,
    EntryCursor,
    EntryFilter,
    EntryStatus,
    Order,
    PageRequest,
    shown_minutes,
)
from tidings.domain.entries.excerpts import excerpt
from tidings.engine.database import Read
from tidings.query.model import DatedQuery
from tidings.services.clock import time_zone
from tidings.services.entries.entries import owned_entry
from tidings.storage.entries import entry_lists, labels
from tidings.storage.entries.entry_lists import Parts
from tidings.storage.feeds import sidebar

DEFAULT_PAGE: Final = 20
EXCERPT_CHARS: Final = 240
MAX_CHARS: Final = 30_000
# Entries get their numbers before their transactions end: what is this young may follow others that were listed.
UNSETTLED: Final = 1 * MINUTE
# Entries that a cursor names because they are that young.
MAX_NAMED: Final = 200

_CURSOR: Final = re.compile(r"([0-9]{1,16})-([0-9]{1,18})")
_SINCE: Final = re.compile(r"id:([0-9]{1,18}(?:\.[0-9]{1,18}){0,400})")
_EXCERPTS: Final = Parts(contents=True, enclosures=False)

tools = Tools()


class Search(Arguments, frozen=True, kw_only=True):
    query: Annotated[str, text('In the query language, such as rain is:unread; "" finds every entry.', 2_000)]
    newest_first: bool = True
    limit: Annotated[int, number("How many entries.", minimum=1, maximum=MAX_PAGE)] = DEFAULT_PAGE
    cursor: Annotated[str, text("next_cursor of the page before.", 60)] = ""


class ListUnread(Arguments, frozen=True, kw_only=True):
    since: Annotated[
        str,
        text(
            "next_since of an earlier call, or a time such as 2026-01-31T08:00. Without it: the last day.",
            8_000,
        ),
    ] = ""
    query: Annotated[str, text("Only entries that match, such as category:news, or S:7 for a view.", 2_000)] = ""
    limit: Annotated[int, number("How many entries.", minimum=1, maximum=MAX_PAGE)] = DEFAULT_PAGE


class GetEntry(Arguments, frozen=True, kw_only=True):
    entry_id: Annotated[str, EntryId]
    offset: Annotated[int, number("next_offset of the part before.", minimum=0, maximum=10**8)] = 0
    max_chars: Annotated[int, number("Characters of the text.", minimum=500, maximum=MAX_CHARS)] = 10_000


class EntryTexts(Struct, frozen=True):
    """What strangers wrote of an entry."""

    title: str
    author: str
    url: str
    feed_title: str
    excerpt: str


class ListedEntry(Struct, frozen=True):
    id: str
    feed_id: str
    status: str
    starred: bool
    published_at: str
    reading_minutes: int
    labels: Annotated[list[str], Meta(description="Names of the user's labels.")]
    from_strangers: EntryTexts


class Found(FromStrangers, frozen=True, kw_only=True):
    entries: list[ListedEntry]
    total: Annotated[int | None, Meta(description="How many match, on all pages; only on the first page.")]
    next_cursor: Annotated[str | None, Meta(description="The cursor of the next page; null on the last one.")]


class Unread(FromStrangers, frozen=True, kw_only=True):
    entries: Annotated[list[ListedEntry], Meta(description="In the order in which they arrived.")]
    has_more: Annotated[bool, Meta(description="Whether a call with next_since lists more now.")]
    next_since: Annotated[str, Meta(description="Keep it: since of the next call.")]


class AttachedFile(Struct, frozen=True):
    url: str
    type: str


class ReadTexts(Struct, frozen=True):
    """What strangers wrote of an entry."""

    title: str
    author: str
    url: str
    comments_url: str
    feed_title: str
    attached: list[AttachedFile]
    markdown: Annotated[str, Meta(description="A part of the article, between lines with a mark.")]


class ReadEntry(FromStrangers, frozen=True, kw_only=True):
    id: str
    feed_id: str
    status: str
    starred: bool
    published_at: str
    labels: list[str]
    offset: int
    total_chars: Annotated[int, Meta(description="Characters of the whole article.")]
    next_offset: Annotated[int | None, Meta(description="Where the next part begins; null after the last one.")]
    from_strangers: ReadTexts


@tools.add("search", title="Search entries", scope=KeyScope.READ)
def search(call: ToolCall, arguments: Search) -> Found:
    """Find entries with a query.

    Words must all match: rain "heavy snow" -hail. OR and parentheses join alternatives. Fields: title:, text:, author:,
    url:, site:, feed:, category:, label:, tag:, lang:, has:image (enclosure, video, audio), is:unread (read, starred,
    shared), words>500, minutes<=5, S:7 (the view with this id). Times: published:7d, published:12h, published:today,
    published:2026-01, published:2026-01..2026-02; so do changed:, added: and read:. A query that cannot be read comes
    back with the place and what was expected there.
    """
    services, user = call.services, call.user
    asked = services.entries.queries.dated(user, arguments.query)
    filter_ = EntryFilter(query=asked)
    direction = Direction.DESC if arguments.newest_first else Direction.ASC
    cursor = _read_cursor(arguments.cursor)
    page = PageRequest(order=Order.PUBLISHED_AT, direction=direction, limit=arguments.limit + 1, cursor=cursor)
    with services.entries.listing.of(user.id, filter_) as lists:
        rows = lists.rows(filter_, page)
        total = lists.count(filter_) if cursor is None else None
        shown = page_of(_listed(lists.db, call, rows[: arguments.limit]))
    has_more = len(shown) < len(rows) and bool(shown)
    last = next((row for row in rows if shown and str(row.id) == shown[-1].id), None)
    return Found(
        entries=shown, total=total, next_cursor=f"{last.published_at}-{last.id}" if last and has_more else None
    )


@tools.add("list_unread", title="List what is unread since", scope=KeyScope.READ)
def list_unread(call: ToolCall, arguments: ListUnread) -> Unread:
    """List unread entries that arrived since a time, or since an earlier call: give next_since of that call."""
    services, user, now = call.services, call.user, call.services.clock()
    base, named, moment = _since(arguments.since, user.timezone, now)
    asked: DatedQuery | None = services.entries.queries.dated(user, arguments.query)
    filter_ = EntryFilter(statuses=(EntryStatus.UNREAD,), query=asked)
    page = PageRequest(order=Order.ID, direction=Direction.ASC, limit=arguments.limit + 1 + len(named))
    with services.entries.listing.of(user.id, filter_) as lists:
        after = base if moment is None else _last_before(lists.db, user.id, moment)
        found = lists.rows(replace(filter_, after_entry_id=after), page)
        rows = [row for row in found if row.id not in named]
        shown = page_of(_listed(lists.db, call, rows[: arguments.limit]))
        settled = _last_before(lists.db, user.id, Instant(now - UNSETTLED)) if base is None else base
    has_more = len(rows) > len(shown)
    reached = cursor_after(settled, named, rows[: len(shown)], now, has_more=has_more)
    return Unread(entries=shown, has_more=has_more, next_since=reached)


@tools.add("get_entry", title="Read an entry", scope=KeyScope.READ)
def get_entry(call: ToolCall, arguments: GetEntry) -> ReadEntry:
    """Read an entry as Markdown, in parts. This does not mark it as read."""
    with call.services.reading() as db:
        entry = owned_entry(db, call.user.id, int(arguments.entry_id))
        page = entry_lists.with_bodies(db, [entry])
        feed = sidebar.get_many(db, call.user.id, [entry.feed_id]).get(entry.feed_id)
        given = labels.of_entries(db, call.user.id, [entry.id]).get(entry.id, [])
    markdown = readable(to_markdown(page.contents.get(entry.id, "")))
    end = min(arguments.offset + arguments.max_chars, len(markdown))
    return ReadEntry(
        id=str(entry.id),
        feed_id=str(entry.feed_id),
        status=EntryStatus(entry.status).api_name,
        starred=bool(entry.starred),
        published_at=time_zone(call.user.timezone).format(entry.published_at),
        labels=[label.name for label in given],
        offset=arguments.offset,
        total_chars=len(markdown),
        next_offset=end if end < len(markdown) else None,
        from_strangers=ReadTexts(
            one_line(entry.title, 1_000),
            one_line(entry.author, 200),
            address(entry.url),
            address(entry.comments_url),
            one_line(feed.title if feed else "", 200),
            [
                AttachedFile(address(one.url), one_line(one.mime_type, 100))
                for one in page.enclosures.get(entry.id, [])[:20]
            ],
            fenced(markdown[arguments.offset : end], call.mark),
        ),
    )


def _listed(db: Read, call: ToolCall, rows: Sequence[Entry]) -> list[ListedEntry]:
    user = call.user
    contents = entry_lists.with_bodies(db, list(rows), parts=_EXCERPTS).contents
    titles = {id_: feed.title for id_, feed in sidebar.get_many(db, user.id, {row.feed_id for row in rows}).items()}
    given = labels.of_entries(db, user.id, [row.id for row in rows])
    clock = time_zone(user.timezone)
    return [
        ListedEntry(
            str(row.id),
            str(row.feed_id),
            EntryStatus(row.status).api_name,
            bool(row.starred),
            clock.format(row.published_at),
            shown_minutes(row.reading_time, user),
            [label.name for label in given.get(row.id, ())],
            _texts(row, titles, contents.get(row.id, "")),
        )
        for row in rows
    ]


def _texts(row: Entry, feed_titles: Mapping[int, str], content: str) -> EntryTexts:
    return EntryTexts(
        one_line(row.title, 300),
        one_line(row.author, 100),
        address(row.url, 500),
        one_line(feed_titles.get(row.feed_id, ""), 200),
        one_line(excerpt(content, EXCERPT_CHARS), EXCERPT_CHARS + 1),
    )


def _read_cursor(sent: str) -> EntryCursor | None:
    if not sent:
        return None
    found = _CURSOR.fullmatch(sent)
    if found is None or int(found[1]) > LATEST:
        raise InvalidField("cursor", msg("take next_cursor of the page before, or leave it out for the first page."))
    return EntryCursor(Instant(int(found[1])), int(found[2]))


def _since(sent: str, zone: str, now: Instant) -> tuple[int | None, frozenset[int], Instant | None]:
    """Return after which entry to go on and which later ones were listed before, or else after which time."""
    if not sent.strip():
        return None, frozenset(), Instant(now - DAY)
    if found := _SINCE.fullmatch(sent.strip()):
        base, *named = map(int, found[1].split("."))
        return base, frozenset(named), None
    try:
        moment = datetime.fromisoformat(sent.strip())
        aware = moment if moment.tzinfo else moment.replace(tzinfo=zone_info(zone))
        return None, frozenset(), from_datetime(aware)
    except (ValueError, OverflowError):
        problem = msg("give next_since of an earlier call, or a time such as 2026-01-31 or 2026-01-31T08:00.")
        raise InvalidField("since", problem) from None


def _last_before(db: Read, user_id: int, moment: Instant) -> int:
    """Return the id of the last entry that was stored before a moment, 0 if there is none."""
    if entry_lists.is_older_than_all(db, user_id, moment):
        return 0
    first = entry_lists.first_id_created_after(db, user_id, moment)
    return entry_lists.newest_id(db, user_id) if first is None else first - 1


def cursor_after(settled: int, named: frozenset[int], listed: Sequence[Entry], now: Instant, *, has_more: bool) -> str:
    """Return the cursor after a page. settled: an entry up to which all were listed or did not count.

    Entries that are not older than UNSETTLED are named one by one: another transaction may still add one with a lower
    number, which is then not missed, and these are not repeated.
    """
    old = [row.id for row in listed if row.created_at < now - UNSETTLED]
    reached = max(old) if old and has_more else max([settled, *old])
    young = sorted(id_ for id_ in {*named, *(row.id for row in listed)} if id_ > reached)
    if len(young) > MAX_NAMED:
        reached, young = young[-MAX_NAMED - 1], young[-MAX_NAMED:]
    return "id:" + ".".join(map(str, [reached, *young]))
