"""Users: who they are and what they may choose."""

from __future__ import annotations

from msgspec import Struct

from tidings.domain.errors import InvalidInput
from tidings.domain.times import Instant

MIN_PASSWORD = 6
MAX_PASSWORD = 1024
MAX_USERNAME = 255


class User(Struct, frozen=True):
    """Everything but the password. Field names are those of the table and of the API."""

    id: int
    username: str
    is_admin: bool
    last_login_at: Instant | None
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


def checked_username(name: str) -> str:
    """In the form in which it is stored: lower case.

    Letters and digits of any script and `_ - @ .`; InvalidInput otherwise.
    """
    lowered = name.strip().lower()
    if not lowered:
        raise InvalidInput("A user needs a username.", field="username")
    if len(lowered) > MAX_USERNAME:
        raise InvalidInput(f"This username is too long: {MAX_USERNAME} characters at most.", field="username")
    if name != name.strip() or not all(letter.isalnum() or letter in "_-@." for letter in lowered):
        raise InvalidInput("A username consists of letters, digits and the characters _ - @ . only.", field="username")
    return lowered


def checked_password(password: str) -> str:
    """At least six characters, whatever their number of bytes."""
    if len(password) < MIN_PASSWORD:
        raise InvalidInput(f"The password is too short: {MIN_PASSWORD} characters at least.", field="password")
    if len(password) > MAX_PASSWORD:
        raise InvalidInput(f"The password is too long: {MAX_PASSWORD} characters at most.", field="password")
    return password
