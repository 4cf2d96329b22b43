"""The sidebar of every page: lists, categories with their feeds, and unread counts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from functools import cached_property
from urllib.parse import parse_qsl, urlencode

import msgspec
from msgspec import Struct

from tidings.base.text import normalize_for_search, sort_key
from tidings.domain.accounts.users import User
from tidings.domain.entries.labels import Label, suggested_color
from tidings.domain.feeds.categories import SEPARATOR, Category, CategoryTree
from tidings.services import Services
from tidings.services.entries.view_counts import ViewCounts
from tidings.storage.entries import labels
from tidings.storage.feeds import categories, further_categories, sidebar
from tidings.storage.feeds.sidebar import SidebarCounts, SidebarFeed

# Maximum number of feeds that a page lists: a thousand of them would be most of the page. Accounts with at most this
# many feeds have all groups open at first. Scripts load the other feeds of a group when it is opened.
MAX_UNFOLDED_FEEDS = 120
# Maximum number of labels that a page lists; the page of labels has all of them.
MAX_LABELS = 30
# Length of the order that a device keeps, as text: browsers refuse cookies of more than 4 kB.
MAX_ORDER = 3_000
# Groups whose state a device remembers; the least recently changed are dropped.
MAX_REMEMBERED_GROUPS = 200


class SidebarState(Struct, frozen=True):
    """What a device remembers of its sidebar, in a cookie."""

    opened: tuple[int, ...] = ()
    """Ids of categories, the last changed last."""
    closed: tuple[int, ...] = ()
    """Ids of categories, the last changed last."""
    only_unread: bool = False

    @classmethod
    def read(cls, cookie: str) -> SidebarState:
        """Return what the cookie says; anything that is not understood counts as not said."""
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


class CategoryOrder(Struct, frozen=True):
    """The order that categories sorted by unread entries keep while someone reads, in a cookie of this device."""

    ids: tuple[int, ...] = ()

    @classmethod
    def read(cls, cookie: str) -> CategoryOrder:
        return cls(_ids(cookie) if len(cookie) <= MAX_ORDER else ())

    def packed(self) -> str:
        """Return the ids as text, without the last ones if there is no room for all."""
        text = ".".join(map(str, self.ids))
        return text if len(text) <= MAX_ORDER else text[:MAX_ORDER].rpartition(".")[0]


class CategoryLine(Struct, frozen=True):
    """A category with its counts, and its place in the tree."""

    category: Category
    own: SidebarCounts
    """Of its own feeds, and of those for which it is not the first category."""
    counts: SidebarCounts
    """With those of the categories below it, each feed once."""
    path: str
    """Its name after those of the categories above it."""
    depth: int
    """1 at the top."""

    @property
    def path_key(self) -> str:
        """What paths are sorted by."""
        return sort_key(self.path)

    @property
    def unread(self) -> int:
        return self.counts.unread


class SidebarGroup(Struct, frozen=True):
    """A category as the page shows it."""

    category: Category
    unread: int
    is_open: bool
    feeds: list[SidebarFeed]
    """The feeds that the page lists."""
    before: int = 0
    """How many feeds are left out before the listed ones."""
    after: int = 0
    """How many feeds are left out after the listed ones."""
    groups: list[SidebarGroup] = []
    """The categories below it."""
    more_lines: int = 0
    """How many lines the page leaves out if it lists nothing of the group."""


class Sidebar:
    """The lists of a user with their counts. Feeds are read when a page shows them: of thousands, most pages show few.

    categories: in the order of the sidebar. feed_count: number of all feeds. unread: the count of the global list.
    labels: in the order of the user, without counts, which would take reading their entries. order: of the categories
    as they are, to be kept; None if they are sorted by name.
    """

    def __init__(self, services: Services, user: User, kept: CategoryOrder | None = None) -> None:
        """kept: the order that categories sorted by unread entries had on the page before."""
        self._services = services
        self._user = user
        self._user_id = user.id
        with services.reading() as db:
            counts = sidebar.count_by_category(db, user.id)
            self.tree = CategoryTree(categories.list_all(db, user.id))
            self.further = further_categories.of_user(db, user.id)
            elsewhere = sidebar.get_many(db, user.id, self.further) if self.further else {}
            self.labels = labels.list_all(db, user.id)
        places = {id_: (feed.category_id, *self.further[id_]) for id_, feed in elsewhere.items()}
        is_by_unread = user.categories_sorting_order == "unread_count"
        self.categories = _lines(
            self.tree,
            counts,
            [(feed, places[id_]) for id_, feed in elsewhere.items()],
            kept=(kept or CategoryOrder()) if is_by_unread else None,
        )
        self.order = CategoryOrder(tuple(line.category.id for line in self.categories)) if is_by_unread else None
        hidden = {line.category.id for line in self.categories if self.tree.is_hidden(line.category.id)}
        self.feed_count = sum(each.feeds for each in counts.values())
        self.unread = sum(each.visible_unread for id_, each in counts.items() if id_ not in hidden)
        # A feed is seen as long as one of its categories is.
        seen = [
            feed
            for id_, feed in elsewhere.items()
            if not feed.hide_globally and feed.category_id in hidden and not hidden.issuperset(places[id_])
        ]
        if seen:
            with services.reading() as db:
                hidden_entries = sidebar.hidden_by_feed(db, user.id)
            self.unread += sum(feed.unread - hidden_entries.get(feed.id, 0) for feed in seen)
        self.starred = sum(each.starred for each in counts.values())
        self.read = sum(each.read for each in counts.values())

    @cached_property
    def views(self) -> ViewCounts:
        """The saved views with their unread entries. Slow counts are old after a change: scripts ask for new ones."""
        return self._services.entries.view_counter.count(self._user, may_be_old=True)

    @cached_property
    def feeds(self) -> list[SidebarFeed]:
        """All feeds, in the order of the sidebar."""
        with self._services.reading() as db:
            return sidebar.list_feeds(db, self._user_id)

    def feed(self, feed_id: int) -> SidebarFeed | None:
        return self.feeds_by_id([feed_id]).get(feed_id)

    def feeds_by_id(self, feed_ids: Collection[int]) -> dict[int, SidebarFeed]:
        """Return the feeds that belong to the user."""
        with self._services.reading() as db:
            return sidebar.get_many(db, self._user_id, feed_ids)

    def feeds_of(self, category_ids: Collection[int]) -> dict[int, list[SidebarFeed]]:
        """Return the feeds of the user's categories, each in the order of the sidebar."""
        by_category: dict[int, list[SidebarFeed]] = {category_id: [] for category_id in category_ids}
        if by_category:
            with self._services.reading() as db:
                for feed in sidebar.list_feeds_of(db, self._user_id, by_category):
                    for category_id in (feed.category_id, *self.further.get(feed.id, ())):
                        if category_id in by_category:
                            by_category[category_id].append(feed)
        return by_category

    def shown_labels(self, label_id: int | None) -> list[Label]:
        """Return the labels that a page lists: the first ones, and the current one."""
        return [label for place, label in enumerate(self.labels) if place < MAX_LABELS or label.id == label_id]

    @property
    def new_label_color(self) -> str:
        """The colour that a new label has unless another is chosen."""
        return suggested_color(self.labels)

    def category(self, category_id: int) -> CategoryLine | None:
        return next((line for line in self.categories if line.category.id == category_id), None)

    def find(self, words: str) -> list[SidebarFeed]:
        """Return the feeds whose titles contain all of the words, by category in the order of the sidebar."""
        wanted = normalize_for_search(words).split()
        places = {line.category.id: place for place, line in enumerate(self.categories)}
        found = [feed for feed in self.feeds if all(word in normalize_for_search(feed.title) for word in wanted)]
        return sorted(found, key=lambda feed: places.get(feed.category_id, len(places)))

    def groups(
        self, state: SidebarState, feed_id: int | None, category_id: int | None, *, below: int | None = None
    ) -> list[SidebarGroup]:
        """Return the groups as the page shows them. feed_id, category_id: ids of the current list.

        below: the category whose groups to return, instead of those at the top. The feeds of the current group come
        first when not all fit. What is in a closed group is left out unless all fits.
        """
        current = set[int]() if category_id is None else {one.id for one in self.tree.line(category_id)}
        inside = None if below is None else set(self.tree.with_below(below)) - {below}
        lines = [
            line
            for line in self.categories
            if (not state.only_unread or line.unread or line.category.id in current)
            and (inside is None or line.category.id in inside)
        ]
        # Those above the current one are open, so that it is seen.
        open_ids = {line.category.id for line in lines if self._is_open(line, state, feed_id, category_id)}
        open_ids |= current - {category_id}
        seen_ids = set[int]()
        for line in lines:
            if line.category.id in open_ids and (line.depth == 1 or line.category.parent_id in {*seen_ids, below}):
                seen_ids.add(line.category.id)
        has_room_for_all = sum(_shown_count(line, state) for line in lines) <= MAX_UNFOLDED_FEEDS
        listed_ids = {line.category.id for line in lines} if has_room_for_all else seen_ids
        listed = self.feeds_of(listed_ids)
        room, shown = MAX_UNFOLDED_FEEDS, dict[int, SidebarGroup]()
        children = Counter(line.category.parent_id for line in lines)
        for line in sorted(lines, key=lambda line: line.category.id != category_id):
            number, group = line.category.id, (line.category, line.unread, line.category.id in open_ids)
            if number not in listed:
                after = line.counts.unread_feeds if state.only_unread else line.counts.feeds
                more_lines = _shown_count(line, state) + children[number]
                shown[number] = SidebarGroup(*group, [], after=after, more_lines=more_lines)
                continue
            feeds = [feed for feed in listed[number] if feed.unread or feed.id == feed_id or not state.only_unread]
            first, last = _window(feeds, feed_id, room)
            room -= last - first
            shown[number] = SidebarGroup(*group, feeds[first:last], first, len(feeds) - last)
        tops: list[SidebarGroup] = []
        for line in lines:
            parent = shown.get(line.category.parent_id or 0)
            siblings = tops if parent is None else parent.groups if line.category.parent_id in listed_ids else []
            siblings.append(shown[line.category.id])
        return tops

    def _is_open(self, line: CategoryLine, state: SidebarState, feed_id: int | None, category_id: int | None) -> bool:
        category, is_current = line.category.id, line.category.id == category_id
        if (is_current and feed_id is not None) or category in state.opened:
            return True
        return category not in state.closed and (is_current or self.feed_count <= MAX_UNFOLDED_FEEDS)


