"""Users and what belongs to their account."""

from __future__ import annotations

from sqlalchemy import BigInteger, Column, ForeignKey, Index, Integer, LargeBinary, Table, UniqueConstraint

from tidings.domain.accounts.users import USER_SETTINGS
from tidings.engine.columns import (
    BY_USER,
    COPIED,
    CompressedText,
    Words,
    big,
    flag,
    instant,
    key,
    metadata,
    number,
    owner,
    partial_index,
    words,
)
from tidings.storage.schema.setting_columns import setting_columns

users = Table(
    "users",
    metadata,
    key(),
    words("username", None, "Lower case."),
    words("password_hash", None, "argon2id."),
    flag("is_admin"),
    instant("created_at"),
    instant("last_login_at", nullable=True, comment="Written at most once a minute; null until the first call."),
    *setting_columns(USER_SETTINGS),
    flag("has_chosen_theme", comment="False: pages show the theme of the system, and the API the default."),
    flag("has_chosen_direction", comment="False: pages show the newest entries first, and the API the default."),
    Column(
        "reading_times_after",
        Integer,
        comment="Entries with a greater id have reading times of an earlier speed; null: none.",
    ),
    UniqueConstraint("username"),
    sqlite_autoincrement=True,
    info=COPIED,
)
partial_index("uq_users_google_id", users.c.google_id, where="google_id <> ''", unique=True)
partial_index("uq_users_openid_connect_id", users.c.openid_connect_id, where="openid_connect_id <> ''", unique=True)

list_versions = Table(
    "list_versions",
    metadata,
    Column("user_id", ForeignKey("users.id", ondelete="CASCADE"), primary_key=True, autoincrement=False),
    big("version", "Random, another one after each change of what lists of the user show."),
    big("number", "Of the last row in changes."),
    info=BY_USER,
    comment="Each user has a row.",
)

changes = Table(
    "changes",
    metadata,
    Column("user_id", ForeignKey("list_versions.user_id", ondelete="CASCADE"), primary_key=True, autoincrement=False),
    Column("number", BigInteger, primary_key=True, autoincrement=False, comment="In the order of commits, from 0 on."),
    big("version", "Random: after a restored backup the same number has another one."),
    instant("made_at"),
    Column("objects", CompressedText, nullable=False, comment="JSON: ids of what was changed or deleted, by kind."),
    # The times of a user grow with the numbers: an index of them would only cost each change.
    sqlite_with_rowid=False,
    comment="A row for each transaction that changed what a user sees, for some weeks. The last one stays.",
)

api_keys = Table(
    "api_keys",
    metadata,
    key(),
    owner(),
    words("description", None),
    words("description_key", None, "Case-folded: one description once per user."),
    Column("token", Words, comment="64 hex digits, of keys that the API made and lists by contract; NULL: not kept."),
    instant("created_at"),
    instant("last_used_at", nullable=True, comment="Written at most once a minute."),
    flag("needs_icon_object", comment="The app that it was made for fails at a feed whose icon is null."),
    Column("token_hash", LargeBinary, nullable=False, comment="SHA-256 of the token."),
    words("scope", "admin", "What requests with it may do: domain.accounts.rights.KeyScope."),
    instant("expires_at", nullable=True, comment="From when on it is refused; NULL for never."),
    words("last_address", comment="From where it was last used, written with last_used_at."),
    UniqueConstraint("token_hash"),
    UniqueConstraint("user_id", "description_key"),
    sqlite_autoincrement=True,
)

api_passwords = Table(
    "api_passwords",
    metadata,
    key(),
    owner(),
    words("name", None, "Of the app, as the user calls it."),
    words("name_key", None, "Case-folded: one name once per user."),
    Column(
        "password_digest", LargeBinary, nullable=False, comment="HMAC-SHA-256 of the password under the server secret."
    ),
    Column(
        "fever_key_digest",
        LargeBinary,
        nullable=False,
        comment="HMAC-SHA-256 under the server secret of what a Fever client sends: MD5 of name and password.",
    ),
    instant("created_at"),
    instant("last_used_at", nullable=True, comment="Written at most once a minute."),
    instant(
        "marked_read_at",
        nullable=True,
        comment="When the app last marked entries read with the Fever API; NULL once that is undone.",
    ),
    UniqueConstraint("user_id", "name_key"),
    UniqueConstraint("fever_key_digest"),
    sqlite_autoincrement=True,
    comment="Passwords of apps that use the Google Reader API or the Fever API.",
)

server_secrets = Table(
    "server_secrets",
    metadata,
    Column("name", Words, primary_key=True, comment="What the secret is for."),
    Column("secret", LargeBinary, nullable=False, comment="Random bytes, written once and shared by all processes."),
    sqlite_with_rowid=False,
)

sessions = Table(
    "sessions",
    metadata,
    key(),
    owner(),
    Column("token_hash", LargeBinary, nullable=False, comment="SHA-256 of what the cookie holds."),
    instant("created_at"),
    instant("last_seen_at", comment="Written at most once a minute."),
    instant("expires_at", comment="Moves on with last_seen_at."),
    words("user_agent", comment="As the browser introduced itself when it signed in."),
    words("address", comment="From where it signed in."),
    words("method", comment="How: a method, or two joined by a plus sign; empty before there were several."),
    big("authenticated_at", "When the user last proved who they are: a password, a passkey, …"),
    UniqueConstraint("token_hash"),
    Index("ix_sessions_user", "user_id", "last_seen_at"),
    Index("ix_sessions_expires", "expires_at"),
    sqlite_autoincrement=True,
    comment="Of browsers that are signed in.",
)

pending_sign_ins = Table(
    "pending_sign_ins",
    metadata,
    key(),
    owner(),
    Column("token_hash", LargeBinary, nullable=False, comment="SHA-256 of what the cookie holds."),
    words("method", comment="The first step."),
    words("next", comment="The path to open after signing in."),
    flag("is_shared", comment="Other people use this browser too."),
    words("note", comment="What the way of signing in keeps with the session."),
    instant("expires_at"),
    UniqueConstraint("token_hash"),
    Index("ix_pending_sign_ins_user", "user_id"),
    Index("ix_pending_sign_ins_expires", "expires_at"),
    sqlite_autoincrement=True,
    comment="Sign-ins that lack their second step, which open nothing else.",
)

sign_in_failures = Table(
    "sign_in_failures",
    metadata,
    Column("lane", LargeBinary, primary_key=True, comment="Digest of a name, a network, both or a browser."),
    number("failures"),
    instant("last_at"),
    instant("next_turn_at", comment="No attempt is looked at before."),
    Index("ix_sign_in_failures_last_at", "last_at"),
    comment="Of the last quarter of an hour; of nobody, since most names are nobody's.",
)

list_links = Table(
    "list_links",
    metadata,
    Column("user_id", ForeignKey("users.id", ondelete="CASCADE"), primary_key=True),
    words("token", None, "Part of the addresses; shown to its owner again and again."),
    instant("created_at"),
    UniqueConstraint("token"),
    comment="Who lets their lists be followed as feeds, without signing in.",
)
