"""Categories, feeds and their icons."""

from __future__ import annotations

from sqlalchemy import Column, ForeignKey, Index, Integer, LargeBinary, Table, UniqueConstraint

from tidings.storage.schema.base import flag, instant, key, metadata, number, owner, partial_index, words

categories = Table(
    "categories",
    metadata,
    key(),
    owner(),
    words("title", None),
    words("title_key", None, "Case-folded: names are compared without case everywhere."),
    flag("hide_globally"),
    UniqueConstraint("user_id", "title_key"),
    Index("ix_categories_user_title", "user_id", "title", "id"),
    sqlite_autoincrement=True,
)

icons = Table(
    "icons",
    metadata,
    key(),
    words("digest", None, "SHA-256 of content and media type, hex: one icon serves all feeds that show it."),
    words("external_id", None, "40 hex digits, known to clients that cache icons."),
    words("mime_type", None),
    Column("content", LargeBinary, nullable=False),
    UniqueConstraint("digest"),
    UniqueConstraint("external_id"),
    sqlite_autoincrement=True,
)

feeds = Table(
    "feeds",
    metadata,
    key(),
    owner(),
    Column("category_id", Integer, ForeignKey("categories.id", ondelete="CASCADE"), nullable=False),
    Column("icon_id", Integer, ForeignKey("icons.id", ondelete="SET NULL"), comment="Null: none found."),
    words("icon_url", comment="As the feed itself names it."),
    instant(
        "icon_checked_at",
        nullable=True,
        comment="When an icon was last looked for; null: to be done at the next check.",
    ),
    words("feed_url", None),
    words("site_url"),
    words("title", None),
    words("title_key", None, "Case-folded, for the order of the feed list."),
    words("description"),
    words("language"),
    number("edited", 0, "Bits of the fields the user set: they no longer follow the publisher."),
    instant("created_at"),
    # polling
    instant("checked_at"),
    instant("next_check_at", comment="Always true: when the poller may take it next."),
    instant("claimed_until", nullable=True, comment="A worker holds it until then; who dies loses it."),
    words("claimed_by"),
    words("etag_header"),
    words("last_modified_header"),
    Column("body_digest", LargeBinary, comment="Of the last parsed body; the same again is not parsed."),
    words("parsing_error_message"),
    number("parsing_error_count"),
    words("moved_to", comment="Where permanent redirects lead; followed once they are confirmed."),
    number("moved_times", 0, "How often in a row they led there."),
    flag("disabled"),
    # how it is fetched
    words("user_agent"),
    words("cookie"),
    words("username"),
    words("password"),
    words("proxy_url"),
    flag("fetch_via_proxy"),
    flag("ignore_http_cache"),
    flag("allow_self_signed_certificates"),
    flag("disable_http2"),
    # what is done with its entries
    flag("crawler"),
    flag("ignore_entry_updates"),
    flag("hide_globally"),
    flag("no_media_player"),
    words("scraper_rules"),
    words("rewrite_rules"),
    words("urlrewrite_rules"),
    words("blocklist_rules"),
    words("keeplist_rules"),
    words("block_filter_entry_rules"),
    words("keep_filter_entry_rules"),
    # where its new entries are announced
    words("apprise_service_urls"),
    words("webhook_url"),
    flag("ntfy_enabled"),
    number("ntfy_priority", 3),
    words("ntfy_topic"),
    flag("pushover_enabled"),
    number("pushover_priority", 0),
    UniqueConstraint("user_id", "feed_url"),
    Index("ix_feeds_category", "category_id"),
    Index("ix_feeds_icon", "icon_id"),
    sqlite_autoincrement=True,
)
partial_index("ix_feeds_due", feeds.c.next_check_at, feeds.c.id, where="NOT disabled")
