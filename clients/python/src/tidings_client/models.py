"""The JSON of the API, as types: what requests have and what answers have.

Members that are marked NotRequired may be missing. In a request, a member that is left out keeps its value. A list for
which `fields` were chosen has only these.

Written by `make client` from contracts/openapi.json: change the generator, or what the service declares.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal, NotRequired, TypedDict

ApiKeyScope = Literal["read", "write", "manage", "admin"]

AuditEntryKind = Literal[
    "signed_in",
    "refused",
    "signed_out",
    "session_ended",
    "sessions_ended",
    "password_changed",
    "user_created",
    "user_changed",
    "user_removed",
    "api_key_created",
    "api_key_removed",
    "api_password_created",
    "api_password_removed",
    "identity_linked",
    "identity_unlinked",
    "passkey_added",
    "passkey_removed",
    "factor_added",
    "factor_removed",
    "invited",
    "invitation_removed",
]

AuditEntryMethod = Literal[
    "", "password", "passkey", "code", "recovery_code", "openid", "proxy", "api_key", "api_password", "link", "command"
]

CountedLabelColor = Literal["", "red", "orange", "yellow", "green", "teal", "blue", "purple", "pink"]

CustomIntegrationMethod = Literal["POST", "PUT", "PATCH", "GET"]

DiscoveredType = Literal["atom", "rss", "rdf", "json"]

FeedCreateKind = Literal["", "html+css", "html+xpath", "json", "json in html"]

FeedHealthHealth = Literal["dead", "failing", "moved", "silent", "slow", "rare", "waiting", "off", "fine"]

FeedsChangeAction = Literal["refresh", "enable", "disable", "set_interval", "move", "add_to_category", "delete"]

GotifyIntegrationPriority = Literal["0", "1", "2", "3", "4", "5", "6", "7", "8", "9", "10"]

ImportSource = Literal[
    "tidings",
    "miniflux",
    "freshrss",
    "inoreader",
    "google-reader",
    "newsblur",
    "feedbin",
    "instapaper",
    "omnivore",
    "pocket",
    "tiny-tiny-rss",
]

ImportState = Literal["waiting", "running", "asking", "expired", "done", "failed", "interrupted"]

LeftOffPart = Literal["settings", "rules", "scripts", "integrations", "security"]

ListSettingDensity = Literal["", "compact", "comfortable", "cards", "magazine", "stream"]

NtfyIntegrationPriority = Literal["1", "2", "3", "4", "5"]

PagePreviewRequestKind = Literal["html+css", "html+xpath", "json", "json in html"]

PushoverIntegrationPriority = Literal["-2", "-1", "0", "1", "2"]

ReadwiseIntegrationLocation = Literal["new", "later", "archive", "feed"]

RuleActionBodyType = Literal["mark_read", "star", "label", "hide", "drop", "save", "notify", "webhook"]

RuleRunState = Literal["running", "done", "undoing", "undone"]

UserUpdateDefaultHomePage = Literal["unread", "starred", "history", "feeds", "categories"]

UserUpdateDisplayMode = Literal["fullscreen", "standalone", "minimal-ui", "browser"]

UserUpdateLanguage = Literal[
    "ar_SA",
    "cs_CZ",
    "de_DE",
    "el_EL",
    "en_US",
    "es_ES",
    "fi_FI",
    "fr_FR",
    "gl_ES",
    "he_IL",
    "hi_IN",
    "id_ID",
    "it_IT",
    "ja_JP",
    "ko_KR",
    "nan_Latn_pehoeji",
    "nl_NL",
    "pl_PL",
    "pt_BR",
    "ro_RO",
    "ru_RU",
    "tr_TR",
    "uk_UA",
    "zh_CN",
    "zh_TW",
]

UserUpdateTheme = Literal[
    "light_serif", "light_sans_serif", "dark_serif", "dark_sans_serif", "system_serif", "system_sans_serif"
]

ViewIcon = Literal[
    "filter", "search", "star", "tag", "folder", "feeds", "article", "play", "comments", "save", "history", "person"
]

WebhookEvents = Literal[
    "save_entry",
    "new_entries",
    "rule_matched",
    "entry_read",
    "entry_starred",
    "feed_failed",
    "feed_recovered",
    "import_finished",
]

SyncedEntryField = Literal[
    "id",
    "user_id",
    "feed_id",
    "title",
    "url",
    "comments_url",
    "author",
    "language",
    "share_code",
    "starred",
    "hidden",
    "reading_time",
    "status",
    "hash",
    "published_at",
    "created_at",
    "changed_at",
    "content",
    "tags",
    "enclosures",
    "label_ids",
]

FeedField = Literal[
    "id",
    "user_id",
    "feed_url",
    "site_url",
    "title",
    "description",
    "language",
    "etag_header",
    "last_modified_header",
    "parsing_error_message",
    "parsing_error_count",
    "scraper_rules",
    "rewrite_rules",
    "blocklist_rules",
    "keeplist_rules",
    "block_filter_entry_rules",
    "keep_filter_entry_rules",
    "urlrewrite_rules",
    "user_agent",
    "cookie",
    "username",
    "password",
    "disabled",
    "no_media_player",
    "ignore_http_cache",
    "allow_self_signed_certificates",
    "fetch_via_proxy",
    "hide_globally",
    "disable_http2",
    "pushover_enabled",
    "ntfy_enabled",
    "crawler",
    "ignore_entry_updates",
    "match_entries_by_url",
    "apprise_service_urls",
    "webhook_url",
    "ntfy_priority",
    "ntfy_topic",
    "pushover_priority",
    "proxy_url",
    "check_interval_minutes",
    "keep_read_days",
    "keep_unread_days",
    "keep_duplicates",
    "discard_versions",
    "kind",
    "selectors",
    "fetch_via_flaresolverr",
    "checked_at",
    "next_check_at",
    "category",
    "icon",
    "category_ids",
]

QueuedEnclosureField = Literal[
    "id", "entry_id", "feed_id", "title", "feed_title", "url", "mime_type", "media_progression"
]

RuleField = Literal[
    "id",
    "name",
    "enabled",
    "scope",
    "category_id",
    "feed_id",
    "query",
    "actions",
    "stop",
    "for_changed",
    "matched_today",
    "matched_total",
    "matched_at",
    "problem",
]

UserField = Literal[
    "id",
    "username",
    "is_admin",
    "theme",
    "language",
    "timezone",
    "entry_sorting_direction",
    "entry_sorting_order",
    "categories_sorting_order",
    "entries_per_page",
    "default_home_page",
    "display_mode",
    "gesture_nav",
    "keyboard_shortcuts",
    "show_reading_time",
    "entry_swipe",
    "default_reading_speed",
    "cjk_reading_speed",
    "media_playback_rate",
    "mark_read_on_view",
    "mark_read_on_media_player_completion",
    "always_open_external_links",
    "open_external_links_in_new_tab",
    "stylesheet",
    "custom_js",
    "external_font_hosts",
    "google_id",
    "openid_connect_id",
    "block_filter_entry_rules",
    "keep_filter_entry_rules",
    "allow_account_password_in_apps",
    "proxies_pictures",
    "saves_starred",
    "category_titles",
    "duplicates",
    "duplicates_in_apps",
    "hides_unread_counts",
    "shortcuts",
    "last_login_at",
]

ViewField = Literal[
    "id", "user_id", "name", "query", "order", "direction", "density", "icon", "position", "in_apps", "is_home"
]

CountedLabelField = Literal["id", "user_id", "title", "color", "position", "entry_count", "total_unread"]

EntriesOrder = Literal[
    "id", "status", "published_at", "changed_at", "created_at", "category_title", "category_id", "title", "author"
]

EntryField = Literal[
    "id",
    "user_id",
    "feed_id",
    "title",
    "url",
    "comments_url",
    "author",
    "language",
    "share_code",
    "starred",
    "reading_time",
    "status",
    "hash",
    "published_at",
    "created_at",
    "changed_at",
    "content",
    "tags",
    "enclosures",
    "feed",
    "labels",
    "hidden",
    "duplicate_of",
    "duplicates",
]

ApiKeyField = Literal[
    "id", "user_id", "token", "description", "last_used_at", "created_at", "scope", "expires_at", "last_address"
]

SessionField = Literal[
    "id", "user_id", "method", "second_method", "address", "user_agent", "created_at", "last_seen_at", "expires_at"
]

WebhookField = Literal[
    "id", "name", "is_main", "enabled", "url", "events", "feed_ids", "category_ids", "query", "problem", "last_error"
]

CountedCategoryField = Literal[
    "id", "title", "user_id", "hide_globally", "parent_id", "keep_duplicates", "feed_count", "total_unread"
]

DeliveryField = Literal[
    "id",
    "delivery_id",
    "integration",
    "webhook_id",
    "event_type",
    "receiver",
    "feed_id",
    "state",
    "attempts",
    "size",
    "created_at",
    "next_attempt_at",
    "finished_at",
    "last_status",
    "last_error",
]

AuditEntryField = Literal[
    "id",
    "user_id",
    "username",
    "kind",
    "method",
    "second_method",
    "address",
    "user_agent",
    "actor",
    "detail",
    "times",
    "first_at",
    "last_at",
]

FeedHealthOrder = Literal["care", "title", "newest", "oldest", "slowest", "next", "unread"]

FeedHealthField = Literal[
    "id",
    "category_id",
    "title",
    "feed_url",
    "site_url",
    "health",
    "disabled",
    "error_count",
    "failed_checks",
    "error_message",
    "moved_to",
    "moved_times",
    "next_check_at",
    "response_ms",
    "last_entry_at",
    "entries_per_week",
    "limits_reached",
]

InvitationField = Literal[
    "id", "note", "invited_by", "is_admin", "max_feeds", "max_entries", "max_megabytes", "created_at", "expires_at"
]

NewsletterField = Literal[
    "id", "name", "post_path", "addresses", "one_feed", "category_id", "letters", "created_at", "last_letter_at"
]

ShareLinkField = Literal["entry_id", "feed_id", "title", "url", "share_code", "share_url"]

ApiPasswordField = Literal["id", "user_id", "name", "last_used_at", "created_at"]

NewsletterSenderField = Literal[
    "id",
    "name",
    "address",
    "list_id",
    "feed_id",
    "blocked",
    "letters",
    "discarded",
    "last_letter_at",
    "unsubscribe_url",
    "unsubscribe_mail",
    "one_click",
    "unsubscribed_at",
    "authentication",
    "spam",
    "confirmation_url",
    "confirmation_subject",
]

OpmlSubscriptionField = Literal[
    "id",
    "user_id",
    "url",
    "title",
    "category_id",
    "feed_count",
    "created_at",
    "checked_at",
    "next_check_at",
    "error_message",
    "removals",
]


class AccountLimits(TypedDict):
    """Null while there is no limit."""

    user_id: int
    max_feeds: int | None
    """Null as the settings of the instance say, 0 without limit."""
    max_entries: int | None
    """Null as the settings of the instance say, 0 without limit."""
    max_megabytes: int | None
    """Null as the settings of the instance say, 0 without limit."""
    feeds: int
    """What the account has."""
    entries: int
    """What the account has."""
    size_bytes: int | None
    """About what its articles take, measured once a day."""


class AccountLimitsUpdate(TypedDict):
    """Null: as the settings of the instance say. 0: without limit. Members that are not sent keep their values."""

    max_entries: NotRequired[int | None]
    max_feeds: NotRequired[int | None]
    max_megabytes: NotRequired[int | None]


class ApiKey(TypedDict):
    """Empty in lists for keys of which only a hash is stored, and for callers with an API key that is limited.
    Times: in the zone of the user.
    """

    id: int
    user_id: int
    token: str
    """64 hex digits, for X-Auth-Token."""
    description: str
    last_used_at: str | None
    """Null while unused."""
    created_at: str
    scope: ApiKeyScope
    expires_at: str | None
    """Null for never."""
    last_address: str
    """From where that was."""


class ApiKeyCreate(TypedDict):
    """A key that is made with a limited key is limited as that one is, unless less is asked for."""

    description: str
    expires_at: NotRequired[str | None]
    """A time, or a date, which is the last one on which the key works."""
    scope: NotRequired[ApiKeyScope | None]
    """Admin if it is not sent, which includes all others."""


class ApiPassword(TypedDict):
    """Times are in the time zone of the user."""

    id: int
    user_id: int
    name: str
    last_used_at: str | None
    """Null while unused."""
    created_at: str


class ApiPasswordCreate(TypedDict):
    name: str


class AppriseIntegration(TypedDict):
    enabled: bool
    has_urls: bool
    """Whether urls is set: it is not shown."""
    last_error: str
    """What the service last complained about."""


class AppriseIntegrationUpdate(TypedDict):
    enabled: NotRequired[bool]
    urls: NotRequired[str]
    """Service URLs. One per line, such as tgram://token/chat; see https://appriseit.com."""


