"""Values and labels of the account settings that have choices."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import lru_cache
from unicodedata import normalize

from babel import Locale

from tidings.domain.accounts.user_changes import CHOICES, selectable_zones
from tidings.services.accounts.users import known_zones
from tidings.web.language import N_, OFFERED, _

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
}


def of(name: str) -> Callable[[], Mapping[str, str]]:
    """Returns a function that returns value and label of each choice. name: the field's name."""
    return lambda: {value: _(_LABELS[value]) for value in CHOICES[name]}


@lru_cache(maxsize=1)
def languages() -> dict[str, str]:
    """Returns code and name of each language that there is, named in that language."""
    named = {code: _own_name(code) for code in OFFERED}
    # Decomposed, so that an accented letter is next to the plain one.
    return dict(sorted(named.items(), key=lambda item: normalize("NFKD", item[1]).casefold()))


@lru_cache(maxsize=1)
def zones() -> dict[str, str]:
    return {name: name.replace("_", " ") for name in selectable_zones(known_zones())}


def _own_name(code: str) -> str:
    locale = Locale.parse(code)
    alone = code.partition("_")[0] not in ("zh", "pt")
    name = (Locale(locale.language).get_language_name() if alone else locale.get_display_name()) or code
    return name[:1].upper() + name[1:]
