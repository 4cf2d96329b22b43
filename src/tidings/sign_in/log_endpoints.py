"""The log of what happens to accounts, for administrators."""

from __future__ import annotations

from typing import Annotated, Final

from msgspec import Struct
from starlette.responses import Response

from tidings.api.fields import Fields, lean
from tidings.api.paging import link_to
from tidings.api.schema_annotations import Timestamp, one_of
from tidings.base.errors import Forbidden, InvalidInput
from tidings.base.messages import verbatim
from tidings.domain.accounts.events import EventKind, Method
from tidings.domain.accounts.rights import KeyScope
from tidings.domain.accounts.users import User
from tidings.http.binding import Query
from tidings.http.endpoints import Routes
from tidings.http.requests import Request
from tidings.http.responses import json
from tidings.services.clock import time_zone
from tidings.sign_in.account_log_store import LogFilter, LogPlace
from tidings.sign_in.services import SignInServices

routes = Routes("Account log", after="Users")

DEFAULT_LIMIT: Final = 100
MAX_LIMIT: Final = 1000


class OwnAuditQuery(Query, frozen=True):
    """kind, method, address: as in the entries. limit: 1 to 1,000, default 100. before: `next` of the page before."""

    kind: str = ""
    method: str = ""
    address: str = ""
    limit: int | None = None
    before: str = ""


class AuditQuery(OwnAuditQuery, frozen=True):
    """user_id: of one account only. kind, method, address: as in the entries. limit: 1 to 1,000, default 100.

    before: `next` of the page before.
    """

    user_id: int | None = None


class AuditEntryOut(Struct, frozen=True):
    """user_id: null for a refused name that nobody has, and for an account that was deleted; username is empty then.

    method, second_method: how the user signed in, or who did it. address: "*" for several. actor: the administrator.
    times: how often the same happened on this day, from first_at to last_at. Times: in the zone of the user.
    """

    id: int
    user_id: int | None
    username: str
    kind: Annotated[str, one_of(EventKind)]
    method: Annotated[str, one_of(("", *Method))]
    second_method: Annotated[str, one_of(("", *Method))]
    address: str
    user_agent: str
    actor: str
    detail: str
    times: int
    first_at: Timestamp
    last_at: Timestamp


class AuditOut(Struct, frozen=True):
    """entries: the newest first. next: for `before` of the next page; null on the last one."""

    entries: list[AuditEntryOut]
    next: str | None


@routes.get("/v1/audit", admin=True, lists=AuditEntryOut, raises=(Forbidden, InvalidInput), responses={200: AuditOut})
def list_account_events(
    caller: User, sign_in: SignInServices, request: Request, fields: Fields, query: AuditQuery
) -> Response:
    """List what happened to all accounts in the last 90 days: sign-ins, refused ones, changes."""
    return _answer(request, fields, _page(caller, sign_in, query, query.user_id))


@routes.get(
    "/v1/me/audit",
    scope=KeyScope.MANAGE,
    lists=AuditEntryOut,
    raises=(InvalidInput,),
    responses={200: AuditOut},
)
def list_own_events(
    caller: User, sign_in: SignInServices, request: Request, fields: Fields, query: OwnAuditQuery
) -> Response:
    """List what happened to your account in the last 90 days: sign-ins, refused ones, changes."""
    return _answer(request, fields, _page(caller, sign_in, query, caller.id))


def _answer(request: Request, fields: Fields, page: AuditOut) -> Response:
    headers = link_to(request, {"before": page.next}) if page.next else None
    return json(lean(page, fields), headers=headers)


def _page(caller: User, sign_in: SignInServices, query: OwnAuditQuery, user_id: int | None) -> AuditOut:
    for name, known in (("kind", EventKind), ("method", Method)):
        value = getattr(query, name)
        if value and value not in {one.value for one in known}:
            raise InvalidInput(verbatim(f"{name}: expected one of {', '.join(known)}."), field=name)
    limit = DEFAULT_LIMIT if query.limit is None else query.limit
    if not 1 <= limit <= MAX_LIMIT:
        raise InvalidInput(verbatim(f"limit: expected a number from 1 to {MAX_LIMIT:,}."), field="limit")
    before = LogPlace.read(query.before) if query.before else None
    if query.before and before is None:
        raise InvalidInput(verbatim("before: send the `next` of another page."), field="before")
    wanted = LogFilter(user_id=user_id, kind=query.kind, method=query.method, address=query.address)
    found, more = sign_in.log.page(wanted, before=before, limit=limit)
    clock = time_zone(caller.timezone)
    entries = [
        AuditEntryOut(
            id=entry.id,
            user_id=entry.user_id,
            username=entry.username,
            kind=entry.kind,
            method=entry.method,
            second_method=entry.second_method,
            address=entry.address,
            user_agent=entry.user_agent,
            actor=entry.actor,
            detail=entry.detail,
            times=entry.times,
            first_at=clock.format(entry.first_at),
            last_at=clock.format(entry.last_at),
        )
        for entry in found
    ]
    return AuditOut(entries, str(more) if more else None)