def _lines(
    tree: CategoryTree,
    counts: Mapping[int, SidebarCounts],
    elsewhere: Iterable[tuple[SidebarFeed, Sequence[int]]],
    *,
    kept: CategoryOrder | None,
) -> list[CategoryLine]:
    """Return the categories, each followed by those below it; siblings by name or by unread entries.

    counts: of the feeds by their first category. elsewhere: feeds in further categories, with all of theirs. kept: None
    to sort by name; otherwise those that it has come first, in its order.
    """
    kept_places = {id_: place for place, id_ in enumerate(kept.ids)} if kept else {}
    own = {one.id: counts.get(one.id) or SidebarCounts(one.id) for one, _ in tree.walk()}
    names = SidebarCounts.__struct_fields__[1:]
    sums = {name: tree.summed({id_: getattr(each, name) for id_, each in own.items()}) for name in names}
    counted = {id_: SidebarCounts(id_, *(sums[name][id_] for name in names)) for id_ in own}
    for feed, places in elsewhere:
        own |= {id_: own[id_].with_feed(feed) for id_ in places[1:] if id_ in own}
        counted |= {id_: counted[id_].with_feed(feed) for id_ in tree.only_through_further(places)}
    lines: list[CategoryLine] = []
    # With the path of what is above, as text.
    waiting: list[tuple[Category, str, int]] = []

    def add(parent_id: int | None, prefix: str, depth: int) -> None:
        children = list(tree.children(parent_id))
        if kept is not None:
            # The sort is stable: equal categories stay in the order of their names.
            children.sort(key=lambda one: (kept_places.get(one.id, len(kept_places)), -counted[one.id].unread))
        waiting.extend((one, prefix, depth) for one in reversed(children))

    add(None, "", 1)
    while waiting:
        one, prefix, depth = waiting.pop()
        lines.append(CategoryLine(one, own[one.id], counted[one.id], f"{prefix}{one.name}", depth))
        add(one.id, f"{prefix}{one.name}{SEPARATOR}", depth + 1)
    return lines


def _shown_count(line: CategoryLine, state: SidebarState) -> int:
    """Return the number of feeds that a group has, apart from a current one without unread entries."""
    return line.own.unread_feeds if state.only_unread else line.own.feeds


def _window(feeds: list[SidebarFeed], feed_id: int | None, room: int) -> tuple[int, int]:
    """Return the bounds of up to `room` feeds around the current one, or of the first ones."""
    if len(feeds) <= room:
        return 0, len(feeds)
    current = next((place for place, feed in enumerate(feeds) if feed.id == feed_id), 0)
    first = max(0, min(current - room // 2, len(feeds) - room))
    return first, first + room


def _ids(text: str) -> tuple[int, ...]:
    return tuple(int(word) for word in text.split(".") if word.isascii() and word.isdecimal() and len(word) < 19)