class ArchiveIntegration(TypedDict):
    enabled: bool
    access_key: str
    """S3 access key. From https://archive.org/account/s3.php."""
    has_secret_key: bool
    """Whether secret_key is set: it is not shown."""
    outlinks: bool
    """Also keep the pages that it links to."""
    last_error: str
    """What the service last complained about."""


class ArchiveIntegrationUpdate(TypedDict):
    access_key: NotRequired[str]
    """S3 access key. From https://archive.org/account/s3.php."""
    enabled: NotRequired[bool]
    outlinks: NotRequired[bool]
    """Also keep the pages that it links to."""
    secret_key: NotRequired[str]
    """S3 secret key. Shown next to the access key."""


class Article(TypedDict):
    content: str
    """Cleaned HTML."""
    reading_time: int
    """Minutes."""


class Audit(TypedDict):
    """Null on the last one."""

    entries: list[AuditEntry]
    """The newest first."""
    next: str | None
    """For `before` of the next page."""


class AuditEntry(TypedDict):
    """Username is empty then. Times: in the zone of the user."""

    id: int
    user_id: int | None
    """Null for a refused name that nobody has, and for an account that was deleted."""
    username: str
    kind: AuditEntryKind
    method: AuditEntryMethod
    """How the user signed in, or who did it."""
    second_method: AuditEntryMethod
    """How the user signed in, or who did it."""
    address: str
    """"*" for several."""
    user_agent: str
    actor: str
    """The administrator."""
    detail: str
    times: int
    """How often the same happened on this day, from first_at to last_at."""
    first_at: str
    last_at: str


class BetulaIntegration(TypedDict):
    enabled: bool
    url: str
    """Address. Your Betula server, such as https://links.example.org."""
    has_token: bool
    """Whether token is set: it is not shown."""
    tags: str
    """Tags. Added to everything that is saved; separated by commas. The labels of the entry are added as well."""
    visibility: Literal["public", "unlisted", "private"]
    """Visibility."""
    last_error: str
    """What the service last complained about."""


class BetulaIntegrationUpdate(TypedDict):
    enabled: NotRequired[bool]
    tags: NotRequired[str]
    """Tags. Added to everything that is saved; separated by commas. The labels of the entry are added as well."""
    token: NotRequired[str]
    """Token. The value of the betula-token cookie in a browser that is signed in."""
    url: NotRequired[str]
    """Address. Your Betula server, such as https://links.example.org."""
    visibility: NotRequired[Literal["public", "unlisted", "private"]]
    """Visibility."""


class Bridges(TypedDict):
    """The addresses of your own bridges, with their passwords; "" for each that is the server's."""

    rssbridge_url: str
    rsshub_url: str
    flaresolverr_url: str
    of_server: list[str]
    """Names of the bridges that the server has set up, which are used in place of your own."""


class BridgesUpdate(TypedDict):
    """Addresses of your own bridges, such as https://user:password@bridge.example.org; "" removes one."""

    flaresolverr_url: NotRequired[str | None]
    rssbridge_url: NotRequired[str | None]
    rsshub_url: NotRequired[str | None]


class Category(TypedDict):
    id: int
    title: str
    """The path, such as "News / Europe", or the last part of it, as the user's category_titles says."""
    user_id: int
    hide_globally: bool
    parent_id: int | None
    """The category that it is under, null for none."""
    keep_duplicates: bool
    """As of each feed in it and below it."""


class CategoryCreate(TypedDict):
    title: str
    """Without those of the categories above it."""
    hide_globally: NotRequired[bool | None]
    parent_id: NotRequired[int | None]
    """The category to put it under."""


class CategoryReference(TypedDict):
    id: NotRequired[int | None]


class CategoryUpdate(TypedDict):
    hide_globally: NotRequired[bool | None]
    keep_duplicates: NotRequired[bool | None]
    parent_id: NotRequired[int | None]
    """Null for a category at the top."""
    title: NotRequired[str | None]
    """Its last part changes, whatever it names above."""


class ChangedFeeds(TypedDict):
    """With refresh, how many are due now."""

    changed: int
    """How many feeds were changed."""


class Changes(TypedDict):
    """What has changed since the event before. Members without a change are left out."""

    counts: NotRequired[list[FeedCounts]]
    """Of the feeds of the entries, left out for more than 100 feeds."""
    deliveries: NotRequired[Ids | None]
    """Those that failed, or that succeeded after they had failed."""
    entries: NotRequired[EntryStates | None]
    feeds: NotRequired[FeedStates | None]
    lists: NotRequired[list[str]]
    """Names of what to get again: settings, categories, labels, views, rules, imports."""
    rule_runs: NotRequired[Ids | None]
    """Ids of rules that are applied to stored entries, or are undone there."""


class Chapter(TypedDict):
    start_s: float
    """Seconds from the beginning."""
    title: str
    url: str
    """Of a page about the chapter, or empty."""


class ChapterList(TypedDict):
    chapters: list[Chapter]


class ComparedVersion(TypedDict):
    """An earlier version of an entry."""

    version: int
    title: str
    replaced_at: str
    content: str
    """Cleaned HTML."""
    title_differences: str
    """HTML of the present title and content, in which <del> has the words that were removed since this version,
    and <ins> those that were added.
    """
    content_differences: str
    """HTML of the present title and content, in which <del> has the words that were removed since this version,
    and <ins> those that were added.
    """


class CountedCategory(TypedDict):
    id: int
    title: str
    user_id: int
    hide_globally: bool
    parent_id: int | None
    keep_duplicates: bool
    feed_count: NotRequired[int]
    """With those of the categories below it, and only with counts=true."""
    total_unread: NotRequired[int]
    """With those of the categories below it, and only with counts=true."""


class CountedLabel(TypedDict):
    """Removed entries are not counted."""

    id: int
    user_id: int
    title: str
    color: CountedLabelColor
    position: int
    entry_count: NotRequired[int]
    """Only with counts=true."""
    total_unread: NotRequired[int]
    """Only with counts=true."""


class Counters(TypedDict):
    """Numbers by feed id; a feed without entries is left out."""

    reads: dict[str, int]
    unreads: dict[str, int]


class CuboxIntegration(TypedDict):
    enabled: bool
    has_api_link: bool
    """Whether api_link is set: it is not shown."""
    folder: str
    """Folder. Leave it empty for the inbox."""
    tags: str
    """Tags. Added to everything that is saved; separated by commas. The labels of the entry are added as well."""
    last_error: str
    """What the service last complained about."""


class CuboxIntegrationUpdate(TypedDict):
    api_link: NotRequired[str]
    """API link. In Cubox: Settings, Extensions & Automation, API Extension."""
    enabled: NotRequired[bool]
    folder: NotRequired[str]
    """Folder. Leave it empty for the inbox."""
    tags: NotRequired[str]
    """Tags. Added to everything that is saved; separated by commas. The labels of the entry are added as well."""


class CustomIntegration(TypedDict):
    enabled: bool
    method: CustomIntegrationMethod
    """Method."""
    url: str
    """Address. Such as https://example.org/add?to={{url}}."""
    has_headers: bool
    """Whether headers is set: it is not shown."""
    body: str
    """Body."""
    last_error: str
    """What the service last complained about."""


class CustomIntegrationUpdate(TypedDict):
    body: NotRequired[str]
    """Body."""
    enabled: NotRequired[bool]
    headers: NotRequired[str]
    """Headers. Name: value, one per line."""
    method: NotRequired[CustomIntegrationMethod]
    """Method."""
    url: NotRequired[str]
    """Address. Such as https://example.org/add?to={{url}}."""


class Day(TypedDict):
    """They are not in `read`. At most 500 of both are counted. null for days that are more than 90 days ago."""

    date: str
    read: int
    """Entries of which the last change on this day was that they were read."""
    marked: int
    """Those of which more than 20 became read at one moment, as when a list is marked."""
    published: int | None
    """At most 2000 are counted."""


class Delivery(TypedDict):
    """The delivery of an event to one receiver. The webhook may be deleted. Times are in the time zone of the
    user.
    """

    id: int
    delivery_id: str
    """As in the header X-Service-Delivery."""
    integration: str
    webhook_id: int | None
    """Null for other integrations."""
    event_type: str
    receiver: str
    """A URL without credentials, or the name of the service."""
    feed_id: int | None
    """Null if it belongs to no feed."""
    state: Literal["pending", "delivered", "failed"]
    attempts: int
    size: int
    """Of the body, in bytes."""
    created_at: str
    next_attempt_at: str | None
    """Null if no further attempt follows."""
    finished_at: str | None
    """Null until then."""
    last_status: int
    """HTTP status of the last response, 0 without one."""
    last_error: str
    """Why the last attempt failed, "" if it succeeded."""


class DeliveryDetails(TypedDict):
    """Null if it was not kept."""

    id: int
    delivery_id: str
    integration: str
    webhook_id: int | None
    event_type: str
    receiver: str
    feed_id: int | None
    state: Literal["pending", "delivered", "failed"]
    attempts: int
    size: int
    created_at: str
    next_attempt_at: str | None
    finished_at: str | None
    last_status: int
    last_error: str
    body: str | None
    """As sent, byte for byte."""
    last_response: str
    """The beginning of the last response."""


class DeliveryList(TypedDict):
    deliveries: list[Delivery]


class Discovered(TypedDict):
    url: str
    title: str
    type: DiscoveredType


