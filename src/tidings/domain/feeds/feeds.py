"""Parsed documents, in the same structs for every format, and stored feeds.

Strings are never None: absent is "". Parsed values are not yet cleaned, filtered or rewritten.
"""

from __future__ import annotations

from enum import IntFlag

from msgspec import Struct

from tidings.base.times import Instant

# In the column `limits_reached` of a feed: pages of its newest entries have far less text than the feed itself.
WORSE_PAGES = "pages"


# Limits on the interval that a user may set. The lower one protects publishers from needless load.
MIN_USER_INTERVAL_MINUTES = 5
MAX_USER_INTERVAL_MINUTES = 43_200


class EditedFeedField(IntFlag):
    """The fields of a feed that its user has edited: they no longer follow the publisher."""

    TITLE = 1
    SITE_URL = 2
    DESCRIPTION = 4


class Feed(Struct, frozen=True):
    """A subscription as stored. The table and the API use the same field names."""

    id: int
    user_id: int
    category_id: int
    feed_url: str
    title: str
    checked_at: Instant
    next_check_at: Instant
    created_at: Instant = Instant(0)
    icon_id: int | None = None
    icon_url: str = ""
    icon_checked_at: Instant | None = None
    site_url: str = ""
    description: str = ""
    language: str = ""
    edited: int = 0
    etag_header: str = ""
    last_modified_header: str = ""
    body_digest: bytes | None = None
    parsing_error_message: str = ""
    parsing_error_count: int = 0
    failed_checks: int = 0
    check_interval_minutes: int = 0
    publisher_hints: str = ""
    news_gap_s: int = 0
    news_at: Instant | None = None
    moved_to: str = ""
    moved_times: int = 0
    disabled: bool = False
    disabled_reason: str = ""
    user_agent: str = ""
    cookie: str = ""
    username: str = ""
    password: str = ""
    proxy_url: str = ""
    fetch_via_proxy: bool = False
    ignore_http_cache: bool = False
    allow_self_signed_certificates: bool = False
    disable_http2: bool = False
    crawler: bool = False
    ignore_entry_updates: bool = False
    keep_read_days: int | None = None
    keep_unread_days: int | None = None
    match_entries_by_url: bool = False
    once_matched_by_url: bool = False
    hide_globally: bool = False
    no_media_player: bool = False
    scraper_rules: str = ""
    rewrite_rules: str = ""
    urlrewrite_rules: str = ""
    blocklist_rules: str = ""
    keeplist_rules: str = ""
    block_filter_entry_rules: str = ""
    keep_filter_entry_rules: str = ""
    apprise_service_urls: str = ""
    webhook_url: str = ""
    ntfy_enabled: bool = False
    ntfy_priority: int = 3
    ntfy_topic: str = ""
    pushover_enabled: bool = False
    pushover_priority: int = 0

    def __repr__(self) -> str:
        """Leaves out credentials: feeds appear in logs and tracebacks."""
        return f"Feed({self.id})"
