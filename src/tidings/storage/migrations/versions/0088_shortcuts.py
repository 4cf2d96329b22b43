"""Users choose the keys of pages."""

from __future__ import annotations

from alembic import op
from sqlalchemy import Column, Text, text

revision = "0088"
down_revision = "0087"
branch_labels = None
depends_on = None

WORDS = Text().with_variant(Text(collation="C"), "postgresql")


def upgrade() -> None:
    op.add_column(
        "users",
        Column(
            "shortcuts",
            WORDS,
            server_default=text("''"),
            nullable=False,
            comment="Lines of a command and its keys, where these are not the defaults.",
        ),
    )
