"""Endpoints for lists of feeds that a user follows (live OPML)."""

from __future__ import annotations

import asyncio

from msgspec import Struct

from tidings.api.schema_annotations import Required, Timestamp
from tidings.base.errors import InvalidField, InvalidInput, NotFound
from tidings.base.messages import msg
from tidings.domain.accounts.rights import KeyScope
from tidings.domain.accounts.users import User
from tidings.http.binding import LazyBody
from tidings.http.endpoints import Routes
from tidings.live_opml.services import LiveOpmlServices
from tidings.live_opml.subscriptions import FollowedList
from tidings.net.errors import FetchError
from tidings.services.clock import TimeZone, time_zone

routes = Routes("Live OPML", after="OPML")


class RemovalOut(Struct, frozen=True):
    """A feed that the list does not name any more. starred: starred entries that would be deleted with it."""

    feed_id: int
    title: str
    feed_url: str
    missing_since: Timestamp
    starred: int


class OpmlSubscriptionOut(Struct, frozen=True):
    """A list that is followed. title: of the category of its feeds. feed_count: feeds that were added for it.

    error_message: why the last check failed, or what of the list is left out; "" otherwise.
    removals: feeds that wait for your decision, see `POST /v1/opml-subscriptions/{subscription_id}/removals`.
    """

    id: int
    user_id: int
    url: str
    title: str
    category_id: int
    feed_count: int
    created_at: Timestamp
    checked_at: Timestamp
    next_check_at: Timestamp
    error_message: str
    removals: list[RemovalOut]


class OpmlSubscriptionCreate(Struct, frozen=True):
    """url: the address of an OPML document, or of a text with one address on each line."""

    url: Required[str] = None


class RemovalsDecided(Struct, frozen=True):
    """remove, keep: ids of feeds among `removals`. with_starred: remove feeds with starred entries, too."""

    remove: list[int] | None = None
    keep: list[int] | None = None
    with_starred: bool = False


@routes.get("/v1/opml-subscriptions", lists=OpmlSubscriptionOut)
def list_opml_subscriptions(caller: User, live: LiveOpmlServices) -> list[OpmlSubscriptionOut]:
    """List the OPML documents that you follow, the oldest first."""
    zone = time_zone(caller.timezone)
    return [_out(one, zone) for one in live.subscriptions.list_all(caller.id)]


@routes.post("/v1/opml-subscriptions", scope=KeyScope.MANAGE, status=201, raises=(InvalidInput, FetchError))
async def create_opml_subscription(
    caller: User, live: LiveOpmlServices, body: OpmlSubscriptionCreate
) -> OpmlSubscriptionOut:
    """Follow an OPML document: its feeds are added to a new category, and follow the document from then on.

    New feeds of the document are added every few hours; feeds that it drops wait for your decision.
    """
    if not body.url:
        raise InvalidField("url", msg("give the address of an OPML document."))
    subscription_id = await live.subscriptions.subscribe(caller.id, body.url)
    found = await asyncio.to_thread(live.subscriptions.get, caller.id, subscription_id)
    return _out(found, time_zone(caller.timezone))


@routes.get("/v1/opml-subscriptions/{subscription_id}", raises=(InvalidInput, NotFound))
def get_opml_subscription(caller: User, live: LiveOpmlServices, subscription_id: int) -> OpmlSubscriptionOut:
    """Get an OPML document that you follow."""
    return _out(live.subscriptions.get(caller.id, subscription_id), time_zone(caller.timezone))


@routes.delete(
    "/v1/opml-subscriptions/{subscription_id}", scope=KeyScope.MANAGE, status=204, raises=(InvalidInput, NotFound)
)
def delete_opml_subscription(caller: User, live: LiveOpmlServices, subscription_id: int) -> None:
    """Stop following an OPML document. Its category and its feeds stay."""
    live.subscriptions.end(caller.id, subscription_id)


@routes.put(
    "/v1/opml-subscriptions/{subscription_id}/refresh",
    scope=KeyScope.WRITE,
    status=204,
    raises=(InvalidInput, NotFound),
)
def refresh_opml_subscription(caller: User, live: LiveOpmlServices, subscription_id: int) -> None:
    """Check an OPML document as soon as a worker can. Returns immediately."""
    live.subscriptions.check_soon(caller.id, subscription_id)


@routes.post(
    "/v1/opml-subscriptions/{subscription_id}/removals",
    scope=KeyScope.MANAGE,
    status=201,
    raises=(InvalidInput, NotFound),
)
def decide_removals(
    caller: User, live: LiveOpmlServices, subscription_id: int, body: LazyBody[RemovalsDecided]
) -> OpmlSubscriptionOut:
    """Remove or keep feeds that the document has dropped. Feeds that you keep are ordinary feeds from then on."""
    live.subscriptions.get(caller.id, subscription_id)
    decided = body.read()
    live.subscriptions.decide(
        caller.id,
        subscription_id,
        remove=decided.remove or (),
        keep=decided.keep or (),
        with_starred=decided.with_starred,
    )
    return _out(live.subscriptions.get(caller.id, subscription_id), time_zone(caller.timezone))


def _out(followed: FollowedList, zone: TimeZone) -> OpmlSubscriptionOut:
    source = followed.source
    return OpmlSubscriptionOut(
        id=source.id,
        user_id=source.user_id,
        url=source.url,
        title=followed.title,
        category_id=source.category_id,
        feed_count=followed.feed_count,
        created_at=zone.format(source.created_at),
        checked_at=zone.format(source.checked_at),
        next_check_at=zone.format(source.next_check_at),
        error_message=source.error,
        removals=[
            RemovalOut(one.feed_id, one.title, one.feed_url, zone.format(one.missing_since), one.starred)
            for one in followed.removals
        ],
    )
