"""Endpoints for users."""

from __future__ import annotations

from msgspec import Struct

from tidings.api.schema_annotations import Required, Timestamp
from tidings.api.setting_members import accepts, shows
from tidings.api.struct_copy import StructCopy
from tidings.base.errors import Forbidden, InvalidInput, NotFound
from tidings.base.messages import verbatim
from tidings.domain.accounts.events import Origin
from tidings.domain.accounts.rights import KeyScope, Rights
from tidings.domain.accounts.user_changes import FOREIGN_IDS
from tidings.domain.accounts.users import USER_SETTINGS, User
from tidings.http.endpoints import Routes
from tidings.http.json_body import sent
from tidings.services import Services
from tidings.services.accounts.users import by_id_or_name
from tidings.services.clock import time_zone

routes = Routes("Users")


@shows(USER_SETTINGS, before="last_login_at")
class UserOut(Struct, frozen=True):
    """The password is never shown."""

    id: int
    username: str
    is_admin: bool
    last_login_at: Timestamp | None


_copy = StructCopy(UserOut, "last_login_at")


def user_out(user: User) -> UserOut:
    return _copy(user, last_login_at=time_zone(user.timezone).format_optional(user.last_login_at))


@routes.get("/v1/me")
def get_me(caller: User) -> UserOut:
    """Get the calling user."""
    return user_out(caller)


class UserCreate(Struct, frozen=True):
    """Settings can be changed later with an update."""

    username: Required[str] = None
    password: Required[str] = None
    is_admin: bool | None = None
    google_id: str | None = None
    openid_connect_id: str | None = None


@accepts(USER_SETTINGS)
class UserUpdate(Struct, frozen=True):
    """Members that are not sent keep their values."""

    username: str | None = None
    password: str | None = None
    is_admin: bool | None = None


@routes.get("/v1/users", admin=True, lists=UserOut, raises=(Forbidden,))
def list_users(services: Services) -> list[UserOut]:
    """List all users, by username."""
    return [user_out(user) for user in services.accounts.users.list_all()]


@routes.get("/v1/users/{user_id}", admin=True, raises=(Forbidden, InvalidInput, NotFound))
def get_user(services: Services, user_id: str) -> UserOut:
    """Get a user by id or username. A number is looked up as an id first."""
    with services.reading() as db:
        return user_out(by_id_or_name(db, user_id))


@routes.post("/v1/users", status=201, admin=True, raises=(Forbidden, InvalidInput))
def create_user(caller: User, services: Services, origin: Origin, body: UserCreate) -> UserOut:
    """Create an account with one category."""
    values = sent(body)
    for name in ("username", "password"):
        if not values.get(name):
            raise InvalidInput(verbatim(f"{name}: a user needs one."), field=name)
    return user_out(services.accounts.users.create(**values, caller=caller, origin=origin))


# With them, who has a key could keep the account's owner out, or come in without the key.
_NEED_ADMIN = frozenset({"username", "password", "is_admin", *FOREIGN_IDS})


@routes.put("/v1/users/{user_id}", scope=KeyScope.MANAGE, status=201, raises=(Forbidden, InvalidInput, NotFound))
def update_user(
    caller: User, rights: Rights, services: Services, origin: Origin, user_id: int, body: UserUpdate
) -> UserOut:
    """Change an account: administrators any, other users their own. Members that are not sent keep their values.

    API keys need the scope `admin` for other accounts, and for the name, the password, the role and linked sign-ins.
    """
    fields = sent(body)
    if user_id != caller.id or not _NEED_ADMIN.isdisjoint(fields):
        rights.require(KeyScope.ADMIN)
    return user_out(services.accounts.users.update(caller, user_id, fields, origin=origin))


@routes.delete("/v1/users/{user_id}", status=204, admin=True, raises=(Forbidden, InvalidInput, NotFound))
def delete_user(caller: User, services: Services, origin: Origin, user_id: int) -> None:
    """Delete an account with all its data. Administrators cannot delete their own account."""
    services.accounts.users.delete(caller, user_id, origin)


@routes.put("/v1/users/{user_id}/mark-all-as-read", scope=KeyScope.WRITE, status=204, raises=(Forbidden, InvalidInput))
def mark_user_read(caller: User, services: Services, user_id: int) -> None:
    """Mark all your entries as read, including those dated in the future."""
    if user_id != caller.id:
        raise Forbidden(verbatim("You can mark your own entries as read only."))
    services.accounts.users.mark_read(caller.id)