class DiscoveryRequest(TypedDict):
    """The other members are sent to its host only."""

    url: str
    """Of a web page or a feed."""
    allow_self_signed_certificates: NotRequired[bool | None]
    cookie: NotRequired[str | None]
    disable_http2: NotRequired[bool | None]
    fetch_via_flaresolverr: NotRequired[bool | None]
    fetch_via_proxy: NotRequired[bool | None]
    password: NotRequired[str | None]
    proxy_url: NotRequired[str | None]
    user_agent: NotRequired[str | None]
    username: NotRequired[str | None]


class Enclosure(TypedDict):
    id: int
    user_id: int
    entry_id: int
    url: str
    mime_type: str
    size: int
    """Bytes."""
    media_progression: int
    """Seconds."""


class EnclosureUpdate(TypedDict):
    """Default: the beginning."""

    media_progression: NotRequired[int | None]
    """Seconds."""


class EntriesSnooze(TypedDict):
    entry_ids: list[int]
    """At most 1,000."""
    until: str
    """A day (2026-12-01), at 06:00 in your time zone, or an RFC 3339 time."""


class EntriesUpdate(TypedDict):
    """At least one of status, starred, hidden, add_labels and remove_labels is sent."""

    entry_ids: list[int]
    add_labels: NotRequired[list[int] | None]
    """Ids of your labels, which the entries may have already or not."""
    hidden: NotRequired[bool | None]
    """Whether the global lists leave them out, as those that rules hide."""
    remove_labels: NotRequired[list[int] | None]
    """Ids of your labels, which the entries may have already or not."""
    starred: NotRequired[bool | None]
    status: NotRequired[Literal["unread", "read", "removed"] | None]


class Entry(TypedDict):
    """Times are in the time zone of the user. Both are left out for users whose setting `duplicates` is off."""

    id: int
    user_id: int
    feed_id: int
    title: str
    url: str
    comments_url: str
    author: str
    language: str
    share_code: str
    starred: bool
    reading_time: int
    """Minutes."""
    status: Literal["unread", "read", "removed"]
    hash: str
    published_at: str
    created_at: str
    changed_at: str
    content: str
    """Cleaned HTML."""
    tags: list[str]
    """Of the publisher."""
    enclosures: list[Enclosure]
    feed: Feed
    labels: list[EntryLabel]
    """Of the user, in their order."""
    hidden: bool
    """A rule or the user keeps it out of the global lists, such as Unread."""
    duplicate_of: NotRequired[int | None]
    """The entry of another feed that this one repeats, or null."""
    duplicates: NotRequired[list[int]]
    """The entries that repeat this one."""


class EntryIds(TypedDict):
    total: int
    entry_ids: list[int]


class EntryImport(TypedDict):
    """Default: its url. default: now."""

    url: str
    author: NotRequired[str | None]
    comments_url: NotRequired[str | None]
    content: NotRequired[str | None]
    external_id: NotRequired[str | None]
    """Identifies the entry within its feed."""
    published_at: NotRequired[int | None]
    """Unix seconds."""
    starred: NotRequired[bool | None]
    status: NotRequired[Literal["unread", "read", "removed"] | None]
    """Default read."""
    tags: NotRequired[list[str] | None]
    title: NotRequired[str | None]


class EntryImported(TypedDict):
    id: int


class EntryLabel(TypedDict):
    """A label that the user gave to the entry."""

    id: int
    title: str
    color: CountedLabelColor


class EntryList(TypedDict):
    total: int
    """The number of matches on all pages."""
    entries: list[Entry]
    total_exact: NotRequired[bool]
    """Only in lists of a query or a view, and false where there are more, since counting stops at 10000."""


class EntryState(TypedDict):
    """An entry that was added or changed."""

    id: int
    status: str
    """Unread, read, or removed, after which nothing else is sent of it."""
    feed_id: NotRequired[int | None]
    new: NotRequired[bool]
    starred: NotRequired[bool]


class EntryStates(TypedDict):
    count: int
    """How many entries."""
    new: int
    """How many of them are new."""
    listed: list[EntryState]
    """The newest of them, at most 100."""


class EntryUpdate(TypedDict):
    """It is sanitized."""

    content: NotRequired[str | None]
    """HTML."""
    labels: NotRequired[list[int] | None]
    """Ids of your labels, all that the entry is to have."""
    title: NotRequired[str | None]
    """Plain text."""


class EntryVersion(TypedDict):
    """An earlier version of an entry."""

    version: int
    """Counted from 1."""
    title: str
    replaced_at: str
    """When the next one was stored."""


class ErrorBody(TypedDict):
    """An error. Its stable code is in X-Error-Code."""

    error_message: str
    """What happened and what to do."""


class EspialIntegration(TypedDict):
    enabled: bool
    url: str
    """Address. Your Espial server, such as https://espial.example.org."""
    has_api_key: bool
    """Whether api_key is set: it is not shown."""
    tags: str
    """Tags. Added to everything that is saved; separated by commas. The labels of the entry are added as well."""
    private: bool
    """Visible only to you."""
    unread: bool
    """Mark as unread."""
    last_error: str
    """What the service last complained about."""


class EspialIntegrationUpdate(TypedDict):
    api_key: NotRequired[str]
    """API key. In Espial: Account settings, API key."""
    enabled: NotRequired[bool]
    private: NotRequired[bool]
    """Visible only to you."""
    tags: NotRequired[str]
    """Tags. Added to everything that is saved; separated by commas. The labels of the entry are added as well."""
    unread: NotRequired[bool]
    """Mark as unread."""
    url: NotRequired[str]
    """Address. Your Espial server, such as https://espial.example.org."""


class Feed(TypedDict):
    """Times are in the time zone of the user. null for the setting of all feeds. both empty for others."""

    id: int
    user_id: int
    feed_url: str
    site_url: str
    title: str
    description: str
    language: str
    etag_header: str
    last_modified_header: str
    parsing_error_message: str
    parsing_error_count: int
    scraper_rules: str
    rewrite_rules: str
    blocklist_rules: str
    keeplist_rules: str
    block_filter_entry_rules: str
    keep_filter_entry_rules: str
    urlrewrite_rules: str
    user_agent: str
    cookie: str
    """Empty for API keys without the scope manage."""
    username: str
    """Empty for API keys without the scope manage."""
    password: str
    """Empty for API keys without the scope manage."""
    disabled: bool
    no_media_player: bool
    ignore_http_cache: bool
    allow_self_signed_certificates: bool
    fetch_via_proxy: bool
    hide_globally: bool
    disable_http2: bool
    pushover_enabled: bool
    ntfy_enabled: bool
    crawler: bool
    ignore_entry_updates: bool
    match_entries_by_url: bool
    apprise_service_urls: str
    """Empty for API keys without the scope manage."""
    webhook_url: str
    """Empty for API keys without the scope manage."""
    ntfy_priority: int
    ntfy_topic: str
    pushover_priority: int
    proxy_url: str
    """Empty for API keys without the scope manage."""
    check_interval_minutes: int
    """0 if it follows how often the feed publishes."""
    keep_read_days: int | None
    """After how many days its entries are deleted, -1 for never."""
    keep_unread_days: int | None
    """After how many days its entries are deleted, -1 for never."""
    keep_duplicates: bool
    discard_versions: bool
    kind: str
    """Of a feed that is made from a page or JSON."""
    selectors: dict[str, str | FieldSelector]
    """Of a feed that is made from a page or JSON."""
    fetch_via_flaresolverr: bool
    checked_at: str
    next_check_at: str
    category: Category
    icon: FeedIcon | None
    """Null while none is known, or icon_id 0 for apps that fail at null."""
    category_ids: list[int]
    """All categories that it is in, the one in category first."""


class FeedCounts(TypedDict):
    """The number of unread and read entries of a feed."""

    id: int
    unread: int
    read: int


class FeedCreate(TypedDict):
    feed_url: str
    allow_self_signed_certificates: NotRequired[bool | None]
    apprise_service_urls: NotRequired[str | None]
    block_filter_entry_rules: NotRequired[str | None]
    blocklist_rules: NotRequired[str | None]
    category_id: NotRequired[int | None]
    """Missing, null or 0 for the first of category_ids, or else your first category by title."""
    category_ids: NotRequired[list[int] | None]
    check_interval_minutes: NotRequired[int | None]
    cookie: NotRequired[str | None]
    crawler: NotRequired[bool | None]
    disable_http2: NotRequired[bool | None]
    disabled: NotRequired[bool | None]
    discard_versions: NotRequired[bool | None]
    fetch_via_flaresolverr: NotRequired[bool | None]
    fetch_via_proxy: NotRequired[bool | None]
    hide_globally: NotRequired[bool | None]
    ignore_entry_updates: NotRequired[bool | None]
    ignore_http_cache: NotRequired[bool | None]
    keep_duplicates: NotRequired[bool | None]
    keep_filter_entry_rules: NotRequired[str | None]
    keep_read_days: NotRequired[int | None]
    keep_unread_days: NotRequired[int | None]
    keeplist_rules: NotRequired[str | None]
    kind: NotRequired[FeedCreateKind | None]
    match_entries_by_url: NotRequired[bool | None]
    no_media_player: NotRequired[bool | None]
    password: NotRequired[str | None]
    proxy_url: NotRequired[str | None]
    rewrite_rules: NotRequired[str | None]
    scraper_rules: NotRequired[str | None]
    selectors: NotRequired[dict[str, str | FieldSelector] | None]
    urlrewrite_rules: NotRequired[str | None]
    user_agent: NotRequired[str | None]
    username: NotRequired[str | None]
    webhook_url: NotRequired[str | None]


class FeedCreated(TypedDict):
    feed_id: int


class FeedHealth(TypedDict):
    """Or waiting, off or fine."""

    id: int
    category_id: int
    title: str
    feed_url: str
    site_url: str
    health: FeedHealthHealth
    """Why the feed needs care, the first reason that applies."""
    disabled: bool
    error_count: int
    """Failed checks in a row, without passing network errors."""
    failed_checks: int
    """With them."""
    error_message: str
    """Of the last check, in English."""
    moved_to: str
    """Where it redirects permanently, moved_times times so far."""
    moved_times: int
    next_check_at: str | None
    """Null while it is disabled."""
    response_ms: int | None
    """How long the last response took, null if unknown."""
    last_entry_at: str | None
    """Null without entries."""
    entries_per_week: list[int]
    """Of the last 26 weeks, the oldest first."""
    limits_reached: list[str]
    """Why the last document or the pages of entries are incomplete."""


class FeedHealthList(TypedDict):
    total: int
    """Feeds on all pages."""
    states: dict[str, int]
    """Feeds by health, before the filter by state."""
    waiting: int
    """All of your feeds that are due and wait for a worker."""
    feeds: list[FeedHealth]


class FeedIcon(TypedDict):
    feed_id: int
    icon_id: int
    external_icon_id: str


class FeedRules(TypedDict):
    """Rules as in the settings of a feed. What is not sent is as it is stored."""

    block_filter_entry_rules: NotRequired[str | None]
    blocklist_rules: NotRequired[str | None]
    keep_filter_entry_rules: NotRequired[str | None]
    keeplist_rules: NotRequired[str | None]
    rewrite_rules: NotRequired[str | None]
    scraper_rules: NotRequired[str | None]
    urlrewrite_rules: NotRequired[str | None]


class FeedRulesPreview(TypedDict):
    filtered: int
    """How many the rules filter out."""
    changed: int
    """How many of the others they change."""
    untried: int
    """Entries for which there was no time left."""
    rule_errors: list[RuleError]
    entries: list[TriedEntry]
    """The newest stored ones, at most 50."""


