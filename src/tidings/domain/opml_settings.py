"""Settings of a feed that travel in OPML, as attributes beyond the standard."""

from __future__ import annotations

import re
from typing import Final

from tidings.domain import feed_changes
from tidings.domain.errors import InvalidInput

# The attributes, and the feed's field that each one sets. Readers of the Miniflux family write them
# in a namespace of their own; only the local name counts.
SETTINGS: Final = {
    "scraperRules": "scraper_rules",
    "rewriteRules": "rewrite_rules",
    "urlRewriteRules": "urlrewrite_rules",
    "blocklistRules": "blocklist_rules",
    "keeplistRules": "keeplist_rules",
    "blockFilterEntryRules": "block_filter_entry_rules",
    "keepFilterEntryRules": "keep_filter_entry_rules",
    "userAgent": "user_agent",
    "crawler": "crawler",
    "ignoreHTTPCache": "ignore_http_cache",
    "fetchViaProxy": "fetch_via_proxy",
    "disabled": "disabled",
    "noMediaPlayer": "no_media_player",
    "hideGlobally": "hide_globally",
    "allowSelfSignedCertificates": "allow_self_signed_certificates",
    "disableHTTP2": "disable_http2",
    "ignoreEntryUpdates": "ignore_entry_updates",
    "checkIntervalMinutes": "check_interval_minutes",
    "keepReadDays": "keep_read_days",
    "keepUnreadDays": "keep_unread_days",
    "matchEntriesByURL": "match_entries_by_url",
}
_TEXTS: Final = frozenset({*feed_changes.RULES, "user_agent"})
_NUMBERS: Final = frozenset({"check_interval_minutes", "keep_read_days", "keep_unread_days"})
_BOOLEANS: Final = dict.fromkeys(("true", "1", "t", "yes"), True) | dict.fromkeys(("false", "0", "f", "no", ""), False)


def read_setting(field: str, text: str) -> str | int:
    """InvalidInput, in words that can follow the attribute's name."""
    if field in _TEXTS:
        feed_changes.checked({field: text})
        return text
    if field in _NUMBERS:
        return _number(field, text.strip())
    value = _BOOLEANS.get(text.strip().lower())
    if value is None:
        raise InvalidInput(f"{text[:40]!r} is neither true nor false.")
    return value


def _number(field: str, text: str) -> int:
    if not re.fullmatch("-?[0-9]{1,9}", text):
        raise InvalidInput(f"{text[:40]!r} is not a whole number.")
    feed_changes.checked({field: int(text)})
    return int(text)
