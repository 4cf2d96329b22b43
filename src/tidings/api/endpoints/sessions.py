"""Endpoints for sessions: browsers in which the user is signed in."""

from __future__ import annotations

from typing import Annotated

from msgspec import Struct

from tidings.api.schema_annotations import Timestamp, one_of
from tidings.api.struct_copy import StructCopy
from tidings.base.errors import InvalidInput, NotFound
from tidings.domain.accounts.events import Method, Origin
from tidings.domain.accounts.rights import KeyScope
from tidings.domain.accounts.users import User
from tidings.http.endpoints import Routes
from tidings.services import Services
from tidings.services.clock import time_zone

routes = Routes("Sessions")


class SessionOut(Struct, frozen=True):
    """method, second_method: how the user signed in; empty where there was none or it is not known.

    address, user_agent: of the request that began the session. expires_at: unless the browser is used before.
    """

    id: int
    user_id: int
    method: Annotated[str, one_of(("", *Method))]
    second_method: Annotated[str, one_of(("", *Method))]
    address: str
    user_agent: str
    created_at: Timestamp
    last_seen_at: Timestamp
    expires_at: Timestamp


_copy = StructCopy(SessionOut, "method", "second_method", "created_at", "last_seen_at", "expires_at")


@routes.get("/v1/sessions", scope=KeyScope.MANAGE, lists=SessionOut)
def list_sessions(caller: User, services: Services) -> list[SessionOut]:
    """List the browsers in which you are signed in, the last used first."""
    clock = time_zone(caller.timezone)
    return [
        _copy(
            session,
            method=session.method.partition("+")[0],
            second_method=session.method.partition("+")[2],
            created_at=clock.format(session.created_at),
            last_seen_at=clock.format(session.last_seen_at),
            expires_at=clock.format(session.expires_at),
        )
        for session in services.accounts.sessions.list_all(caller.id)
    ]


# Who could end sessions with a stolen key could keep its owner from deleting it.
@routes.delete("/v1/sessions/{session_id}", scope=KeyScope.ADMIN, status=204, raises=(InvalidInput, NotFound))
def end_session(caller: User, services: Services, origin: Origin, session_id: int) -> None:
    """Sign a browser out."""
    services.accounts.sessions.end(caller, session_id, origin)


@routes.delete("/v1/sessions", scope=KeyScope.ADMIN, status=204)
def end_sessions(caller: User, services: Services, origin: Origin) -> None:
    """Sign all browsers out. API keys and API passwords keep working."""
    services.accounts.sessions.end_others(caller, None, origin)
