"""The settings of a feed by kind, from their declarations in `Feed`; forms, OPML and archives are made from them."""

from __future__ import annotations

from enum import Enum
from typing import Final

from tidings.domain.feeds.feeds import Feed, FeedSetting
from tidings.domain.setting_declarations import Declared, declared


class SettingType(Enum):
    """The kind of a setting's value.

    RULE: text that is compiled. NUMBER: null or empty means 0. DAYS: null or empty means the instance's setting.
    """

    TEXT = "text"
    RULE = "rule"
    SWITCH = "switch"
    NUMBER = "number"
    DAYS = "days"


# Including those that only an archive sets.
ALL_FEED_SETTINGS: Final = declared(Feed, FeedSetting)
FEED_SETTINGS: Final = tuple(one for one in ALL_FEED_SETTINGS if one.setting.is_settable)
# The user may change these too. They are the publisher's until then, so that a new feed has no settings for them.
DESCRIPTION: Final = ("title", "feed_url", "site_url", "description")


def type_of(declared: Declared[FeedSetting]) -> SettingType:
    """Return the kind of a setting."""
    if declared.type is str:
        return SettingType.RULE if declared.setting.is_rule else SettingType.TEXT
    return {bool: SettingType.SWITCH, int: SettingType.NUMBER}.get(declared.type, SettingType.DAYS)


def names_of(*types: SettingType) -> tuple[str, ...]:
    """Return the names of all settings of these types, in the order of the declarations."""
    return tuple(one.name for one in FEED_SETTINGS if type_of(one) in types)


RULES: Final = names_of(SettingType.RULE)
TEXTS: Final = (*DESCRIPTION, *names_of(SettingType.TEXT, SettingType.RULE))
SWITCHES: Final = names_of(SettingType.SWITCH)
DAYS: Final = names_of(SettingType.DAYS)
# Numbers, with the value that null in the API and an empty field in a form stand for.
NUMBERS: Final[dict[str, int | None]] = {**dict.fromkeys(names_of(SettingType.NUMBER), 0), **dict.fromkeys(DAYS)}
