"""Entries that rules hide from the global lists.

The index of unread entries gets the new column, so that lists skip hidden ones without looking at the table.
"""

from __future__ import annotations

from alembic import op
from sqlalchemy import Boolean, Column, false, text

revision = "0053"
down_revision = "0052"
branch_labels = None
depends_on = None

UNREAD = text("status = 0")
HIDDEN = text("hidden = true")
STARRED = text("starred = true")


def upgrade() -> None:
    op.add_column("entries", _hidden("A rule keeps it out of the global lists."))
    op.create_index(
        "ix_entries_user_hidden",
        "entries",
        ["user_id", "hidden", "status", "feed_id", "starred", "id"],
        sqlite_where=HIDDEN,
        postgresql_where=HIDDEN,
    )
    op.drop_index("ix_entries_user_unread", "entries")
    op.create_index(
        "ix_entries_user_unread",
        "entries",
        ["user_id", "status", "published_at", "id", "hidden"],
        sqlite_where=UNREAD,
        postgresql_where=UNREAD,
    )
    if op.get_bind().dialect.name == "sqlite":
        # Of two indexes that it takes for equal, SQLite uses the newer: of starred unread entries, that of the stars.
        op.drop_index("ix_entries_user_starred", "entries")
        op.create_index(
            "ix_entries_user_starred", "entries", ["user_id", "starred", "published_at", "id"], sqlite_where=STARRED
        )
    op.add_column("rule_run_entries", _hidden("Whether the run hid it from the global lists."))


def _hidden(comment: str) -> Column[bool]:
    return Column("hidden", Boolean(), server_default=false(), nullable=False, comment=comment)
