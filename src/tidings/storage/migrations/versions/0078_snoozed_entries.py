"""Entries that become unread again at a time."""

from __future__ import annotations

from alembic import op
from sqlalchemy import BigInteger, Column, ForeignKeyConstraint, Integer, PrimaryKeyConstraint, text

revision = "0078"
down_revision = "0077"
branch_labels = None
depends_on = None

LONG_ID = BigInteger().with_variant(Integer(), "sqlite")


def upgrade() -> None:
    # A reference names the owner as well where entries are divided by user.
    keys, names = ["entry_id"], ["entries.id"]
    if _is_divided():
        keys, names = ["entry_id", "user_id"], ["entries.id", "entries.user_id"]
    op.create_table(
        "snoozed_entries",
        Column("entry_id", LONG_ID, autoincrement=False, nullable=False),
        Column("user_id", Integer(), nullable=False, comment="The entry's."),
        Column("until", BigInteger(), nullable=False, comment="When it becomes unread again."),
        ForeignKeyConstraint(keys, names, name=op.f("fk_snoozed_entries_entry_id_entries"), ondelete="CASCADE"),
        PrimaryKeyConstraint("entry_id", name=op.f("pk_snoozed_entries")),
        comment="Read entries that become unread again at a time which their user has chosen.",
    )
    op.create_index("ix_snoozed_entries_user", "snoozed_entries", ["user_id", "until", "entry_id"])
    op.create_index("ix_snoozed_entries_until", "snoozed_entries", ["until", "user_id"])


def _is_divided() -> bool:
    if op.get_bind().dialect.name != "postgresql":
        return False
    divided = text("SELECT count(*) FROM pg_inherits WHERE inhparent = CAST('entries' AS regclass)")
    return bool(op.get_bind().scalar(divided))