class FeedState(TypedDict):
    """A feed that was added or changed."""

    id: int
    disabled: NotRequired[bool]
    parsing_error_count: NotRequired[int]
    parsing_error_message: NotRequired[str]
    removed: NotRequired[bool]
    """It is gone, and nothing else is sent of it."""


class FeedStates(TypedDict):
    count: int
    """How many feeds."""
    listed: list[FeedState]
    """At most 100 of them."""


class FeedUpdate(TypedDict):
    """Category_id takes precedence."""

    allow_self_signed_certificates: NotRequired[bool | None]
    apprise_service_urls: NotRequired[str | None]
    block_filter_entry_rules: NotRequired[str | None]
    blocklist_rules: NotRequired[str | None]
    category: NotRequired[CategoryReference | None]
    """An older name of category_id."""
    category_id: NotRequired[int | None]
    """Alone, it replaces the first category, and the others stay."""
    category_ids: NotRequired[list[int] | None]
    check_interval_minutes: NotRequired[int | None]
    cookie: NotRequired[str | None]
    crawler: NotRequired[bool | None]
    description: NotRequired[str | None]
    disable_http2: NotRequired[bool | None]
    disabled: NotRequired[bool | None]
    discard_versions: NotRequired[bool | None]
    feed_url: NotRequired[str | None]
    fetch_via_flaresolverr: NotRequired[bool | None]
    fetch_via_proxy: NotRequired[bool | None]
    hide_globally: NotRequired[bool | None]
    ignore_entry_updates: NotRequired[bool | None]
    ignore_http_cache: NotRequired[bool | None]
    keep_duplicates: NotRequired[bool | None]
    keep_filter_entry_rules: NotRequired[str | None]
    keep_read_days: NotRequired[int | None]
    keep_unread_days: NotRequired[int | None]
    keeplist_rules: NotRequired[str | None]
    kind: NotRequired[FeedCreateKind | None]
    match_entries_by_url: NotRequired[bool | None]
    no_media_player: NotRequired[bool | None]
    password: NotRequired[str | None]
    proxy_url: NotRequired[str | None]
    rewrite_rules: NotRequired[str | None]
    scraper_rules: NotRequired[str | None]
    selectors: NotRequired[dict[str, str | FieldSelector] | None]
    site_url: NotRequired[str | None]
    title: NotRequired[str | None]
    urlrewrite_rules: NotRequired[str | None]
    user_agent: NotRequired[str | None]
    username: NotRequired[str | None]
    webhook_url: NotRequired[str | None]


class FeedsChange(TypedDict):
    """Default: their first one. 0: as often as each feed publishes. enable: errors are forgotten, and feeds are
    checked soon. delete: entries, too.
    """

    feed_ids: list[int]
    """Those of others are ignored."""
    action: FeedsChangeAction | None
    category_id: NotRequired[int | None]
    """Only with move and add_to_category."""
    check_interval_minutes: NotRequired[int | None]
    """Only with set_interval."""
    from_category_id: NotRequired[int | None]
    """The category that feeds leave, only with move."""


class FieldSelector(TypedDict):
    """Where a field is in an item, and what becomes of its text."""

    attribute: NotRequired[str]
    capture: NotRequired[str]
    format: NotRequired[str]
    selector: NotRequired[str]
    template: NotRequired[str]
    zone: NotRequired[str]


class GotifyIntegration(TypedDict):
    enabled: bool
    url: str
    """Address. Your Gotify server, such as https://push.example.org."""
    has_token: bool
    """Whether token is set: it is not shown."""
    priority: GotifyIntegrationPriority
    """Priority. From 4 on it makes a sound, from 8 on it also pops up."""
    all_feeds: bool
    """For all feeds. Otherwise only for entries of which a rule notifies."""
    last_error: str
    """What the service last complained about."""


class GotifyIntegrationUpdate(TypedDict):
    all_feeds: NotRequired[bool]
    """For all feeds. Otherwise only for entries of which a rule notifies."""
    enabled: NotRequired[bool]
    priority: NotRequired[GotifyIntegrationPriority]
    """Priority. From 4 on it makes a sound, from 8 on it also pops up."""
    token: NotRequired[str]
    """Application token. In Gotify: Apps, Create application."""
    url: NotRequired[str]
    """Address. Your Gotify server, such as https://push.example.org."""


class Icon(TypedDict):
    id: int
    data: str
    """The picture as a data URL without its scheme."""
    mime_type: str


class Ids(TypedDict):
    count: int
    """How many."""
    ids: list[int]
    """The newest of them, at most 100."""


class Import(TypedDict):
    """The last import. interrupted: the service ended before the import did; repeat it, nothing is stored twice.
    asking: the import page waits for its user to say what of an archive is applied; expired: nobody did
    within a day. Times are in the time zone of the user.
    """

    state: ImportState
    source: ImportSource
    origin: str
    """The name of the file, or the address of the server."""
    steps_done: int
    steps_total: int
    """0 while unknown."""
    started_at: str
    finished_at: str | None
    """Null until then."""
    error_message: str
    """Why it failed."""
    report: ImportReport | None
    """Null until then."""


class ImportReport(TypedDict):
    """What an import did."""

    new_feeds: int
    known_feeds: int
    new_entries: int
    known_entries: int
    deleted_entries: int
    """Left out because they were deleted here."""
    problems: list[str]
    """What cannot be used here, and was left out."""
    left_off: list[LeftOff]
    """What was not asked for."""


class Imported(TypedDict):
    message: str
    """The number of feeds added, and a line for each line of the document that was not used as written."""


class Instance(TypedDict):
    """Of all users together. null before the first."""

    database_engine: str
    database_bytes: int
    users: int
    feeds: int
    feeds_disabled: int
    feeds_failing: int
    entries_unread: int
    entries_read: int
    """That are still stored."""
    due: int
    """Sources (documents that several feeds may share) that wait for a check, that have waited for more than
    five minutes, and that are checked now.
    """
    overdue: int
    """Sources (documents that several feeds may share) that wait for a check, that have waited for more than
    five minutes, and that are checked now.
    """
    oldest_overdue_s: int
    """How long the first in the queue has waited, in seconds, 0 if none waits."""
    claimed: int
    """Sources (documents that several feeds may share) that wait for a check, that have waited for more than
    five minutes, and that are checked now.
    """
    workers: int
    """Those that check now."""
    polls_last_hour: int
    """Feeds that were checked."""
    deliveries_pending: int
    deliveries_failed: int
    oldest_delivery_s: int
    """How long the first in the queue has waited, in seconds, 0 if none waits."""
    last_cleanup_s: int | None
    """Seconds since."""
    last_backup_s: int | None
    """Seconds since."""


class InstapaperIntegration(TypedDict):
    enabled: bool
    username: str
    """Username or email address."""
    has_password: bool
    """Whether password is set: it is not shown."""
    last_error: str
    """What the service last complained about."""


class InstapaperIntegrationUpdate(TypedDict):
    enabled: NotRequired[bool]
    password: NotRequired[str]
    """Password. Leave it empty if your account has none."""
    username: NotRequired[str]
    """Username or email address."""


class IntegrationTested(TypedDict):
    works: bool
    """Whether the service accepted the entry."""
    status: int
    """HTTP status of its last response, 0 without one."""
    error: str
    """Why it did not, "" if it did."""
    response: str
    """The beginning of that response."""


class Integrations(TypedDict):
    apprise: AppriseIntegration
    archive: ArchiveIntegration
    betula: BetulaIntegration
    cubox: CuboxIntegration
    custom: CustomIntegration
    espial: EspialIntegration
    gotify: GotifyIntegration
    instapaper: InstapaperIntegration
    karakeep: KarakeepIntegration
    linkace: LinkaceIntegration
    linkding: LinkdingIntegration
    linkwarden: LinkwardenIntegration
    notion: NotionIntegration
    ntfy: NtfyIntegration
    omnivore: OmnivoreIntegration
    pinboard: PinboardIntegration
    pushover: PushoverIntegration
    raindrop: RaindropIntegration
    readeck: ReadeckIntegration
    readwise: ReadwiseIntegration
    shaarli: ShaarliIntegration
    shiori: ShioriIntegration
    wallabag: WallabagIntegration
    webhook: WebhookIntegration


class IntegrationsStatus(TypedDict):
    has_integrations: bool
    """Whether a service to save entries to is switched on."""


class IntegrationsUpdate(TypedDict):
    apprise: NotRequired[AppriseIntegrationUpdate]
    archive: NotRequired[ArchiveIntegrationUpdate]
    betula: NotRequired[BetulaIntegrationUpdate]
    cubox: NotRequired[CuboxIntegrationUpdate]
    custom: NotRequired[CustomIntegrationUpdate]
    espial: NotRequired[EspialIntegrationUpdate]
    gotify: NotRequired[GotifyIntegrationUpdate]
    instapaper: NotRequired[InstapaperIntegrationUpdate]
    karakeep: NotRequired[KarakeepIntegrationUpdate]
    linkace: NotRequired[LinkaceIntegrationUpdate]
    linkding: NotRequired[LinkdingIntegrationUpdate]
    linkwarden: NotRequired[LinkwardenIntegrationUpdate]
    notion: NotRequired[NotionIntegrationUpdate]
    ntfy: NotRequired[NtfyIntegrationUpdate]
    omnivore: NotRequired[OmnivoreIntegrationUpdate]
    pinboard: NotRequired[PinboardIntegrationUpdate]
    pushover: NotRequired[PushoverIntegrationUpdate]
    raindrop: NotRequired[RaindropIntegrationUpdate]
    readeck: NotRequired[ReadeckIntegrationUpdate]
    readwise: NotRequired[ReadwiseIntegrationUpdate]
    shaarli: NotRequired[ShaarliIntegrationUpdate]
    shiori: NotRequired[ShioriIntegrationUpdate]
    wallabag: NotRequired[WallabagIntegrationUpdate]
    webhook: NotRequired[WebhookIntegrationUpdate]


class Invitation(TypedDict):
    """Null as the settings of the instance say, 0 without."""

    id: int
    note: str
    """For whom it is."""
    invited_by: str
    """Username of an administrator."""
    is_admin: bool
    """Whether the account will be one."""
    max_feeds: int | None
    """Limits of the account."""
    max_entries: int | None
    """Limits of the account."""
    max_megabytes: int | None
    """Limits of the account."""
    created_at: str
    expires_at: str


class InvitationCreate(TypedDict):
    """Limits: as in the list of invitations."""

    is_admin: NotRequired[bool | None]
    max_entries: NotRequired[int | None]
    max_feeds: NotRequired[int | None]
    max_megabytes: NotRequired[int | None]
    note: NotRequired[str | None]
    """At most 200 characters."""


class KarakeepIntegration(TypedDict):
    enabled: bool
    url: str
    """Address. Your Karakeep server, such as https://keep.example.org."""
    has_api_key: bool
    """Whether api_key is set: it is not shown."""
    tags: str
    """Tags. Added to everything that is saved; separated by commas. The labels of the entry are added as well."""
    last_error: str
    """What the service last complained about."""


