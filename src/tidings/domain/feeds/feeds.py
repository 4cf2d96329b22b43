"""Stored feeds, with the declarations of their settings."""

from __future__ import annotations

from enum import IntFlag
from typing import Annotated

from msgspec import Struct

from tidings.base.times import Instant
from tidings.content.model import PageKind
from tidings.domain.entries.retention import MAX_DAYS, NEVER
from tidings.domain.setting_declarations import Risk, Setting

# In the column `limits_reached` of a feed: pages of its newest entries have far less text than the feed itself.
WORSE_PAGES = "pages"


# Feeds at these addresses are never fetched: their entries come another way. They are disabled, so that nothing looks
# for them, and no host can have such a name (RFC 6761, section 6.4).
SAVED_PAGES_URL = "https://saved-pages.invalid/"
NEWSLETTERS_URL = "https://newsletters.invalid/"
"""The address of each feed of letters begins with it."""

# Addresses of this kind are routes of the RSSHub that the operator has set up, wherever it is at the moment.
RSSHUB_SCHEME = "rsshub://"


def is_fetched(feed_url: str) -> bool:
    """Return whether a feed is a document at its address."""
    return not feed_url.startswith((SAVED_PAGES_URL, NEWSLETTERS_URL))


# Limits on the interval that a user may set. The lower one protects publishers from needless load.
MIN_USER_INTERVAL_MINUTES = 5
MAX_USER_INTERVAL_MINUTES = 43_200


class EditedFeedField(IntFlag):
    """The fields of a feed that its user has edited: they no longer follow the publisher."""

    TITLE = 1
    SITE_URL = 2
    DESCRIPTION = 4


class FeedSetting(Setting, frozen=True, kw_only=True):
    """What is declared about a setting of a feed."""

    risk: Risk = Risk.NONE
    opml: str = ""
    """The name of the attribute in OPML; "" if the setting stays out of OPML."""
    is_own: bool = False
    """Whether Miniflux does not have it: then its attribute is in our namespace instead of Miniflux's."""
    is_rule: bool = False
    """Whether it is text that is compiled."""
    is_secret: bool = False
    """Whether only archives with secrets contain it."""
    is_settable: bool = True
    """Whether the API accepts it; otherwise only an archive sets it."""


_DAYS = (NEVER, MAX_DAYS)


