"""Endpoints for categories."""

from __future__ import annotations

from msgspec import UNSET, Struct, UnsetType

from tidings.api.schema_annotations import Required
from tidings.api.struct_copy import StructCopy
from tidings.base.errors import InvalidInput, NotFound
from tidings.base.messages import verbatim
from tidings.domain.accounts.rights import KeyScope
from tidings.domain.accounts.users import User
from tidings.domain.feeds.categories import Category, CategoryTree, SplitName
from tidings.http.binding import LazyBody, Query
from tidings.http.endpoints import Conditional, Routes
from tidings.http.json_body import Int64
from tidings.services import Services
from tidings.services.feeds.categories import feeds_only_in, owned_category
from tidings.storage.entries import folded
from tidings.storage.feeds import categories, further_categories, sidebar

routes = Routes("Categories")


class CategoryOut(Struct, frozen=True):
    """title: the path, such as "News / Europe", or the last part of it, as the user's category_titles says.

    parent_id: the category that it is under, null for none. keep_duplicates: as of each feed in it and below it.
    """

    id: int
    title: str
    user_id: int
    hide_globally: bool
    parent_id: int | None
    keep_duplicates: bool


class CountedCategoryOut(CategoryOut, frozen=True):
    """feed_count, total_unread: with those of the categories below it, and only with counts=true."""

    feed_count: int | UnsetType = UNSET
    total_unread: int | UnsetType = UNSET


class UsedCategoryOut(CategoryOut, frozen=True):
    """deleted_feed_ids: the feeds that are in no other category: they are deleted with it.

    used_by: your views and rules about the category, or about what is deleted with it, such as "the view News".
    """

    deleted_feed_ids: list[int]
    used_by: list[str]


class CategoriesQuery(Query, frozen=True):
    """counts: true adds the number of feeds and of unread entries to each category."""

    counts: bool | None = None


class CategoryCreate(Struct, frozen=True):
    """title: without those of the categories above it. parent_id: the category to put it under."""

    title: Required[str] = None
    hide_globally: bool | None = None
    parent_id: Int64 | None = None


class CategoryUpdate(Struct, frozen=True):
    """title: its last part changes, whatever it names above. parent_id: null for a category at the top."""

    title: str | None = None
    hide_globally: bool | None = None
    parent_id: Int64 | UnsetType | None = UNSET
    keep_duplicates: bool | None = None


class DeletionQuery(Query, frozen=True):
    """with_below: true deletes the categories below it as well, with their feeds. Otherwise they move up."""

    with_below: bool | None = None


_copy = StructCopy(CategoryOut)
_copy_counted = StructCopy(CountedCategoryOut, "feed_count", "total_unread")
_copy_used = StructCopy(UsedCategoryOut, "deleted_feed_ids", "used_by")


def category_out(category: Category) -> CategoryOut:
    return _copy(category)


@routes.get("/v1/categories", conditional=Conditional.EXACT, lists=CountedCategoryOut)
def list_categories(caller: User, services: Services, query: CategoriesQuery) -> list[CountedCategoryOut]:
    """List all categories, by title."""
    with services.reading() as db:
        listed = categories.list_all(db, caller.id)
        if not query.counts:
            return [_copy_counted(category, feed_count=UNSET, total_unread=UNSET) for category in listed]
        counts = categories.counts(db, caller.id)
        further = further_categories.of_user(db, caller.id)
        elsewhere = sidebar.get_many(db, caller.id, further) if further else {}
        also, also_of_feeds = folded.unread_of_categories(db, caller), folded.unread_of_feeds(db, caller)
    tree = CategoryTree(listed)
    feed_counts = tree.summed({id_: one.feed_count for id_, one in counts.items()})
    unread = tree.summed({id_: one.total_unread + also.get(id_, 0) for id_, one in counts.items()})
    for feed in elsewhere.values():
        for holder in tree.only_through_further((feed.category_id, *further[feed.id])):
            feed_counts[holder] += 1
            unread[holder] += feed.unread + also_of_feeds.get(feed.id, 0)
    counted = [
        _copy_counted(category, feed_count=feed_counts[category.id], total_unread=unread[category.id])
        for category in listed
    ]
    if caller.categories_sorting_order == "unread_count":
        # The sort is stable: equal categories stay in the order of their titles.
        counted.sort(key=lambda category: -unread[category.id])
    return counted