class KarakeepIntegrationUpdate(TypedDict):
    api_key: NotRequired[str]
    """API key. In Karakeep: User settings, API keys."""
    enabled: NotRequired[bool]
    tags: NotRequired[str]
    """Tags. Added to everything that is saved; separated by commas. The labels of the entry are added as well."""
    url: NotRequired[str]
    """Address. Your Karakeep server, such as https://keep.example.org."""


class Label(TypedDict):
    id: int
    user_id: int
    title: str
    color: CountedLabelColor
    """Empty for none."""
    position: int
    """Place in the order of your labels, counted from 1."""


class LabelCreate(TypedDict):
    title: str
    """At most 200 characters."""
    color: NotRequired[CountedLabelColor | None]
    """Default none."""


class LabelUpdate(TypedDict):
    """Beyond the end means last."""

    color: NotRequired[CountedLabelColor | None]
    """Empty for none."""
    position: NotRequired[int | None]
    """The new place, counted from 1."""
    title: NotRequired[str | None]


class LeftOff(TypedDict):
    """What was not applied because nobody asked for it. one that is set up already stays as it is. empty for the
    account.
    """

    part: LeftOffPart
    """As in `apply`, or security, which is never applied."""
    name: str
    """A setting of the account or of feeds, or an integration, which is stored switched off."""
    feeds: list[str]
    """URLs of the first ones of `feed_count` feeds."""
    feed_count: int


class LinkaceIntegration(TypedDict):
    enabled: bool
    url: str
    """Address. Your LinkAce server, such as https://links.example.org."""
    has_token: bool
    """Whether token is set: it is not shown."""
    tags: str
    """Tags. Added to everything that is saved; separated by commas. The labels of the entry are added as well."""
    lists: str
    """Lists. Separated by commas."""
    visibility: Literal["public", "internal", "private"]
    """Visible to."""
    check_disabled: bool
    """Do not check whether the page still exists."""
    last_error: str
    """What the service last complained about."""


class LinkaceIntegrationUpdate(TypedDict):
    check_disabled: NotRequired[bool]
    """Do not check whether the page still exists."""
    enabled: NotRequired[bool]
    lists: NotRequired[str]
    """Lists. Separated by commas."""
    tags: NotRequired[str]
    """Tags. Added to everything that is saved; separated by commas. The labels of the entry are added as well."""
    token: NotRequired[str]
    """API token. In LinkAce: User settings, API tokens."""
    url: NotRequired[str]
    """Address. Your LinkAce server, such as https://links.example.org."""
    visibility: NotRequired[Literal["public", "internal", "private"]]
    """Visible to."""


class LinkdingIntegration(TypedDict):
    enabled: bool
    url: str
    """Address. Your Linkding server, such as https://links.example.org."""
    has_token: bool
    """Whether token is set: it is not shown."""
    tags: str
    """Tags. Added to everything that is saved; separated by commas. The labels of the entry are added as well."""
    unread: bool
    """Mark as unread."""
    last_error: str
    """What the service last complained about."""


class LinkdingIntegrationUpdate(TypedDict):
    enabled: NotRequired[bool]
    tags: NotRequired[str]
    """Tags. Added to everything that is saved; separated by commas. The labels of the entry are added as well."""
    token: NotRequired[str]
    """API token. In Linkding: Settings, Integrations."""
    unread: NotRequired[bool]
    """Mark as unread."""
    url: NotRequired[str]
    """Address. Your Linkding server, such as https://links.example.org."""


class LinkwardenIntegration(TypedDict):
    enabled: bool
    url: str
    """Address. Your Linkwarden server, such as https://cloud.linkwarden.app."""
    has_token: bool
    """Whether token is set: it is not shown."""
    collection: str
    """Collection. Its name; it is created if it does not exist."""
    tags: str
    """Tags. Added to everything that is saved; separated by commas. The labels of the entry are added as well."""
    last_error: str
    """What the service last complained about."""


class LinkwardenIntegrationUpdate(TypedDict):
    collection: NotRequired[str]
    """Collection. Its name; it is created if it does not exist."""
    enabled: NotRequired[bool]
    tags: NotRequired[str]
    """Tags. Added to everything that is saved; separated by commas. The labels of the entry are added as well."""
    token: NotRequired[str]
    """Access token. In Linkwarden: Settings, Access tokens."""
    url: NotRequired[str]
    """Address. Your Linkwarden server, such as https://cloud.linkwarden.app."""


class ListLinks(TypedDict):
    """Secret addresses of lists, as Atom feeds, or as JSON Feeds with ?format=json; null while there are none."""

    category: NotRequired[str | None]
    """{category_id}, {feed_id} and {view_id} stand for an id."""
    feed: NotRequired[str | None]
    """{category_id}, {feed_id} and {view_id} stand for an id."""
    starred: NotRequired[str | None]
    unread: NotRequired[str | None]
    view: NotRequired[str | None]
    """{category_id}, {feed_id} and {view_id} stand for an id."""
    view_opml: NotRequired[str | None]
    """The feeds of a saved view as OPML."""


class ListSetting(TypedDict):
    """How pages show a list. or f, c or l and the id of a feed, category or label, such as f7."""

    list: str
    """Unread, starred, history or shared."""
    direction: Literal["", "asc", "desc"]
    """"" as in all lists."""
    density: ListSettingDensity
    """"" for the device's setting."""


class ListSettingUpdate(TypedDict):
    list: str
    """As in the response."""
    density: NotRequired[ListSettingDensity | None]
    """"" removes it, and what is not sent stays."""
    direction: NotRequired[Literal["", "asc", "desc"] | None]
    """"" removes it, and what is not sent stays."""


class MarkRead(TypedDict):
    """Or all of the list. entries that were stored later stay unread."""

    range: Literal["above", "below", "all"] | None
    """Above or below an entry of the list, in its order."""
    entry_id: NotRequired[int | None]
    """This entry, which is not marked itself."""
    newest_entry_id: NotRequired[int | None]
    """The highest id that you have seen."""


class MarkedRead(TypedDict):
    """Null if nothing was marked."""

    marked: int
    """How many entries were marked."""
    undo_token: str | None
    """To undo exactly this."""


class MarkedUnread(TypedDict):
    marked_unread: int
    """How many entries are unread again."""


class MinifluxImport(TypedDict):
    url: str
    """Address of the server."""
    api_key: str
    """Of the account there."""
    apply: NotRequired[str]
    """As for archives."""


class NewApiPassword(TypedDict):
    """The password is only shown in this response."""

    id: int
    user_id: int
    name: str
    username: str
    """To sign in with in the app."""
    password: str
    """To sign in with in the app."""
    last_used_at: str | None
    created_at: str


class NewInvitation(TypedDict):
    """It is only shown in this response."""

    url: str
    """Where an account can be created, once, within a day."""


class Newsletter(TypedDict):
    """A secret address. null for the first category."""

    id: int
    name: str
    post_path: str
    """Send messages there, as they are (RFC 5322)."""
    addresses: list[str]
    """Mail addresses that lead there, if the operator has named one."""
    one_feed: bool
    """New senders share one feed."""
    category_id: int | None
    """Of new feeds."""
    letters: int
    created_at: str
    last_letter_at: str | None


class NewsletterCreate(TypedDict):
    """Default false."""

    name: str
    category_id: NotRequired[int | None]
    """Default the first category."""
    one_feed: NotRequired[bool | None]
    """Whether new senders share one feed."""


class NewsletterMailbox(TypedDict):
    """A folder on an IMAP server. "" if it could."""

    host: str
    port: int
    tls: bool
    starttls: bool
    username: str
    folder: str
    mark_seen: bool
    """Letters that became entries are marked as seen there."""
    letters: int
    """How many have become entries."""
    polled_at: str | None
    next_poll_at: str
    failures: int
    error: str
    """Why it could not be read the last time."""


class NewsletterMailboxUpdate(TypedDict):
    host: str
    username: str
    folder: NotRequired[str | None]
    """Default INBOX."""
    mark_seen: NotRequired[bool | None]
    """Default false."""
    password: NotRequired[str | None]
    """Leave it out to keep the stored one, for the same account."""
    port: NotRequired[int | None]
    """Default 993, with starttls 143."""
    starttls: NotRequired[bool | None]
    """Default false."""
    tls: NotRequired[bool | None]
    """Default true."""


class NewsletterSender(TypedDict):
    """A newsletter. else it is known by its address. null until the next one makes a feed. "" if there is
    nothing to do.
    """

    id: int
    name: str
    address: str
    list_id: str
    """Its List-Id."""
    feed_id: int | None
    """Where its letters go."""
    blocked: bool
    letters: int
    discarded: int
    """Letters since it is blocked."""
    last_letter_at: str | None
    unsubscribe_url: str
    unsubscribe_mail: str
    one_click: bool
    """The API can unsubscribe from it."""
    unsubscribed_at: str | None
    authentication: str
    """Of its newest letter, as in "spf=pass dkim=pass"."""
    spam: bool
    """A filter said so of its newest letter."""
    confirmation_url: str
    """Open it to confirm the subscription."""
    confirmation_subject: str


class NewsletterSenderUpdate(TypedDict):
    blocked: NotRequired[bool | None]
    confirmed: NotRequired[bool | None]
    """True if there is nothing more to confirm."""
    feed_id: NotRequired[int | None]
    """One of your feeds of newsletters, to which the letters go from now on."""
    name: NotRequired[str | None]


class NotionIntegration(TypedDict):
    enabled: bool
    has_token: bool
    """Whether token is set: it is not shown."""
    page_id: str
    """Page. The 32 digits at the end of its address; share it with the integration."""
    last_error: str
    """What the service last complained about."""


class NotionIntegrationUpdate(TypedDict):
    enabled: NotRequired[bool]
    page_id: NotRequired[str]
    """Page. The 32 digits at the end of its address; share it with the integration."""
    token: NotRequired[str]
    """Integration secret. From https://www.notion.so/my-integrations."""


class NtfyIntegration(TypedDict):
    enabled: bool
    url: str
    """Address. The ntfy server."""
    topic: str
    """Topic. Used unless a feed has its own."""
    has_token: bool
    """Whether token is set: it is not shown."""
    username: str
    """Username. Instead of a token."""
    has_password: bool
    """Whether password is set: it is not shown."""
    priority: NtfyIntegrationPriority
    """Priority. 5 is the highest."""
    all_feeds: bool
    """For all feeds. Otherwise only for feeds that have ntfy switched on."""
    last_error: str
    """What the service last complained about."""


class NtfyIntegrationUpdate(TypedDict):
    all_feeds: NotRequired[bool]
    """For all feeds. Otherwise only for feeds that have ntfy switched on."""
    enabled: NotRequired[bool]
    password: NotRequired[str]
    """Password."""
    priority: NotRequired[NtfyIntegrationPriority]
    """Priority. 5 is the highest."""
    token: NotRequired[str]
    """Access token. If the topic is protected."""
    topic: NotRequired[str]
    """Topic. Used unless a feed has its own."""
    url: NotRequired[str]
    """Address. The ntfy server."""
    username: NotRequired[str]
    """Username. Instead of a token."""


