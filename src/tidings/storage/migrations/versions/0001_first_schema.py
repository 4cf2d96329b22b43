"""The first schema."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None


# Compared by code point on both engines.
WORDS = sa.Text().with_variant(sa.Text(collation="C"), "postgresql")


def upgrade() -> None:
    op.create_table(
        "icons",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column(
            "digest",
            WORDS,
            nullable=False,
            comment="SHA-256 of content and media type, hex: one icon serves all feeds that show it.",
        ),
        sa.Column("external_id", WORDS, nullable=False, comment="40 hex digits, known to clients that cache icons."),
        sa.Column("mime_type", WORDS, nullable=False),
        sa.Column("content", sa.LargeBinary(), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_icons")),
        sa.UniqueConstraint("digest", name=op.f("uq_icons_digest")),
        sa.UniqueConstraint("external_id", name=op.f("uq_icons_external_id")),
        sqlite_autoincrement=True,
    )
    op.create_table(
        "users",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("username", WORDS, nullable=False, comment="Lower case."),
        sa.Column("password_hash", WORDS, nullable=False, comment="argon2id."),
        sa.Column("is_admin", sa.Boolean(), server_default=sa.text("false"), nullable=False),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.Column(
            "last_login_at",
            sa.BigInteger(),
            nullable=True,
            comment="Written at most once a minute; null until the first call.",
        ),
        sa.Column("theme", WORDS, server_default=sa.text("'light_serif'"), nullable=False),
        sa.Column("language", WORDS, server_default=sa.text("'en_US'"), nullable=False),
        sa.Column(
            "timezone",
            WORDS,
            server_default=sa.text("'UTC'"),
            nullable=False,
            comment="IANA name; every time the API shows this user is in it.",
        ),
        sa.Column("entry_sorting_direction", WORDS, server_default=sa.text("'asc'"), nullable=False),
        sa.Column("entry_sorting_order", WORDS, server_default=sa.text("'published_at'"), nullable=False),
        sa.Column("categories_sorting_order", WORDS, server_default=sa.text("'unread_count'"), nullable=False),
        sa.Column("entries_per_page", sa.Integer(), server_default=sa.text("100"), nullable=False),
        sa.Column("default_home_page", WORDS, server_default=sa.text("'unread'"), nullable=False),
        sa.Column("display_mode", WORDS, server_default=sa.text("'standalone'"), nullable=False),
        sa.Column("gesture_nav", WORDS, server_default=sa.text("'tap'"), nullable=False),
        sa.Column("keyboard_shortcuts", sa.Boolean(), server_default=sa.text("true"), nullable=False),
        sa.Column("show_reading_time", sa.Boolean(), server_default=sa.text("true"), nullable=False),
        sa.Column("entry_swipe", sa.Boolean(), server_default=sa.text("true"), nullable=False),
        sa.Column(
            "default_reading_speed",
            sa.Integer(),
            server_default=sa.text("265"),
            nullable=False,
            comment="Words a minute.",
        ),
        sa.Column(
            "cjk_reading_speed",
            sa.Integer(),
            server_default=sa.text("500"),
            nullable=False,
            comment="Characters a minute.",
        ),
        sa.Column("media_playback_rate", sa.Float(precision=53), server_default=sa.text("1"), nullable=False),
        sa.Column("mark_read_on_view", sa.Boolean(), server_default=sa.text("true"), nullable=False),
        sa.Column(
            "mark_read_on_media_player_completion", sa.Boolean(), server_default=sa.text("false"), nullable=False
        ),
        sa.Column("always_open_external_links", sa.Boolean(), server_default=sa.text("false"), nullable=False),
        sa.Column("open_external_links_in_new_tab", sa.Boolean(), server_default=sa.text("true"), nullable=False),
        sa.Column("stylesheet", WORDS, server_default=sa.text("''"), nullable=False),
        sa.Column("custom_js", WORDS, server_default=sa.text("''"), nullable=False),
        sa.Column("external_font_hosts", WORDS, server_default=sa.text("''"), nullable=False),
        sa.Column("google_id", WORDS, server_default=sa.text("''"), nullable=False),
        sa.Column("openid_connect_id", WORDS, server_default=sa.text("''"), nullable=False),
        sa.Column("block_filter_entry_rules", WORDS, server_default=sa.text("''"), nullable=False),
        sa.Column("keep_filter_entry_rules", WORDS, server_default=sa.text("''"), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_users")),
        sa.UniqueConstraint("username", name=op.f("uq_users_username")),
        sqlite_autoincrement=True,
    )
    op.create_index(
        "uq_users_google_id",
        "users",
        ["google_id"],
        unique=True,
        sqlite_where=sa.text("google_id <> ''"),
        postgresql_where=sa.text("google_id <> ''"),
    )
    op.create_index(
        "uq_users_openid_connect_id",
        "users",
        ["openid_connect_id"],
        unique=True,
        sqlite_where=sa.text("openid_connect_id <> ''"),
        postgresql_where=sa.text("openid_connect_id <> ''"),
    )
    op.create_table(
        "api_keys",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("user_id", sa.Integer(), nullable=False),
        sa.Column("description", WORDS, nullable=False),
        sa.Column("description_key", WORDS, nullable=False, comment="Case-folded: one description once per user."),
        sa.Column("token", WORDS, nullable=False, comment="64 hex digits; shown in full to its owner by contract."),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.Column("last_used_at", sa.BigInteger(), nullable=True, comment="Written at most once a minute."),
        sa.ForeignKeyConstraint(["user_id"], ["users.id"], name=op.f("fk_api_keys_user_id_users"), ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_api_keys")),
        sa.UniqueConstraint("token", name=op.f("uq_api_keys_token")),
        sa.UniqueConstraint("user_id", "description_key", name=op.f("uq_api_keys_user_id_description_key")),
        sqlite_autoincrement=True,
    )
    op.create_table(
        "categories",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("user_id", sa.Integer(), nullable=False),
        sa.Column("title", WORDS, nullable=False),
        sa.Column(
            "title_key", WORDS, nullable=False, comment="Case-folded: names are compared without case everywhere."
        ),
        sa.Column("hide_globally", sa.Boolean(), server_default=sa.text("false"), nullable=False),
        sa.ForeignKeyConstraint(
            ["user_id"], ["users.id"], name=op.f("fk_categories_user_id_users"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_categories")),
        sa.UniqueConstraint("user_id", "title_key", name=op.f("uq_categories_user_id_title_key")),
        sqlite_autoincrement=True,
    )
    op.create_index("ix_categories_user_title", "categories", ["user_id", "title", "id"], unique=False)
    op.create_table(
        "deliveries",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("user_id", sa.Integer(), nullable=False),
        sa.Column(
            "delivery_id", WORDS, nullable=False, comment="Unique; sent along so that a receiver can drop a repeat."
        ),
        sa.Column(
            "integration", WORDS, nullable=False, comment="Which integration carries it, as in integrations.name."
        ),
        sa.Column("event_type", WORDS, nullable=False, comment="new_entries or save_entry."),
        sa.Column("receiver", WORDS, nullable=False, comment="Deliveries to one receiver go out in order."),
        sa.Column("feed_id", sa.Integer(), nullable=True, comment="Kept when the feed goes."),
        sa.Column(
            "body", sa.LargeBinary(), nullable=False, comment="What is sent, byte for byte: the signature covers it."
        ),
        sa.Column(
            "state", WORDS, server_default=sa.text("'pending'"), nullable=False, comment="pending, delivered or failed."
        ),
        sa.Column("attempts", sa.Integer(), server_default=sa.text("0"), nullable=False),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.Column("next_attempt_at", sa.BigInteger(), nullable=True, comment="Null when nothing more will be tried."),
        sa.Column("claimed_until", sa.BigInteger(), nullable=True),
        sa.Column("claimed_by", WORDS, server_default=sa.text("''"), nullable=False),
        sa.Column("finished_at", sa.BigInteger(), nullable=True),
        sa.Column(
            "last_status",
            sa.Integer(),
            server_default=sa.text("0"),
            nullable=False,
            comment="HTTP status of the last answer, 0 when there was none.",
        ),
        sa.Column("last_error", WORDS, server_default=sa.text("''"), nullable=False),
        sa.Column(
            "last_response",
            WORDS,
            server_default=sa.text("''"),
            nullable=False,
            comment="The beginning of the last answer.",
        ),
        sa.ForeignKeyConstraint(
            ["user_id"], ["users.id"], name=op.f("fk_deliveries_user_id_users"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_deliveries")),
        sa.UniqueConstraint("delivery_id", name=op.f("uq_deliveries_delivery_id")),
        sqlite_autoincrement=True,
    )
    op.create_index(
        "ix_deliveries_due",
        "deliveries",
        ["next_attempt_at", "id"],
        unique=False,
        sqlite_where=sa.text("state = 'pending'"),
        postgresql_where=sa.text("state = 'pending'"),
    )
    op.create_index(
        "ix_deliveries_receiver",
        "deliveries",
        ["receiver", "id"],
        unique=False,
        sqlite_where=sa.text("state = 'pending'"),
        postgresql_where=sa.text("state = 'pending'"),
    )
    op.create_index("ix_deliveries_user", "deliveries", ["user_id", "id"], unique=False)
    op.create_table(
        "integrations",
        sa.Column("user_id", sa.Integer(), nullable=False),
        sa.Column("name", WORDS, nullable=False, comment="As in the API: webhook, wallabag …"),
        sa.Column("enabled", sa.Boolean(), server_default=sa.text("false"), nullable=False),
        sa.Column(
            "settings",
            WORDS,
            server_default=sa.text("'{}'"),
            nullable=False,
            comment="JSON object; its members are the integration's own.",
        ),
        sa.Column("changed_at", sa.BigInteger(), nullable=False),
        sa.ForeignKeyConstraint(
            ["user_id"], ["users.id"], name=op.f("fk_integrations_user_id_users"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("user_id", "name", name=op.f("pk_integrations")),
    )
    op.create_table(
        "feeds",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("user_id", sa.Integer(), nullable=False),
        sa.Column("category_id", sa.Integer(), nullable=False),
        sa.Column("icon_id", sa.Integer(), nullable=True, comment="Null: none found."),
        sa.Column("feed_url", WORDS, nullable=False),
        sa.Column("site_url", WORDS, server_default=sa.text("''"), nullable=False),
        sa.Column("title", WORDS, nullable=False),
        sa.Column("title_key", WORDS, nullable=False, comment="Case-folded, for the order of the feed list."),
        sa.Column("description", WORDS, server_default=sa.text("''"), nullable=False),
        sa.Column("language", WORDS, server_default=sa.text("''"), nullable=False),
        sa.Column(
            "edited",
            sa.Integer(),
            server_default=sa.text("0"),
            nullable=False,
            comment="Bits of the fields the user set: they no longer follow the publisher.",
        ),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.Column("checked_at", sa.BigInteger(), nullable=False),
        sa.Column(
            "next_check_at", sa.BigInteger(), nullable=False, comment="Always true: when the poller may take it next."
        ),
        sa.Column(
            "claimed_until", sa.BigInteger(), nullable=True, comment="A worker holds it until then; who dies loses it."
        ),
        sa.Column("claimed_by", WORDS, server_default=sa.text("''"), nullable=False),
        sa.Column("etag_header", WORDS, server_default=sa.text("''"), nullable=False),
        sa.Column("last_modified_header", WORDS, server_default=sa.text("''"), nullable=False),
        sa.Column(
            "body_digest",
            sa.LargeBinary(),
            nullable=True,
            comment="Of the last parsed body; the same again is not parsed.",
        ),
        sa.Column("parsing_error_message", WORDS, server_default=sa.text("''"), nullable=False),
        sa.Column("parsing_error_count", sa.Integer(), server_default=sa.text("0"), nullable=False),
        sa.Column("disabled", sa.Boolean(), server_default=sa.text("false"), nullable=False),
        sa.Column("user_agent", WORDS, server_default=sa.text("''"), nullable=False),
        sa.Column("cookie", WORDS, server_default=sa.text("''"), nullable=False),
        sa.Column("username", WORDS, server_default=sa.text("''"), nullable=False),
        sa.Column("password", WORDS, server_default=sa.text("''"), nullable=False),
        sa.Column("proxy_url", WORDS, server_default=sa.text("''"), nullable=False),
        sa.Column("fetch_via_proxy", sa.Boolean(), server_default=sa.text("false"), nullable=False),
        sa.Column("ignore_http_cache", sa.Boolean(), server_default=sa.text("false"), nullable=False),
        sa.Column("allow_self_signed_certificates", sa.Boolean(), server_default=sa.text("false"), nullable=False),
        sa.Column("disable_http2", sa.Boolean(), server_default=sa.text("false"), nullable=False),
        sa.Column("crawler", sa.Boolean(), server_default=sa.text("false"), nullable=False),
        sa.Column("ignore_entry_updates", sa.Boolean(), server_default=sa.text("false"), nullable=False),
        sa.Column("hide_globally", sa.Boolean(), server_default=sa.text("false"), nullable=False),
        sa.Column("no_media_player", sa.Boolean(), server_default=sa.text("false"), nullable=False),
        sa.Column("scraper_rules", WORDS, server_default=sa.text("''"), nullable=False),
        sa.Column("rewrite_rules", WORDS, server_default=sa.text("''"), nullable=False),
        sa.Column("urlrewrite_rules", WORDS, server_default=sa.text("''"), nullable=False),
        sa.Column("blocklist_rules", WORDS, server_default=sa.text("''"), nullable=False),
        sa.Column("keeplist_rules", WORDS, server_default=sa.text("''"), nullable=False),
        sa.Column("block_filter_entry_rules", WORDS, server_default=sa.text("''"), nullable=False),
        sa.Column("keep_filter_entry_rules", WORDS, server_default=sa.text("''"), nullable=False),
        sa.Column("apprise_service_urls", WORDS, server_default=sa.text("''"), nullable=False),
        sa.Column("webhook_url", WORDS, server_default=sa.text("''"), nullable=False),
        sa.Column("ntfy_enabled", sa.Boolean(), server_default=sa.text("false"), nullable=False),
        sa.Column("ntfy_priority", sa.Integer(), server_default=sa.text("3"), nullable=False),
        sa.Column("ntfy_topic", WORDS, server_default=sa.text("''"), nullable=False),
        sa.Column("pushover_enabled", sa.Boolean(), server_default=sa.text("false"), nullable=False),
        sa.Column("pushover_priority", sa.Integer(), server_default=sa.text("0"), nullable=False),
        sa.ForeignKeyConstraint(
            ["category_id"], ["categories.id"], name=op.f("fk_feeds_category_id_categories"), ondelete="CASCADE"
        ),
        sa.ForeignKeyConstraint(["icon_id"], ["icons.id"], name=op.f("fk_feeds_icon_id_icons"), ondelete="SET NULL"),
        sa.ForeignKeyConstraint(["user_id"], ["users.id"], name=op.f("fk_feeds_user_id_users"), ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_feeds")),
        sa.UniqueConstraint("user_id", "feed_url", name=op.f("uq_feeds_user_id_feed_url")),
        sqlite_autoincrement=True,
    )
    op.create_index("ix_feeds_category", "feeds", ["category_id"], unique=False)
    op.create_index(
        "ix_feeds_due",
        "feeds",
        ["next_check_at", "id"],
        unique=False,
        sqlite_where=sa.text("NOT disabled"),
        postgresql_where=sa.text("NOT disabled"),
    )
    op.create_index("ix_feeds_icon", "feeds", ["icon_id"], unique=False)
    op.create_table(
        "entries",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("user_id", sa.Integer(), nullable=False),
        sa.Column("feed_id", sa.Integer(), nullable=False),
        sa.Column("category_id", sa.Integer(), nullable=False, comment="The feed's."),
        sa.Column("status", sa.SmallInteger(), nullable=False, comment="0 unread, 1 read, 2 removed."),
        sa.Column("starred", sa.Boolean(), server_default=sa.text("false"), nullable=False),
        sa.Column("published_at", sa.BigInteger(), nullable=False),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.Column(
            "changed_at",
            sa.BigInteger(),
            nullable=False,
            comment="Moves with status, star, and content that the publisher changed.",
        ),
        sa.Column("hash", sa.LargeBinary(), nullable=False, comment="SHA-256 of the identity."),
        sa.Column(
            "fingerprint",
            sa.LargeBinary(),
            nullable=True,
            comment="Of the entry as published; the same again is not cleaned or written.",
        ),
        sa.Column(
            "edited",
            sa.Integer(),
            server_default=sa.text("0"),
            nullable=False,
            comment="Bits of the fields the user set: they no longer follow the publisher.",
        ),
        sa.Column("reading_time", sa.Integer(), server_default=sa.text("0"), nullable=False, comment="Minutes."),
        sa.Column("title", WORDS, nullable=False),
        sa.Column("url", WORDS, server_default=sa.text("''"), nullable=False),
        sa.Column("author", WORDS, server_default=sa.text("''"), nullable=False),
        sa.Column("comments_url", WORDS, server_default=sa.text("''"), nullable=False),
        sa.Column("language", WORDS, server_default=sa.text("''"), nullable=False),
        sa.Column("share_code", WORDS, server_default=sa.text("''"), nullable=False, comment="Empty when not shared."),
        sa.Column("tags", WORDS, server_default=sa.text("'[]'"), nullable=False, comment="JSON array of strings."),
        sa.ForeignKeyConstraint(["feed_id"], ["feeds.id"], name=op.f("fk_entries_feed_id_feeds"), ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_entries")),
        sa.UniqueConstraint("feed_id", "hash", name=op.f("uq_entries_feed_id_hash")),
        sqlite_autoincrement=True,
    )
    op.create_index(
        "ix_entries_category_published", "entries", ["user_id", "category_id", "published_at", "id"], unique=False
    )
    op.create_index(
        "ix_entries_category_unread",
        "entries",
        ["user_id", "category_id", "published_at", "id"],
        unique=False,
        sqlite_where=sa.text("status = 0"),
        postgresql_where=sa.text("status = 0"),
    )
    op.create_index("ix_entries_feed_published", "entries", ["feed_id", "published_at", "id", "status"], unique=False)
    op.create_index(
        "ix_entries_share_code",
        "entries",
        ["share_code"],
        unique=True,
        sqlite_where=sa.text("share_code <> ''"),
        postgresql_where=sa.text("share_code <> ''"),
    )
    op.create_index(
        "ix_entries_user_author",
        "entries",
        ["user_id", sa.literal_column("substr(author, 1, 100)"), "id"],
        unique=False,
    )
    op.create_index("ix_entries_user_changed", "entries", ["user_id", "changed_at", "id"], unique=False)
    op.create_index("ix_entries_user_created", "entries", ["user_id", "created_at", "id"], unique=False)
    op.create_index("ix_entries_user_id", "entries", ["user_id", "id"], unique=False)
    op.create_index("ix_entries_user_published", "entries", ["user_id", "published_at", "id"], unique=False)
    op.create_index(
        "ix_entries_user_starred",
        "entries",
        ["user_id", "published_at", "id"],
        unique=False,
        sqlite_where=sa.text("starred"),
        postgresql_where=sa.text("starred"),
    )
    op.create_index("ix_entries_user_status", "entries", ["user_id", "status", "id"], unique=False)
    op.create_index(
        "ix_entries_user_title", "entries", ["user_id", sa.literal_column("substr(title, 1, 100)"), "id"], unique=False
    )
    op.create_index(
        "ix_entries_user_unread",
        "entries",
        ["user_id", "published_at", "id"],
        unique=False,
        sqlite_where=sa.text("status = 0"),
        postgresql_where=sa.text("status = 0"),
    )
    op.create_table(
        "feed_counters",
        sa.Column("feed_id", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("user_id", sa.Integer(), nullable=False),
        sa.Column("unread", sa.Integer(), server_default=sa.text("0"), nullable=False),
        sa.Column("read", sa.Integer(), server_default=sa.text("0"), nullable=False),
        sa.Column(
            "starred_unread", sa.Integer(), server_default=sa.text("0"), nullable=False, comment="Of the unread ones."
        ),
        sa.Column(
            "starred_read", sa.Integer(), server_default=sa.text("0"), nullable=False, comment="Of the read ones."
        ),
        sa.ForeignKeyConstraint(
            ["feed_id"], ["feeds.id"], name=op.f("fk_feed_counters_feed_id_feeds"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("feed_id", name=op.f("pk_feed_counters")),
        comment="Changed in the transaction that changes an entry. Removed entries are not counted.",
    )
    op.create_index(op.f("ix_feed_counters_user_id"), "feed_counters", ["user_id"], unique=False)
    op.create_table(
        "tombstones",
        sa.Column("feed_id", sa.Integer(), nullable=False),
        sa.Column(
            "hash", sa.LargeBinary(), nullable=False, comment="Of an entry that was deleted and must not come back."
        ),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.ForeignKeyConstraint(
            ["feed_id"], ["feeds.id"], name=op.f("fk_tombstones_feed_id_feeds"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("feed_id", "hash", name=op.f("pk_tombstones")),
        sqlite_with_rowid=False,
    )
    op.create_table(
        "enclosures",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("user_id", sa.Integer(), nullable=False),
        sa.Column("entry_id", sa.Integer(), nullable=False),
        sa.Column("url", WORDS, nullable=False),
        sa.Column("mime_type", WORDS, server_default=sa.text("''"), nullable=False),
        sa.Column(
            "size", sa.BigInteger(), server_default=sa.text("0"), nullable=False, comment="Bytes, 0 when unknown."
        ),
        sa.Column(
            "media_progression",
            sa.BigInteger(),
            server_default=sa.text("0"),
            nullable=False,
            comment="Seconds, set by the client.",
        ),
        sa.ForeignKeyConstraint(
            ["entry_id"], ["entries.id"], name=op.f("fk_enclosures_entry_id_entries"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_enclosures")),
        sqlite_autoincrement=True,
    )
    op.create_index("ix_enclosures_entry", "enclosures", ["entry_id", "id"], unique=False)
    op.create_table(
        "entry_contents",
        sa.Column("entry_id", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("content", sa.LargeBinary(), nullable=False, comment="Cleaned HTML."),
        sa.ForeignKeyConstraint(
            ["entry_id"], ["entries.id"], name=op.f("fk_entry_contents_entry_id_entries"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("entry_id", name=op.f("pk_entry_contents")),
    )
    op.create_table(
        "entry_tags",
        sa.Column("user_id", sa.Integer(), nullable=False),
        sa.Column("tag", WORDS, nullable=False, comment="Case-folded, cut at 200 characters."),
        sa.Column("entry_id", sa.Integer(), nullable=False),
        sa.ForeignKeyConstraint(
            ["entry_id"], ["entries.id"], name=op.f("fk_entry_tags_entry_id_entries"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("user_id", "tag", "entry_id", name=op.f("pk_entry_tags")),
        sqlite_with_rowid=False,
    )
    op.create_index(op.f("ix_entry_tags_entry_id"), "entry_tags", ["entry_id"], unique=False)
