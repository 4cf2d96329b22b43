"""Follows lists of feeds: subscribes to them, checks them, and removes what their users have let go.

claim ─► fetch, conditionally ─► read ─► compare ─► add feeds, note what is missing ─► next check
"""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Sequence
from typing import Any
from urllib.parse import urlsplit

import structlog
from msgspec import Struct

from tidings.base.errors import InvalidField, InvalidInput, NotFound
from tidings.base.messages import Message, encode_message, msg
from tidings.base.text import normalize_for_search
from tidings.base.times import MINUTE, Instant
from tidings.domain.feeds import feed_changes, feed_lists
from tidings.domain.feeds.categories import SEPARATOR, validate_title
from tidings.domain.feeds.opml import OpmlDocument, OpmlSubscription
from tidings.engine import notify
from tidings.engine.database import Database, Write
from tidings.live_opml import store
from tidings.live_opml.claims_store import CLAIMS
from tidings.live_opml.model import (
    MAX_FEEDS,
    MAX_SUBSCRIPTIONS,
    ListChange,
    OpmlSource,
    compare,
    wait_after,
)
from tidings.live_opml.store import Removal
from tidings.net.errors import FetchError
from tidings.net.fetch import FetchRequest, FetchResponse
from tidings.services.clock import Clock
from tidings.services.concurrent_changes import repeat_if_concurrent
from tidings.services.feeds.categories import ensure_paths
from tidings.services.listeners import Listeners
from tidings.services.publisher_requests import PoliteFetcher
from tidings.storage.entries import duplicates, labels
from tidings.storage.feeds import bulk, categories, feeds

log = structlog.get_logger()

ACCEPT = "text/x-opml, application/xml, text/xml, text/plain;q=0.5, */*;q=0.1"
# Longer than a fetch may take.
LEASE = 2 * MINUTE
MAX_NAME = 200
MAX_ERROR = 1_000
# Somebody else's list says where feeds are and what they are called, not how they are fetched and filtered.
_TAKEN = ("feed_url", "username", "password", "site_url", "title", "description", "edited")


class FollowedList(Struct, frozen=True):
    """A subscription as its user sees it."""

    source: OpmlSource
    title: str
    """The title of its category."""
    feed_count: int
    """How many of its feeds were added for it."""
    removals: Sequence[Removal]


