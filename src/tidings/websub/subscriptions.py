"""Subscriptions at WebSub hubs: found in polled documents, requested, renewed, and ended when no feed uses them.

`websub.pushes` handles the requests that hubs send.
"""

from __future__ import annotations

import asyncio
import random
import re
import secrets
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from urllib.parse import urlsplit

import structlog
from msgspec import Struct

from tidings.base.errors import LocalShortage, StoreUnavailable, TidingsError
from tidings.base.times import DAY, SECOND, Instant
from tidings.content.model import ParsedFeed
from tidings.domain.feeds.feeds import Feed
from tidings.engine.database import Database, Write
from tidings.net.errors import HttpError
from tidings.net.responses import Link
from tidings.services.clock import Clock
from tidings.services.listeners import CheckedDocument
from tidings.websub import store
from tidings.websub.hubs import HubClient
from tidings.websub.model import HubMode, HubSubscription, next_step, request_form

log = structlog.get_logger()

# Below BASE_URL; the token follows.
CALLBACK = "/websub/"
# Requests sent at the same time: few enough not to overload a hub, and enough for a thousand new feeds in some minutes.
MAX_CONCURRENT_REQUESTS = 8
# Maximum number of subscriptions that one search for unused ones returns.
MAX_EXPIRED = 200
# A publisher may name several hubs for redundancy; a few suffice.
MAX_HUBS = 3
# Bytes. Hub and topic are in one index, whose entries PostgreSQL limits to 2,704 bytes.
MAX_URL = 1000

_FORBIDDEN_IN_URLS = re.compile(r"[\x00-\x20\x7f]")


# Offers


class HubOffer(Struct, frozen=True):
    """The hubs that push a document, and its topic URL."""

    hubs: tuple[str, ...]
    """At least one."""
    topic: str


def find_offer(feed: Feed, links: Iterable[Link], document: ParsedFeed | None) -> HubOffer | None:
    """Return the hubs and the topic that a response names; None if there are none, or the feed cannot be pushed.

    Link headers win over the document (section 4). Without a "self" link the topic is the feed's URL.
    document: None for a "not modified" response.

    The topic may be on another host, as with feeds behind a feed service. A false topic is harmless: a push reaches
    only feeds that offered this hub and this topic themselves.
    """
    if not can_be_pushed(feed):
        return None
    links = tuple(links)
    hubs = [link.url for link in links if link.rel == "hub"]
    selves = [link.url for link in links if link.rel == "self"]
    if document is not None:
        hubs = hubs or list(document.hubs)
        selves.append(document.self_url)
    elif not selves:
        return None  # a "not modified" without a "self" link does not say what the topic is
    usable = tuple(dict.fromkeys(filter(_is_usable, hubs)))[:MAX_HUBS]
    topic = next(filter(None, selves), feed.feed_url)
    return HubOffer(usable, topic) if usable and _is_usable(topic) else None


def can_be_pushed(feed: Feed) -> bool:
    """Return whether a hub may push the feed.

    Not one with credentials, a proxy or a bridge of its user: the hub fetches without them, and may get another one.
    Nor one that is made from a page: it is read by selectors.
    """
    own = (feed.username, feed.password, feed.cookie, feed.proxy_url)
    own_way = feed.fetch_via_proxy or feed.fetch_via_flaresolverr or feed.own_bridge
    return not any(own) and not feed.kind and not own_way and "@" not in urlsplit(feed.feed_url).netloc


def _is_usable(url: str) -> bool:
    try:
        parts = urlsplit(url)
        size = len(url.encode())
    except ValueError:  # includes UnicodeError
        return False
    is_web = parts.scheme in ("http", "https") and bool(parts.hostname) and "@" not in parts.netloc
    return is_web and size <= MAX_URL and not _FORBIDDEN_IN_URLS.search(url)


def hub_topic_pairs(offer: HubOffer | None) -> Iterator[tuple[str, str]]:
    """Yield the hub and the topic of each subscription that an offer needs."""
    if offer is not None:
        yield from ((hub, offer.topic) for hub in offer.hubs)


# Subscriptions


class HubRequest(Struct, frozen=True):
    """A request to send to a hub."""

    subscription: HubSubscription
    mode: HubMode
    asked_at: Instant
    """When it was decided, as stored."""


