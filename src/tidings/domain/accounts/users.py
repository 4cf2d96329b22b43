"""Users, and the rules for usernames and passwords."""

from __future__ import annotations

import unicodedata

from msgspec import Struct, structs

from tidings.base.errors import InvalidInput
from tidings.base.messages import msg
from tidings.base.times import Instant

MIN_PASSWORD = 6
MAX_PASSWORD = 1024
MAX_USERNAME = 255


# Unicode UTS 39, section 5.2 (highly restrictive): Japanese, Korean and Chinese names mix these, and Latin letters look
# like none of them.
_WITHOUT_LOOKALIKES = {"LATIN", "CJK"}
_WRITTEN_WITH_CJK = {"CJK", "HIRAGANA", "KATAKANA", "KATAKANA-HIRAGANA", "HANGUL", "BOPOMOFO", "IDEOGRAPHIC"}


class User(Struct, frozen=True):
    """A user without the password. The table and the API use the same field names.

    has_chosen_theme and has_chosen_direction are in the table only; see `with_page_defaults`.
    """

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
    allow_account_password_in_apps: bool
    proxies_pictures: bool
    saves_starred: bool
    has_chosen_theme: bool = False
    has_chosen_direction: bool = False


def with_page_defaults(user: User) -> User:
    """Returns the user as pages show the settings: a theme and an order that were not chosen are the pages' defaults.

    Pages follow the system's light or dark theme and begin with the newest entry; the API follows its contract.
    """
    return structs.replace(
        user,
        theme=user.theme if user.has_chosen_theme else "system_serif",
        entry_sorting_direction=user.entry_sorting_direction if user.has_chosen_direction else "desc",
    )


def validate_username(name: str) -> str:
    """Returns the name in the form in which it is stored: NFKC and lower case.

    Raises InvalidInput unless it consists of letters of one script, digits and `_ - @ .`. Letters of different scripts
    look alike, so that one user could impersonate another.
    """
    lowered = normalize_username(name)
    if not lowered:
        raise InvalidInput(msg("A user needs a username."), field="username")
    if len(lowered) > MAX_USERNAME:
        raise InvalidInput(
            msg("This username is too long: {max} characters at most.", max=MAX_USERNAME), field="username"
        )
    if name != name.strip() or not all(letter.isalnum() or letter in "_-@." for letter in lowered):
        raise InvalidInput(
            msg("A username consists of letters, digits and the characters _ - @ . only."), field="username"
        )
    scripts = {_script_of(letter) for letter in lowered if letter.isalpha()}
    if len(scripts) > 1 and scripts != _WITHOUT_LOOKALIKES:
        raise InvalidInput(msg("A username has letters of one script only."), field="username")
    return lowered


def normalize_username(name: str) -> str:
    """Returns the form in which names are compared: NFKC and lower case, without surrounding blanks."""
    return unicodedata.normalize("NFKC", name.strip()).lower()


def _script_of(letter: str) -> str:
    """Returns the script, the first word of the character's Unicode name; scripts that are mixed count as one."""
    script = unicodedata.name(letter, "unknown").partition(" ")[0]
    return "CJK" if script in _WRITTEN_WITH_CJK else script


def validate_password(password: str) -> str:
    """Returns the password. Raises InvalidInput if it has too few or too many characters."""
    if len(password) < MIN_PASSWORD:
        raise InvalidInput(
            msg("The password is too short: {min} characters at least.", min=MIN_PASSWORD),
            field="password",
        )
    if len(password) > MAX_PASSWORD:
        raise InvalidInput(
            msg("The password is too long: {max} characters at most.", max=MAX_PASSWORD), field="password"
        )
    return password
