"""Live events for our own pages, by the cookie of the session."""

from __future__ import annotations

from starlette.responses import Response

from tidings.http.binding import Query
from tidings.http.endpoints import Routes
from tidings.http.event_stream import last_event_id
from tidings.http.requests import Request
from tidings.live.services import LiveServices
from tidings.services.accounts.grants import Grant

routes = Routes()


class EventsQuery(Query, frozen=True):
    """since: the id of the last event that any page of this browser has received."""

    since: str = ""


@routes.get("/events")
def stream_events(grant: Grant, live: LiveServices, request: Request, query: EventsQuery) -> Response:
    """Stream what changes to one page of a browser, which tells the others."""
    return live.stream(grant, last_event_id(request) or query.since)