class WebSub:
    """Subscribes to feeds at their hubs.

    callback_base: the URL of this service as hubs reach it, without a trailing slash; "" if WebSub is off.
    """

    def __init__(self, database: Database, hubs: HubClient, clock: Clock, *, callback_base: str) -> None:
        self._database = database
        self._hubs = hubs
        self._clock = clock
        self._callback_base = callback_base

    @property
    def is_on(self) -> bool:
        return bool(self._callback_base)

    async def disconnect(self) -> None:
        """Close connections to hubs. Call it inside the event loop that opened them."""
        await self._hubs.close()

    def record_offers(self, documents: Sequence[CheckedDocument]) -> None:
        """Record the hubs that documents offer now, even while this service cannot subscribe."""
        offers = {
            checked.feed.id: find_offer(checked.feed, checked.response.links, checked.document) for checked in documents
        }
        # A document without offers matters only if there may be offers to withdraw.
        relevant = [
            checked
            for checked in documents
            if offers[checked.feed.id] or (checked.document is not None and checked.has_hub)
        ]
        if not relevant:
            return
        with _logged_errors(relevant[0].feed):
            with self._database.reading() as db:
                known = store.offered_for_each(db, [checked.feed.id for checked in relevant])
            for checked in relevant:
                with _logged_errors(checked.feed):
                    self._store_offers(
                        checked, set(hub_topic_pairs(offers[checked.feed.id])), known.get(checked.feed.id, {})
                    )

    def _store_offers(
        self, document: CheckedDocument, offers: set[tuple[str, str]], known: Mapping[tuple[str, str], int]
    ) -> None:
        feed_id = document.feed.id
        if document.has_news and known:
            with self._database.writing() as db:
                store.stop_relying_on_pushes(db, feed_id)
        if offers == known.keys():
            return
        with self._database.writing() as db:
            for hub, topic in sorted(offers - known.keys()):
                token, secret = secrets.token_urlsafe(32), secrets.token_hex(32)
                store.add_offer(db, feed_id, hub, topic, token=token, secret=secret, now=self._clock())
            store.remove_offers(db, feed_id, [id_ for url, id_ in known.items() if url not in offers])

    def disable(self) -> None:
        """Poll all feeds as often as feeds without a hub."""
        with self._database.writing() as db:
            store.stop_relying_on_all_pushes(db)

    def expire_unused(self) -> int:
        """Make subscriptions due that no feed uses any more, or that a feed uses again. Returns their number."""
        now = self._clock()
        with self._database.reading() as db:
            orphaned = store.find_orphaned(db, now=now, limit=MAX_EXPIRED)
        if orphaned:
            with self._database.writing() as db:
                store.make_subscriptions_due(db, orphaned, now)
        return len(orphaned)

    async def send_due_requests(self) -> int:
        """Send the requests that are due, up to a limit. Returns the number of subscriptions processed."""
        count, requests = await asyncio.to_thread(self._decide)
        await asyncio.gather(*(self._send(request) for request in requests))
        return count

    def _decide(self) -> tuple[int, list[HubRequest]]:
        """Store the next step of due subscriptions, and return their number and the requests to send.

        Stored before requests are sent: a hub may verify before it responds, and this process may crash in between.
        """
        now = self._clock()
        with self._database.reading() as db:
            if not store.any_due(db, now):
                return 0, []
        with self._database.writing() as db:
            due = store.due(db, now=now, limit=MAX_CONCURRENT_REQUESTS)
            decided = [_decide(db, subscription, now, is_wanted=is_read) for subscription, is_read in due]
        return len(due), [request for request in decided if request is not None]

    async def _send(self, request: HubRequest) -> None:
        subscription, mode = request.subscription, request.mode
        sent = request_form(subscription, mode, f"{self._callback_base}{CALLBACK}{subscription.token}")
        try:
            await self._hubs.send(subscription.hub, sent, now=request.asked_at)
        except LocalShortage as error:
            log.warning("hub not asked", subscription=subscription.id, mode=mode.value, reason=error.message)
        except TidingsError as error:
            log.warning("hub not reached", subscription=subscription.id, mode=mode.value, reason=error.message)
            await asyncio.to_thread(self._store_failure, request, error)
        else:
            log.info("hub asked", subscription=subscription.id, mode=mode.value)

    def _store_failure(self, request: HubRequest, error: TidingsError) -> None:
        values: dict[str, object] = {"last_error": error.message}
        if request.mode is HubMode.SUBSCRIBE and isinstance(error, HttpError) and error.retry_after_s:
            wait = min(error.retry_after_s * SECOND, DAY)
            values["next_attempt_at"] = Instant(request.asked_at + max(wait, 60 * SECOND))
        with self._database.writing() as db:
            store.change(db, request.subscription.id, if_asked_at=request.asked_at, **values)


@contextmanager
def _logged_errors(feed: Feed) -> Iterator[None]:
    """Log errors instead of raising them: the check itself succeeded, and the next document offers the hubs again."""
    try:
        yield
    except StoreUnavailable as error:
        log.error("hubs not stored", feed=feed.id, reason=error.message)  # noqa: TRY400 - the message says it all
    except Exception:
        log.exception("hubs not stored", feed=feed.id)


def _decide(db: Write, subscription: HubSubscription, now: Instant, *, is_wanted: bool) -> HubRequest | None:
    step = next_step(subscription, is_wanted=is_wanted, now=now, random_fraction=random.random())  # noqa: S311 - spreads load
    if step.is_deleted:
        store.remove(db, subscription.id)
        return None
    store.change(db, subscription.id, **step.changes)
    return None if step.request is None else HubRequest(subscription, step.request, now)