@routes.post("/v1/categories", scope=KeyScope.MANAGE, status=201, raises=(InvalidInput,))
def create_category(caller: User, services: Services, body: CategoryCreate) -> CategoryOut:
    """Create a category. Its title, in any case, is unique among your categories, or among those under its parent."""
    if not body.title:
        raise InvalidInput(verbatim("title: a category needs one."), field="title")
    return category_out(
        services.feeds.categories.create(
            caller.id, body.title, parent_id=body.parent_id or None, hide_globally=bool(body.hide_globally)
        )
    )


@routes.get("/v1/categories/tree", lists=SplitName)
def list_paths_in_names(caller: User, services: Services) -> list[SplitName]:
    """List the categories whose names are paths, such as News / Europe, with the names of a tree."""
    return services.feeds.categories.paths_in_names(caller.id)


@routes.post("/v1/categories/tree", scope=KeyScope.MANAGE)
def make_category_tree(caller: User, services: Services) -> list[SplitName]:
    """Make a tree of the names that are paths, and list them. Their titles stay as they are."""
    return services.feeds.categories.make_tree(caller.id)


@routes.get("/v1/categories/{category_id}", raises=(InvalidInput, NotFound))
def get_category(caller: User, services: Services, category_id: int, query: DeletionQuery) -> UsedCategoryOut:
    """Get a category, with what is deleted with it and what uses it. with_below: if those below it are deleted, too."""
    with services.reading() as db:
        category = owned_category(db, caller.id, category_id)
        tree = CategoryTree(categories.list_all(db, caller.id))
        gone = tree.with_below(category_id) if query.with_below else [category_id]
        deleted = feeds_only_in(db, caller.id, gone)
    uses = services.entries.queries.uses(caller.id, deleted, {one: tree.path(one) for one in gone})
    return _copy_used(category, deleted_feed_ids=sorted(deleted), used_by=[use.english() for use in uses])


@routes.put("/v1/categories/{category_id}", scope=KeyScope.MANAGE, status=201, raises=(InvalidInput, NotFound))
def update_category(caller: User, services: Services, category_id: int, body: LazyBody[CategoryUpdate]) -> CategoryOut:
    """Rename a category, put it under another one, hide it from the global lists, or keep its duplicates.

    Members that are not sent keep their values. What is below it is hidden with it.
    """
    with services.reading() as db:
        owned_category(db, caller.id, category_id)
    change = body.read()
    return category_out(
        services.feeds.categories.update(
            caller.id,
            category_id,
            title=change.title,
            hide_globally=change.hide_globally,
            parent_id=UNSET if change.parent_id is UNSET else change.parent_id or None,
            keep_duplicates=change.keep_duplicates,
        )
    )


@routes.delete("/v1/categories/{category_id}", scope=KeyScope.MANAGE, status=204, raises=(InvalidInput, NotFound))
def delete_category(caller: User, services: Services, category_id: int, query: DeletionQuery) -> None:
    """Delete a category with its feeds and their entries, except feeds that are in another category, too.

    What uses it is kept: `GET` says what that is, and which feeds are deleted. The categories below it move up, or are
    deleted as well.
    """
    services.feeds.categories.delete(caller.id, category_id, with_below=bool(query.with_below))


@routes.put(
    "/v1/categories/{category_id}/mark-all-as-read", scope=KeyScope.WRITE, status=204, raises=(InvalidInput, NotFound)
)
def mark_category_read(caller: User, services: Services, category_id: int) -> None:
    """Mark all entries of a category and of those below it as read, except those dated in the future."""
    services.feeds.categories.mark_read(caller.id, category_id)


@routes.put("/v1/categories/{category_id}/refresh", scope=KeyScope.WRITE, status=204, raises=(InvalidInput, NotFound))
def refresh_category(caller: User, services: Services, category_id: int) -> None:
    """Schedule a check of all enabled feeds of a category and of those below it."""
    services.polling.claims.refresh_category(caller.id, category_id)
