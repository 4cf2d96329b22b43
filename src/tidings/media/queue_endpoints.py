"""Endpoints for the queue: audio and video to play one after the other."""

from __future__ import annotations

from typing import Annotated

from msgspec import Struct

from tidings.api.schema_annotations import Required, up_to
from tidings.api.struct_copy import StructCopy
from tidings.base.errors import InvalidInput, NotFound
from tidings.base.messages import verbatim
from tidings.domain.accounts.rights import KeyScope
from tidings.domain.accounts.users import User
from tidings.http.binding import LazyBody
from tidings.http.endpoints import Routes
from tidings.http.json_body import Int64
from tidings.media.queue import MAX_QUEUED
from tidings.media.services import MediaServices
from tidings.services import Services
from tidings.services.entries.enclosures import owned_enclosure

routes = Routes("Queue", after="Enclosures")


class QueuedEnclosureOut(Struct, frozen=True):
    """id: of the enclosure. title: of its entry. media_progression: seconds that were played."""

    id: int
    entry_id: int
    feed_id: int
    title: str
    feed_title: str
    url: str
    mime_type: str
    media_progression: int


class QueueAddition(Struct, frozen=True):
    """is_next: true puts it in front of the others, even if it is in the queue already; default: behind them."""

    enclosure_id: Required[Int64] = None
    is_next: bool | None = None


class QueuePlace(Struct, frozen=True):
    """position: its new place in the queue, counted from 1; beyond the end means last."""

    position: Annotated[Required[Int64], up_to(MAX_QUEUED, minimum=1)] = None


_copy = StructCopy(QueuedEnclosureOut)


@routes.get("/v1/queue", lists=QueuedEnclosureOut)
def list_queue(caller: User, media: MediaServices) -> list[QueuedEnclosureOut]:
    """List the episodes that wait to be played, the next one first."""
    return [_copy(queued) for queued in media.queue.list_all(caller.id)]


@routes.post("/v1/queue", scope=KeyScope.WRITE, status=204, raises=(InvalidInput, NotFound))
def add_to_queue(caller: User, media: MediaServices, body: QueueAddition) -> None:
    """Put an enclosure that is audio or video into the queue, which has room for 500."""
    if not body.enclosure_id:
        raise InvalidInput(verbatim("enclosure_id: name the enclosure to play."), field="enclosure_id")
    media.queue.add(caller.id, body.enclosure_id, is_next=bool(body.is_next))


@routes.put("/v1/queue/{enclosure_id}", scope=KeyScope.WRITE, status=204, raises=(InvalidInput, NotFound))
def move_in_queue(
    caller: User, services: Services, media: MediaServices, enclosure_id: int, body: LazyBody[QueuePlace]
) -> None:
    """Move an enclosure to another place in the queue."""
    with services.reading() as db:
        owned_enclosure(db, caller.id, enclosure_id)
    position = body.read().position
    if position is None or position < 1:
        raise InvalidInput(verbatim("position: send its new place, counted from 1."), field="position")
    media.queue.move_to(caller.id, enclosure_id, position)


@routes.delete("/v1/queue/{enclosure_id}", scope=KeyScope.WRITE, status=204, raises=(InvalidInput, NotFound))
def remove_from_queue(caller: User, media: MediaServices, enclosure_id: int) -> None:
    """Take an enclosure out of the queue, if it is in it."""
    media.queue.remove(caller.id, enclosure_id)
