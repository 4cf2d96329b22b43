"""The fields of a feed that a user may set, each declared once.

The form of the web pages, the attributes in OPML and the checks of values derive from this list. The wire structs of
the API spell their fields out, since their order and their descriptions are the contract; a test compares them with it.
"""

from __future__ import annotations

from enum import Enum
from typing import Final

from msgspec import Struct


class SettingType(Enum):
    """The kind of a setting's value.

    RULE: text that is compiled. NUMBER: null or empty means 0. DAYS: null or empty means the instance's setting.
    """

    TEXT = "text"
    RULE = "rule"
    SWITCH = "switch"
    NUMBER = "number"
    DAYS = "days"


class FeedSetting(Struct, frozen=True):
    """A setting of a feed, in the database, in the API and forms, and in OPML."""

    name: str
    """The name of the column; the same in the API and the form."""
    type: SettingType
    opml: str = ""
    """The name of the OPML attribute; "" if it stays out of OPML."""
    is_own: bool = False
    """Whether Miniflux does not have it: then its attribute is in our namespace instead of Miniflux's."""


FEED_SETTINGS: Final = (
    FeedSetting("title", SettingType.TEXT),
    FeedSetting("feed_url", SettingType.TEXT),
    FeedSetting("site_url", SettingType.TEXT),
    FeedSetting("description", SettingType.TEXT),
    FeedSetting("cookie", SettingType.TEXT),
    FeedSetting("username", SettingType.TEXT),
    FeedSetting("password", SettingType.TEXT),
    FeedSetting("proxy_url", SettingType.TEXT),
    FeedSetting("webhook_url", SettingType.TEXT),
    FeedSetting("apprise_service_urls", SettingType.TEXT),
    FeedSetting("scraper_rules", SettingType.RULE, "scraperRules"),
    FeedSetting("rewrite_rules", SettingType.RULE, "rewriteRules"),
    FeedSetting("urlrewrite_rules", SettingType.RULE, "urlRewriteRules"),
    FeedSetting("blocklist_rules", SettingType.RULE, "blocklistRules"),
    FeedSetting("keeplist_rules", SettingType.RULE, "keeplistRules"),
    FeedSetting("block_filter_entry_rules", SettingType.RULE, "blockFilterEntryRules"),
    FeedSetting("keep_filter_entry_rules", SettingType.RULE, "keepFilterEntryRules"),
    FeedSetting("user_agent", SettingType.TEXT, "userAgent"),
    FeedSetting("crawler", SettingType.SWITCH, "crawler"),
    FeedSetting("ignore_http_cache", SettingType.SWITCH, "ignoreHTTPCache"),
    FeedSetting("fetch_via_proxy", SettingType.SWITCH, "fetchViaProxy"),
    FeedSetting("disabled", SettingType.SWITCH, "disabled"),
    FeedSetting("no_media_player", SettingType.SWITCH, "noMediaPlayer"),
    FeedSetting("hide_globally", SettingType.SWITCH, "hideGlobally"),
    FeedSetting("allow_self_signed_certificates", SettingType.SWITCH, "allowSelfSignedCertificates"),
    FeedSetting("disable_http2", SettingType.SWITCH, "disableHTTP2"),
    FeedSetting("ignore_entry_updates", SettingType.SWITCH, "ignoreEntryUpdates"),
    FeedSetting("check_interval_minutes", SettingType.NUMBER, "checkIntervalMinutes", is_own=True),
    FeedSetting("keep_read_days", SettingType.DAYS, "keepReadDays", is_own=True),
    FeedSetting("keep_unread_days", SettingType.DAYS, "keepUnreadDays", is_own=True),
    FeedSetting("match_entries_by_url", SettingType.SWITCH, "matchEntriesByURL", is_own=True),
)


def names_of(*types: SettingType) -> tuple[str, ...]:
    """Returns the names of all settings of these types, in the order of the declaration."""
    return tuple(setting.name for setting in FEED_SETTINGS if setting.type in types)


RULES: Final = names_of(SettingType.RULE)
TEXTS: Final = names_of(SettingType.TEXT, SettingType.RULE)
SWITCHES: Final = names_of(SettingType.SWITCH)
DAYS: Final = names_of(SettingType.DAYS)
# Numbers, with the value that null in the API and an empty field in a form stand for.
NUMBERS: Final[dict[str, int | None]] = {**dict.fromkeys(names_of(SettingType.NUMBER), 0), **dict.fromkeys(DAYS)}
