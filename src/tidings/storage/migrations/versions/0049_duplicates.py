"""Entries that repeat one of another feed: the setting of users, excepted feeds, and what was found."""

from __future__ import annotations

from alembic import op
from sqlalchemy import (
    BigInteger,
    Boolean,
    Column,
    Constraint,
    ForeignKeyConstraint,
    Integer,
    PrimaryKeyConstraint,
    SmallInteger,
    Text,
    false,
    text,
)

revision = "0049"
down_revision = "0048"
branch_labels = None
depends_on = None

WORDS = Text().with_variant(Text(collation="C"), "postgresql")
# SQLite numbers rows by itself only in a column declared as INTEGER.
LONG_ID = BigInteger().with_variant(Integer(), "sqlite")
UNCOMPARED = text("compared = false")
KEPT = text("keep_duplicates = true")


def upgrade() -> None:
    op.add_column(
        "users",
        Column(
            "duplicates",
            WORDS,
            server_default=text("'off'"),
            nullable=False,
            comment="What happens to entries that repeat one of another feed.",
        ),
    )
    op.add_column(
        "feeds",
        Column(
            "keep_duplicates",
            Boolean(),
            server_default=false(),
            nullable=False,
            comment="No entry of it counts as a duplicate of another feed's, nor the reverse.",
        ),
    )
    op.create_index("ix_feeds_keep_duplicates", "feeds", ["user_id", "id"], sqlite_where=KEPT, postgresql_where=KEPT)
    if op.get_bind().dialect.name == "postgresql":
        op.alter_column("entries", "status", comment="0 unread, 1 read, 2 removed, 3 folded.")
    op.create_table(
        "duplicates",
        _entry_id(),
        Column("user_id", Integer(), nullable=False, comment="The entry's."),
        Column("original_id", LONG_ID, nullable=False, comment="The entry of another feed that it repeats."),
        Column("status", SmallInteger(), nullable=False, comment="Its own, before it was folded or marked read."),
        Column("original_status", SmallInteger(), nullable=False, comment="The other's at that time."),
        Column("found_at", BigInteger(), nullable=False),
        Column(
            "compared",
            Boolean(),
            server_default=text("true"),
            nullable=False,
            comment="False: it may have the whole text, and then takes the place of the other.",
        ),
        *_constraints("duplicates"),
        comment="Entries that repeat another one. Only of users who have this on.",
    )
    op.create_index("ix_duplicates_user_original", "duplicates", ["user_id", "original_id", "entry_id"])
    op.create_index(
        "ix_duplicates_compared",
        "duplicates",
        ["user_id", "compared"],
        sqlite_where=UNCOMPARED,
        postgresql_where=UNCOMPARED,
    )
    op.create_table(
        "duplicate_keys",
        _entry_id(),
        Column("user_id", Integer(), nullable=False, comment="The entry's."),
        Column("address", BigInteger(), comment="Digest of the canonical address; NULL: it names no article."),
        Column("identity", BigInteger(), comment="Digest of the publisher's id with the host of the address."),
        Column("title", BigInteger(), comment="Digest of the words of the title; NULL: it has none."),
        Column("published_at", BigInteger(), nullable=False, comment="The entry's when it was stored."),
        *_constraints("duplicate_keys"),
        comment="Only of users who have their duplicates found.",
    )
    op.create_index("ix_duplicate_keys_address", "duplicate_keys", ["user_id", "address", "entry_id"])
    op.create_index("ix_duplicate_keys_identity", "duplicate_keys", ["user_id", "identity", "entry_id"])
    op.create_index("ix_duplicate_keys_title", "duplicate_keys", ["user_id", "title", "published_at", "entry_id"])
    op.create_table(
        "duplicate_scans",
        Column("user_id", Integer(), autoincrement=False, nullable=False),
        Column("mode", WORDS, nullable=False, comment="The user's setting for which duplicates are found."),
        Column(
            "kept_feeds",
            WORDS,
            server_default=text("'[]'"),
            nullable=False,
            comment="JSON: ids of the feeds that the user excepted.",
        ),
        Column(
            "is_released",
            Boolean(),
            server_default=false(),
            nullable=False,
            comment="False: what an earlier setting did is being undone.",
        ),
        Column("position", LONG_ID, nullable=False, comment="The entry up to which all have been searched."),
        ForeignKeyConstraint(["user_id"], ["users.id"], name="fk_duplicate_scans_user_id_users", ondelete="CASCADE"),
        PrimaryKeyConstraint("user_id", name="pk_duplicate_scans"),
        comment="One row for each user whose duplicates are found, or are still folded.",
    )


def _entry_id() -> Column[int]:
    return Column("entry_id", LONG_ID, autoincrement=False, nullable=False)


def _constraints(table: str) -> tuple[Constraint, ...]:
    """A reference names the owner as well where entries are divided by user."""
    keys, names = ["entry_id"], ["entries.id"]
    if _is_divided():
        keys, names = ["entry_id", "user_id"], ["entries.id", "entries.user_id"]
    return (
        ForeignKeyConstraint(keys, names, name=f"fk_{table}_entry_id_entries", ondelete="CASCADE"),
        PrimaryKeyConstraint("entry_id", name=f"pk_{table}"),
    )


def _is_divided() -> bool:
    if op.get_bind().dialect.name != "postgresql":
        return False
    divided = text("SELECT count(*) FROM pg_inherits WHERE inhparent = CAST('entries' AS regclass)")
    return bool(op.get_bind().scalar(divided))
