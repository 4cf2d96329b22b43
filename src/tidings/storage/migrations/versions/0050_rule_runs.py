"""Rules that are applied to stored entries, and what these were before."""

from __future__ import annotations

from alembic import op
from sqlalchemy import (
    BigInteger,
    Boolean,
    Column,
    ForeignKeyConstraint,
    Integer,
    PrimaryKeyConstraint,
    SmallInteger,
    Text,
    text,
)

revision = "0050"
down_revision = "0049"
branch_labels = None
depends_on = None

# Compared by code point on both engines.
WORDS = Text().with_variant(Text(collation="C"), "postgresql")
# SQLite numbers rows by itself only in a column declared as INTEGER.
LONG_ID = BigInteger().with_variant(Integer(), "sqlite")


def upgrade() -> None:
    op.create_table(
        "rule_runs",
        Column("id", Integer(), nullable=False),
        Column("user_id", Integer(), nullable=False),
        Column("rule_id", Integer(), nullable=False, comment="It may be gone or changed: what follows is as it was."),
        Column("query", WORDS, nullable=False),
        Column("category_id", Integer(), nullable=True),
        Column("feed_id", Integer(), nullable=True),
        Column("actions", WORDS, nullable=False, comment="As in rules."),
        Column("timezone", WORDS, nullable=False, comment="Of the user, for dates in the query."),
        Column("state", WORDS, nullable=False, comment="running, done, undoing or undone."),
        Column(
            "before_entry_id",
            LONG_ID,
            nullable=True,
            comment="Entries with a lower id are still to be looked at; NULL: all.",
        ),
        Column(
            "total",
            Integer(),
            server_default=text("0"),
            nullable=False,
            comment="Entries to change, counted at the beginning.",
        ),
        Column(
            "changed",
            Integer(),
            server_default=text("0"),
            nullable=False,
            comment="Entries that are changed by it now.",
        ),
        Column("started_at", BigInteger(), nullable=False, comment="Relative times in the query are meant for then."),
        Column("finished_at", BigInteger(), nullable=True),
        Column(
            "claimed_until", BigInteger(), nullable=True, comment="A worker holds it until then; who dies loses it."
        ),
        Column("claimed_by", WORDS, server_default=text("''"), nullable=False),
        ForeignKeyConstraint(["user_id"], ["users.id"], name=op.f("fk_rule_runs_user_id_users"), ondelete="CASCADE"),
        PrimaryKeyConstraint("id", name=op.f("pk_rule_runs")),
        comment="Rules that users apply to stored entries.",
        sqlite_autoincrement=True,
    )
    op.create_index("ix_rule_runs_user", "rule_runs", ["user_id", "id"])
    is_open = text("state IN ('running', 'undoing')")
    op.create_index("ix_rule_runs_open", "rule_runs", ["id"], sqlite_where=is_open, postgresql_where=is_open)
    op.create_table(
        "rule_run_entries",
        Column("run_id", Integer(), autoincrement=False, nullable=False),
        Column("entry_id", LONG_ID, autoincrement=False, nullable=False),
        Column("user_id", Integer(), nullable=False),
        Column("status", SmallInteger(), nullable=False, comment="Before, as in entries."),
        Column("starred", Boolean(), nullable=False, comment="Before."),
        Column(
            "changed_at",
            BigInteger(),
            nullable=False,
            comment="As in entries afterwards: with another value there, the user has changed it since.",
        ),
        Column(
            "label_ids",
            WORDS,
            server_default=text("'[]'"),
            nullable=False,
            comment="JSON array: labels that it got.",
        ),
        _reference_to_entry(),
        ForeignKeyConstraint(
            ["run_id"], ["rule_runs.id"], name=op.f("fk_rule_run_entries_run_id_rule_runs"), ondelete="CASCADE"
        ),
        PrimaryKeyConstraint("run_id", "entry_id", name=op.f("pk_rule_run_entries")),
        comment="What the entries that a run changed were before, for a day, so that it can be undone.",
        sqlite_with_rowid=False,
    )
    op.create_index(op.f("ix_rule_run_entries_entry_id"), "rule_run_entries", ["entry_id"])


def _reference_to_entry() -> ForeignKeyConstraint:
    """It names the owner as well where entries are divided by user: their key has the owner there."""
    keys, names = ["entry_id"], ["entries.id"]
    if _is_divided():
        keys, names = ["entry_id", "user_id"], ["entries.id", "entries.user_id"]
    return ForeignKeyConstraint(keys, names, name=op.f("fk_rule_run_entries_entry_id_entries"), ondelete="CASCADE")


def _is_divided() -> bool:
    if op.get_bind().dialect.name != "postgresql":
        return False
    divided = text("SELECT count(*) FROM pg_inherits WHERE inhparent = CAST('entries' AS regclass)")
    return bool(op.get_bind().scalar(divided))
