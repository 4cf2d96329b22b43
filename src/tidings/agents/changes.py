"""The tools that change the state of entries."""

from __future__ import annotations

from typing import Annotated, Literal

from msgspec import Meta

from tidings.agents.confirmations import LIFETIME_S
from tidings.agents.fences import one_line
from tidings.agents.tool import (
    MAX_IDS,
    Arguments,
    CategoryId,
    EntryId,
    FeedId,
    LabelId,
    Result,
    ToolCall,
    Tools,
    ViewId,
    ids,
    text,
)
from tidings.base.errors import InvalidField, NotFound
from tidings.base.messages import msg
from tidings.base.times import Instant
from tidings.domain.accounts.rights import KeyScope
from tidings.domain.entries.entries import EntryFilter, EntryStatus, Folded
from tidings.services.entries.entries import unknown_entry
from tidings.services.feeds.categories import owned_category
from tidings.services.feeds.feeds import owned_feed
from tidings.storage.entries import entries

EntryIds = Annotated[
    list[Annotated[str, EntryId]], Meta(min_length=1, max_length=MAX_IDS, description="Ids of entries.")
]
LabelIds = Annotated[tuple[Annotated[str, LabelId], ...], Meta(max_length=20, description="Ids of labels.")]
Confirmation = Annotated[str, text("What a call without it has returned, to do what that call has told.", 200)]

tools = Tools()


class MarkEntries(Arguments, frozen=True, kw_only=True):
    entry_ids: EntryIds
    status: Literal["read", "unread"]


class StarEntries(Arguments, frozen=True, kw_only=True):
    entry_ids: EntryIds
    starred: bool


class LabelEntries(Arguments, frozen=True, kw_only=True):
    entry_ids: EntryIds
    add: LabelIds = ()
    remove: LabelIds = ()


class SaveEntry(Arguments, frozen=True, kw_only=True):
    entry_id: Annotated[str, EntryId]


class MarkAllRead(Arguments, frozen=True, kw_only=True):
    feed_id: Annotated[str, FeedId] | None = None
    category_id: Annotated[str, CategoryId] | None = None
    view_id: Annotated[str, ViewId] | None = None
    confirmation: Confirmation = ""


class Changed(Result, frozen=True, kw_only=True):
    entry_ids: Annotated[list[str], Meta(description="The entries that are as the call wanted them.")]


class Saved(Result, frozen=True, kw_only=True):
    is_queued: Annotated[bool, Meta(description="The services get it in the background.")]


class Confirmable(Result, frozen=True, kw_only=True):
    done: Annotated[bool, Meta(description="Whether it was done; otherwise only what would happen was found out.")]
    what: str
    count: Annotated[int, Meta(description="How many entries were or would be changed.")]
    confirmation: Annotated[str, Meta(description='For the second call; "" if nothing is left to confirm.')] = ""
    expires_in_s: Annotated[int, Meta(description="How long the confirmation holds.")] = 0


@tools.add("mark_entries", title="Mark entries as read or unread", scope=KeyScope.WRITE, is_idempotent=True)
def mark_entries(call: ToolCall, arguments: MarkEntries) -> Changed:
    """Mark single entries as read or as unread."""
    entry_ids = _owned(call, arguments.entry_ids)
    status = EntryStatus.READ if arguments.status == "read" else EntryStatus.UNREAD
    call.services.entries.changes.update(call.user, entry_ids, status=status, is_repeatable=True)
    return _changed(entry_ids)


@tools.add("star_entries", title="Star entries", scope=KeyScope.WRITE, is_idempotent=True)
def star_entries(call: ToolCall, arguments: StarEntries) -> Changed:
    """Give entries a star, or take it from them. If the user has set it so, starred entries are saved to services."""
    entry_ids = _owned(call, arguments.entry_ids)
    call.services.entries.changes.update(call.user, entry_ids, starred=arguments.starred, is_repeatable=True)
    return _changed(entry_ids)


