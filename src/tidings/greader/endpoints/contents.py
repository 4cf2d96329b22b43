"""Endpoints for the items of streams, and for their ids."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager
from itertools import islice
from typing import Final

import msgspec
from msgspec import UNSET, Struct, UnsetType, structs
from starlette.responses import Response

from tidings.base.errors import InvalidInput
from tidings.base.messages import verbatim
from tidings.base.times import SECOND
from tidings.domain.accounts.users import User
from tidings.domain.entries.entries import Direction, Folded
from tidings.engine.statements import split_ids
from tidings.greader import item_ids, items, streams
from tidings.greader.items import Item
from tidings.greader.streams import StreamFilter, Views
from tidings.http.binding import QueryOrForm
from tidings.http.endpoints import Routes
from tidings.http.requests import Request
from tidings.http.responses import JSON, ChunkedJson
from tidings.services import Services
from tidings.services.entries.listing import EntryLists, needs_index

routes = Routes("Streams")

USUAL_COUNT: Final = 20
# Twine asks once, for 50,000; what it does not get is deleted there.
MAX_IDS: Final = 100_000
# What Readrops asks for: ids to read, and starred ones.
_READROPS_COUNTS: Final = frozenset(("2500", "1000"))
# More than can exist.
ALL_IDS: Final = 2**31
# Readrops asks once, for 2,500.
MAX_ITEMS: Final = 10_000
# Maximum number of streams in one request.
MAX_STREAMS: Final = 100
# Items that are read and encoded at a time.
_ITEMS_PER_CHUNK: Final = 500
# Characters of joined ids that are encoded at a time.
_ID_CHARACTERS: Final = 32_768


class StreamQuery(QueryOrForm, frozen=True):
    """s: streams, none for all entries. n: how many. c: the cursor of the previous page. r: o for oldest first.

    ot, nt: when entries were stored, at the earliest and at the latest; "" and 0 for any time.
    it, xt: streams to be in, and not to be in. q: words to search for, as in the native API.
    """

    s: tuple[str, ...] = ()
    n: str = ""
    c: str = ""
    r: str = ""
    ot: str = ""
    nt: str = ""
    it: tuple[str, ...] = ()
    xt: tuple[str, ...] = ()
    q: str = ""

    @property
    def direction(self) -> Direction:
        return Direction.ASC if self.r == "o" else Direction.DESC

    def stream_filter(self, caller: User) -> StreamFilter:
        since, until = streams.moment(self.ot) or None, streams.moment(self.nt) or None
        return StreamFilter(
            include=self.it,
            exclude=self.xt,
            since=since,
            until=until,
            search=self.q.strip(),
            folded=Folded.for_apps(caller),
        )

    def count(self, most: int) -> int:
        digits = self.n.strip()
        if not (digits.isascii() and digits.isdigit()):
            return USUAL_COUNT
        # Apps that want everything send numbers of any size.
        return most if len(digits) > 9 else min(int(digits) or USUAL_COUNT, most)

    @property
    def cursor(self) -> int | None:
        """The last id of the previous page; None on the first page."""
        digits = "".join(letter for letter in self.c[:100] if letter in "0123456789")
        return min(int(digits), 2**63 - 1) or None if digits else None


class ItemsQuery(QueryOrForm, frozen=True):
    i: tuple[str, ...] = ()
    r: str = ""


class ItemRef(Struct, frozen=True):
    """id: decimal; for Readrops with zeros before it."""

    id: str


class ItemRefs(Struct, frozen=True, rename="camel"):
    """continuation: absent on the last page."""

    item_refs: list[ItemRef]
    continuation: str | UnsetType = UNSET


class StreamContents(Struct, frozen=True):
    """updated: Unix seconds. continuation: absent on the last page."""

    id: str
    updated: int
    items: list[Item]
    continuation: str | UnsetType = UNSET
    direction: str = "ltr"


class IdPage(Struct, frozen=True):
    """joined: ids, separated by commas."""

    joined: str
    has_more: bool

    @property
    def continuation(self) -> str | UnsetType:
        return self.joined.rpartition(",")[2] if self.has_more else UNSET


@routes.get("/reader/api/0/stream/items/ids")
def list_item_ids(caller: User, services: Services, query: StreamQuery, request: Request) -> Response:
    """List the ids of a stream, in the order in which entries were stored."""
    views = _views(caller, services, query.s, query)
    with _open(caller, services, query, views) as lists:
        page = _ids(lists, caller, query.s, query, query.count(MAX_IDS), views)
    if _is_readrops(request):
        page = structs.replace(page, joined=",".join(f"{entry_id:016d}" for entry_id in split_ids(page.joined)))
    chunks = _ref_chunks(page)
    return ChunkedJson(chunks) if len(page.joined) > _ID_CHARACTERS else Response(b"".join(chunks), media_type=JSON)


routes.post("/reader/api/0/stream/items/ids")(list_item_ids)


@routes.get("/reader/api/0/stream/items/count")
def count_items(caller: User, services: Services, query: StreamQuery) -> str:
    """Get the number of entries of the streams. An entry in several of them counts once."""
    views = _views(caller, services, query.s, query)
    with _open(caller, services, query, views) as lists:
        if len(query.s) > 1:
            return str(len(split_ids(_ids(lists, caller, query.s, query, ALL_IDS, views).joined)))
        selection = streams.entry_filter(lists.db, caller.id, "".join(query.s), query.stream_filter(caller), views)
        return str(lists.count(selection) if selection else 0)


@routes.get("/reader/api/0/stream/contents")
def list_stream(caller: User, services: Services, query: StreamQuery) -> Response:
    """List the items of the streams in the query; without one, of all entries."""
    return _contents(caller, services, query.s or (streams.READING_LIST,), query)


@routes.get("/reader/api/0/stream/contents/{stream:path}")
def list_named_stream(caller: User, services: Services, stream: str, query: StreamQuery) -> Response:
    """List the items of the stream in the path, which may be escaped or not. EasyRSS sends `s` after a slash."""
    return _contents(caller, services, (stream,) if stream else query.s or (streams.READING_LIST,), query)


routes.post("/reader/api/0/stream/contents")(list_stream)
routes.post("/reader/api/0/stream/contents/{stream:path}")(list_named_stream)


def _contents(caller: User, services: Services, wanted: Sequence[str], query: StreamQuery) -> Response:
    views = _views(caller, services, wanted, query)
    with _open(caller, services, query, views) as lists:
        page = _ids(lists, caller, wanted, query, query.count(MAX_ITEMS), views)
    head = _head(services, wanted[0].strip() or streams.READING_LIST, page.continuation)
    return _response(caller, services, head, split_ids(page.joined), newest_first=query.direction is Direction.DESC)


def _views(caller: User, services: Services, wanted: Sequence[str], query: StreamQuery) -> Views:
    """Return the saved views of the user that apps see, if a stream may be one."""
    if not any("label" in text for text in (*wanted, *query.it, *query.xt)):
        return {}
    with services.reading() as db:
        return services.entries.queries.app_views(db, caller)


def _open(caller: User, services: Services, query: StreamQuery, views: Views) -> AbstractContextManager[EntryLists]:
    """Open the user's lists, with the index up to date if a search or a view may ask it."""
    asking = next((view for view in views.values() if needs_index("", view)), None)
    return services.entries.listing.open(caller.id, search=query.q, query=asking)