class OmnivoreIntegration(TypedDict):
    enabled: bool
    url: str
    """GraphQL address. Such as https://omnivore.example.org/api/graphql."""
    has_api_key: bool
    """Whether api_key is set: it is not shown."""
    tags: str
    """Tags. Added to everything that is saved; separated by commas. The labels of the entry are added as well."""
    last_error: str
    """What the service last complained about."""


class OmnivoreIntegrationUpdate(TypedDict):
    api_key: NotRequired[str]
    """API key. In Omnivore: Settings, API keys."""
    enabled: NotRequired[bool]
    tags: NotRequired[str]
    """Tags. Added to everything that is saved; separated by commas. The labels of the entry are added as well."""
    url: NotRequired[str]
    """GraphQL address. Such as https://omnivore.example.org/api/graphql."""


class OpmlSubscription(TypedDict):
    """A list that is followed. "" otherwise."""

    id: int
    user_id: int
    url: str
    title: str
    """Of the category of its feeds."""
    category_id: int
    feed_count: int
    """Feeds that were added for it."""
    created_at: str
    checked_at: str
    next_check_at: str
    error_message: str
    """Why the last check failed, or what of the list is left out."""
    removals: list[Removal]
    """Feeds that wait for your decision, see `POST /v1/opml-subscriptions/{subscription_id}/removals`."""


class OpmlSubscriptionCreate(TypedDict):
    url: str
    """The address of an OPML document, or of a text with one address on each line."""


class PageField(TypedDict):
    field: str
    hits: int
    """Numbers of items with and without a value."""
    misses: int
    """Numbers of items with and without a value."""
    example: str
    """The first value."""
    instead: list[str]
    """If no item has one, what the first item has."""


class PageItem(TypedDict):
    """An entry that the feed would have."""

    title: str
    url: str
    author: str
    published_at: str | None
    """Null if there is no date, and then it will be the time when the entry is first seen."""
    content: str
    """The beginning of its HTML, not cleaned."""
    tags: list[str]
    enclosures: list[str]


class PagePreview(TypedDict):
    url: str
    title: str
    item_count: int
    """What the selector of items finds."""
    items: list[PageItem]
    """The first 50 entries."""
    fields: list[PageField]
    problem: str
    """Why there are none, and what the page has instead."""
    suggestions: list[PageSuggestion]
    """The likeliest first."""


class PagePreviewRequest(TypedDict):
    """Without them the response has suggestions only. The other members are sent to the host of the page only."""

    url: str
    """Of a page or of JSON."""
    allow_self_signed_certificates: NotRequired[bool | None]
    cookie: NotRequired[str | None]
    disable_http2: NotRequired[bool | None]
    fetch_via_flaresolverr: NotRequired[bool | None]
    fetch_via_proxy: NotRequired[bool | None]
    kind: NotRequired[PagePreviewRequestKind | None]
    """As of a feed."""
    password: NotRequired[str | None]
    proxy_url: NotRequired[str | None]
    selectors: NotRequired[dict[str, str | FieldSelector] | None]
    """As of a feed."""
    user_agent: NotRequired[str | None]
    username: NotRequired[str | None]


class PageSaved(TypedDict):
    id: int
    """Of the entry."""


class PageSuggestion(TypedDict):
    """Selectors for something that the page repeats."""

    kind: PagePreviewRequestKind
    selectors: dict[str, str]
    items: int
    examples: list[str]
    """Titles of the first items."""


class PageToSave(TypedDict):
    url: str
    """Of a web page."""


class PinboardIntegration(TypedDict):
    enabled: bool
    has_token: bool
    """Whether token is set: it is not shown."""
    tags: str
    """Tags. Added to everything that is saved; separated by commas. The labels of the entry are added as well."""
    unread: bool
    """Mark as unread."""
    shared: bool
    """Visible to everyone."""
    last_error: str
    """What the service last complained about."""


class PinboardIntegrationUpdate(TypedDict):
    enabled: NotRequired[bool]
    shared: NotRequired[bool]
    """Visible to everyone."""
    tags: NotRequired[str]
    """Tags. Added to everything that is saved; separated by commas. The labels of the entry are added as well."""
    token: NotRequired[str]
    """API token. From https://pinboard.in/settings/password: name:NNNN."""
    unread: NotRequired[bool]
    """Mark as unread."""


class PreviewedEntry(TypedDict):
    """None if it is already as the rule wants it."""

    id: int
    feed_id: int
    status: str
    starred: bool
    title: str
    url: str
    published_at: str
    actions: list[RuleActionBody]
    """Those that would change the entry."""


class Problem(TypedDict):
    """An error, for clients whose Accept header has application/problem+json (RFC 9457). left out if it is none."""

    type: str
    """Where the code is described, below the address of the service."""
    title: str
    """What the code means."""
    status: int
    detail: str
    """What happened here and what to do, the same text as error_message."""
    code: str
    """The same as in X-Error-Code."""
    field: NotRequired[str]
    """The member or parameter that is wrong."""


class PushoverIntegration(TypedDict):
    enabled: bool
    has_token: bool
    """Whether token is set: it is not shown."""
    has_user: bool
    """Whether user is set: it is not shown."""
    device: str
    """Device. Leave it empty for all devices."""
    priority: PushoverIntegrationPriority
    """Priority. 2 has to be confirmed."""
    all_feeds: bool
    """For all feeds. Otherwise only for feeds that have Pushover switched on."""
    last_error: str
    """What the service last complained about."""


class PushoverIntegrationUpdate(TypedDict):
    all_feeds: NotRequired[bool]
    """For all feeds. Otherwise only for feeds that have Pushover switched on."""
    device: NotRequired[str]
    """Device. Leave it empty for all devices."""
    enabled: NotRequired[bool]
    priority: NotRequired[PushoverIntegrationPriority]
    """Priority. 2 has to be confirmed."""
    token: NotRequired[str]
    """Application token. From an application that you create at https://pushover.net/apps/build."""
    user: NotRequired[str]
    """User key. Shown at https://pushover.net when you are signed in."""


class QueryExplanation(TypedDict):
    """Null if it cannot be read. null if it cannot be read."""

    tree: dict[str, Any] | None
    """How the query is understood."""
    normal_form: str | None
    """The query in its usual spelling, which has the same tree."""
    error: QueryProblem | None
    """Null if the query can be read."""


class QueryProblem(TypedDict):
    position: int
    """Where the query cannot be read any more, in characters from 0."""
    expected: str
    """What should be there."""


class QueryText(TypedDict):
    query: NotRequired[str]


class QueueAddition(TypedDict):
    """Default: behind them."""

    enclosure_id: int
    is_next: NotRequired[bool | None]
    """True puts it in front of the others, even if it is in the queue already."""


class QueuePlace(TypedDict):
    """Beyond the end means last."""

    position: int
    """Its new place in the queue, counted from 1."""


class QueuedEnclosure(TypedDict):
    id: int
    """Of the enclosure."""
    entry_id: int
    feed_id: int
    title: str
    """Of its entry."""
    feed_title: str
    url: str
    mime_type: str
    media_progression: int
    """Seconds that were played."""


class RaindropIntegration(TypedDict):
    enabled: bool
    has_token: bool
    """Whether token is set: it is not shown."""
    collection_id: int
    """Collection. The number in its address; 0 for none."""
    tags: str
    """Tags. Added to everything that is saved; separated by commas. The labels of the entry are added as well."""
    last_error: str
    """What the service last complained about."""


class RaindropIntegrationUpdate(TypedDict):
    collection_id: NotRequired[int]
    """Collection. The number in its address; 0 for none."""
    enabled: NotRequired[bool]
    tags: NotRequired[str]
    """Tags. Added to everything that is saved; separated by commas. The labels of the entry are added as well."""
    token: NotRequired[str]
    """Test token. From an app that you create at https://app.raindrop.io/settings/integrations."""


class ReadAfter(TypedDict):
    """After how many days without a change unread entries become read; 0: never. The nearest setting wins."""

    days: int
    """Of all feeds."""
    categories: dict[str, int]
    """Those with days of their own, by id."""
    feeds: dict[str, int]
    """Those with days of their own, by id."""


class ReadAfterUpdate(TypedDict):
    """0: never. null removes them. Others keep theirs."""

    categories: NotRequired[dict[str, int | None] | None]
    """Days by id."""
    days: NotRequired[int | None]
    """Of all feeds."""
    feeds: NotRequired[dict[str, int | None] | None]
    """Days by id."""


class ReadFeed(TypedDict):
    """A feed with its read entries that are still stored."""

    id: int
    title: str
    read: int
    unread: int


class ReadeckIntegration(TypedDict):
    enabled: bool
    url: str
    """Address. Your Readeck server, such as https://read.example.org."""
    has_token: bool
    """Whether token is set: it is not shown."""
    tags: str
    """Tags. Added to everything that is saved; separated by commas. The labels of the entry are added as well."""
    last_error: str
    """What the service last complained about."""


class ReadeckIntegrationUpdate(TypedDict):
    enabled: NotRequired[bool]
    tags: NotRequired[str]
    """Tags. Added to everything that is saved; separated by commas. The labels of the entry are added as well."""
    token: NotRequired[str]
    """API token. In Readeck: Profile, API tokens; it needs write permission."""
    url: NotRequired[str]
    """Address. Your Readeck server, such as https://read.example.org."""


class ReadwiseIntegration(TypedDict):
    enabled: bool
    has_token: bool
    """Whether token is set: it is not shown."""
    tags: str
    """Tags. Added to everything that is saved; separated by commas. The labels of the entry are added as well."""
    location: ReadwiseIntegrationLocation
    """Save to."""
    send_content: bool
    """Also send the article. Otherwise Readwise fetches it itself."""
    last_error: str
    """What the service last complained about."""


class ReadwiseIntegrationUpdate(TypedDict):
    enabled: NotRequired[bool]
    location: NotRequired[ReadwiseIntegrationLocation]
    """Save to."""
    send_content: NotRequired[bool]
    """Also send the article. Otherwise Readwise fetches it itself."""
    tags: NotRequired[str]
    """Tags. Added to everything that is saved; separated by commas. The labels of the entry are added as well."""
    token: NotRequired[str]
    """Access token. From https://readwise.io/access_token."""


class Removal(TypedDict):
    """A feed that the list does not name any more."""

    feed_id: int
    title: str
    feed_url: str
    missing_since: str
    starred: int
    """Starred entries that would be deleted with it."""


class RemovalsDecided(TypedDict):
    keep: NotRequired[list[int] | None]
    """Ids of feeds among `removals`."""
    remove: NotRequired[list[int] | None]
    """Ids of feeds among `removals`."""
    with_starred: NotRequired[bool]
    """Remove feeds with starred entries, too."""


class Removed(TypedDict):
    """Ids of what was deleted. With a feed, its entries are deleted."""

    categories: list[int]
    labels: list[int]
    views: list[int]
    rules: list[int]
    feeds: list[int]
    entries: list[int]


class Rule(TypedDict):
    """Feed_id or category_id says of what, and is null otherwise. "" matches every entry."""

    id: int
    name: str
    enabled: bool
    scope: Literal["all", "category", "feed"]
    """Which entries it is tried on."""
    category_id: int | None
    feed_id: int | None
    query: str
    """In the query language."""
    actions: list[RuleActionBody]
    stop: bool
    """No later rule is tried on an entry that it matches."""
    for_changed: bool
    """It is tried on entries that the publisher changed, too, unless you have dealt with them."""
    matched_today: int
    """How many arriving entries it matched."""
    matched_total: int
    """How many arriving entries it matched."""
    matched_at: str | None
    """When it last did, null if never."""
    problem: str
    """Why it does nothing though it may be enabled, "" if it works."""


