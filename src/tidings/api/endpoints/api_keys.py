"""Endpoints for API keys."""

from __future__ import annotations

from typing import Annotated

from msgspec import Struct

from tidings.api.schema_annotations import Required, Timestamp, one_of
from tidings.api.struct_copy import StructCopy
from tidings.base.errors import InvalidInput, NotFound
from tidings.base.times import zone_info
from tidings.domain.accounts.api_keys import parse_expiry, parse_scope
from tidings.domain.accounts.events import Origin
from tidings.domain.accounts.rights import KeyScope, Rights
from tidings.domain.accounts.users import User
from tidings.http.endpoints import Routes
from tidings.services import Services
from tidings.services.clock import TimeZone, time_zone
from tidings.storage.accounts import api_keys
from tidings.storage.accounts.api_keys import ApiKey

routes = Routes("API keys")


class ApiKeyOut(Struct, frozen=True):
    """token: 64 hex digits, for X-Auth-Token; empty in lists for keys of which only a hash is stored, and for callers
    with an API key that is limited. last_used_at: null while unused. last_address: from where that was. expires_at:
    null for never. Times: in the zone of the user.
    """

    id: int
    user_id: int
    token: str
    description: str
    last_used_at: Timestamp | None
    created_at: Timestamp
    scope: Annotated[str, one_of(KeyScope)]
    expires_at: Timestamp | None
    last_address: str


class ApiKeyCreate(Struct, frozen=True):
    """scope: admin if it is not sent, which includes all others. expires_at: a time, or a date, which is the last one
    on which the key works. A key that is made with a limited key is limited as that one is, unless less is asked for.
    """

    description: Required[str] = None
    scope: Annotated[str | None, one_of(KeyScope)] = None
    expires_at: str | None = None


_copy = StructCopy(ApiKeyOut, "token", "last_used_at", "created_at", "expires_at")


def _out(key: ApiKey, clock: TimeZone, *, shows_token: bool = True) -> ApiKeyOut:
    return _copy(
        key,
        token=key.token or "" if shows_token else "",
        expires_at=clock.format_optional(key.expires_at),
        last_used_at=clock.format_optional(key.last_used_at),
        created_at=clock.format(key.created_at),
    )


@routes.get("/v1/api-keys", scope=KeyScope.MANAGE, lists=ApiKeyOut)
def list_api_keys(caller: User, rights: Rights, services: Services) -> list[ApiKeyOut]:
    """List your API keys, by description."""
    clock = time_zone(caller.timezone)
    with services.reading() as db:
        found = api_keys.list_all(db, caller.id)
    # With the token of another key, the caller would have more rights than their own.
    return [_out(key, clock, shows_token=not rights.are_limited) for key in found]


@routes.post("/v1/api-keys", scope=KeyScope.MANAGE, status=201, raises=(InvalidInput,))
def create_api_key(caller: User, rights: Rights, services: Services, origin: Origin, body: ApiKeyCreate) -> ApiKeyOut:
    """Create an API key, with which a client acts as you. Its description, in any case, is unique among your keys."""
    scope = None if body.scope is None else parse_scope(body.scope)
    now = services.clock()
    ends = None if body.expires_at is None else parse_expiry(body.expires_at, zone_info(caller.timezone), now)
    created = services.accounts.api_keys.create(
        caller, body.description or "", origin, rights=rights.pass_on(scope, ends)
    )
    return _out(created, time_zone(caller.timezone))


@routes.delete("/v1/api-keys/{api_key_id}", scope=KeyScope.MANAGE, status=204, raises=(InvalidInput, NotFound))
def delete_api_key(caller: User, services: Services, origin: Origin, api_key_id: int) -> None:
    """Delete an API key; requests with it are refused from now on."""
    services.accounts.api_keys.delete(caller, api_key_id, origin)
