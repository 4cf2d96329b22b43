"""What apps see of folded entries."""

from __future__ import annotations

from alembic import op
from sqlalchemy import Column, Text, text

revision = "0061"
down_revision = "0060"
branch_labels = None
depends_on = None

WORDS = Text().with_variant(Text(collation="C"), "postgresql")


def upgrade() -> None:
    op.add_column(
        "users",
        Column(
            "duplicates_in_apps",
            WORDS,
            server_default=text("'hide'"),
            nullable=False,
            comment="What apps see of folded entries.",
        ),
    )
