"""Endpoints for users."""

from __future__ import annotations

from typing import Annotated

from msgspec import Meta, Struct

from tidings.api.schema_annotations import Required, Timestamp, one_of, up_to
from tidings.api.struct_copy import StructCopy
from tidings.api.timestamps import time_zone
from tidings.base.errors import Forbidden, InvalidInput, NotFound
from tidings.base.messages import verbatim
from tidings.domain.accounts.user_changes import CHOICES, RANGES
from tidings.domain.accounts.users import User
from tidings.http.endpoints import Routes
from tidings.http.json_body import Int64, sent
from tidings.services import Services
from tidings.services.accounts.users import by_id_or_name

routes = Routes("Users")


class UserOut(Struct, frozen=True):
    """The password is never shown."""

    id: int
    username: str
    is_admin: bool
    theme: str
    language: str
    timezone: str
    entry_sorting_direction: str
    entry_sorting_order: str
    categories_sorting_order: str
    entries_per_page: int
    default_home_page: str
    display_mode: str
    gesture_nav: str
    keyboard_shortcuts: bool
    show_reading_time: bool
    entry_swipe: bool
    default_reading_speed: int
    cjk_reading_speed: int
    media_playback_rate: float
    mark_read_on_view: bool
    mark_read_on_media_player_completion: bool
    always_open_external_links: bool
    open_external_links_in_new_tab: bool
    stylesheet: str
    custom_js: str
    external_font_hosts: str
    google_id: str
    openid_connect_id: str
    block_filter_entry_rules: str
    keep_filter_entry_rules: str
    allow_account_password_in_apps: bool
    proxies_pictures: bool
    saves_starred: bool
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


def _choice(name: str) -> Meta:
    return one_of(CHOICES[name])


def _range(name: str) -> Meta:
    minimum, maximum = RANGES[name]
    return up_to(maximum, minimum=minimum)


class UserUpdate(Struct, frozen=True):
    """Members that are not sent keep their values."""

    username: str | None = None
    password: str | None = None
    is_admin: bool | None = None
    theme: Annotated[str | None, _choice("theme")] = None
    language: Annotated[str | None, _choice("language")] = None
    timezone: str | None = None
    entry_sorting_direction: Annotated[str | None, _choice("entry_sorting_direction")] = None
    entry_sorting_order: Annotated[str | None, _choice("entry_sorting_order")] = None
    categories_sorting_order: Annotated[str | None, _choice("categories_sorting_order")] = None
    entries_per_page: Annotated[Int64 | None, _range("entries_per_page")] = None
    default_home_page: Annotated[str | None, _choice("default_home_page")] = None
    display_mode: Annotated[str | None, _choice("display_mode")] = None
    gesture_nav: Annotated[str | None, _choice("gesture_nav")] = None
    keyboard_shortcuts: bool | None = None
    show_reading_time: bool | None = None
    entry_swipe: bool | None = None
    default_reading_speed: Annotated[Int64 | None, _range("default_reading_speed")] = None
    cjk_reading_speed: Annotated[Int64 | None, _range("cjk_reading_speed")] = None
    media_playback_rate: Annotated[float | None, _range("media_playback_rate")] = None
    mark_read_on_view: bool | None = None
    mark_read_on_media_player_completion: bool | None = None
    always_open_external_links: bool | None = None
    open_external_links_in_new_tab: bool | None = None
    stylesheet: str | None = None
    custom_js: str | None = None
    external_font_hosts: str | None = None
    google_id: str | None = None
    openid_connect_id: str | None = None
    block_filter_entry_rules: str | None = None
    keep_filter_entry_rules: str | None = None
    allow_account_password_in_apps: bool | None = None
    proxies_pictures: bool | None = None
    saves_starred: bool | None = None


@routes.get("/v1/users", admin=True, raises=(Forbidden,))
def list_users(services: Services) -> list[UserOut]:
    """List all users, by username."""
    return [user_out(user) for user in services.accounts.users.list_all()]


@routes.get("/v1/users/{user_id}", admin=True, raises=(Forbidden, InvalidInput, NotFound))
def get_user(services: Services, user_id: str) -> UserOut:
    """Get a user by id or username. A number is looked up as an id first."""
    with services.reading() as db:
        return user_out(by_id_or_name(db, user_id))


@routes.post("/v1/users", status=201, admin=True, raises=(Forbidden, InvalidInput))
def create_user(services: Services, body: UserCreate) -> UserOut:
    """Create an account with one category."""
    values = sent(body)
    for name in ("username", "password"):
        if not values.get(name):
            raise InvalidInput(verbatim(f"{name}: a user needs one."), field=name)
    return user_out(services.accounts.users.create(**values))


@routes.put("/v1/users/{user_id}", status=201, raises=(Forbidden, InvalidInput, NotFound))
def update_user(caller: User, services: Services, user_id: int, body: UserUpdate) -> UserOut:
    """Change an account: administrators any, other users their own. Members that are not sent keep their values."""
    return user_out(services.accounts.users.update(caller, user_id, sent(body)))


@routes.delete("/v1/users/{user_id}", status=204, admin=True, raises=(Forbidden, InvalidInput, NotFound))
def delete_user(caller: User, services: Services, user_id: int) -> None:
    """Delete an account with all its data. Administrators cannot delete their own account."""
    services.accounts.users.delete(caller, user_id)


@routes.put("/v1/users/{user_id}/mark-all-as-read", status=204, raises=(Forbidden, InvalidInput))
def mark_user_read(caller: User, services: Services, user_id: int) -> None:
    """Mark all your entries as read, including those dated in the future."""
    if user_id != caller.id:
        raise Forbidden(verbatim("You can mark your own entries as read only."))
    services.accounts.users.mark_read(caller.id)
