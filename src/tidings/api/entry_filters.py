"""The query parameters that filter entry lists."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, TypeVar

from tidings.api.paging import read_cursor
from tidings.api.schema_annotations import one_of
from tidings.base.errors import InvalidInput
from tidings.base.messages import verbatim
from tidings.base.times import LATEST, SECOND, Instant
from tidings.domain.entries.entries import (
    STATUS_BY_NAME,
    Direction,
    EntryFilter,
    EntryStatus,
    Order,
    PageRequest,
    tag_key,
)
from tidings.http.binding import Query, boolean

DEFAULT_LIMIT = 100
MAX_ENTRIES = 10_000
MAX_IDS = 10_000
# Each is a separate condition, and a statement may have a thousand.
MAX_TAGS = 100
MAX_LABELS = 100

Choice = TypeVar("Choice", Order, Direction)


class EntriesQuery(Query, frozen=True):
    """Filters and order of a list of entries.

    status: repeated, it matches any of the values. limit: default 100; 0 and more than 10000 mean 10000.
    order: default published_at, ties by id. direction: default asc.
    before: the same as published_before. after: the same as published_after.
    published_before, published_after, changed_before, changed_after: Unix seconds, exclusive.
    before_entry_id, after_entry_id: exclusive. category_id, feed_id: apply in addition to the path.
    search: words of title and content, "phrases", -without, this OR that, begin*.
    query: a query of the query language, such as title:rain (is:starred OR published:7d); 400 if it cannot be read.
    total: exact counts all entries of a query, where counting stops at 10000 otherwise.
    tags: repeated, it matches all of the values.
    label_id: a label of yours, or several, all of which an entry must have.
    cursor: the place after which the page begins, from the link to the next page; then offset is ignored.
    globally_visible: true leaves out feeds and categories hidden from the global lists.
    """

    status: Annotated[tuple[str, ...], one_of(STATUS_BY_NAME)] = ()
    limit: int | None = None
    offset: int | None = None
    order: Annotated[str, one_of(Order)] = ""
    direction: Annotated[str, one_of(Direction)] = ""
    before: int | None = None
    after: int | None = None
    published_before: int | None = None
    published_after: int | None = None
    changed_before: int | None = None
    changed_after: int | None = None
    before_entry_id: int | None = None
    after_entry_id: int | None = None
    starred: bool | None = None
    search: str = ""
    query: str = ""
    category_id: int | None = None
    feed_id: int | None = None
    tags: tuple[str, ...] = ()
    globally_visible: bool | None = None
    label_id: tuple[int, ...] = ()
    cursor: str = ""
    total: Annotated[str, one_of(("exact",))] = ""

    def filter(self) -> EntryFilter:
        """Return the filter without feed and category, which the path may name as well."""
        return EntryFilter(
            statuses=tuple(sorted({_status(word) for word in self.status if word.strip()})),
            starred=self.starred,
            published_before=_bound(min, "before", self.before, self.published_before),
            published_after=_bound(max, "after", self.after, self.published_after),
            changed_before=_bound(min, "changed_before", self.changed_before),
            changed_after=_bound(max, "changed_after", self.changed_after),
            before_entry_id=self.before_entry_id or None,
            after_entry_id=self.after_entry_id or None,
            globally_visible=bool(self.globally_visible),
            tags=self._tag_keys(),
            label_ids=self.label_ids(),
            search=self.search.strip(),
        )

    def label_ids(self) -> tuple[int, ...]:
        return _label_ids(self.label_id)

    @property
    def wants_exact_total(self) -> bool:
        if self.total not in ("", "exact"):
            raise InvalidInput(verbatim(f"total: {self.total[:40]!r} is not exact."), field="total")
        return bool(self.total)

    def _tag_keys(self) -> tuple[str, ...]:
        keys = tuple(dict.fromkeys(key for tag in self.tags if (key := tag_key(tag))))
        if len(keys) > MAX_TAGS:
            raise InvalidInput(verbatim(f"tags: {MAX_TAGS} at most."), field="tags")
        return keys

    def page(self, *, order: Order = Order.PUBLISHED_AT, direction: Direction = Direction.ASC) -> PageRequest:
        """Return the page. order, direction: where none is sent."""
        limit = DEFAULT_LIMIT if self.limit is None else min(self.limit or MAX_ENTRIES, MAX_ENTRIES)
        order = _choice(Order, self.order, "order") if self.order else order
        direction = _choice(Direction, self.direction, "direction") if self.direction else direction
        if self.cursor:
            return PageRequest(order=order, direction=direction, limit=limit, cursor=read_cursor(self.cursor, order))
        return PageRequest(order=order, direction=direction, limit=limit, offset=self.offset or 0)


class IdsQuery(Query, frozen=True):
    """Filters of a list of ids. An invalid status, starred, query or label_id is refused; other filters are ignored.

    starred: true or false. limit: default and maximum 10000. query: a query of the query language.
    label_id: a label of yours, or several, all of which an entry must have.
    """

    status: Annotated[tuple[str, ...], one_of(STATUS_BY_NAME)] = ()
    starred: Annotated[tuple[str, ...], one_of(("true", "false"))] = ()
    query: str = ""
    limit: int | None = None
    offset: int | None = None
    label_id: tuple[int, ...] = ()

    def filter(self) -> EntryFilter:
        starred = None
        if self.starred:
            starred = boolean([self.starred[0]])
            if starred is None:
                raise InvalidInput(verbatim("starred: send true or false."), field="starred")
        return EntryFilter(
            statuses=(_status(self.status[0]),) if self.status else (),
            starred=starred,
            label_ids=_label_ids(self.label_id),
        )

    def page_size(self) -> int:
        return min(self.limit or MAX_IDS, MAX_IDS)


def _label_ids(sent: tuple[int, ...]) -> tuple[int, ...]:
    """Return each id once; 0 counts as not sent."""
    ids = tuple(sorted({number for number in sent if number}))
    if len(ids) > MAX_LABELS:
        raise InvalidInput(verbatim(f"label_id: {MAX_LABELS} at most."), field="label_id")
    return ids


def _status(word: str) -> EntryStatus:
    status = STATUS_BY_NAME.get(word.strip())
    if status is None:
        raise InvalidInput(verbatim(f"status: {word[:40]!r} is not read, unread or removed."), field="status")
    return status


def _choice(kind: type[Choice], word: str, field: str) -> Choice:
    try:
        return kind(word)
    except ValueError:
        raise InvalidInput(verbatim(f"{field}: {word[:40]!r} is not one of {', '.join(kind)}."), field=field) from None


def _bound(tightest: Callable[[list[int]], int], field: str, *seconds: int | None) -> Instant | None:
    """Return the tighter of the bounds; 0 counts as not sent. Raises InvalidInput beyond the year 9999."""
    bounds = [second for second in seconds if second]
    if not bounds:
        return None
    if max(bounds) * SECOND > LATEST:
        raise InvalidInput(verbatim(f"{field}: Unix seconds up to the year 9999, please."), field=field)
    return Instant(tightest(bounds) * SECOND)
