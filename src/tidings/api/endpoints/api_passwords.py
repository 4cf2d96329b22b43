"""Endpoints for API passwords, with which apps use the Google Reader API and the Fever API."""

from __future__ import annotations

from msgspec import Struct

from tidings.api.schema_annotations import Required, Timestamp
from tidings.api.struct_copy import StructCopy
from tidings.base.errors import Forbidden, InvalidInput, NotFound
from tidings.base.messages import msg
from tidings.domain.accounts.events import Origin
from tidings.domain.accounts.rights import KeyScope, Rights
from tidings.domain.accounts.users import User
from tidings.http.endpoints import Routes
from tidings.services import Services
from tidings.services.clock import TimeZone, time_zone
from tidings.storage.accounts.api_passwords import ApiPassword

routes = Routes("API passwords")


class ApiPasswordOut(Struct, frozen=True):
    """last_used_at: null while unused. Times are in the time zone of the user."""

    id: int
    user_id: int
    name: str
    last_used_at: Timestamp | None
    created_at: Timestamp


class NewApiPasswordOut(Struct, frozen=True):
    """username, password: to sign in with in the app. The password is only shown in this response."""

    id: int
    user_id: int
    name: str
    username: str
    password: str
    last_used_at: Timestamp | None
    created_at: Timestamp


class ApiPasswordCreate(Struct, frozen=True):
    name: Required[str] = None


_copy = StructCopy(ApiPasswordOut, "last_used_at", "created_at")
_copy_new = StructCopy(NewApiPasswordOut, "username", "password", "last_used_at", "created_at")


def _out(stored: ApiPassword, clock: TimeZone) -> ApiPasswordOut:
    return _copy(
        stored,
        last_used_at=clock.format_optional(stored.last_used_at),
        created_at=clock.format(stored.created_at),
    )


@routes.get("/v1/api-passwords", scope=KeyScope.MANAGE, lists=ApiPasswordOut)
def list_api_passwords(caller: User, services: Services) -> list[ApiPasswordOut]:
    """List your API passwords, by name. The passwords themselves are not shown again."""
    clock = time_zone(caller.timezone)
    return [_out(stored, clock) for stored in services.accounts.api_passwords.list_all(caller.id)]


@routes.post("/v1/api-passwords", scope=KeyScope.MANAGE, status=201, raises=(InvalidInput,))
def create_api_password(
    caller: User, rights: Rights, services: Services, origin: Origin, body: ApiPasswordCreate
) -> NewApiPasswordOut:
    """Create a password for an app. Its name, in any case, is unique among your passwords.

    API keys that expire may not: an API password lasts until it is deleted.
    """
    if rights.expires_at is not None:
        raise Forbidden(msg("A key that expires cannot create an API password, which would outlive it."))
    created = services.accounts.api_passwords.create(caller, body.name or "", origin)
    return _copy_new(
        created.stored,
        username=caller.username,
        password=created.password,
        last_used_at=None,
        created_at=time_zone(caller.timezone).format(created.stored.created_at),
    )


@routes.delete(
    "/v1/api-passwords/{api_password_id}", scope=KeyScope.MANAGE, status=204, raises=(InvalidInput, NotFound)
)
def delete_api_password(caller: User, services: Services, origin: Origin, api_password_id: int) -> None:
    """Delete an API password; the app that has it is signed out."""
    services.accounts.api_passwords.delete(caller, api_password_id, origin)
