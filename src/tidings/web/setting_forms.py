"""The forms of the account settings: which settings each page has, with their words and limits."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import lru_cache

from babel import Locale
from msgspec import Struct

from tidings.base.text import sort_key
from tidings.domain.accounts.user_changes import CHOICES, RANGES, selectable_zones
from tidings.services.accounts.users import known_zones
from tidings.web.language import CATALOGUES, N_, OFFERED, SOURCE, _
from tidings.web.setting_fields import Field, Group

_LABELS: dict[str, str] = {
    "light_serif": N_("Light, serif"),
    "light_sans_serif": N_("Light, sans serif"),
    "dark_serif": N_("Dark, serif"),
    "dark_sans_serif": N_("Dark, sans serif"),
    "system_serif": N_("Same as the system, serif"),
    "system_sans_serif": N_("Same as the system, sans serif"),
    "asc": N_("Oldest first"),
    "desc": N_("Newest first"),
    "published_at": N_("Date published"),
    "created_at": N_("Date received"),
    "alphabetical": N_("By name"),
    "path": N_("With the categories above"),
    "name": N_("By their last part"),
    "unread_count": N_("By unread entries"),
    "unread": N_("Unread"),
    "starred": N_("Starred"),
    "history": N_("History"),
    "feeds": N_("Feeds"),
    "categories": N_("Categories"),
    "fullscreen": N_("Full screen"),
    "standalone": N_("Own window"),
    "minimal-ui": N_("Own window with a few buttons"),
    "browser": N_("In the browser"),
    "none": N_("Nothing"),
    "tap": N_("Double tap"),
    "swipe": N_("Swipe"),
    "off": N_("Show all"),
    "fold": N_("Fold"),
    "mark_read": N_("Mark as read"),
    "hide": N_("Leave out"),
    "read": N_("Show as read"),
    "all": N_("Show as they are"),
}


def choices_of(name: str) -> Callable[[], Mapping[str, str]]:
    """Return a function that returns value and label of each choice. name: the field's name."""
    return lambda: {value: _(_LABELS[value]) for value in CHOICES[name]}


@lru_cache(maxsize=1)
def languages() -> dict[str, str]:
    """Return code and name of each language that there is, named in that language."""
    named = {code: _own_name(code) for code in OFFERED}
    return dict(sorted(named.items(), key=lambda item: sort_key(item[1])))


@lru_cache(maxsize=1)
def zones() -> dict[str, str]:
    return {name: name.replace("_", " ") for name in selectable_zones(known_zones())}


def _own_name(code: str) -> str:
    # Of the catalogue: Miniflux's code of Greek, `el_EL`, has a region that does not exist.
    locale = Locale.parse(CATALOGUES.get(code, SOURCE))
    alone = code.partition("_")[0] not in ("zh", "pt")
    name = (Locale(locale.language).get_language_name() if alone else locale.get_display_name()) or code
    return name[:1].upper() + name[1:]


class AccountForm(Struct, frozen=True):
    path: str
    title: str
    about: str
    groups: tuple[Group, ...]


def _number(name: str, label: str, help: str = "", *, step: str = "1") -> Field:  # noqa: A002
    minimum, maximum = RANGES[name]
    return Field("number", name, label, help, more={"min": f"{minimum:g}", "max": f"{maximum:.0f}", "step": step})


_PLAIN_TEXT = {"autocapitalize": "none", "spellcheck": "false", "autocomplete": "off"}

ACCOUNT = AccountForm(
    "/settings",
    N_("Account"),
    "",
    (
        Group(
            "",
            (
                Field("text", "username", N_("Username"), more=_PLAIN_TEXT | {"autocomplete": "username"}),
                Field("select", "language", N_("Language"), choices=languages),
                Field("select", "timezone", N_("Time zone"), choices=zones),
                Field("select", "default_home_page", N_("Home page"), choices=choices_of("default_home_page")),
            ),
        ),
        Group(
            N_("Apps"),
            (
                Field(
                    "check",
                    "allow_account_password_in_apps",
                    N_("Apps may use the password of this account"),
                    N_("In the Google Reader API. When this is off, each app needs an API password."),
                ),
            ),
        ),
    ),
)

