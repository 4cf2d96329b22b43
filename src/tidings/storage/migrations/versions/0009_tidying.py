"""Tidying: how long a feed's entries are kept."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0009"
down_revision = "0008"
branch_labels = None
depends_on = None


WORDS = sa.Text().with_variant(sa.Text(collation="C"), "postgresql")


def upgrade() -> None:
    for name, kind, comment in (
        ("parsed_at", sa.BigInteger(), "When a body was last parsed."),
        ("keep_read_days", sa.Integer(), "After these, read entries go; -1: never; null: as the settings say."),
        ("keep_unread_days", sa.Integer(), "As keep_read_days, of unread ones."),
    ):
        op.add_column("feeds", sa.Column(name, kind, nullable=True, comment=comment))
    # Alembic would copy the whole table on SQLite.
    op.execute("ALTER TABLE tombstones RENAME COLUMN created_at TO seen_at")
    if op.get_bind().dialect.name == "postgresql":
        op.execute(
            "COMMENT ON COLUMN tombstones.seen_at IS"
            " 'When it was deleted or, about a month exact, last seen in the document.'"
        )
    op.create_table(
        "chores",
        sa.Column("name", WORDS, nullable=False),
        sa.Column("next_at", sa.BigInteger(), nullable=False, comment="When it is to be done again."),
        sa.Column(
            "claimed_until", sa.BigInteger(), nullable=True, comment="A worker is at it until then; who dies loses it."
        ),
        sa.Column("claimed_by", WORDS, server_default=sa.text("''"), nullable=False),
        sa.Column("finished_at", sa.BigInteger(), nullable=True, comment="When it was last done; null: never yet."),
        sa.PrimaryKeyConstraint("name", name="pk_chores"),
        sqlite_with_rowid=False,
    )
