"""The tools that list what a user has: feeds, categories, views and labels."""

from __future__ import annotations

from typing import Annotated, Final

from msgspec import Meta, Struct

from tidings.agents.fences import address, one_line
from tidings.agents.tool import Arguments, CategoryId, FromStrangers, Result, ToolCall, Tools, number, page_of, text
from tidings.base.secret_urls import hide_secrets
from tidings.base.text import normalize_for_search
from tidings.domain.accounts.rights import KeyScope
from tidings.domain.feeds.categories import CategoryTree
from tidings.services.feeds.categories import owned_category
from tidings.storage.entries import labels
from tidings.storage.feeds import categories, feeds, sidebar

MAX_FEEDS: Final = 100
MAX_TITLE: Final = 200

tools = Tools()


class NoArguments(Arguments, frozen=True, kw_only=True):
    """Nothing."""


class ListFeeds(Arguments, frozen=True, kw_only=True):
    title_contains: Annotated[str, text("Only feeds whose title has this text, in any case.", 200)] = ""
    category_id: Annotated[str, CategoryId] | None = None
    only_unread: Annotated[bool, Meta(description="Only feeds with unread entries.")] = False
    only_failing: Annotated[bool, Meta(description="Only feeds whose last check failed.")] = False
    limit: Annotated[int, number("How many feeds.", minimum=1, maximum=MAX_FEEDS)] = MAX_FEEDS
    offset: Annotated[int, number("next_offset of the page before.", minimum=0, maximum=10**6)] = 0


class FeedTexts(Struct, frozen=True):
    """What the publisher of a feed wrote."""

    title: str
    site_url: str
    feed_url: str
    problem: str
    """Why its last check failed, "" if it did not."""


class ListedFeed(Struct, frozen=True):
    id: str
    category_id: str
    unread: int
    is_failing: bool
    is_disabled: bool
    from_strangers: FeedTexts


class Feeds(FromStrangers, frozen=True, kw_only=True):
    feeds: list[ListedFeed]
    total: Annotated[int, Meta(description="How many feeds match, on all pages.")]
    next_offset: Annotated[int | None, Meta(description="The offset of the next page; null on the last one.")]


class ListedCategory(Struct, frozen=True):
    id: str
    path: str
    parent_id: str | None
    feeds: int
    unread: int


class Categories(Result, frozen=True, kw_only=True):
    categories: list[ListedCategory]


class ListedView(Struct, frozen=True):
    id: str
    name: str
    query: str
    unread: Annotated[int | None, Meta(description="null if the query cannot be answered.")]
    has_more_unread: Annotated[bool, Meta(description="Whether there are more than the number says.")]
    search_query: Annotated[str, Meta(description="What to give to search for the entries of this view.")]


class Views(Result, frozen=True, kw_only=True):
    views: list[ListedView]


class ListedLabel(Struct, frozen=True):
    id: str
    name: str


class Labels(Result, frozen=True, kw_only=True):
    labels: list[ListedLabel]


@tools.add("list_feeds", title="List feeds", scope=KeyScope.READ)
def list_feeds(call: ToolCall, arguments: ListFeeds) -> Feeds:
    """List the feeds that the user subscribes to, by title, with their numbers of unread entries."""
    user_id, wanted = call.user.id, normalize_for_search(arguments.title_contains)
    with call.services.reading() as db:
        if arguments.category_id is None:
            listed = sidebar.list_feeds(db, user_id)
        else:
            category = owned_category(db, user_id, int(arguments.category_id))
            listed = sidebar.list_feeds_of(db, user_id, categories.with_below(db, user_id, [category.id]))
        found = [
            feed
            for feed in listed
            if wanted in normalize_for_search(feed.title)
            and (feed.unread or not arguments.only_unread)
            and (feed.error_count or not arguments.only_failing)
        ]
        page = found[arguments.offset : arguments.offset + arguments.limit]
        stored = {feed.id: feed for feed in feeds.get_many(db, user_id, [feed.id for feed in page])}
    # On PostgreSQL a feed may be deleted between the two statements.
    shown = page_of(
        [
            ListedFeed(
                str(feed.id),
                str(feed.category_id),
                feed.unread,
                feed.error_count > 0,
                feed.disabled,
                FeedTexts(
                    one_line(feed.title, MAX_TITLE),
                    address(hide_secrets(stored[feed.id].site_url), 500),
                    address(hide_secrets(stored[feed.id].feed_url), 500),
                    one_line(hide_secrets(stored[feed.id].parsing_error_message), MAX_TITLE),
                ),
            )
            for feed in page
            if feed.id in stored
        ]
    )
    reached = arguments.offset + (len(shown) if len(shown) < len(stored) else len(page))
    return Feeds(feeds=shown, total=len(found), next_offset=reached if reached < len(found) else None)


@tools.add("list_categories", title="List categories", scope=KeyScope.READ)
def list_categories(call: ToolCall, arguments: NoArguments) -> Categories:  # noqa: ARG001
    """List the user's categories of feeds, which form a tree, with their numbers of feeds and of unread entries.

    The numbers include the categories below.
    """
    user_id = call.user.id
    with call.services.reading() as db:
        listed, counts = categories.list_all(db, user_id), categories.counts(db, user_id)
    tree = CategoryTree(listed)
    feed_counts = tree.summed({id_: one.feed_count for id_, one in counts.items()})
    unread = tree.summed({id_: one.total_unread for id_, one in counts.items()})
    shown = [
        ListedCategory(
            str(one.id),
            one_line(tree.path(one.id), MAX_TITLE),
            str(one.parent_id) if one.parent_id else None,
            feed_counts[one.id],
            unread[one.id],
        )
        for one in listed
    ]
    return Categories(categories=page_of(shown))


@tools.add("list_views", title="List saved views", scope=KeyScope.READ)
def list_views(call: ToolCall, arguments: NoArguments) -> Views:  # noqa: ARG001
    """List the user's saved views, which are queries with a name, with their numbers of unread entries."""
    shown = [
        ListedView(
            str(view.id),
            one_line(view.name, MAX_TITLE),
            view.query,
            count.number if count else None,
            count is not None and not count.is_exact,
            f"S:{view.id}",
        )
        for view, count in call.services.entries.view_counter.count(call.user).views
    ]
    return Views(views=page_of(shown))


@tools.add("list_labels", title="List labels", scope=KeyScope.READ)
def list_labels(call: ToolCall, arguments: NoArguments) -> Labels:  # noqa: ARG001
    """List the labels that the user gives to entries."""
    with call.services.reading() as db:
        listed = labels.list_all(db, call.user.id)
    return Labels(labels=page_of([ListedLabel(str(label.id), one_line(label.name, MAX_TITLE)) for label in listed]))
