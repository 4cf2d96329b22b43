"""Keyboard shortcuts on pages: their words, the table that scripts get, and the hints on buttons.

Pages that run from right to left have the arrows on the other sides (`domain.accounts.shortcuts` has them as they are
in the others).
"""

from __future__ import annotations

from typing import Final

from markupsafe import Markup
from msgspec import Struct

from tidings.domain.accounts.shortcuts import ARROWS, Shortcuts, user_shortcuts
from tidings.domain.accounts.users import User
from tidings.web.language import N_, current

FIXED: Final = {
    "open": ("Enter",),
    "scroll": ("Space",),
    "scroll_back": ("Shift+Space",),
    "page": ("PageDown", "PageUp"),
    "ends": ("Home", "End"),
    "close": ("Esc",),
}
"""Keys that users cannot change, by command. They stand after those that they can."""

GROUPS: Final = (
    (
        N_("Go to"),
        {
            "unread": N_("Unread"),
            "starred": N_("Starred"),
            "history": N_("History"),
            "feeds": N_("Feeds"),
            "categories": N_("Categories"),
            "settings": N_("Settings"),
            "search": N_("Search"),
            "add_feed": N_("Add feed"),
        },
    ),
    (
        N_("Entries"),
        {
            "next": N_("Next"),
            "previous": N_("Previous"),
            "open": N_("Open"),
            "original": N_("Original"),
            "original_here": N_("Open the original in this tab"),
            "comments": N_("Comments"),
            "comments_here": N_("Open the comments in this tab"),
            "toggle_read": N_("Mark as read or unread"),
            "toggle_read_and_go_back": N_("Mark as read or unread, then go to the previous entry"),
            "star": N_("Star"),
            "save": N_("Save"),
            "labels": N_("Labels"),
            "share": N_("Share by public link"),
            "full_article": N_("Fetch the full article"),
            "attachments": N_("Go to the attachments and back"),
            "player": N_("Pause or resume the player"),
            "feed": N_("Go to the feed"),
        },
    ),
    (
        N_("With the article next to the list"),
        {
            "scroll": N_("Scroll down, then open the next unread entry"),
            "scroll_back": N_("Scroll up"),
            "page": N_("Scroll one page"),
            "ends": N_("Go to the beginning or the end"),
            "line_length": N_("Change the line length"),
        },
    ),
    (
        N_("Lists"),
        {
            "first": N_("Go to the first entry"),
            "last": N_("Go to the last entry"),
            "next_feed": N_("Go to the next feed with unread entries"),
            "previous_feed": N_("Go to the previous feed with unread entries"),
            "unsubscribe": N_("Unsubscribe"),
            "mark_all": N_("Mark all as read"),
            "undo": N_("Undo"),
            "refresh": N_("Refresh this list"),
            "refresh_all": N_("Refresh all feeds"),
            "close": N_("Close, or go back to the list"),
            "help": N_("Show this help"),
        },
    ),
)
"""Title and commands of each group, with message ids."""
LABELS: Final = {command: label for _title, commands in GROUPS for command, label in commands.items()}

_SIGNS: Final = {"ArrowLeft": "←", "ArrowRight": "→"}
_NAMES: Final = {sign: key for key, sign in _SIGNS.items()}


class HelpLine(Struct, frozen=True):
    """A command in the help."""

    label: str
    """Message id."""
    keys: list[str]
    """As they are written: "g u" for keys that are pressed one after the other."""


def help_groups(user: User) -> list[tuple[str, list[HelpLine]]]:
    """Return title and lines of each group of the help; commands without a key are left out."""
    shortcuts = user_shortcuts(user.shortcuts)
    written = {
        command: [*(_spaced(key) for key in shortcuts.get(command, ())), *FIXED.get(command, ())] for command in LABELS
    }
    return [
        (title, [HelpLine(label, written[command]) for command, label in commands.items() if written[command]])
        for title, commands in GROUPS
    ]


def _spaced(key: str) -> str:
    return sign(key) if key in ARROWS else " ".join(key)


def sign(key: str) -> str:
    """Return a key as it is typed into a field: → for an arrow, `gu` for two keys."""
    return _SIGNS.get(_turned(key), key)


def key_of(typed: str) -> str:
    """Return the key that was typed into a field."""
    return _turned(_NAMES.get(typed, typed))


def _turned(key: str) -> str:
    return ARROWS.get(key, key) if current().direction == "rtl" else key


def key_table(shortcuts: Shortcuts) -> str:
    """Return each key with its command, all separated by blanks: what `keys.js` reads."""
    return " ".join(f"{_turned(key)} {command}" for command, keys in shortcuts.items() for key in keys)


def key_hints(user: User | None, command: str, label: str) -> Markup:
    """Return the title of a button, with the first key of its command, and the attribute `aria-keyshortcuts`."""
    keys = user_shortcuts(user.shortcuts)[command] if user and user.keyboard_shortcuts else ()
    if not keys:
        return Markup(' title="{}"').format(label)
    # What this attribute separates with a blank are alternatives: it cannot express keys one after the other.
    single = " ".join(_aria(key) for key in keys if len(key) == 1 or key in ARROWS)
    attribute = Markup(' aria-keyshortcuts="{}"').format(single) if single else ""
    return Markup(' title="{} ({})"{}').format(label, _spaced(keys[0]), attribute)


def shown_key(user: User, command: str) -> Markup:
    """Return the first key of a command, for a sentence; empty if it has none."""
    keys = user_shortcuts(user.shortcuts)[command] if user.keyboard_shortcuts else ()
    return Markup("<kbd>{}</kbd>").format(_spaced(keys[0])) if keys else Markup()


def _aria(key: str) -> str:
    if key in ARROWS:
        return _turned(key)
    return "Plus" if key == "+" else f"Shift+{key}" if key.isupper() else key
