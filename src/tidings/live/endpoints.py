"""The endpoint of live events."""

from __future__ import annotations

from starlette.responses import Response

from tidings.base.errors import InvalidInput
from tidings.http.binding import Query
from tidings.http.endpoints import Media, Routes
from tidings.http.event_stream import EVENT_STREAM, TooManyStreams, last_event_id
from tidings.http.requests import Request
from tidings.live.changes import Changes
from tidings.live.services import LiveServices
from tidings.services.accounts.grants import Grant

routes = Routes("Live events", after="Entries")


class EventsQuery(Query, frozen=True):
    """since: what the client has, next_cursor of /v1/sync or the id of an event; Last-Event-ID comes first."""

    since: str = ""


@routes.get(
    "/v1/events",
    raises=(InvalidInput, TooManyStreams),
    responses={200: Media(EVENT_STREAM, {"type": "string"}, data=Changes)},
)
def stream_events(grant: Grant, live: LiveServices, request: Request, query: EventsQuery) -> Response:
    """Get what changes, as it happens: server-sent events.

    The response stays open. `changes` has an object as its data; `ready` says that everything since the id that the
    client sent was sent; after `reset` the client has to get everything again. The id of an event is a cursor of
    /v1/sync. Without an id, events begin with what happens from now on.
    """
    return live.stream(grant, last_event_id(request) or query.since)
