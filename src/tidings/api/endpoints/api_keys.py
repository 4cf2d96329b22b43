"""Endpoints for API keys."""

from __future__ import annotations

from msgspec import Struct

from tidings.api.schema_annotations import Required, Timestamp
from tidings.api.struct_copy import StructCopy
from tidings.base.errors import InvalidInput, NotFound
from tidings.domain.accounts.events import Origin
from tidings.domain.accounts.users import User
from tidings.http.endpoints import Routes
from tidings.services import Services
from tidings.services.clock import TimeZone, time_zone
from tidings.storage.accounts import api_keys
from tidings.storage.accounts.api_keys import ApiKey

routes = Routes("API keys")


class ApiKeyOut(Struct, frozen=True):
    """token: 64 hex digits, for X-Auth-Token. last_used_at: null while unused. Times: in the zone of the user."""

    id: int
    user_id: int
    token: str
    description: str
    last_used_at: Timestamp | None
    created_at: Timestamp


class ApiKeyCreate(Struct, frozen=True):
    description: Required[str] = None


_copy = StructCopy(ApiKeyOut, "last_used_at", "created_at")


def _out(key: ApiKey, clock: TimeZone) -> ApiKeyOut:
    return _copy(
        key,
        last_used_at=clock.format_optional(key.last_used_at),
        created_at=clock.format(key.created_at),
    )


@routes.get("/v1/api-keys")
def list_api_keys(caller: User, services: Services) -> list[ApiKeyOut]:
    """List your API keys, by description."""
    clock = time_zone(caller.timezone)
    with services.reading() as db:
        return [_out(key, clock) for key in api_keys.list_all(db, caller.id)]


@routes.post("/v1/api-keys", status=201, raises=(InvalidInput,))
def create_api_key(caller: User, services: Services, origin: Origin, body: ApiKeyCreate) -> ApiKeyOut:
    """Create an API key, with which a client acts as you. Its description, in any case, is unique among your keys."""
    created = services.accounts.api_keys.create(caller, body.description or "", origin)
    return _out(created, time_zone(caller.timezone))


@routes.delete("/v1/api-keys/{api_key_id}", status=204, raises=(InvalidInput, NotFound))
def delete_api_key(caller: User, services: Services, origin: Origin, api_key_id: int) -> None:
    """Delete an API key; requests with it are refused from now on."""
    services.accounts.api_keys.delete(caller, api_key_id, origin)