@tools.add("label_entries", title="Label entries", scope=KeyScope.WRITE, is_idempotent=True)
def label_entries(call: ToolCall, arguments: LabelEntries) -> Changed:
    """Give labels of the user to entries, and take labels from them."""
    if not arguments.add and not arguments.remove:
        raise InvalidField("add", msg("name at least one label to add or to remove."))
    if both := set(arguments.add) & set(arguments.remove):
        raise InvalidField("remove", msg("label {id} is in add as well.", id=min(both)))
    entry_ids = _owned(call, arguments.entry_ids)
    call.services.entries.labels.update_entries(
        call.user, entry_ids, add=ids(arguments.add), remove=ids(arguments.remove)
    )
    return _changed(entry_ids)


@tools.add("save_entry", title="Save an entry to services", scope=KeyScope.WRITE, reaches_out=True)
def save_entry(call: ToolCall, arguments: SaveEntry) -> Saved:
    """Send an entry to the services that the user has set up to save entries to, such as a bookmark manager."""
    call.services.entries.changes.save(call.user, int(arguments.entry_id))
    return Saved(is_queued=True)


@tools.add("mark_all_read", title="Mark a whole list as read", scope=KeyScope.WRITE, is_destructive=True)
def mark_all_read(call: ToolCall, arguments: MarkAllRead) -> Confirmable:
    """Mark all unread entries of a feed, a category or a view as read.

    The first call changes nothing: it tells how many entries there are, and returns a confirmation. Ask the user before
    the second call, which has the same arguments and the confirmation. What arrives between the two stays unread.
    """
    services, user = call.services, call.user
    filter_, what, about = _list_of(call, arguments)
    bound = (arguments.feed_id, arguments.category_id, arguments.view_id)
    if arguments.confirmation:
        told_at = Instant(call.told_at(arguments.confirmation, bound, about))
        marked = services.entries.read_marker.mark_stored_read(user.id, filter_, told_at)
        return Confirmable(done=True, what=f"Marked as read: {what}.", count=marked.count)
    # First: what arrives while the entries are counted stays unread.
    confirmation = call.confirmation(bound, about)
    unread = EntryFilter(
        statuses=(EntryStatus.UNREAD,),
        feed_id=filter_.feed_id,
        category_id=filter_.category_id,
        query=filter_.query,
        folded=Folded.for_apps(user),
    )
    with services.entries.listing.of(user.id, unread) as lists:
        count = lists.count(unread)
    return Confirmable(
        done=False,
        what=f"Would mark as read: {what}.",
        count=count,
        confirmation=confirmation,
        expires_in_s=LIFETIME_S,
    )


def _list_of(call: ToolCall, arguments: MarkAllRead) -> tuple[EntryFilter, str, str]:
    """Return the filter of a list, what it is in words, and what the confirmation is bound to besides its id."""
    named = [one for one in (arguments.feed_id, arguments.category_id, arguments.view_id) if one is not None]
    if len(named) != 1:
        raise InvalidField("feed_id", msg("name one of feed_id, category_id and view_id."))
    number = int(named[0])
    with call.services.reading() as db:
        if arguments.feed_id is not None:
            owned_feed(db, call.user.id, number)
            return EntryFilter(feed_id=number), f"feed {number}", ""
        if arguments.category_id is not None:
            path = one_line(owned_category(db, call.user.id, number).title, 200)
            return EntryFilter(category_id=number), f"the category {path}, with those below it", ""
        views = call.services.entries.queries.views(db, call.user.id)
    view = next((view for view in views if view.id == number), None)
    if view is None:
        raise NotFound(msg("There is no view {id}.", id=number))
    query = call.services.entries.queries.of_view(call.user, view)
    return EntryFilter(query=query), f"the view {one_line(view.name, 200)}", view.query


def _owned(call: ToolCall, sent: list[str]) -> list[int]:
    """Return the ids of entries. Raises NotFound, before anything is changed, if one is not the user's."""
    wanted = ids(sent)
    with call.services.reading() as db:
        known = {entry.id for entry in entries.get_many(db, call.user.id, wanted)}
    for entry_id in wanted:
        if entry_id not in known:
            raise unknown_entry(entry_id)
    return wanted


def _changed(entry_ids: list[int]) -> Changed:
    return Changed(entry_ids=[str(entry_id) for entry_id in entry_ids])