def _ids(
    lists: EntryLists, caller: User, wanted: Sequence[str], query: StreamQuery, count: int, views: Views
) -> IdPage:
    """Return the ids of a page, and whether another follows. An entry in several streams occurs once."""
    if len(wanted) > MAX_STREAMS:
        raise InvalidInput(verbatim(f"s: send {MAX_STREAMS} streams at most."), field="s")
    is_newest_first = query.direction is Direction.DESC
    place = {"before_entry_id" if is_newest_first else "after_entry_id": query.cursor}
    found: str | None = None
    for stream in dict.fromkeys(wanted or ("",)):
        selection = streams.entry_filter(lists.db, caller.id, stream, query.stream_filter(caller), views)
        if selection is not None:
            selection = structs.replace(selection, **place)
            more = lists.ids(selection, direction=query.direction, limit=count + 1)
            found = more if found is None else _merged(found, more, count + 1, is_newest_first=is_newest_first)
    joined = found or ""
    has_more = joined.count(",") == count
    return IdPage(joined.rpartition(",")[0] if has_more else joined, has_more)


def _merged(first: str, second: str, most: int, *, is_newest_first: bool) -> str:
    """Return the first `most` of two sorted lists of ids, each id once.

    Two lists at a time, so that a request for many streams holds no more in memory than one for two.
    """
    ids = [*split_ids(first), *split_ids(second)]
    # Takes linear time, since both halves are sorted.
    ids.sort(reverse=is_newest_first)
    return ",".join(map(str, islice(dict.fromkeys(ids), most)))