class LiveOpml:
    """The lists of feeds that users follow."""

    def __init__(self, database: Database, clock: Clock, fetcher: PoliteFetcher, listeners: Listeners) -> None:
        self._database = database
        self._clock = clock
        self._fetcher = fetcher
        self._listeners = listeners

    def list_all(self, user_id: int) -> list[FollowedList]:
        """Return the subscriptions of a user, the oldest first."""
        with self._database.reading() as db:
            sources = store.list_all(db, user_id)
            titles = {one.id: one.title for one in categories.list_all(db, user_id)} if sources else {}
            counts = store.feed_counts(db, user_id) if sources else {}
            removals = store.removals(db, user_id) if sources else []
        return [
            FollowedList(
                one,
                titles.get(one.category_id, ""),
                counts.get(one.id, 0),
                [removal for removal in removals if removal.subscription_id == one.id],
            )
            for one in sources
        ]

    def get(self, user_id: int, subscription_id: int) -> FollowedList:
        """Return a subscription. Raises NotFound."""
        found = next((one for one in self.list_all(user_id) if one.source.id == subscription_id), None)
        if found is None:
            raise _unknown(subscription_id)
        return found

    async def subscribe(self, user_id: int, url: str) -> int:
        """Fetch a list, subscribe to it and to its feeds, and return the id of the subscription.

        Raises InvalidInput for a URL that is not usable or followed already, and for what is not a list of feeds;
        FetchError if it cannot be fetched.
        """
        url = validate_url(url)
        await asyncio.to_thread(self._ensure_new, user_id, url)
        response = await self._fetcher.get(FetchRequest(url=url, accept=ACCEPT), [user_id], requested_by=user_id)
        document = await asyncio.to_thread(_read, response.body)
        return await asyncio.to_thread(repeat_if_concurrent, lambda: self._store_new(user_id, url, document, response))

    def end(self, user_id: int, subscription_id: int) -> None:
        """End a subscription. Its category and its feeds stay. Raises NotFound."""
        with self._database.writing() as db:
            if not store.remove(db, user_id, subscription_id):
                raise _unknown(subscription_id)

    def check_soon(self, user_id: int, subscription_id: int) -> None:
        """Have a worker check a list as soon as it can. Raises NotFound."""
        self.get(user_id, subscription_id)
        with self._database.writing() as db:
            store.change(db, user_id, subscription_id, next_check_at=self._clock())

    def decide(
        self,
        user_id: int,
        subscription_id: int,
        *,
        remove: Collection[int] = (),
        keep: Collection[int] = (),
        with_starred: bool = False,
    ) -> None:
        """Remove or keep feeds that the list does not name any more. What is kept is an ordinary feed from then on.

        with_starred: whether feeds with starred entries may be among those to remove.
        Raises NotFound, and InvalidInput, before anything is changed, for feeds about which there is nothing to decide.
        """
        waiting = {one.feed_id: one for one in self.get(user_id, subscription_id).removals}
        for name, ids in (("remove", remove), ("keep", keep)):
            for feed_id in ids:
                if feed_id not in waiting:
                    raise InvalidField(name, msg("the list has not dropped feed {id}.", id=feed_id))
        for feed_id in remove:
            if feed_id in keep:
                raise InvalidField("keep", msg("feed {id} is to be removed, too.", id=feed_id))
            if waiting[feed_id].starred and not with_starred:
                raise _has_starred(waiting[feed_id])
        if keep:
            with self._database.writing() as db:
                store.forget_feeds(db, user_id, subscription_id, keep)
        for feed_id in sorted(remove):
            self._remove(user_id, subscription_id, feed_id, with_starred=with_starred)

    def claim(self, worker: str) -> OpmlSource | None:
        """Claim a subscription that is due, and return it."""
        now = self._clock()
        with self._database.writing() as db:
            return CLAIMS.claim(db, worker, now=now, until=Instant(now + LEASE))

    def release_all(self, worker: str) -> int:
        with self._database.writing() as db:
            return CLAIMS.release_all(db, worker)

    async def check(self, source: OpmlSource, worker: str) -> None:
        """Fetch a claimed list, and store what has changed. Errors are stored with the subscription."""
        request = FetchRequest(url=source.url, etag=source.etag, last_modified=source.last_modified, accept=ACCEPT)
        try:
            response = await self._fetcher.get(request, [source.user_id])
            await asyncio.to_thread(self._store_checked, source, worker, response)
        except (InvalidInput, FetchError) as error:
            await asyncio.to_thread(self._store_failure, source, worker, error.text)
            log.info("live opml failed", subscription_id=source.id, reason=error.message)

    # Storing

    def _ensure_new(self, user_id: int, url: str) -> None:
        with self._database.reading() as db:
            known = store.list_all(db, user_id)
        if any(one.url == url for one in known):
            raise InvalidField("url", msg("you follow this list already."))
        ensure_room(len(known))

    def _store_new(self, user_id: int, url: str, document: OpmlDocument, response: FetchResponse) -> int:
        now = self._clock()
        with self._database.writing() as db:
            change = compare([], document.subscriptions)
            self._listeners.ensure_feeds(db, user_id, len(_unknown_urls(db, user_id, change)))
            category_id = _own_category(db, user_id, document.title or urlsplit(url).hostname or url)
            if store.id_by_url(db, user_id, url) is not None:
                raise InvalidField("url", msg("you follow this list already."))
            checked = _checked(now, response) | _left_out(change)
            subscription_id = store.add(db, user_id, url=url, category_id=category_id, created_at=now, **checked)
            self._add_feeds(db, user_id, subscription_id, category_id, change)
        return subscription_id

    def _store_checked(self, source: OpmlSource, worker: str, response: FetchResponse) -> None:
        document = None if response.not_modified else _read(response.body)
        now, user_id = self._clock(), source.user_id
        with self._database.writing() as db:
            change = None
            if document is not None:
                change = compare(store.listed(db, user_id, source.id), document.subscriptions)
                self._listeners.ensure_feeds(db, user_id, len(_unknown_urls(db, user_id, change)))
            if not store.lock_held(db, source, worker):
                return
            if change is None:
                # The problem of the document that was read last still holds.
                values = _next_check(now, failures=0) | ({"error": "", "error_form": ""} if source.failures else {})
            else:
                values = _checked(now, response) | _left_out(change)
                store.remove_listed(db, user_id, source.id, change.forgotten)
                store.set_missing(db, user_id, source.id, change.gone, now)
                store.set_missing(db, user_id, source.id, change.back, None)
                self._add_feeds(db, user_id, source.id, source.category_id, change)
            store.change(db, user_id, source.id, claimed_until=None, claimed_by="", **values)

    def _store_failure(self, source: OpmlSource, worker: str, problem: Message) -> None:
        now, failures = self._clock(), source.failures + 1
        with self._database.writing() as db:
            if store.lock_held(db, source, worker):
                values = _next_check(now, failures=failures) | _error(problem)
                store.change(db, source.user_id, source.id, claimed_until=None, claimed_by="", **values)

    def _add_feeds(self, db: Write, user_id: int, subscription_id: int, category_id: int, change: ListChange) -> None:
        known = feeds.ids_by_url(db, user_id, change.new)
        new = {url: one for url, one in change.new.items() if url not in known}
        now = self._clock()
        due = {"created_at": now, "checked_at": now, "next_check_at": now, "category_id": category_id}
        ids = feeds.add_many(db, user_id, [_columns(one) | due for one in new.values()]) if new else []
        added = dict(zip(new, ids, strict=True))
        store.add_listed(db, user_id, subscription_id, {url: added.get(url) for url in change.new})
        if added:
            notify.notify(db, notify.FEEDS)

    def _remove(self, user_id: int, subscription_id: int, feed_id: int, *, with_starred: bool) -> None:
        """Delete a feed, unless the list has named it again or an entry was starred since."""
        with self._database.writing() as db:
            duplicates.lock_for_deletion(db, user_id, [feed_id])
            waiting = next((one for one in store.removals(db, user_id) if one.feed_id == feed_id), None)
            if waiting is None or waiting.subscription_id != subscription_id:
                return
            if waiting.starred and not with_starred:
                raise _has_starred(waiting)
            store.forget_feeds(db, user_id, subscription_id, [feed_id])
            duplicates.keep_folded(db, user_id, [feed_id])
            bulk.remove(db, user_id, [feed_id])