class RuleActionBody(TypedDict):
    type: RuleActionBodyType
    label_id: NotRequired[int | None]
    """The label to give, only with the type label."""


class RuleError(TypedDict):
    """A rule that was left out."""

    field: str
    """The setting that has it."""
    number: int
    """Its place there, counted from 1."""
    message: str


class RuleOrder(TypedDict):
    rule_ids: list[int]
    """Each of your rules once, in the order in which they are tried."""


class RulePreview(TypedDict):
    matched: int
    """How many stored entries match."""
    changed: int
    """How many of these the actions would change."""
    entries: list[PreviewedEntry]
    """The newest that match, at most 500."""


class RuleRun(TypedDict):
    """A rule that is or was applied to the stored entries."""

    id: int
    rule_id: int
    state: RuleRunState
    """Running, done, undoing or undone."""
    total: int
    """Entries to change, counted at the beginning."""
    changed: int
    """Entries that are changed by it now."""
    started_at: str
    finished_at: str | None
    """Null until it has ended."""
    can_undo: bool
    """It goes on, or it ended less than a day ago and changed something."""


class RuleUpdate(TypedDict):
    """What you decide about a rule. with the others, category_id or feed_id is needed."""

    actions: NotRequired[list[RuleActionBody] | None]
    category_id: NotRequired[int | None]
    enabled: NotRequired[bool | None]
    feed_id: NotRequired[int | None]
    for_changed: NotRequired[bool | None]
    matches_everything: NotRequired[bool | None]
    """True says that you know that every entry of your account matches."""
    name: NotRequired[str | None]
    query: NotRequired[str | None]
    scope: NotRequired[Literal["all", "category", "feed"] | None]
    """All, category or feed."""
    stop: NotRequired[bool | None]


class Session(TypedDict):
    """Empty where there was none or it is not known."""

    id: int
    user_id: int
    method: AuditEntryMethod
    """How the user signed in."""
    second_method: AuditEntryMethod
    """How the user signed in."""
    address: str
    """Of the request that began the session."""
    user_agent: str
    """Of the request that began the session."""
    created_at: str
    last_seen_at: str
    expires_at: str
    """Unless the browser is used before."""


class ShaarliIntegration(TypedDict):
    enabled: bool
    url: str
    """Address. Your Shaarli server, such as https://shaarli.example.org."""
    has_api_secret: bool
    """Whether api_secret is set: it is not shown."""
    tags: str
    """Tags. Added to everything that is saved; separated by commas. The labels of the entry are added as well."""
    private: bool
    """Visible only to you."""
    last_error: str
    """What the service last complained about."""


class ShaarliIntegrationUpdate(TypedDict):
    api_secret: NotRequired[str]
    """REST API secret. In Shaarli: Tools, Configure your Shaarli."""
    enabled: NotRequired[bool]
    private: NotRequired[bool]
    """Visible only to you."""
    tags: NotRequired[str]
    """Tags. Added to everything that is saved; separated by commas. The labels of the entry are added as well."""
    url: NotRequired[str]
    """Address. Your Shaarli server, such as https://shaarli.example.org."""


class ShareLink(TypedDict):
    """The share link of an entry."""

    entry_id: int
    feed_id: int
    title: str
    url: str
    """The article's."""
    share_code: str
    """The last part of share_url, as entries have it."""
    share_url: str
    """Where anyone can read the entry."""


class ShareLinkList(TypedDict):
    share_links: list[ShareLink]


class ShioriIntegration(TypedDict):
    enabled: bool
    url: str
    """Address. Your Shiori server, such as https://shiori.example.org."""
    username: str
    """Username."""
    has_password: bool
    """Whether password is set: it is not shown."""
    tags: str
    """Tags. Added to everything that is saved; separated by commas. The labels of the entry are added as well."""
    archive: bool
    """Keep a copy of the page."""
    last_error: str
    """What the service last complained about."""


class ShioriIntegrationUpdate(TypedDict):
    archive: NotRequired[bool]
    """Keep a copy of the page."""
    enabled: NotRequired[bool]
    password: NotRequired[str]
    """Password."""
    tags: NotRequired[str]
    """Tags. Added to everything that is saved; separated by commas. The labels of the entry are added as well."""
    url: NotRequired[str]
    """Address. Your Shiori server, such as https://shiori.example.org."""
    username: NotRequired[str]
    """Username."""


class SnoozeUpdate(TypedDict):
    """Within a year."""

    until: str
    """A day (2026-12-01), which begins at 06:00 in your time zone, or an RFC 3339 time."""


class SnoozedEntry(TypedDict):
    """A snoozed entry."""

    entry_id: int
    until: str
    """When it becomes unread again."""


class SplitName(TypedDict):
    """A category whose name is a path, such as "News / Europe", and the names that it would have in a tree."""

    id: int
    title: str
    path: list[str]


class Statistics(TypedDict):
    streak: int
    """Days in a row with a read entry, up to today or yesterday."""
    longest_streak: int
    """Within these days."""
    days: list[Day]
    """Of a year in the time zone of the user, the oldest first and today last."""
    most_read_feeds: list[ReadFeed]
    """At most ten."""


class Synced(TypedDict):
    """What has changed, as it is now. Times are in UTC, except those of settings."""

    settings: User | None
    """As GET /v1/me, null if unchanged."""
    categories: list[Category] | None
    """All of them, in their order, null if none has changed."""
    labels: list[Label] | None
    """All of them, in their order, null if none has changed."""
    views: list[dict[str, Any]] | None
    """As GET /v1/views."""
    rules: list[dict[str, Any]] | None
    """As GET /v1/rules, without statistics."""
    feeds: list[Feed]
    """Those that changed."""
    entries: list[SyncedEntry]
    """Those that changed."""
    removed: Removed
    next_cursor: str
    """To be sent next time."""
    has_more: bool
    """There is another page already."""


class SyncedEntry(TypedDict):
    """An entry, with the members that were asked for. Times are in UTC."""

    id: int
    author: NotRequired[str]
    changed_at: NotRequired[str]
    comments_url: NotRequired[str]
    content: NotRequired[str]
    """Cleaned HTML."""
    created_at: NotRequired[str]
    enclosures: NotRequired[list[Enclosure]]
    feed_id: NotRequired[int]
    hash: NotRequired[str]
    hidden: NotRequired[bool]
    """A rule keeps it out of the lists of all feeds."""
    label_ids: NotRequired[list[int]]
    """Of the labels of the user."""
    language: NotRequired[str]
    published_at: NotRequired[str]
    reading_time: NotRequired[int]
    """Minutes."""
    share_code: NotRequired[str]
    starred: NotRequired[bool]
    status: NotRequired[Literal["unread", "read", "removed"]]
    tags: NotRequired[list[str]]
    title: NotRequired[str]
    url: NotRequired[str]
    user_id: NotRequired[int]


class Transcript(TypedDict):
    """Lines; or html, which is cleaned, for a transcript that is a page; it is empty otherwise."""

    lines: list[TranscriptLine]
    html: str


class TranscriptLine(TypedDict):
    start_s: float | None
    """Seconds from the beginning, null without a time."""
    speaker: str
    """Empty if it is the same or not known."""
    text: str


class TriedEntry(TypedDict):
    """Rule says which, and is empty otherwise. both empty if its text is unchanged."""

    id: int
    title: str
    url: str
    published_at: str
    is_kept: bool
    """False if a rule filters the entry out."""
    rule: str
    new_title: str
    """Empty if unchanged."""
    new_url: str
    """Empty if unchanged."""
    old_text: str
    """Excerpts around the first difference of the content."""
    new_text: str
    """Excerpts around the first difference of the content."""
    has_new_markup: bool
    """Only the markup of the content differs."""
    errors: list[str]
    """Rules that failed on the entry."""


class TtrssImport(TypedDict):
    url: str
    """Address of the server."""
    username: str
    """Of the account there."""
    password: str
    """Of the account there."""


class UndoMarkRead(TypedDict):
    undo_token: str
    """From the response of what is undone."""


class UsedCategory(TypedDict):
    id: int
    title: str
    user_id: int
    hide_globally: bool
    parent_id: int | None
    keep_duplicates: bool
    deleted_feed_ids: list[int]
    """The feeds that are in no other category: they are deleted with it."""
    used_by: list[str]
    """Your views and rules about the category, or about what is deleted with it, such as "the view News"."""


class UsedLabel(TypedDict):
    id: int
    user_id: int
    title: str
    color: CountedLabelColor
    position: int
    used_by: list[str]
    """Your views and rules whose queries name the label, and rules that give it, such as "the view Later"."""


class User(TypedDict):
    """The password is never shown."""

    id: int
    username: str
    is_admin: bool
    theme: str
    language: str
    timezone: str
    entry_sorting_direction: str
    entry_sorting_order: str
    categories_sorting_order: str
    entries_per_page: int
    default_home_page: str
    display_mode: str
    gesture_nav: str
    keyboard_shortcuts: bool
    show_reading_time: bool
    entry_swipe: bool
    default_reading_speed: int
    cjk_reading_speed: int
    media_playback_rate: float
    mark_read_on_view: bool
    mark_read_on_media_player_completion: bool
    always_open_external_links: bool
    open_external_links_in_new_tab: bool
    stylesheet: str
    custom_js: str
    external_font_hosts: str
    google_id: str
    openid_connect_id: str
    block_filter_entry_rules: str
    keep_filter_entry_rules: str
    allow_account_password_in_apps: bool
    proxies_pictures: bool
    saves_starred: bool
    category_titles: str
    duplicates: str
    duplicates_in_apps: str
    hides_unread_counts: bool
    shortcuts: str
    last_login_at: str | None


class UserCreate(TypedDict):
    """Settings can be changed later with an update."""

    username: str
    password: str
    google_id: NotRequired[str | None]
    is_admin: NotRequired[bool | None]
    openid_connect_id: NotRequired[str | None]


