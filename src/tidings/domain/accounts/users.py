"""Users, and the rules for usernames and passwords."""

from __future__ import annotations

import unicodedata
from typing import Annotated, Final

from msgspec import Struct, structs

from tidings.base.errors import InvalidInput
from tidings.base.messages import msg
from tidings.base.times import Instant
from tidings.domain.setting_declarations import Risk, Setting, declared

MIN_PASSWORD = 6
MAX_PASSWORD = 1024
MAX_USERNAME = 255


# Unicode UTS 39, section 5.2 (highly restrictive): Japanese, Korean and Chinese names mix these, and Latin letters look
# like none of them.
_WITHOUT_LOOKALIKES = {"LATIN", "CJK"}
_WRITTEN_WITH_CJK = {"CJK", "HIRAGANA", "KATAKANA", "KATAKANA-HIRAGANA", "HANGUL", "BOPOMOFO", "IDEOGRAPHIC"}


THEMES = (
    "light_serif",
    "light_sans_serif",
    "dark_serif",
    "dark_sans_serif",
    "system_serif",
    "system_sans_serif",
)
LANGUAGES = (
    *("ar_SA", "cs_CZ", "de_DE", "el_EL", "en_US", "es_ES", "fi_FI", "fr_FR", "gl_ES", "he_IL", "hi_IN", "id_ID"),
    *("it_IT", "ja_JP", "ko_KR", "nan_Latn_pehoeji", "nl_NL", "pl_PL", "pt_BR", "ro_RO", "ru_RU", "tr_TR", "uk_UA"),
    *("zh_CN", "zh_TW"),
)
# Entries that repeat one of another feed stay, are folded under it, or are marked read when they arrive.
DUPLICATES = ("off", "fold", "mark_read")
DUPLICATES_IN_APPS = ("hide", "read", "all")
# Words or characters a minute. The upper end is the largest value of the column.
READING_SPEEDS = (1, 2**31 - 1)


