"""Scopes, expiry and last addresses of API keys, which are found by the hashes of their tokens."""

from __future__ import annotations

import hashlib

from alembic import op
from sqlalchemy import BigInteger, Column, Integer, LargeBinary, Text, bindparam, column, table, text

revision = "0069"
down_revision = "0062"
branch_labels = None
depends_on = None

# Compared by code point on both engines.
WORDS = Text().with_variant(Text(collation="C"), "postgresql")


def upgrade() -> None:
    op.add_column("api_keys", Column("token_hash", LargeBinary(), comment="SHA-256 of the token."))
    op.add_column(
        "api_keys",
        Column(
            "scope",
            WORDS,
            server_default=text("'admin'"),
            nullable=False,
            comment="What requests with it may do: domain.accounts.rights.KeyScope.",
        ),
    )
    op.add_column("api_keys", Column("expires_at", BigInteger(), comment="From when on it is refused; NULL for never."))
    op.add_column(
        "api_keys",
        Column(
            "last_address",
            WORDS,
            server_default=text("''"),
            nullable=False,
            comment="From where it was last used, written with last_used_at.",
        ),
    )
    _hash_tokens()
    last_id = _last_id()
    with op.batch_alter_table("api_keys", table_kwargs={"sqlite_autoincrement": True}) as keys:
        keys.alter_column("token_hash", existing_type=LargeBinary(), nullable=False)
        keys.alter_column(
            "token",
            existing_type=WORDS,
            nullable=True,
            comment="64 hex digits, of keys that the API made and lists by contract; NULL: not kept.",
        )
        keys.drop_constraint(op.f("uq_api_keys_token"), type_="unique")
        keys.create_unique_constraint(op.f("uq_api_keys_token_hash"), ["token_hash"])
    _continue_after(last_id)


def _hash_tokens() -> None:
    """Fill the hashes: SQLite has no function for them."""
    keys = table("api_keys", column("id", Integer), column("token", Text), column("token_hash", LargeBinary))
    connection = op.get_bind()
    rows = connection.execute(keys.select()).all()
    if rows:
        connection.execute(
            keys.update().where(keys.c.id == bindparam("key")).values(token_hash=bindparam("hash")),
            [{"key": row.id, "hash": hashlib.sha256(row.token.encode()).digest()} for row in rows],
        )


def _last_id() -> int | None:
    """Return the last id that SQLite gave to a key; None on PostgreSQL, where the table stays."""
    connection = op.get_bind()
    if connection.dialect.name != "sqlite":
        return None
    last: int | None = connection.scalar(text("SELECT seq FROM sqlite_sequence WHERE name = 'api_keys'"))
    return last


def _continue_after(last_id: int | None) -> None:
    """Let SQLite give no id of the old table again."""
    if last_id is None:
        return
    connection = op.get_bind()
    connection.execute(text("DELETE FROM sqlite_sequence WHERE name = 'api_keys'"))
    connection.execute(text("INSERT INTO sqlite_sequence (name, seq) VALUES ('api_keys', :last)"), {"last": last_id})