class Feed(Struct, frozen=True):
    """A subscription as stored. The table and the API use the same field names.

    Fields annotated with `FeedSetting` are the feed's settings, in the order of the API: see `setting_declarations`.
    """

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
    is_failing: bool = False
    publisher_hints: str = ""
    news_gap_s: int = 0
    news_at: Instant | None = None
    moved_to: str = ""
    moved_times: int = 0
    disabled_reason: str = ""
    once_matched_by_url: bool = False
    own_bridge: bool = False
    """A bridge of its user fetches it, not the operator's: see `own_bridges`."""
    page_items: int = 0
    """Of a feed made from a page: number of entries at the last check that read it."""
    scraper_rules: Annotated[str, FeedSetting(opml="scraperRules", is_rule=True)] = ""
    rewrite_rules: Annotated[str, FeedSetting(opml="rewriteRules", is_rule=True)] = ""
    blocklist_rules: Annotated[str, FeedSetting(opml="blocklistRules", is_rule=True)] = ""
    keeplist_rules: Annotated[str, FeedSetting(opml="keeplistRules", is_rule=True)] = ""
    block_filter_entry_rules: Annotated[str, FeedSetting(opml="blockFilterEntryRules", is_rule=True)] = ""
    keep_filter_entry_rules: Annotated[str, FeedSetting(opml="keepFilterEntryRules", is_rule=True)] = ""
    urlrewrite_rules: Annotated[str, FeedSetting(opml="urlRewriteRules", is_rule=True)] = ""
    user_agent: Annotated[str, FeedSetting(opml="userAgent")] = ""
    cookie: Annotated[str, FeedSetting(is_secret=True)] = ""
    username: Annotated[str, FeedSetting(is_secret=True)] = ""
    password: Annotated[str, FeedSetting(is_secret=True)] = ""
    disabled: Annotated[bool, FeedSetting(opml="disabled")] = False
    no_media_player: Annotated[bool, FeedSetting(opml="noMediaPlayer")] = False
    ignore_http_cache: Annotated[bool, FeedSetting(opml="ignoreHTTPCache")] = False
    allow_self_signed_certificates: Annotated[
        bool, FeedSetting(opml="allowSelfSignedCertificates", risk=Risk.WEAKENS_SECURITY)
    ] = False
    fetch_via_proxy: Annotated[bool, FeedSetting(opml="fetchViaProxy")] = False
    hide_globally: Annotated[bool, FeedSetting(opml="hideGlobally")] = False
    disable_http2: Annotated[bool, FeedSetting(opml="disableHTTP2")] = False
    pushover_enabled: Annotated[bool, FeedSetting(risk=Risk.SENDS_DATA, is_settable=False)] = False
    ntfy_enabled: Annotated[bool, FeedSetting(risk=Risk.SENDS_DATA, is_settable=False)] = False
    crawler: Annotated[bool, FeedSetting(opml="crawler")] = False
    ignore_entry_updates: Annotated[bool, FeedSetting(opml="ignoreEntryUpdates")] = False
    match_entries_by_url: Annotated[
        bool,
        FeedSetting(
            opml="matchEntriesByURL",
            is_own=True,
            comment="Entries are known by their address: the publisher's ids change.",
        ),
    ] = False
    apprise_service_urls: Annotated[str, FeedSetting(risk=Risk.SENDS_DATA, is_secret=True)] = ""
    webhook_url: Annotated[str, FeedSetting(risk=Risk.SENDS_DATA, is_secret=True)] = ""
    # Topic and priorities have no effect until notifications are on.
    ntfy_priority: Annotated[int, FeedSetting(is_settable=False)] = 3
    ntfy_topic: Annotated[str, FeedSetting(is_settable=False)] = ""
    pushover_priority: Annotated[int, FeedSetting(is_settable=False)] = 0
    proxy_url: Annotated[str, FeedSetting(risk=Risk.SENDS_DATA, is_secret=True)] = ""
    check_interval_minutes: Annotated[
        int,
        FeedSetting(
            opml="checkIntervalMinutes",
            is_own=True,
            range=(0, MAX_USER_INTERVAL_MINUTES),
            comment="As the user set it; 0: as the feed publishes.",
        ),
    ] = 0
    keep_read_days: Annotated[
        int | None,
        FeedSetting(
            opml="keepReadDays",
            is_own=True,
            range=_DAYS,
            comment="After these, read entries go; -1: never; null: as the settings say.",
        ),
    ] = None
    keep_unread_days: Annotated[
        int | None,
        FeedSetting(opml="keepUnreadDays", is_own=True, range=_DAYS, comment="As keep_read_days, of unread ones."),
    ] = None
    keep_duplicates: Annotated[
        bool,
        FeedSetting(
            opml="keepDuplicates",
            is_own=True,
            comment="No entry of it counts as a duplicate of another feed's, nor the reverse.",
        ),
    ] = False
    discard_versions: Annotated[
        bool,
        FeedSetting(
            opml="discardVersions",
            is_own=True,
            comment="Earlier versions of entries that the publisher changes are not kept.",
        ),
    ] = False
    kind: Annotated[
        str,
        FeedSetting(
            opml="kind",
            is_own=True,
            choices=("", *PageKind),
            comment="How a page or JSON is read by the selectors; empty: it is a feed.",
        ),
    ] = ""
    selectors: Annotated[
        str, FeedSetting(opml="selectors", is_own=True, comment="JSON: where a page has items and their fields.")
    ] = ""

    fetch_via_flaresolverr: Annotated[
        bool,
        FeedSetting(
            opml="fetchViaFlareSolverr",
            is_own=True,
            comment="A browser that the operator has set up fetches it, not with fetch_via_proxy.",
        ),
    ] = False

    def __repr__(self) -> str:
        """Leaves out credentials: feeds appear in logs and tracebacks."""
        return f"Feed({self.id})"
