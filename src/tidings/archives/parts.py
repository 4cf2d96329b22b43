"""What an archive holds in addition to feeds and entries, and what of it an import applies.

A file may come from anyone. Anything that runs on pages, hides entries of other feeds or sends something to another
host is applied only if the user asks for it; settings that protect the account never come from a file.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from enum import StrEnum
from typing import Any, Final

import msgspec
from msgspec import Struct

from tidings.base.errors import InvalidInput
from tidings.base.messages import verbatim
from tidings.domain.accounts.user_changes import CHOSEN
from tidings.domain.accounts.users import USER_SETTINGS
from tidings.domain.feeds.feed_settings import ALL_FEED_SETTINGS
from tidings.domain.feeds.feeds import Feed
from tidings.domain.setting_declarations import Risk


class ArchivePart(StrEnum):
    """A part of an archive that an import applies if it is asked to."""

    SETTINGS = "settings"
    """How lists and pages look and work."""
    RULES = "rules"
    """Filters for the entries of all feeds, and rules with actions."""
    SCRIPTS = "scripts"
    """The account's own script, style sheet and font hosts."""
    INTEGRATIONS = "integrations"
    """Integrations, and receivers and proxies of feeds."""


# The part of settings that protect the account. No import applies it.
SECURITY: Final = "security"
ALL_PARTS: Final = frozenset(ArchivePart)
# Applied unless the user chooses otherwise.
DEFAULT_PARTS: Final = frozenset({ArchivePart.SETTINGS})

_PART_OF_RISK: Final[Mapping[Risk, str]] = {
    Risk.NONE: ArchivePart.SETTINGS,
    Risk.HIDES_ENTRIES: ArchivePart.RULES,
    Risk.RUNS_ON_PAGES: ArchivePart.SCRIPTS,
    Risk.SENDS_DATA: ArchivePart.INTEGRATIONS,
    Risk.WEAKENS_SECURITY: SECURITY,
}
# Every setting of a user in an archive; one that is missing here is never applied.
PART_OF_SETTING: Final[Mapping[str, str]] = {
    **{one.name: _PART_OF_RISK[one.setting.risk] for one in USER_SETTINGS if one.setting.risk in _PART_OF_RISK},
    **dict.fromkeys(CHOSEN.values(), ArchivePart.SETTINGS),
}
# Settings of a feed that are not stored with it in any case: they send entries or requests to another host, or protect.
PART_OF_FEED_SETTING: Final[Mapping[str, str]] = {
    one.name: _PART_OF_RISK[one.setting.risk] for one in ALL_FEED_SETTINGS if one.setting.risk is not Risk.NONE
}
_FEED_DEFAULTS: Final = {field.name: field.default for field in msgspec.structs.fields(Feed)}

# Maximum number of feeds that a report names for each setting.
MAX_FEEDS: Final = 10
# Maximum number of changes that a review shows, and of characters of each value.
MAX_CHANGES: Final = 100
MAX_SHOWN_CHARS: Final = 2_000


class LeftOff(Struct, frozen=True):
    """Something in an archive that an import did not apply because it was not asked for, or that it never applies.

    A setting or a receiver is left out, an integration is stored switched off; an integration that is already
    set up stays unchanged.
    """

    part: str
    """An `ArchivePart`, or SECURITY."""
    name: str
    """The setting of the account or of a feed, or the integration."""
    feeds: list[str] = []
    """URLs of the feeds whose setting it is, the first ones; empty for the account."""
    feed_count: int = 0


class PlannedChange(Struct, frozen=True):
    """What an import would change in addition to adding feeds and entries."""

    part: str
    name: str
    before: Any = ""
    """A number, text or boolean; for an integration, the address that it sends to."""
    after: Any = ""
    """Of the same kind as `before`."""
    feed: str = ""
    """URL of the feed whose setting it is; empty for the account."""


class ImportReview(Struct, frozen=True):
    """What is in an archive, for the user who decides which parts of it are applied."""

    application: str
    username: str
    feeds: int
    entries: int
    changes: list[PlannedChange] = []
    more_changes: int = 0
    problems: list[str] = []
    """What cannot be used, in words."""

    @property
    def parts(self) -> list[ArchivePart]:
        """The parts that the person can choose."""
        return [part for part in ArchivePart if any(change.part == part for change in self.changes)]


def chosen_parts(words: Iterable[str]) -> frozenset[ArchivePart]:
    """Return the parts that are named. words: names with commas between them, or `all` or `none`; empty: the default.

    Raises InvalidInput for another word.
    """
    names = {name.strip() for word in words for name in word.split(",")} - {""}
    if not names:
        return DEFAULT_PARTS
    if names in ({"all"}, {"none"}):
        return ALL_PARTS if names == {"all"} else frozenset()
    if unknown := sorted(names - set(ArchivePart)):
        known = ", ".join(ArchivePart)
        raise InvalidInput(verbatim(f"apply: {unknown[0][:40]!r} is none of {known}, all, none."), field="apply")
    return frozenset(map(ArchivePart, names))


def split_settings(
    values: Mapping[str, Any], current: Mapping[str, Any], parts: Collection[ArchivePart]
) -> tuple[dict[str, Any], list[LeftOff]]:
    """Return the settings of a user to store, and the settings that differ from the current ones and are left out."""
    applied = {name: value for name, value in values.items() if PART_OF_SETTING.get(name, SECURITY) in parts}
    left = [
        LeftOff(PART_OF_SETTING.get(name, SECURITY), name)
        for name, value in values.items()
        if name not in applied and value != current[name]
    ]
    return applied, left


def split_feed_settings(values: Mapping[str, Any], parts: Collection[ArchivePart]) -> tuple[dict[str, Any], list[str]]:
    """Return the values of a new feed to store, and the names of the values that are left at their defaults."""
    left = [
        name
        for name, part in PART_OF_FEED_SETTING.items()
        if name in values and values[name] != _FEED_DEFAULTS[name] and part not in parts
    ]
    return {name: value for name, value in values.items() if name not in left}, left


def grouped_by_setting(left: Iterable[tuple[str, str]]) -> list[LeftOff]:
    """Return what was left out of feeds, one for each setting. left: URL of the feed and name of the setting."""
    urls: dict[str, list[str]] = {}
    for url, name in left:
        urls.setdefault(name, []).append(url)
    return [LeftOff(PART_OF_FEED_SETTING[name], name, of[:MAX_FEEDS], len(of)) for name, of in urls.items()]


def shown(value: Any) -> Any:
    """Return a value as a review shows it: a long text is cut."""
    return f"{value[:MAX_SHOWN_CHARS]} …" if isinstance(value, str) and len(value) > MAX_SHOWN_CHARS else value