READING = AccountForm(
    "/settings/reading",
    N_("Reading"),
    N_("On all your devices."),
    (
        Group(
            N_("Lists"),
            (
                Field(
                    "choice",
                    "categories_sorting_order",
                    N_("Categories"),
                    choices=choices_of("categories_sorting_order"),
                ),
                Field(
                    "choice",
                    "category_titles",
                    N_("Categories in apps"),
                    N_("For apps that show categories without their tree."),
                    choices=choices_of("category_titles"),
                ),
                _number("entries_per_page", N_("Entries per page")),
            ),
        ),
        Group(
            N_("Entries"),
            (
                Field("check", "mark_read_on_view", N_("Mark entries as read when opened")),
                Field("check", "open_external_links_in_new_tab", N_("Open links in a new tab")),
                Field(
                    "check",
                    "always_open_external_links",
                    N_("Link titles to the original"),
                    N_("Instead of to the entry here."),
                ),
                Field(
                    "check",
                    "proxies_pictures",
                    N_("Load pictures through this service"),
                    N_("Then publishers do not see your address."),
                ),
                Field(
                    "check",
                    "saves_starred",
                    N_("Save entries when starred"),
                    N_("To the services under Integrations."),
                ),
                Field(
                    "choice",
                    "duplicates",
                    N_("Articles that several feeds have"),
                    N_("The later ones are folded under the first, or marked as read. Feeds can be excepted."),
                    choices=choices_of("duplicates"),
                ),
                Field(
                    "choice",
                    "duplicates_in_apps",
                    N_("Folded articles in apps"),
                    N_("Apps that show each feed on its own may need them."),
                    choices=choices_of("duplicates_in_apps"),
                ),
                Field(
                    "check",
                    "hides_unread_counts",
                    N_("Hide unread counts"),
                    N_("In the sidebar, in titles and on the icon of the tab. Apps have theirs."),
                ),
                Field("check", "show_reading_time", N_("Show the reading time")),
                _number("default_reading_speed", N_("Reading speed"), N_("Words per minute.")),
                _number("cjk_reading_speed", N_("In Chinese, Japanese and Korean"), N_("Characters per minute.")),
            ),
        ),
        Group(
            N_("Audio and video"),
            (
                _number("media_playback_rate", N_("Speed"), N_("1 is normal speed."), step="any"),
                Field(
                    "check", "mark_read_on_media_player_completion", N_("Mark entries as read when played to the end")
                ),
            ),
        ),
        Group(
            N_("Keyboard and touch"),
            (
                Field("check", "keyboard_shortcuts", N_("Keyboard shortcuts"), N_("Press ? to see them.")),
                Field("check", "entry_swipe", N_("Swipe entries in lists"), N_("Right marks read, left stars.")),
                Field("choice", "gesture_nav", N_("Go to the next entry by"), choices=choices_of("gesture_nav")),
                Field(
                    "select",
                    "display_mode",
                    N_("Installed as an app"),
                    N_("Takes effect the next time it is installed."),
                    choices=choices_of("display_mode"),
                ),
            ),
        ),
    ),
)

# Its form is on the appearance page of this device.
APPEARANCE = AccountForm(
    "/settings/appearance",
    N_("Appearance"),
    "",
    (
        Group(
            N_("All your devices"),
            (
                Field("select", "theme", N_("Colours and typeface"), choices=choices_of("theme")),
                Field(
                    "select",
                    "entry_sorting_order",
                    N_("Sort by"),
                    choices=choices_of("entry_sorting_order"),
                ),
                Field(
                    "choice",
                    "entry_sorting_direction",
                    N_("Sort order"),
                    N_("For lists without an order of their own."),
                    choices=choices_of("entry_sorting_direction"),
                ),
            ),
        ),
    ),
)

_CODE = {"spellcheck": "false", "autocapitalize": "none"}

# Their page has rows of its own.
FILTERS = AccountForm(
    "/settings/filters",
    N_("Filters"),
    N_("Applied to new entries of all feeds."),
    (
        Group(
            "",
            (
                Field(
                    "area",
                    "block_filter_entry_rules",
                    N_("Block"),
                    N_("Entries that match any of these never appear."),
                    more=_CODE,
                ),
                Field(
                    "area",
                    "keep_filter_entry_rules",
                    N_("Keep only"),
                    N_("Only entries that match one of these appear."),
                    more=_CODE,
                ),
            ),
        ),
    ),
)

CUSTOM = AccountForm(
    "/settings/custom",
    N_("Your own styles"),
    N_("Added after ours, on every page that you see."),
    (
        Group(
            "",
            (
                Field("area", "stylesheet", N_("Style sheet (CSS)"), more=_CODE),
                Field(
                    "text",
                    "external_font_hosts",
                    N_("Fonts may come from"),
                    N_("Domains separated by spaces, such as fonts.example.org."),
                    more=_PLAIN_TEXT,
                ),
                Field(
                    "area",
                    "custom_js",
                    N_("Script (JavaScript)"),
                    N_("It can do whatever you can: paste only what you trust."),
                    more=_CODE,
                ),
            ),
        ),
    ),
)