def _is_readrops(request: Request) -> bool:
    """Return whether Readrops asks for ids. It does not say its name: its HTTP client and its parameters tell.

    It compares these ids with those of items after it wrote them in hexadecimal, with as many digits as the decimal
    id has. Items have 16, so that it takes entries with shorter decimal ids for read. Other apps cannot have
    zeros before a decimal id: they would send them back, and 16 digits that begin with 0 are hexadecimal.
    """
    sent = {name: value for name, value in request.query if name != "xt"}
    is_okhttp = request.user_agent.startswith("okhttp/")
    return sent.keys() == {"s", "n"} and sent["n"] in _READROPS_COUNTS and is_okhttp


def _ref_chunks(page: IdPage) -> Iterator[bytes]:
    """Yield ItemRefs as JSON. As text: a struct for each would take longer than the ids themselves."""
    before, after = _around_items(ItemRefs(item_refs=[], continuation=page.continuation))
    yield before
    start = 0
    while start < len(page.joined):
        end = page.joined.find(",", start + _ID_CHARACTERS)
        end = len(page.joined) if end < 0 else end
        refs = '{"id":"' + page.joined[start:end].replace(",", '"},{"id":"') + '"}'
        yield (refs if start == 0 else "," + refs).encode()
        start = end + 1
    yield after


@routes.post("/reader/api/0/stream/items/contents")
def list_items(caller: User, services: Services, query: ItemsQuery, request: Request) -> Response:
    """List items by id, in any number. Unknown ids and other users' ids are left out."""
    newest_first = query.r != "o"
    ids = sorted(item_ids.parse_all(query.i), reverse=newest_first)
    for_liferea = request.user_agent.startswith("Liferea/")
    head = _head(services, streams.READING_LIST)
    return _response(caller, services, head, ids, newest_first=newest_first, for_liferea=for_liferea)


routes.get("/reader/api/0/stream/items/contents")(list_items)


def _head(services: Services, stream: str, continuation: str | UnsetType = UNSET) -> StreamContents:
    """Return a response that has no items yet."""
    return StreamContents(id=stream, updated=services.clock() // SECOND, items=[], continuation=continuation)


def _response(
    caller: User,
    services: Services,
    head: StreamContents,
    ids: Sequence[int],
    *,
    newest_first: bool,
    for_liferea: bool = False,
) -> Response:
    """Return the response with these items. An entry that is deleted in the meantime is missing."""
    chunks = _chunks(caller, services, head, ids, newest_first=newest_first, for_liferea=for_liferea)
    # A client may ask for ten thousand items, more than should be in memory. A short answer has a Content-Length.
    return ChunkedJson(chunks) if len(ids) > _ITEMS_PER_CHUNK else Response(b"".join(chunks), media_type=JSON)


def _chunks(
    caller: User,
    services: Services,
    head: StreamContents,
    ids: Sequence[int],
    *,
    newest_first: bool,
    for_liferea: bool,
) -> Iterator[bytes]:
    """Yield StreamContents as JSON, with a transaction for the items of each chunk."""
    before, after = _around_items(head)
    yield before
    is_first = True
    for start in range(0, len(ids), _ITEMS_PER_CHUNK):
        with services.reading() as db:
            chunk = ids[start : start + _ITEMS_PER_CHUNK]
            found = items.read(
                db,
                caller.id,
                chunk,
                newest_first=newest_first,
                for_liferea=for_liferea,
                folded_as=Folded.for_apps(caller),
            )
            encoded = msgspec.json.encode(found)
        if len(encoded) > len(b"[]"):
            yield encoded[1:-1] if is_first else b"," + encoded[1:-1]
            is_first = False
    yield after


def _around_items(head: ItemRefs | StreamContents) -> tuple[bytes, bytes]:
    """Return the JSON before and after the items of a response that has none.

    From the end: the id of a stream is what the client sent, and may have brackets.
    """
    before, brackets, after = msgspec.json.encode(head).rpartition(b"[]")
    return before + brackets[:1], brackets[1:] + after
