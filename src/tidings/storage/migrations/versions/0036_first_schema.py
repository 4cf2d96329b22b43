"""The first schema: all tables as of Tidings 0.2.0. Databases of older versions are upgraded by that version."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision = "0036"
down_revision = None
branch_labels = None
depends_on = None

# Compared by code point on both engines.
WORDS = sa.Text().with_variant(sa.Text(collation="C"), "postgresql")
# SQLite numbers rows by itself only in a column declared as INTEGER.
LONG_ID = sa.BigInteger().with_variant(sa.Integer(), "sqlite")


def upgrade() -> None:
    op.create_table(
        "chores",
        sa.Column("name", WORDS, nullable=False),
        sa.Column("next_at", sa.BigInteger(), nullable=False, comment="When it is to be done again."),
        sa.Column(
            "claimed_until", sa.BigInteger(), nullable=True, comment="A worker is at it until then; who dies loses it."
        ),
        sa.Column("claimed_by", WORDS, server_default=sa.text("''"), nullable=False),
        sa.Column("finished_at", sa.BigInteger(), nullable=True, comment="When it was last done; null: never yet."),
        sa.PrimaryKeyConstraint("name", name=op.f("pk_chores")),
        sqlite_with_rowid=False,
    )
    op.create_table(
        "hosts",
        sa.Column("host", WORDS, nullable=False),
        sa.Column("closed_until", sa.BigInteger(), nullable=False, comment="No feed of it is fetched before."),
        sa.Column(
            "is_asked",
            sa.Boolean(),
            server_default=sa.false(),
            nullable=False,
            comment="By the host itself, with a 429: then nothing else is fetched either.",
        ),
        sa.Column(
            "asked_until",
            sa.BigInteger(),
            nullable=True,
            comment="What the host asked for, at most a day: feeds of the users it asked are postponed to then.",
        ),
        sa.PrimaryKeyConstraint("host", name=op.f("pk_hosts")),
        comment="Only hosts that are to be left alone for a while.",
        sqlite_with_rowid=False,
    )
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
        "search_pending",
        sa.Column("entry_id", LONG_ID, autoincrement=False, nullable=False, comment="Its title or body changed."),
        sa.Column("user_id", sa.Integer(), nullable=False),
        sa.PrimaryKeyConstraint("entry_id", name=op.f("pk_search_pending")),
    )
    op.create_index("ix_search_pending_user", "search_pending", ["user_id", "entry_id"], unique=False)
    op.create_table(
        "server_secrets",
        sa.Column("name", WORDS, nullable=False, comment="What the secret is for."),
        sa.Column(
            "secret",
            sa.LargeBinary(),
            nullable=False,
            comment="Random bytes, written once and shared by all processes.",
        ),
        sa.PrimaryKeyConstraint("name", name=op.f("pk_server_secrets")),
        sqlite_with_rowid=False,
    )
    op.create_table(
        "sign_in_failures",
        sa.Column("lane", sa.LargeBinary(), nullable=False, comment="Digest of a name, a network, both or a browser."),
        sa.Column("failures", sa.Integer(), server_default=sa.text("0"), nullable=False),
        sa.Column("last_at", sa.BigInteger(), nullable=False),
        sa.Column("next_turn_at", sa.BigInteger(), nullable=False, comment="No attempt is looked at before."),
        sa.PrimaryKeyConstraint("lane", name=op.f("pk_sign_in_failures")),
        comment="Of the last quarter of an hour; of nobody, since most names are nobody's.",
    )
    op.create_index("ix_sign_in_failures_last_at", "sign_in_failures", ["last_at"], unique=False)
    op.create_table(
        "sources",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column(
            "fetch_key",
            sa.LargeBinary(),
            nullable=False,
            comment="Of address and fetch options: the same for all that share.",
        ),
        sa.Column("host", WORDS, nullable=False, comment="Which host a fetch is counted for."),
        sa.Column(
            "next_check_at",
            sa.BigInteger(),
            nullable=True,
            comment="The earliest of its enabled feeds; null: it has none.",
        ),
        sa.Column(
            "claimed_until", sa.BigInteger(), nullable=True, comment="A worker holds it until then; who dies loses it."
        ),
        sa.Column("claimed_by", WORDS, server_default=sa.text("''"), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_sources")),
        sa.UniqueConstraint("fetch_key", name=op.f("uq_sources_fetch_key")),
        comment="One row for each document that is fetched, however many feeds show it.",
        sqlite_autoincrement=True,
    )
    op.create_index(
        "ix_sources_due",
        "sources",
        ["next_check_at", "id"],
        unique=False,
        sqlite_where=sa.text("next_check_at IS NOT NULL"),
        postgresql_where=sa.text("next_check_at IS NOT NULL"),
    )
    op.create_index(
        "ix_sources_claimed",
        "sources",
        ["host", "claimed_until"],
        unique=False,
        sqlite_where=sa.text("claimed_by <> ''"),
        postgresql_where=sa.text("claimed_by <> ''"),
    )
    op.create_index(
        "ix_sources_claimed_by",
        "sources",
        ["claimed_by"],
        unique=False,
        sqlite_where=sa.text("claimed_by <> ''"),
        postgresql_where=sa.text("claimed_by <> ''"),
    )
    op.create_index("ix_sources_host", "sources", ["host", "next_check_at"], unique=False)
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
        sa.Column(
            "allow_account_password_in_apps",
            sa.Boolean(),
            server_default=sa.text("true"),
            nullable=False,
            comment="The Google Reader API accepts password_hash, not only API passwords.",
        ),
        sa.Column(
            "reading_times_after",
            sa.Integer(),
            nullable=True,
            comment="Entries with a greater id have reading times of an earlier speed; null: none.",
        ),
        sa.Column(
            "has_chosen_theme",
            sa.Boolean(),
            server_default=sa.false(),
            nullable=False,
            comment="False: pages show the theme of the system, and the API the default.",
        ),
        sa.Column(
            "has_chosen_direction",
            sa.Boolean(),
            server_default=sa.false(),
            nullable=False,
            comment="False: pages show the newest entries first, and the API the default.",
        ),
        sa.Column(
            "proxies_pictures",
            sa.Boolean(),
            server_default=sa.false(),
            nullable=False,
            comment="Pages load all pictures of articles through the media proxy.",
        ),
        sa.Column(
            "saves_starred",
            sa.Boolean(),
            server_default=sa.false(),
            nullable=False,
            comment="Entries that become starred are saved to services.",
        ),
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
        "websub_subscriptions",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("hub", WORDS, nullable=False),
        sa.Column("topic", WORDS, nullable=False, comment="As the publisher names its document at the hub."),
        sa.Column(
            "token", WORDS, nullable=False, comment="The end of the callback address; random, known to the hub alone."
        ),
        sa.Column("secret", WORDS, nullable=False, comment="What the hub signs pushes with."),
        sa.Column(
            "state",
            WORDS,
            server_default=sa.text("'requested'"),
            nullable=False,
            comment="requested, active, denied or ended.",
        ),
        sa.Column(
            "asked_at",
            sa.BigInteger(),
            nullable=True,
            comment="When the hub was last asked for something: only that it may verify.",
        ),
        sa.Column("lease_until", sa.BigInteger(), nullable=True, comment="Null: nothing is promised."),
        sa.Column(
            "last_push_at",
            sa.BigInteger(),
            nullable=True,
            comment="Null: pushes are not to be relied on, polling is not slowed down.",
        ),
        sa.Column(
            "next_attempt_at", sa.BigInteger(), nullable=False, comment="When it is renewed, tried again, or forgotten."
        ),
        sa.Column(
            "attempts",
            sa.Integer(),
            server_default=sa.text("0"),
            nullable=False,
            comment="Requests since the hub last verified one.",
        ),
        sa.Column("last_error", WORDS, server_default=sa.text("''"), nullable=False),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_websub_subscriptions")),
        sa.UniqueConstraint("hub", "topic", name=op.f("uq_websub_subscriptions_hub_topic")),
        sa.UniqueConstraint("token", name=op.f("uq_websub_subscriptions_token")),
        comment="One for each hub and topic, for the feeds of all users.",
        sqlite_autoincrement=True,
    )
    op.create_index("ix_websub_subscriptions_due", "websub_subscriptions", ["next_attempt_at", "id"], unique=False)
    op.create_table(
        "account_imports",
        sa.Column("user_id", sa.Integer(), nullable=False),
        sa.Column("token", WORDS, nullable=False, comment="Of the process that runs it; a later one has another."),
        sa.Column("source", WORDS, nullable=False, comment="tidings, miniflux, freshrss …"),
        sa.Column(
            "origin",
            WORDS,
            server_default=sa.text("''"),
            nullable=False,
            comment="Name of the file, or address of the server.",
        ),
        sa.Column("state", WORDS, nullable=False, comment="waiting, running, done, failed or interrupted."),
        sa.Column("steps_done", sa.Integer(), server_default=sa.text("0"), nullable=False),
        sa.Column("steps_total", sa.Integer(), server_default=sa.text("0"), nullable=False, comment="0 while unknown."),
        sa.Column("started_at", sa.BigInteger(), nullable=False),
        sa.Column(
            "renewed_at",
            sa.BigInteger(),
            nullable=False,
            comment="Unless it is renewed within a minute, its process has ended.",
        ),
        sa.Column("finished_at", sa.BigInteger(), nullable=True),
        sa.Column("report", WORDS, server_default=sa.text("''"), nullable=False, comment="JSON; empty before the end."),
        sa.Column("error", WORDS, server_default=sa.text("''"), nullable=False, comment="Why it failed."),
        sa.Column(
            "error_form",
            WORDS,
            server_default=sa.text("''"),
            nullable=False,
            comment="JSON: template and values of error; empty: English alone.",
        ),
        sa.ForeignKeyConstraint(
            ["user_id"], ["users.id"], name=op.f("fk_account_imports_user_id_users"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("user_id", name=op.f("pk_account_imports")),
        comment="The last import of each user.",
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
        "api_passwords",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("user_id", sa.Integer(), nullable=False),
        sa.Column("name", WORDS, nullable=False, comment="Of the app, as the user calls it."),
        sa.Column("name_key", WORDS, nullable=False, comment="Case-folded: one name once per user."),
        sa.Column(
            "password_digest",
            sa.LargeBinary(),
            nullable=False,
            comment="HMAC-SHA-256 of the password under the server secret.",
        ),
        sa.Column(
            "fever_key_digest",
            sa.LargeBinary(),
            nullable=False,
            comment="HMAC-SHA-256 under the server secret of what a Fever client sends: MD5 of name and password.",
        ),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.Column("last_used_at", sa.BigInteger(), nullable=True, comment="Written at most once a minute."),
        sa.Column(
            "marked_read_at",
            sa.BigInteger(),
            nullable=True,
            comment="When the app last marked entries read with the Fever API; NULL once that is undone.",
        ),
        sa.ForeignKeyConstraint(
            ["user_id"], ["users.id"], name=op.f("fk_api_passwords_user_id_users"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_api_passwords")),
        sa.UniqueConstraint("fever_key_digest", name=op.f("uq_api_passwords_fever_key_digest")),
        sa.UniqueConstraint("user_id", "name_key", name=op.f("uq_api_passwords_user_id_name_key")),
        comment="Passwords of apps that use the Google Reader API or the Fever API.",
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
        sa.Column("id", LONG_ID, nullable=False),
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
            "state", WORDS, server_default=sa.text("'pending'"), nullable=False, comment="pending, delivered or failed."
        ),
        sa.Column("attempts", sa.Integer(), server_default=sa.text("0"), nullable=False),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
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
        sa.Column(
            "receiver_id",
            sa.Integer(),
            nullable=True,
            comment="In whose queue it is; null until a worker has put it there.",
        ),
        sa.Column("size", sa.Integer(), server_default=sa.text("0"), nullable=False, comment="Bytes of the body."),
        sa.Column("redelivered_at", sa.BigInteger(), nullable=True, comment="When its owner last asked for it again."),
        sa.Column(
            "last_error_form",
            WORDS,
            server_default=sa.text("''"),
            nullable=False,
            comment="JSON: template and values of last_error; empty: English alone.",
        ),
        sa.ForeignKeyConstraint(
            ["user_id"], ["users.id"], name=op.f("fk_deliveries_user_id_users"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_deliveries")),
        sa.UniqueConstraint("delivery_id", name=op.f("uq_deliveries_delivery_id")),
        sqlite_autoincrement=True,
    )
    op.create_index("ix_deliveries_user", "deliveries", ["user_id", "id"], unique=False)
    op.create_index("ix_deliveries_user_state", "deliveries", ["user_id", "state", "id"], unique=False)
    op.create_index(
        "ix_deliveries_arriving",
        "deliveries",
        ["id"],
        unique=False,
        sqlite_where=sa.text("receiver_id IS NULL AND state = 'pending'"),
        postgresql_where=sa.text("receiver_id IS NULL AND state = 'pending'"),
    )
    op.create_index(
        "ix_deliveries_waiting",
        "deliveries",
        ["receiver_id", "id"],
        unique=False,
        sqlite_where=sa.text("state = 'pending'"),
        postgresql_where=sa.text("state = 'pending'"),
    )
    op.create_index(
        "ix_deliveries_finished",
        "deliveries",
        ["finished_at"],
        unique=False,
        sqlite_where=sa.text("finished_at IS NOT NULL"),
        postgresql_where=sa.text("finished_at IS NOT NULL"),
    )
    op.create_index("ix_deliveries_user_integration", "deliveries", ["user_id", "integration", "id"], unique=False)
    op.create_index(
        "ix_deliveries_saved",
        "deliveries",
        ["user_id", "id"],
        unique=False,
        sqlite_where=sa.text("event_type = 'save_entry'"),
        postgresql_where=sa.text("event_type = 'save_entry'"),
    )
    op.create_table(
        "host_attempts",
        sa.Column("user_id", sa.Integer(), nullable=False),
        sa.Column("host", WORDS, nullable=False),
        sa.Column(
            "last_at",
            sa.BigInteger(),
            nullable=False,
            comment="When the user last sent a request by hand although the host was paused.",
        ),
        sa.ForeignKeyConstraint(
            ["user_id"], ["users.id"], name=op.f("fk_host_attempts_user_id_users"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("user_id", "host", name=op.f("pk_host_attempts")),
        comment="Of the last minute.",
        sqlite_with_rowid=False,
    )
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
        sa.Column(
            "last_error",
            WORDS,
            server_default=sa.text("''"),
            nullable=False,
            comment="What went wrong at the last try, or why it was switched off; empty when all is well.",
        ),
        sa.Column(
            "last_error_form",
            WORDS,
            server_default=sa.text("''"),
            nullable=False,
            comment="JSON: template and values of last_error; empty: English alone.",
        ),
        sa.ForeignKeyConstraint(
            ["user_id"], ["users.id"], name=op.f("fk_integrations_user_id_users"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("user_id", "name", name=op.f("pk_integrations")),
    )
    op.create_table(
        "labels",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("user_id", sa.Integer(), nullable=False),
        sa.Column("name", WORDS, nullable=False),
        sa.Column(
            "name_key", WORDS, nullable=False, comment="Case-folded: names are compared without case everywhere."
        ),
        sa.ForeignKeyConstraint(["user_id"], ["users.id"], name=op.f("fk_labels_user_id_users"), ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_labels")),
        sa.UniqueConstraint("user_id", "name_key", name=op.f("uq_labels_user_id_name_key")),
        comment="Names that users give to entries.",
        sqlite_autoincrement=True,
    )
    op.create_table(
        "list_links",
        sa.Column("user_id", sa.Integer(), nullable=False),
        sa.Column("token", WORDS, nullable=False, comment="Part of the addresses; shown to its owner again and again."),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.ForeignKeyConstraint(
            ["user_id"], ["users.id"], name=op.f("fk_list_links_user_id_users"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("user_id", name=op.f("pk_list_links")),
        sa.UniqueConstraint("token", name=op.f("uq_list_links_token")),
        comment="Who lets their lists be followed as feeds, without signing in.",
    )
    op.create_table(
        "receivers",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("user_id", sa.Integer(), nullable=False),
        sa.Column("integration", WORDS, nullable=False, comment="As in integrations.name."),
        sa.Column(
            "address_digest",
            sa.LargeBinary(),
            nullable=False,
            comment="BLAKE2b of deliveries.receiver, which may be long.",
        ),
        sa.Column(
            "pending",
            sa.Integer(),
            server_default=sa.text("0"),
            nullable=False,
            comment="How many deliveries wait in its queue.",
        ),
        sa.Column(
            "pending_bytes", sa.BigInteger(), server_default=sa.text("0"), nullable=False, comment="Of their bodies."
        ),
        sa.Column(
            "next_attempt_at",
            sa.BigInteger(),
            nullable=True,
            comment="When the first of them is tried; null: none waits.",
        ),
        sa.Column(
            "failures", sa.Integer(), server_default=sa.text("0"), nullable=False, comment="Tries that failed in a row."
        ),
        sa.Column("failing_since", sa.BigInteger(), nullable=True),
        sa.Column(
            "given_up",
            sa.Integer(),
            server_default=sa.text("0"),
            nullable=False,
            comment="Deliveries that were given up in a row.",
        ),
        sa.Column(
            "claimed_until", sa.BigInteger(), nullable=True, comment="A worker holds it until then; who dies loses it."
        ),
        sa.Column("claimed_by", WORDS, server_default=sa.text("''"), nullable=False),
        sa.ForeignKeyConstraint(["user_id"], ["users.id"], name=op.f("fk_receivers_user_id_users"), ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_receivers")),
        sa.UniqueConstraint(
            "user_id", "integration", "address_digest", name=op.f("uq_receivers_user_id_integration_address_digest")
        ),
        comment="A queue for each user, integration and address: what is in it goes out one after another.",
        sqlite_autoincrement=True,
    )
    op.create_index(
        "ix_receivers_due",
        "receivers",
        ["next_attempt_at", "id"],
        unique=False,
        sqlite_where=sa.text("next_attempt_at IS NOT NULL AND failures = 0"),
        postgresql_where=sa.text("next_attempt_at IS NOT NULL AND failures = 0"),
    )
    op.create_index(
        "ix_receivers_failing",
        "receivers",
        ["next_attempt_at", "id"],
        unique=False,
        sqlite_where=sa.text("next_attempt_at IS NOT NULL AND failures > 0"),
        postgresql_where=sa.text("next_attempt_at IS NOT NULL AND failures > 0"),
    )
    op.create_index(
        "ix_receivers_claimed",
        "receivers",
        ["claimed_by"],
        unique=False,
        sqlite_where=sa.text("claimed_by <> ''"),
        postgresql_where=sa.text("claimed_by <> ''"),
    )
    op.create_table(
        "search_languages",
        sa.Column("user_id", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("language", WORDS, nullable=False, comment="ISO 639 code of a language with stems of its own."),
        sa.ForeignKeyConstraint(
            ["user_id"], ["users.id"], name=op.f("fk_search_languages_user_id_users"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("user_id", "language", name=op.f("pk_search_languages")),
        comment="Which languages with stems of their own entries of a user have, so that a search asks in them.",
        sqlite_with_rowid=False,
    )
    op.create_table(
        "sessions",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("user_id", sa.Integer(), nullable=False),
        sa.Column("token_hash", sa.LargeBinary(), nullable=False, comment="SHA-256 of what the cookie holds."),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.Column("last_seen_at", sa.BigInteger(), nullable=False, comment="Written at most once a minute."),
        sa.Column("expires_at", sa.BigInteger(), nullable=False, comment="Moves on with last_seen_at."),
        sa.Column(
            "user_agent",
            WORDS,
            server_default=sa.text("''"),
            nullable=False,
            comment="As the browser introduced itself when it signed in.",
        ),
        sa.Column("address", WORDS, server_default=sa.text("''"), nullable=False, comment="From where it signed in."),
        sa.ForeignKeyConstraint(["user_id"], ["users.id"], name=op.f("fk_sessions_user_id_users"), ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_sessions")),
        sa.UniqueConstraint("token_hash", name=op.f("uq_sessions_token_hash")),
        comment="Of browsers that are signed in.",
        sqlite_autoincrement=True,
    )
    op.create_index("ix_sessions_user", "sessions", ["user_id", "last_seen_at"], unique=False)
    op.create_index("ix_sessions_expires", "sessions", ["expires_at"], unique=False)
    op.create_table(
        "websub_pushes",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("subscription_id", sa.Integer(), nullable=False),
        sa.Column(
            "digest", sa.LargeBinary(), nullable=False, comment="Of the body: the same again while it waits is dropped."
        ),
        sa.Column("charset", WORDS, server_default=sa.text("''"), nullable=False),
        sa.Column("body", sa.LargeBinary(), nullable=False),
        sa.Column("received_at", sa.BigInteger(), nullable=False),
        sa.Column(
            "claimed_until", sa.BigInteger(), nullable=True, comment="A worker stores it until then; who dies loses it."
        ),
        sa.Column("attempts", sa.Integer(), server_default=sa.text("0"), nullable=False),
        sa.ForeignKeyConstraint(
            ["subscription_id"],
            ["websub_subscriptions.id"],
            name=op.f("fk_websub_pushes_subscription_id_websub_subscriptions"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_websub_pushes")),
        sa.UniqueConstraint("subscription_id", "digest", name=op.f("uq_websub_pushes_subscription_id_digest")),
        comment="Genuine pushes that a worker has still to store.",
        sqlite_autoincrement=True,
    )
    op.create_table(
        "websub_topics",
        sa.Column("source_id", sa.Integer(), nullable=False),
        sa.Column("subscription_id", sa.Integer(), nullable=False),
        sa.ForeignKeyConstraint(
            ["source_id"], ["sources.id"], name=op.f("fk_websub_topics_source_id_sources"), ondelete="CASCADE"
        ),
        sa.ForeignKeyConstraint(
            ["subscription_id"],
            ["websub_subscriptions.id"],
            name=op.f("fk_websub_topics_subscription_id_websub_subscriptions"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("source_id", "subscription_id", name=op.f("pk_websub_topics")),
        comment="Which documents named the hub and the topic themselves: a push is for no others.",
        sqlite_with_rowid=False,
    )
    op.create_index("ix_websub_topics_subscription", "websub_topics", ["subscription_id"], unique=False)
    op.create_table(
        "delivery_bodies",
        sa.Column("delivery_id", LONG_ID, autoincrement=False, nullable=False),
        sa.Column(
            "body", sa.LargeBinary(), nullable=False, comment="What is sent, byte for byte: the signature covers it."
        ),
        sa.ForeignKeyConstraint(
            ["delivery_id"],
            ["deliveries.id"],
            name=op.f("fk_delivery_bodies_delivery_id_deliveries"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("delivery_id", name=op.f("pk_delivery_bodies")),
        comment="Apart: queues and lists do not read them. Missing for what was given up because too much was waiting.",
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
        sa.Column(
            "icon_url", WORDS, server_default=sa.text("''"), nullable=False, comment="As the feed itself names it."
        ),
        sa.Column(
            "icon_checked_at",
            sa.BigInteger(),
            nullable=True,
            comment="When an icon was last looked for; null: to be done at the next check.",
        ),
        sa.Column(
            "moved_to",
            WORDS,
            server_default=sa.text("''"),
            nullable=False,
            comment="Where permanent redirects lead; followed once they are confirmed.",
        ),
        sa.Column(
            "moved_times",
            sa.Integer(),
            server_default=sa.text("0"),
            nullable=False,
            comment="How often in a row they led there.",
        ),
        sa.Column(
            "match_entries_by_url",
            sa.Boolean(),
            server_default=sa.text("false"),
            nullable=False,
            comment="Entries are known by their address: the publisher's ids change.",
        ),
        sa.Column(
            "once_matched_by_url",
            sa.Boolean(),
            server_default=sa.text("false"),
            nullable=False,
            comment="They were, before: some may still be stored under its hash.",
        ),
        sa.Column(
            "failed_checks",
            sa.Integer(),
            server_default=sa.text("0"),
            nullable=False,
            comment="In a row, whatever the reason: how long the next wait is. 0 after a success.",
        ),
        sa.Column(
            "check_interval_minutes",
            sa.Integer(),
            server_default=sa.text("0"),
            nullable=False,
            comment="As the user set it; 0: as the feed publishes.",
        ),
        sa.Column(
            "news_gap_s",
            sa.Integer(),
            server_default=sa.text("0"),
            nullable=False,
            comment="Seconds between news, on average, as of news_at; 0: not known.",
        ),
        sa.Column(
            "publisher_hints",
            WORDS,
            server_default=sa.text("''"),
            nullable=False,
            comment="JSON: what the last document asked of its readers.",
        ),
        sa.Column("news_at", sa.BigInteger(), nullable=True, comment="When there was news last; null: not known."),
        sa.Column("source_id", sa.Integer(), nullable=True, comment="What is fetched for it; never null."),
        sa.Column("parsed_at", sa.BigInteger(), nullable=True, comment="When a body was last parsed."),
        sa.Column(
            "keep_read_days",
            sa.Integer(),
            nullable=True,
            comment="After these, read entries go; -1: never; null: as the settings say.",
        ),
        sa.Column("keep_unread_days", sa.Integer(), nullable=True, comment="As keep_read_days, of unread ones."),
        sa.Column(
            "took_ms",
            sa.Integer(),
            server_default=sa.text("0"),
            nullable=False,
            comment="Milliseconds until the last answer was there, body and all; 0: not known.",
        ),
        sa.Column(
            "parsing_error_form",
            WORDS,
            server_default=sa.text("''"),
            nullable=False,
            comment="JSON: template and values of parsing_error_message; empty: English alone.",
        ),
        sa.Column(
            "limits_reached",
            WORDS,
            server_default=sa.text("''"),
            nullable=False,
            comment="Of the last parsed body: elements, entries, text; what was beyond is left out.",
        ),
        sa.Column(
            "disabled_reason",
            WORDS,
            server_default=sa.text("''"),
            nullable=False,
            comment="Why a check disabled it: gone (410) or failed; empty: its user did, or it is not.",
        ),
        sa.ForeignKeyConstraint(
            ["category_id"], ["categories.id"], name=op.f("fk_feeds_category_id_categories"), ondelete="CASCADE"
        ),
        sa.ForeignKeyConstraint(["icon_id"], ["icons.id"], name=op.f("fk_feeds_icon_id_icons"), ondelete="SET NULL"),
        sa.ForeignKeyConstraint(["source_id"], ["sources.id"], name=op.f("fk_feeds_source_id_sources")),
        sa.ForeignKeyConstraint(["user_id"], ["users.id"], name=op.f("fk_feeds_user_id_users"), ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_feeds")),
        sa.UniqueConstraint("user_id", "feed_url", name=op.f("uq_feeds_user_id_feed_url")),
        sqlite_autoincrement=True,
    )
    op.create_index("ix_feeds_category", "feeds", ["category_id"], unique=False)
    op.create_index("ix_feeds_icon", "feeds", ["icon_id"], unique=False)
    op.create_index("ix_feeds_source", "feeds", ["source_id", "disabled", "next_check_at"], unique=False)
    op.create_table(
        "entries",
        sa.Column("id", LONG_ID, nullable=False),
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
    # SQLite chooses between two indexes that fit equally by their order.
    op.create_index(
        "ix_entries_category_published", "entries", ["user_id", "category_id", "published_at", "id"], unique=False
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
    op.create_index("ix_entries_user_created", "entries", ["user_id", "created_at", "id"], unique=False)
    op.create_index("ix_entries_user_status", "entries", ["user_id", "status", "id"], unique=False)
    op.create_index(
        "ix_entries_user_title", "entries", ["user_id", sa.literal_column("substr(title, 1, 100)"), "id"], unique=False
    )
    op.create_index("ix_entries_user_id", "entries", ["user_id", "id", "status"], unique=False)
    op.create_index("ix_entries_user_published", "entries", ["user_id", "published_at", "id", "status"], unique=False)
    op.create_index("ix_entries_user_changed", "entries", ["user_id", "changed_at", "id", "status"], unique=False)
    op.create_index(
        "ix_entries_user_unread",
        "entries",
        ["user_id", "status", "published_at", "id"],
        unique=False,
        sqlite_where=sa.text("status = 0"),
        postgresql_where=sa.text("status = 0"),
    )
    op.create_index(
        "ix_entries_category_unread",
        "entries",
        ["user_id", "category_id", "status", "published_at", "id"],
        unique=False,
        sqlite_where=sa.text("status = 0"),
        postgresql_where=sa.text("status = 0"),
    )
    op.create_index(
        "ix_entries_user_starred",
        "entries",
        ["user_id", "starred", "published_at", "id"],
        unique=False,
        sqlite_where=sa.text("starred = true"),
        postgresql_where=sa.text("starred = true"),
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
        sa.Column(
            "version",
            sa.BigInteger(),
            server_default=sa.text("0"),
            nullable=False,
            comment="Random, another one after each change of which entries are counted, and how.",
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
        sa.Column(
            "seen_at",
            sa.BigInteger(),
            nullable=False,
            comment="When it was deleted or, about a month exact, last seen in the document.",
        ),
        sa.ForeignKeyConstraint(
            ["feed_id"], ["feeds.id"], name=op.f("fk_tombstones_feed_id_feeds"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("feed_id", "hash", name=op.f("pk_tombstones")),
        sqlite_with_rowid=False,
    )
    op.create_table(
        "enclosures",
        sa.Column("id", LONG_ID, nullable=False),
        sa.Column("user_id", sa.Integer(), nullable=False),
        sa.Column("entry_id", LONG_ID, nullable=False),
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
        sa.Column(
            "queue_position",
            sa.Integer(),
            nullable=True,
            comment="Order in the queue of the user, NULL when it is not in it.",
        ),
        sa.ForeignKeyConstraint(
            ["entry_id"], ["entries.id"], name=op.f("fk_enclosures_entry_id_entries"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_enclosures")),
        sqlite_autoincrement=True,
    )
    op.create_index("ix_enclosures_entry", "enclosures", ["entry_id", "id"], unique=False)
    op.create_index(
        "ix_enclosures_queue",
        "enclosures",
        ["user_id", "queue_position"],
        unique=False,
        sqlite_where=sa.text("queue_position IS NOT NULL"),
        postgresql_where=sa.text("queue_position IS NOT NULL"),
    )
    op.create_table(
        "entry_contents",
        sa.Column("entry_id", LONG_ID, autoincrement=False, nullable=False),
        sa.Column("user_id", sa.Integer(), nullable=False, comment="The entry's."),
        sa.Column("content", sa.LargeBinary(), nullable=False, comment="Cleaned HTML."),
        sa.Column(
            "other_content",
            sa.LargeBinary(),
            nullable=True,
            comment="What the user can switch to: of the feed, or the whole article.",
        ),
        sa.Column(
            "chapters",
            WORDS,
            server_default=sa.text("''"),
            nullable=False,
            comment="JSON array of the chapters in the feed, or empty.",
        ),
        sa.ForeignKeyConstraint(
            ["entry_id"], ["entries.id"], name=op.f("fk_entry_contents_entry_id_entries"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("entry_id", name=op.f("pk_entry_contents")),
    )
    op.create_table(
        "entry_labels",
        sa.Column("label_id", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("entry_id", LONG_ID, autoincrement=False, nullable=False),
        sa.Column("user_id", sa.Integer(), nullable=False),
        sa.Column(
            "published_at",
            sa.BigInteger(),
            nullable=False,
            comment="The entry's, so that a list of a label need not sort its entries.",
        ),
        sa.ForeignKeyConstraint(
            ["entry_id"], ["entries.id"], name=op.f("fk_entry_labels_entry_id_entries"), ondelete="CASCADE"
        ),
        sa.ForeignKeyConstraint(
            ["label_id"], ["labels.id"], name=op.f("fk_entry_labels_label_id_labels"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("label_id", "entry_id", name=op.f("pk_entry_labels")),
        sqlite_with_rowid=False,
    )
    op.create_index(op.f("ix_entry_labels_entry_id"), "entry_labels", ["entry_id"], unique=False)
    op.create_index(
        "ix_entry_labels_published", "entry_labels", ["label_id", "published_at", "entry_id", "user_id"], unique=False
    )
    op.create_table(
        "entry_tags",
        sa.Column("user_id", sa.Integer(), nullable=False),
        sa.Column("tag", WORDS, nullable=False, comment="Case-folded, cut at 200 characters."),
        sa.Column("entry_id", LONG_ID, nullable=False),
        sa.ForeignKeyConstraint(
            ["entry_id"], ["entries.id"], name=op.f("fk_entry_tags_entry_id_entries"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("user_id", "tag", "entry_id", name=op.f("pk_entry_tags")),
        sqlite_with_rowid=False,
    )
    op.create_index(op.f("ix_entry_tags_entry_id"), "entry_tags", ["entry_id"], unique=False)

    if op.get_bind().dialect.name == "sqlite":
        _create_for_sqlite()
    else:
        _create_for_postgresql()


def _create_for_sqlite() -> None:
    op.create_table(
        "search_documents",
        sa.Column(
            "id", sa.Integer(), autoincrement=False, nullable=False, comment="The entry's, also when it is gone."
        ),
        sa.Column(
            "entry_id",
            sa.Integer(),
            nullable=True,
            comment="Null: the entry is gone, and the index has yet to forget it.",
        ),
        sa.Column("user_id", sa.Integer(), nullable=False),
        sa.Column(
            "words",
            sa.LargeBinary(),
            nullable=False,
            comment="Terms as indexed: of the title, a line feed, of the body.",
        ),
        sa.Column(
            "language",
            WORDS,
            server_default=sa.text("''"),
            nullable=False,
            comment="Of the entry, if it has stems of its own; every term has it behind the owner's id.",
        ),
        sa.ForeignKeyConstraint(
            ["entry_id"], ["entries.id"], name=op.f("fk_search_documents_entry_id_entries"), ondelete="SET NULL"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_search_documents")),
        sa.UniqueConstraint("entry_id", name=op.f("uq_search_documents_entry_id")),
    )
    # It gets finished terms, with their owner in front: 7/rain. Its tokenizer only splits at the blanks between them.
    op.execute(
        "CREATE VIRTUAL TABLE entry_words USING fts5(title, body, content='', tokenize = \"ascii tokenchars '/'\")"
    )


def _create_for_postgresql() -> None:
    op.create_table(
        "search_vectors",
        sa.Column("entry_id", LONG_ID, autoincrement=False, nullable=False),
        sa.Column("words", postgresql.TSVECTOR(), nullable=False),
        sa.Column("user_id", sa.Integer(), nullable=False, comment="The entry's."),
        sa.ForeignKeyConstraint(
            ["entry_id"], ["entries.id"], name=op.f("fk_search_vectors_entry_id_entries"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("entry_id", name=op.f("pk_search_vectors")),
    )
    op.create_index("ix_search_vectors_words", "search_vectors", ["words"], unique=False, postgresql_using="gin")
    # Kept outside the row as it is: compression gains little, and checking a phrase would undo it each time.
    op.execute("ALTER TABLE search_vectors ALTER COLUMN words SET STORAGE EXTERNAL")
    # Without statistics PostgreSQL believes that a search finds little, and asks the index. With them it compares the
    # vectors of all rows as soon as a word is frequent: it does not know what it costs to fetch them.
    op.execute("ALTER TABLE search_vectors ALTER COLUMN words SET STATISTICS 0")
    op.create_table(
        "user_writes",
        sa.Column("user_id", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column(
            "position",
            sa.BigInteger(),
            nullable=False,
            comment="In the write-ahead log, in bytes, after the last write.",
        ),
        sa.ForeignKeyConstraint(
            ["user_id"], ["users.id"], name=op.f("fk_user_writes_user_id_users"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("user_id", name=op.f("pk_user_writes")),
        prefixes=["UNLOGGED"],
    )
