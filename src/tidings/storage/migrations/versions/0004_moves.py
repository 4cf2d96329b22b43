"""Moves: where a feed says it has gone for good, and how often it has said so."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0004"
down_revision = "0003"
branch_labels = None
depends_on = None

WORDS = sa.Text().with_variant(sa.Text(collation="C"), "postgresql")


def upgrade() -> None:
    op.add_column(
        "feeds",
        sa.Column(
            "moved_to",
            WORDS,
            server_default=sa.text("''"),
            nullable=False,
            comment="Where permanent redirects lead; followed once they are confirmed.",
        ),
    )
    op.add_column(
        "feeds",
        sa.Column(
            "moved_times",
            sa.Integer(),
            server_default=sa.text("0"),
            nullable=False,
            comment="How often in a row they led there.",
        ),
    )