class UserUpdate(TypedDict):
    """Members that are not sent keep their values."""

    allow_account_password_in_apps: NotRequired[bool | None]
    always_open_external_links: NotRequired[bool | None]
    block_filter_entry_rules: NotRequired[str | None]
    categories_sorting_order: NotRequired[Literal["alphabetical", "unread_count"] | None]
    category_titles: NotRequired[Literal["path", "name"] | None]
    cjk_reading_speed: NotRequired[int | None]
    custom_js: NotRequired[str | None]
    default_home_page: NotRequired[UserUpdateDefaultHomePage | None]
    default_reading_speed: NotRequired[int | None]
    display_mode: NotRequired[UserUpdateDisplayMode | None]
    duplicates: NotRequired[Literal["off", "fold", "mark_read"] | None]
    duplicates_in_apps: NotRequired[Literal["hide", "read", "all"] | None]
    entries_per_page: NotRequired[int | None]
    entry_sorting_direction: NotRequired[Literal["asc", "desc"] | None]
    entry_sorting_order: NotRequired[Literal["published_at", "created_at"] | None]
    entry_swipe: NotRequired[bool | None]
    external_font_hosts: NotRequired[str | None]
    gesture_nav: NotRequired[Literal["none", "tap", "swipe"] | None]
    google_id: NotRequired[str | None]
    hides_unread_counts: NotRequired[bool | None]
    is_admin: NotRequired[bool | None]
    keep_filter_entry_rules: NotRequired[str | None]
    keyboard_shortcuts: NotRequired[bool | None]
    language: NotRequired[UserUpdateLanguage | None]
    mark_read_on_media_player_completion: NotRequired[bool | None]
    mark_read_on_view: NotRequired[bool | None]
    media_playback_rate: NotRequired[float | None]
    open_external_links_in_new_tab: NotRequired[bool | None]
    openid_connect_id: NotRequired[str | None]
    password: NotRequired[str | None]
    proxies_pictures: NotRequired[bool | None]
    saves_starred: NotRequired[bool | None]
    shortcuts: NotRequired[str | None]
    show_reading_time: NotRequired[bool | None]
    stylesheet: NotRequired[str | None]
    theme: NotRequired[UserUpdateTheme | None]
    timezone: NotRequired[str | None]
    username: NotRequired[str | None]


class Version(TypedDict):
    version: str
    """The API level."""
    commit: str
    build_date: str
    go_version: str
    """The runtime."""
    compiler: str
    arch: str
    os: str
    service_version: str
    """The version of Tidings."""


class View(TypedDict):
    """ "" for the device's setting."""

    id: int
    user_id: int
    name: str
    query: str
    order: Literal["published_at", "created_at", "changed_at"]
    """Of its entries, unless a request asks for others."""
    direction: Literal["asc", "desc"]
    """Of its entries, unless a request asks for others."""
    density: ListSettingDensity
    """How its page lists entries."""
    icon: ViewIcon
    """The name of a drawing."""
    position: int
    """In the sidebar, from 1 on."""
    in_apps: bool
    """Apps of the Google Reader API see it as a label."""
    is_home: bool
    """The first page after signing in."""


class ViewCounters(TypedDict):
    """Without a view whose query takes too long."""

    unreads: dict[str, int]
    """The number of unread entries by view id."""
    at_least: list[int]
    """Ids of the views that have more unread entries than their number says: counting stops at 1000."""


class ViewCreate(TypedDict):
    name: str
    query: str
    density: NotRequired[ListSettingDensity | None]
    direction: NotRequired[Literal["asc", "desc"] | None]
    """Default desc."""
    icon: NotRequired[ViewIcon | None]
    in_apps: NotRequired[bool | None]
    is_home: NotRequired[bool | None]
    order: NotRequired[Literal["published_at", "created_at", "changed_at"] | None]
    """Default published_at."""
    position: NotRequired[int | None]
    """Default the last one."""


class ViewUpdate(TypedDict):
    """The views from there on move down."""

    density: NotRequired[ListSettingDensity | None]
    direction: NotRequired[Literal["asc", "desc"] | None]
    icon: NotRequired[ViewIcon | None]
    in_apps: NotRequired[bool | None]
    is_home: NotRequired[bool | None]
    name: NotRequired[str | None]
    order: NotRequired[Literal["published_at", "created_at", "changed_at"] | None]
    position: NotRequired[int | None]
    """The place to move it to."""
    query: NotRequired[str | None]


class WallabagIntegration(TypedDict):
    enabled: bool
    url: str
    """Address. Your Wallabag server, such as https://app.wallabag.it."""
    client_id: str
    """Client ID. In Wallabag: API clients management."""
    has_client_secret: bool
    """Whether client_secret is set: it is not shown."""
    username: str
    """Username."""
    has_password: bool
    """Whether password is set: it is not shown."""
    tags: str
    """Tags. Added to everything that is saved; separated by commas. The labels of the entry are added as well."""
    only_url: bool
    """Send only the address. Wallabag then fetches the article itself."""
    last_error: str
    """What the service last complained about."""


class WallabagIntegrationUpdate(TypedDict):
    client_id: NotRequired[str]
    """Client ID. In Wallabag: API clients management."""
    client_secret: NotRequired[str]
    """Client secret. Shown next to the client ID."""
    enabled: NotRequired[bool]
    only_url: NotRequired[bool]
    """Send only the address. Wallabag then fetches the article itself."""
    password: NotRequired[str]
    """Password."""
    tags: NotRequired[str]
    """Tags. Added to everything that is saved; separated by commas. The labels of the entry are added as well."""
    url: NotRequired[str]
    """Address. Your Wallabag server, such as https://app.wallabag.it."""
    username: NotRequired[str]
    """Username."""


class Webhook(TypedDict):
    """A webhook, without its secret. both empty: all."""

    id: int
    name: str
    is_main: bool
    """It is the one in the settings of integrations."""
    enabled: bool
    url: str
    events: list[WebhookEvents]
    """The events that it gets."""
    feed_ids: list[int]
    """Only events about these feeds, and about those in these categories or below them."""
    category_ids: list[int]
    """Only events about these feeds, and about those in these categories or below them."""
    query: str
    """Only entries that match, in the query language."""
    problem: str
    """Why it gets nothing though it may be enabled, "" if it works."""
    last_error: str
    """Why the last attempt failed."""


class WebhookCreate(TypedDict):
    url: str
    category_ids: NotRequired[list[int] | None]
    enabled: NotRequired[bool | None]
    """Default true."""
    events: NotRequired[list[WebhookEvents] | None]
    """Default new_entries, save_entry and rule_matched."""
    feed_ids: NotRequired[list[int] | None]
    name: NotRequired[str | None]
    """Default Webhook."""
    query: NotRequired[str | None]


class WebhookDetails(TypedDict):
    id: int
    name: str
    is_main: bool
    enabled: bool
    url: str
    events: list[WebhookEvents]
    feed_ids: list[int]
    category_ids: list[int]
    query: str
    problem: str
    last_error: str
    deliveries: list[Delivery]
    """Its newest 20."""


class WebhookIntegration(TypedDict):
    enabled: bool
    url: str
    """Address. Where events are sent."""
    secret: str
    """Secret. Used to sign what is sent."""
    last_error: str
    """What the service last complained about."""


class WebhookIntegrationUpdate(TypedDict):
    enabled: NotRequired[bool]
    secret: NotRequired[str]
    """Secret. Used to sign what is sent."""
    url: NotRequired[str]
    """Address. Where events are sent."""


class WebhookUpdate(TypedDict):
    category_ids: NotRequired[list[int] | None]
    """Empty lists for all feeds."""
    enabled: NotRequired[bool | None]
    events: NotRequired[list[WebhookEvents] | None]
    """Names of events."""
    feed_ids: NotRequired[list[int] | None]
    """Empty lists for all feeds."""
    name: NotRequired[str | None]
    query: NotRequired[str | None]
    url: NotRequired[str | None]


class WebhookWithSecret(TypedDict):
    """It is not shown again."""

    id: int
    name: str
    is_main: bool
    enabled: bool
    url: str
    events: list[WebhookEvents]
    feed_ids: list[int]
    category_ids: list[int]
    query: str
    problem: str
    last_error: str
    secret: str
    """64 hex digits, with which its events are signed."""


class EntriesQuery(TypedDict):
    status: NotRequired[Literal["unread", "read", "removed"] | Sequence[Literal["unread", "read", "removed"]] | None]
    """Repeated, it matches any of the values."""
    limit: NotRequired[int | None]
    """Default 100."""
    offset: NotRequired[int | None]
    order: NotRequired[EntriesOrder | None]
    """Default published_at, ties by id."""
    direction: NotRequired[Literal["asc", "desc"] | None]
    """Default asc."""
    before: NotRequired[int | None]
    """The same as published_before."""
    after: NotRequired[int | None]
    """The same as published_after."""
    published_before: NotRequired[int | None]
    """Unix seconds, exclusive."""
    published_after: NotRequired[int | None]
    """Unix seconds, exclusive."""
    changed_before: NotRequired[int | None]
    """Unix seconds, exclusive."""
    changed_after: NotRequired[int | None]
    """Unix seconds, exclusive."""
    before_entry_id: NotRequired[int | None]
    """Exclusive."""
    after_entry_id: NotRequired[int | None]
    """Exclusive."""
    starred: NotRequired[bool | None]
    search: NotRequired[str | None]
    """Words of title and content, "phrases", -without, this OR that, begin*."""
    query: NotRequired[str | None]
    """A query of the query language, such as title:rain (is:starred OR published:7d)."""
    category_id: NotRequired[int | None]
    """Apply in addition to the path."""
    feed_id: NotRequired[int | None]
    """Apply in addition to the path."""
    tags: NotRequired[str | Sequence[str] | None]
    """Repeated, it matches all of the values."""
    globally_visible: NotRequired[bool | None]
    """True leaves out feeds and categories hidden from the global lists."""
    label_id: NotRequired[int | Sequence[int] | None]
    """A label of yours, or several, all of which an entry must have."""
    cursor: NotRequired[str | None]
    """The place after which the page begins, from the link to the next page."""
    total: NotRequired[Literal["exact"] | None]
    """Exact counts all entries of a query, where counting stops at 10000 otherwise."""
    fields: NotRequired[EntryField | Sequence[EntryField] | None]
    """Members of the items; the others are left out. Default: all."""


class MarkEntriesReadQuery(TypedDict):
    status: NotRequired[Literal["unread", "read", "removed"] | Sequence[Literal["unread", "read", "removed"]] | None]
    """Repeated, it matches any of the values."""
    limit: NotRequired[int | None]
    """Default 100."""
    offset: NotRequired[int | None]
    order: NotRequired[EntriesOrder | None]
    """Default published_at, ties by id."""
    direction: NotRequired[Literal["asc", "desc"] | None]
    """Default asc."""
    before: NotRequired[int | None]
    """The same as published_before."""
    after: NotRequired[int | None]
    """The same as published_after."""
    published_before: NotRequired[int | None]
    """Unix seconds, exclusive."""
    published_after: NotRequired[int | None]
    """Unix seconds, exclusive."""
    changed_before: NotRequired[int | None]
    """Unix seconds, exclusive."""
    changed_after: NotRequired[int | None]
    """Unix seconds, exclusive."""
    before_entry_id: NotRequired[int | None]
    """Exclusive."""
    after_entry_id: NotRequired[int | None]
    """Exclusive."""
    starred: NotRequired[bool | None]
    search: NotRequired[str | None]
    """Words of title and content, "phrases", -without, this OR that, begin*."""
    query: NotRequired[str | None]
    """A query of the query language, such as title:rain (is:starred OR published:7d)."""
    category_id: NotRequired[int | None]
    """Apply in addition to the path."""
    feed_id: NotRequired[int | None]
    """Apply in addition to the path."""
    tags: NotRequired[str | Sequence[str] | None]
    """Repeated, it matches all of the values."""
    globally_visible: NotRequired[bool | None]
    """True leaves out feeds and categories hidden from the global lists."""
    label_id: NotRequired[int | Sequence[int] | None]
    """A label of yours, or several, all of which an entry must have."""
    cursor: NotRequired[str | None]
    """The place after which the page begins, from the link to the next page."""
    total: NotRequired[Literal["exact"] | None]
    """Exact counts all entries of a query, where counting stops at 10000 otherwise."""
