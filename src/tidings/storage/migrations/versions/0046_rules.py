"""Rules with actions."""

from __future__ import annotations

from alembic import op
from sqlalchemy import (
    BigInteger,
    Boolean,
    Column,
    ForeignKeyConstraint,
    Integer,
    PrimaryKeyConstraint,
    Text,
    false,
    text,
)

revision = "0046"
down_revision = "0045"
branch_labels = None
depends_on = None

# Compared by code point on both engines.
WORDS = Text().with_variant(Text(collation="C"), "postgresql")
# SQLite numbers rows by itself only in a column declared as INTEGER.
LONG_ID = BigInteger().with_variant(Integer(), "sqlite")


def upgrade() -> None:
    op.create_table(
        "rules",
        Column("id", Integer(), nullable=False),
        Column("user_id", Integer(), nullable=False),
        Column(
            "position",
            Integer(),
            server_default=text("0"),
            nullable=False,
            comment="Rules are tried in this order; equal ones by id.",
        ),
        Column("name", WORDS, server_default=text("''"), nullable=False),
        Column("enabled", Boolean(), server_default=text("true"), nullable=False),
        Column("scope", WORDS, server_default=text("'all'"), nullable=False, comment="all, category or feed."),
        Column(
            "category_id",
            Integer(),
            nullable=True,
            comment="With scope category; NULL when it was deleted: the rule then does nothing.",
        ),
        Column(
            "feed_id",
            Integer(),
            nullable=True,
            comment="With scope feed; NULL when it was deleted: the rule then does nothing.",
        ),
        Column(
            "query",
            WORDS,
            server_default=text("''"),
            nullable=False,
            comment="In the query language; empty for every entry.",
        ),
        Column(
            "actions",
            WORDS,
            server_default=text("'[]'"),
            nullable=False,
            comment="JSON: array of objects with a type.",
        ),
        Column(
            "stop",
            Boolean(),
            server_default=false(),
            nullable=False,
            comment="No later rule is tried on an entry that it matches.",
        ),
        Column(
            "for_changed",
            Boolean(),
            server_default=false(),
            nullable=False,
            comment="Whether it is tried on entries that the publisher changed, too.",
        ),
        Column(
            "matched_total",
            BigInteger(),
            server_default=text("0"),
            nullable=False,
            comment="How many arriving entries it matched.",
        ),
        Column(
            "matched_today",
            Integer(),
            server_default=text("0"),
            nullable=False,
            comment="Of these, on the day matched_day.",
        ),
        Column(
            "matched_day",
            Integer(),
            server_default=text("0"),
            nullable=False,
            comment="Day of the user's calendar on which it matched last, counted from 1 January of year 1.",
        ),
        Column("matched_at", BigInteger(), nullable=True, comment="When it matched last."),
        ForeignKeyConstraint(
            ["category_id"], ["categories.id"], name=op.f("fk_rules_category_id_categories"), ondelete="SET NULL"
        ),
        ForeignKeyConstraint(["feed_id"], ["feeds.id"], name=op.f("fk_rules_feed_id_feeds"), ondelete="SET NULL"),
        ForeignKeyConstraint(["user_id"], ["users.id"], name=op.f("fk_rules_user_id_users"), ondelete="CASCADE"),
        PrimaryKeyConstraint("id", name=op.f("pk_rules")),
        sqlite_autoincrement=True,
    )
    op.create_index("ix_rules_user", "rules", ["user_id", "position", "id"])
    for column in ("category_id", "feed_id"):
        condition = text(f"{column} IS NOT NULL")
        op.create_index(
            f"ix_rules_{column.removesuffix('_id')}",
            "rules",
            [column],
            sqlite_where=condition,
            postgresql_where=condition,
        )
    op.create_table(
        "rule_changed_entries",
        Column("entry_id", LONG_ID, autoincrement=False, nullable=False),
        Column("user_id", Integer(), nullable=False),
        Column(
            "changed_at",
            BigInteger(),
            nullable=False,
            comment="As in entries after the publisher's change: another value there is of the user.",
        ),
        _reference_to_entry(),
        PrimaryKeyConstraint("entry_id", name=op.f("pk_rule_changed_entries")),
        comment="Entries that the publisher changed, of users with rules for these.",
    )


def _reference_to_entry() -> ForeignKeyConstraint:
    """It names the owner as well where entries are divided by user: their key has the owner there."""
    keys, names = ["entry_id"], ["entries.id"]
    if _is_divided():
        keys, names = ["entry_id", "user_id"], ["entries.id", "entries.user_id"]
    return ForeignKeyConstraint(keys, names, name=op.f("fk_rule_changed_entries_entry_id_entries"), ondelete="CASCADE")


def _is_divided() -> bool:
    if op.get_bind().dialect.name != "postgresql":
        return False
    divided = text("SELECT count(*) FROM pg_inherits WHERE inhparent = CAST('entries' AS regclass)")
    return bool(op.get_bind().scalar(divided))
