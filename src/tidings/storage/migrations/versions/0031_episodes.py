"""Chapters of feeds, the content that is not shown now, and the queue of episodes."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0031"
down_revision = "0030"
branch_labels = None
depends_on = None

WORDS = sa.Text().with_variant(sa.Text(collation="C"), "postgresql")


def upgrade() -> None:
    op.add_column(
        "entry_contents",
        sa.Column(
            "other_content",
            sa.LargeBinary(),
            nullable=True,
            comment="What the user can switch to: of the feed, or the whole article.",
        ),
    )
    op.add_column(
        "entry_contents",
        sa.Column(
            "chapters",
            WORDS,
            server_default=sa.text("''"),
            nullable=False,
            comment="JSON array of the chapters in the feed, or empty.",
        ),
    )
    op.add_column(
        "enclosures",
        sa.Column(
            "queue_position",
            sa.Integer(),
            nullable=True,
            comment="Order in the queue of the user, NULL when it is not in it.",
        ),
    )
    op.create_index(
        "ix_enclosures_queue",
        "enclosures",
        ["user_id", "queue_position"],
        sqlite_where=sa.text("queue_position IS NOT NULL"),
        postgresql_where=sa.text("queue_position IS NOT NULL"),
    )
