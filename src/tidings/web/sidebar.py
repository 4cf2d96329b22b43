"""The sidebar of every page: lists, categories with their feeds, and unread counts."""

from __future__ import annotations

from collections.abc import Iterator
from urllib.parse import parse_qsl, urlencode

import msgspec
from msgspec import Struct

from tidings.domain.accounts.users import User
from tidings.domain.entries.labels import Label
from tidings.domain.feeds.categories import Category
from tidings.domain.text import normalize_for_search
from tidings.services import Services
from tidings.storage.entries import labels
from tidings.storage.feeds import categories, sidebar
from tidings.storage.feeds.sidebar import SidebarFeed

# A page lists at most so many feeds: a thousand of them would be most of the page. Accounts with up to so many feeds
# have all groups open at first. Scripts load the other feeds of a group when it is opened.
MAX_UNFOLDED_FEEDS = 120
# A page lists at most so many labels; the page of labels has all of them.
MAX_LABELS = 30
# Groups whose state a device remembers; those changed first are forgotten.
MAX_REMEMBERED_GROUPS = 200


class SidebarState(Struct, frozen=True):
    """What a device remembers of its sidebar, in a cookie. opened, closed: ids of categories, the last changed last."""

    opened: tuple[int, ...] = ()
    closed: tuple[int, ...] = ()
    only_unread: bool = False

    @classmethod
    def read(cls, cookie: str) -> SidebarState:
        """Returns what the cookie says; anything that is not understood counts as not said."""
        given = dict(parse_qsl(cookie, max_num_fields=10)) if len(cookie) < 8192 else {}
        return cls(_ids(given.get("open", "")), _ids(given.get("closed", "")), "unread" in given)

    def packed(self) -> str:
        lists = {"open": self.opened, "closed": self.closed}
        fields = {name: ".".join(map(str, ids[-MAX_REMEMBERED_GROUPS:])) for name, ids in lists.items() if ids}
        return urlencode(fields | ({"unread": "1"} if self.only_unread else {}))

    def with_group(self, category_id: int, *, is_open: bool) -> SidebarState:
        opened, closed = (tuple(known for known in ids if known != category_id) for ids in (self.opened, self.closed))
        if is_open:
            return msgspec.structs.replace(self, opened=(*opened, category_id), closed=closed)
        return msgspec.structs.replace(self, opened=opened, closed=(*closed, category_id))

    def with_only_unread(self, only_unread: bool) -> SidebarState:
        return msgspec.structs.replace(self, only_unread=only_unread)


class CategoryLine(Struct, frozen=True):
    category: Category
    feeds: list[SidebarFeed]
    unread: int


class SidebarGroup(Struct, frozen=True):
    """A category as the page shows it. feeds: those that the page lists. before, after: how many are left out there."""

    category: Category
    unread: int
    is_open: bool
    feeds: list[SidebarFeed]
    before: int = 0
    after: int = 0


class Sidebar(Struct, frozen=True):
    """unread: the count of the global list. labels: by name, without counts, which would take reading their entries."""

    categories: list[CategoryLine]
    feeds: dict[int, SidebarFeed]
    unread: int
    starred: int
    read: int
    labels: list[Label] = []

    @classmethod
    def of(cls, services: Services, user: User) -> Sidebar:
        with services.reading() as db:
            lines = sidebar.list_feeds(db, user.id)
            named = categories.list_all(db, user.id)
            own = labels.list_all(db, user.id)
        made = cls._made(lines, named, by_unread=user.categories_sorting_order == "unread_count")
        return msgspec.structs.replace(made, labels=own)

    def shown_labels(self, label_id: int | None) -> list[Label]:
        """Returns the labels that a page lists: the first ones, and the current one."""
        return [label for place, label in enumerate(self.labels) if place < MAX_LABELS or label.id == label_id]

    @classmethod
    def _made(cls, lines: list[SidebarFeed], named: list[Category], *, by_unread: bool) -> Sidebar:
        by_category: dict[int, list[SidebarFeed]] = {}
        for line in lines:
            by_category.setdefault(line.category_id, []).append(line)
        made = [
            CategoryLine(category, feeds, sum(feed.unread for feed in feeds))
            for category in named
            for feeds in (by_category.get(category.id, []),)
        ]
        made.sort(key=lambda line: (-line.unread if by_unread else 0, normalize_for_search(line.category.title)))
        hidden = {category.id for category in named if category.hide_globally}
        return cls(
            categories=made,
            feeds={line.id: line for line in lines},
            unread=sum(line.unread for line in lines if not line.hide_globally and line.category_id not in hidden),
            starred=sum(line.starred for line in lines),
            read=sum(line.read for line in lines),
        )

    def category(self, category_id: int) -> CategoryLine | None:
        return next((line for line in self.categories if line.category.id == category_id), None)

    def find(self, words: str) -> list[SidebarFeed]:
        """Returns the feeds whose titles contain all of the words, in the order of the sidebar."""
        wanted = normalize_for_search(words).split()
        return [
            feed
            for line in self.categories
            for feed in line.feeds
            if all(word in normalize_for_search(feed.title) for word in wanted)
        ]

    def groups(self, state: SidebarState, feed_id: int | None, category_id: int | None) -> list[SidebarGroup]:
        """Returns the groups as the page shows them. feed_id, category_id: of the current list.

        The feeds of the current group come first when not all fit.
        """
        shown = dict(self._shown(state, feed_id, category_id))
        open_ids = {line.category.id for line in self.categories if self._is_open(line, state, feed_id, category_id)}
        has_room_for_all = sum(map(len, shown.values())) <= MAX_UNFOLDED_FEEDS
        room, made = MAX_UNFOLDED_FEEDS, {}
        for line in sorted(self.categories, key=lambda line: line.category.id != category_id):
            feeds = shown.get(line.category.id)
            if feeds is None:
                continue
            is_open = line.category.id in open_ids
            first, last = _window(feeds, feed_id, room if is_open or has_room_for_all else 0)
            room -= last - first
            made[line.category.id] = SidebarGroup(
                line.category, line.unread, is_open, feeds[first:last], first, len(feeds) - last
            )
        return [made[line.category.id] for line in self.categories if line.category.id in made]

    def _shown(
        self, state: SidebarState, feed_id: int | None, category_id: int | None
    ) -> Iterator[tuple[int, list[SidebarFeed]]]:
        """Yields the feeds by category: all of them, or only those with unread entries and the current one."""
        for line in self.categories:
            if not state.only_unread:
                yield line.category.id, line.feeds
            elif line.unread or line.category.id == category_id:
                yield line.category.id, [feed for feed in line.feeds if feed.unread or feed.id == feed_id]

    def _is_open(self, line: CategoryLine, state: SidebarState, feed_id: int | None, category_id: int | None) -> bool:
        category, is_current = line.category.id, line.category.id == category_id
        if (is_current and feed_id is not None) or category in state.opened:
            return True
        return category not in state.closed and (is_current or len(self.feeds) <= MAX_UNFOLDED_FEEDS)


def _window(feeds: list[SidebarFeed], feed_id: int | None, room: int) -> tuple[int, int]:
    """Returns the bounds of up to `room` feeds around the current one, or of the first ones."""
    if len(feeds) <= room:
        return 0, len(feeds)
    current = next((place for place, feed in enumerate(feeds) if feed.id == feed_id), 0)
    first = max(0, min(current - room // 2, len(feeds) - room))
    return first, first + room


def _ids(text: str) -> tuple[int, ...]:
    return tuple(int(word) for word in text.split(".") if word.isascii() and word.isdecimal() and len(word) < 19)
