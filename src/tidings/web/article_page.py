"""The page of an entry within the list that it was opened from, for the handlers of the core and of slices."""

from __future__ import annotations

import msgspec

from tidings.base.errors import NotFound
from tidings.base.messages import verbatim
from tidings.deliveries import outbox
from tidings.deliveries.events import SAVE_ENTRY
from tidings.domain.accounts.users import User
from tidings.domain.entries.entries import Entry, EntryStatus, stored_chapters
from tidings.domain.entries.reading_time import reading_minutes
from tidings.history.store import earlier_versions
from tidings.services.entries.entries import owned_entry
from tidings.services.entries.listing import EntryLists
from tidings.storage.entries import contents, duplicates, entry_lists, labels
from tidings.storage.feeds import feeds, sidebar
from tidings.web.articles.attachments import attachments
from tidings.web.articles.content import article_html
from tidings.web.context import PageResponse, RequestContext
from tidings.web.devices import CHOICES
from tidings.web.entry_list_pages import ListPage
from tidings.web.entry_rows import others_of, rows
from tidings.web.list_page import later_ids, page_after, page_before

# How many rows of the list are shown before and after the open entry: they fill most windows. The first paint waits for
# them. The script asks for more below in any case, and above only when the first row is nearly seen.
BEFORE, AFTER = 8, 12


def open_entry(
    context: RequestContext, entry_id: int, *, feed_id: int | None = None, category_id: int | None = None
) -> Entry:
    """Return the entry, marked read if the user wants that and the browser is not prefetching.

    feed_id, category_id: where it must be; otherwise NotFound is raised. Read counts only after this call.
    """
    user, services = context.caller, context.services
    with services.reading() as db:
        entry = owned_entry(db, user.id, entry_id)
        inside = [entry.feed_id] if category_id is None else feeds.ids_of_category(db, user.id, category_id)
    if entry.feed_id != (feed_id or entry.feed_id) or entry.feed_id not in inside:
        raise NotFound(verbatim(f"Entry {entry_id} is somewhere else."))
    if entry.status == EntryStatus.FOLDED:
        entry = _as_represented(context, entry)
    is_unread = entry.status == EntryStatus.UNREAD or _has_unread_copies(context, entry)
    if not is_unread or not user.mark_read_on_view or _is_prefetch(context):
        return entry
    services.entries.changes.update(user, [entry.id], status=EntryStatus.READ)
    # changed_at stays as it was: its neighbours in the history list are the ones where it was opened.
    return msgspec.structs.replace(entry, status=int(EntryStatus.READ))


def _has_unread_copies(context: RequestContext, entry: Entry) -> bool:
    """Return whether an entry that was marked read as a duplicate, or its original, has others that are unread."""
    user = context.caller
    if user.duplicates != "mark_read":
        return False
    with context.services.reading() as db:
        return bool(duplicates.unread_copies(db, [user.id], [entry.id]))


def _as_represented(context: RequestContext, entry: Entry) -> Entry:
    """Return a folded entry with the state of the one that represents it."""
    user_id = context.caller.id
    with context.services.reading() as db:
        (original_id,) = duplicates.originals_or_selves(db, user_id, [entry.id])
        original = owned_entry(db, user_id, original_id)
    return msgspec.structs.replace(entry, status=original.status, starred=original.starred)


def entry_page(context: RequestContext, listing: ListPage, entry: Entry) -> PageResponse:
    with context.services.entries.listing.of(context.caller.id, listing.entry_filter) as lists:
        return _page(lists, context, listing, entry)


def _page(lists: EntryLists, context: RequestContext, listing: ListPage, entry: Entry) -> PageResponse:
    user, db = context.caller, lists.db
    whole = entry_lists.with_bodies(db, [entry])
    # A part that replaces another entry does not need the list: it is already on the page.
    is_split = context.device.is_split and not context.is_part
    place = listing.cursor(entry)
    newest = entry_lists.newest_id(db, user.id) if listing.mark_path else None
    before = list(reversed(listing.rows(lists, BEFORE if is_split else 1, place, backwards=True)))
    after = listing.rows(lists, AFTER if is_split else 1, place)
    around = [*before, entry, *after] if is_split else []
    feed = sidebar.get_many(db, user.id, [entry.feed_id]).get(entry.feed_id)
    content, enclosures = whole.contents.get(entry.id, ""), whole.enclosures.get(entry.id, [])
    extras = contents.extras(db, user.id, entry.id)
    owner = feeds.get(db, user.id, entry.feed_id)
    has_players = not (owner and owner.no_media_player)
    attached = attachments(context, enclosures, content, has_players=has_players)
    return PageResponse(
        "article.html",
        {
            "title": entry.title,
            "listing": listing,
            "entry": entry,
            "feed": feed,
            "content": article_html(context, content, has_players=has_players, poster=attached.poster),
            "attached": attached,
            "shows_minutes": user.show_reading_time and (not attached.players or _has_length(user, entry, content)),
            "labels": labels.of_entries(db, user.id, [entry.id]).get(entry.id, []),
            "others": others_of(db, context, [entry]).get(entry.id, []),
            "extras": extras,
            "versions": earlier_versions(db, user.id, entry.id),
            "chapters": stored_chapters(extras.chapters),
            "tags": msgspec.json.decode(entry.tags.encode(), type=list[str]),
            "rows": rows(db, context, listing, around),
            "checked_at": listing.last_check(db, user.id) if around else None,
            "before": _url(context, listing, before[-1] if before else None),
            "after": _url(context, listing, after[0] if after else None),
            "can_save": bool(outbox.targets_of(db, user.id, SAVE_ENTRY)),
            "is_read": entry.status == EntryStatus.READ,
            "previous_url": page_before(context, listing, before[0], newest) if len(before) == BEFORE else "",
            "more_url": page_after(context, listing, after[-1], newest) if len(after) == AFTER else "",
            "newest": newest,
            "later_ids": later_ids(around, newest),
            "share_url": f"{context.site.base_url}/share/{entry.share_code}" if entry.share_code else "",
            "choices": CHOICES,
        },
    )


def _has_length(user: User, entry: Entry, content: str) -> bool:
    """Return whether the minutes of an episode are its length, and not the time that its notes take to read."""
    speeds = {"words_per_minute": user.default_reading_speed, "cjk_per_minute": user.cjk_reading_speed}
    return entry.reading_time != reading_minutes(content, **speeds)


def _url(context: RequestContext, listing: ListPage, entry: Entry | None) -> str:
    return context.url(listing.entry_path(entry.id), **listing.query) if entry else ""


def _is_prefetch(context: RequestContext) -> bool:
    headers = context.request.headers
    return context.request.method == "HEAD" or "prefetch" in headers.get("sec-purpose", headers.get("purpose", ""))
