"""The sidebar of every page: lists, categories with their feeds, and unread counts."""

from __future__ import annotations

from msgspec import Struct

from tidings.domain.accounts.users import User
from tidings.domain.feeds.categories import Category
from tidings.domain.text import normalize_for_search
from tidings.services import Services
from tidings.storage.feeds import categories, sidebar
from tidings.storage.feeds.sidebar import SidebarFeed

# With more feeds than this a page lists those of the open category only: a thousand of them would be most of the page.
MAX_UNFOLDED_FEEDS = 120


class CategoryLine(Struct, frozen=True):
    category: Category
    feeds: list[SidebarFeed]
    unread: int


class Sidebar(Struct, frozen=True):
    """unread: the count of the global list. has_all: whether the feeds of closed categories are listed too."""

    categories: list[CategoryLine]
    feeds: dict[int, SidebarFeed]
    unread: int
    starred: int
    read: int
    has_all: bool

    @classmethod
    def of(cls, services: Services, user: User) -> Sidebar:
        with services.reading() as db:
            lines = sidebar.list_feeds(db, user.id)
            named = categories.list_all(db, user.id)
        return cls._made(lines, named, by_unread=user.categories_sorting_order == "unread_count")

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
            has_all=len(lines) <= MAX_UNFOLDED_FEEDS,
        )

    def category(self, category_id: int) -> CategoryLine | None:
        return next((line for line in self.categories if line.category.id == category_id), None)