def validate_url(url: str) -> str:
    """Return the address of a list. Raises InvalidField."""
    url = feed_changes.validate_web_url(feed_changes.normalize_scheme(url), field="url")
    if feed_changes.has_credentials(url):
        raise InvalidField("url", msg("leave out the name and password: the address is shown on pages."))
    return url


def ensure_room(count: int) -> None:
    """Raise InvalidField if a user who follows so many lists may not follow another one."""
    if count >= MAX_SUBSCRIPTIONS:
        raise InvalidField("url", msg("you follow {max} lists already: end one of them first.", max=MAX_SUBSCRIPTIONS))


def _read(body: bytes) -> OpmlDocument:
    """Return the feeds of a document. Raises InvalidInput if it has none: that is more often a mistake than meant."""
    document = feed_lists.read(body)
    if not document.subscriptions:
        raise InvalidField("url", msg("there are no feeds in the document at this address."))
    return document


def _columns(listed: OpmlSubscription) -> dict[str, Any]:
    return {name: listed.values[name] for name in _TAKEN if name in listed.values}


def _unknown_urls(db: Write, user_id: int, change: ListChange) -> set[str]:
    """Return the URLs of the feeds that the user does not have yet."""
    return {*change.new} - {*feeds.ids_by_url(db, user_id, change.new)}


def _own_category(db: Write, user_id: int, name: str) -> int:
    """Create a category for a list and return its id. name: followed by a number if it is taken."""
    try:
        name = validate_title(name.replace(SEPARATOR, " - ")[:MAX_NAME])
    except InvalidInput:
        name = "OPML"
    taken = {normalize_for_search(one.title) for one in categories.list_all(db, user_id)}
    free, number = name, 1
    # Apps could not tell a category from a label of the same name.
    while (key := normalize_for_search(free)) in taken or labels.by_key(db, user_id, key) is not None:
        number += 1
        free = f"{name} {number}"
    return ensure_paths(db, user_id, [(free,)])[free,]


def _checked(now: Instant, response: FetchResponse) -> dict[str, Any]:
    """Return the columns after a document was read."""
    return _next_check(now, failures=0) | {"etag": response.etag, "last_modified": response.last_modified}


def _next_check(now: Instant, *, failures: int) -> dict[str, Any]:
    return {"checked_at": now, "next_check_at": Instant(now + wait_after(failures)), "failures": failures}


def _left_out(change: ListChange) -> dict[str, Any]:
    if not change.left_out:
        return {"error": "", "error_form": ""}
    return _error(
        msg(
            "{count} feeds of this list were left out: it may bring {max} at most.",
            count=change.left_out,
            max=MAX_FEEDS,
        )
    )


def _error(problem: Message) -> dict[str, Any]:
    text = problem.english()[:MAX_ERROR]
    return {"error": text, "error_form": encode_message(problem, text)}


def _has_starred(removal: Removal) -> InvalidField:
    return InvalidField(
        "with_starred",
        msg(
            "feed {id} ({title}) has {count} starred entries, which would go with it: confirm that, or keep it.",
            id=removal.feed_id,
            title=removal.title,
            count=removal.starred,
        ),
    )


def _unknown(subscription_id: int) -> NotFound:
    return NotFound(msg("There is no subscription {id}.", id=subscription_id))