class User(Struct, frozen=True):
    """A user without the password. The table and the API use the same field names.

    Fields annotated with `Setting` are the user's settings, in the order of the API: see `setting_declarations`.
    has_chosen_theme and has_chosen_direction are in the table only; see `with_page_defaults`.
    """

    id: int
    username: str
    is_admin: bool
    last_login_at: Instant | None
    theme: Annotated[str, Setting(Risk.NONE, choices=THEMES)] = "light_serif"
    language: Annotated[str, Setting(Risk.NONE, choices=LANGUAGES)] = "en_US"
    timezone: Annotated[str, Setting(Risk.NONE, comment="IANA name; every time the API shows this user is in it.")] = (
        "UTC"
    )
    entry_sorting_direction: Annotated[str, Setting(Risk.NONE, choices=("asc", "desc"))] = "asc"
    entry_sorting_order: Annotated[str, Setting(Risk.NONE, choices=("published_at", "created_at"))] = "published_at"
    categories_sorting_order: Annotated[str, Setting(Risk.NONE, choices=("alphabetical", "unread_count"))] = (
        "unread_count"
    )
    entries_per_page: Annotated[int, Setting(Risk.NONE, range=(1, 1000))] = 100
    default_home_page: Annotated[
        str, Setting(Risk.NONE, choices=("unread", "starred", "history", "feeds", "categories"))
    ] = "unread"
    display_mode: Annotated[str, Setting(Risk.NONE, choices=("fullscreen", "standalone", "minimal-ui", "browser"))] = (
        "standalone"
    )
    gesture_nav: Annotated[str, Setting(Risk.NONE, choices=("none", "tap", "swipe"))] = "tap"
    keyboard_shortcuts: Annotated[bool, Setting(Risk.NONE)] = True
    show_reading_time: Annotated[bool, Setting(Risk.NONE)] = True
    entry_swipe: Annotated[bool, Setting(Risk.NONE)] = True
    default_reading_speed: Annotated[int, Setting(Risk.NONE, range=READING_SPEEDS, comment="Words a minute.")] = 265
    cjk_reading_speed: Annotated[int, Setting(Risk.NONE, range=READING_SPEEDS, comment="Characters a minute.")] = 500
    media_playback_rate: Annotated[float, Setting(Risk.NONE, range=(0.25, 4))] = 1.0
    mark_read_on_view: Annotated[bool, Setting(Risk.NONE)] = True
    mark_read_on_media_player_completion: Annotated[bool, Setting(Risk.NONE)] = False
    always_open_external_links: Annotated[bool, Setting(Risk.NONE)] = False
    open_external_links_in_new_tab: Annotated[bool, Setting(Risk.NONE)] = True
    stylesheet: Annotated[str, Setting(Risk.RUNS_ON_PAGES)] = ""
    custom_js: Annotated[str, Setting(Risk.RUNS_ON_PAGES)] = ""
    external_font_hosts: Annotated[str, Setting(Risk.RUNS_ON_PAGES)] = ""
    google_id: Annotated[str, Setting(Risk.NAMES_USER)] = ""
    openid_connect_id: Annotated[str, Setting(Risk.NAMES_USER)] = ""
    block_filter_entry_rules: Annotated[str, Setting(Risk.HIDES_ENTRIES)] = ""
    keep_filter_entry_rules: Annotated[str, Setting(Risk.HIDES_ENTRIES)] = ""
    allow_account_password_in_apps: Annotated[
        bool,
        Setting(
            Risk.WEAKENS_SECURITY,
            comment="The Google Reader API accepts password_hash, not only API passwords.",
        ),
    ] = True
    # Without it, publishers see the reader's address.
    proxies_pictures: Annotated[
        bool,
        Setting(Risk.WEAKENS_SECURITY, comment="Pages load all pictures of articles through the media proxy."),
    ] = False
    # Stars are sent to services.
    saves_starred: Annotated[
        bool, Setting(Risk.SENDS_DATA, comment="Entries that become starred are saved to services.")
    ] = False
    category_titles: Annotated[
        str,
        Setting(
            Risk.NONE, choices=("path", "name"), comment="How apps that know no tree see a category: path or name."
        ),
    ] = "path"
    duplicates: Annotated[
        str,
        Setting(
            Risk.HIDES_ENTRIES,
            choices=DUPLICATES,
            comment="What happens to entries that repeat one of another feed.",
        ),
    ] = "off"
    duplicates_in_apps: Annotated[
        str,
        Setting(Risk.NONE, choices=DUPLICATES_IN_APPS, comment="What apps see of folded entries."),
    ] = "hide"
    hides_unread_counts: Annotated[bool, Setting(Risk.NONE, comment="Pages show no counts next to lists.")] = False
    shortcuts: Annotated[
        str, Setting(Risk.NONE, comment="Lines of a command and its keys, where these are not the defaults.")
    ] = ""
    has_chosen_theme: bool = False
    has_chosen_direction: bool = False


USER_SETTINGS: Final = declared(User, Setting)


def with_page_defaults(user: User) -> User:
    """Return the user as pages show the settings: a theme and an order that were not chosen are the pages' defaults.

    Pages follow the system's light or dark theme and begin with the newest entry; the API follows its contract.
    """
    return structs.replace(
        user,
        theme=user.theme if user.has_chosen_theme else "system_serif",
        entry_sorting_direction=user.entry_sorting_direction if user.has_chosen_direction else "desc",
    )


def validate_username(name: str) -> str:
    """Return the name in the form in which it is stored: NFKC and lower case.

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
    """Return the form in which names are compared: NFKC and lower case, without surrounding blanks."""
    return unicodedata.normalize("NFKC", name.strip()).lower()


def _script_of(letter: str) -> str:
    """Return the script, the first word of the character's Unicode name; scripts that are mixed count as one."""
    script = unicodedata.name(letter, "unknown").partition(" ")[0]
    return "CJK" if script in _WRITTEN_WITH_CJK else script


def validate_password(password: str) -> str:
    """Return the password. Raises InvalidInput if it has too few or too many characters."""
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
