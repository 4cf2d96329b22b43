"""Whether pages show counts next to lists."""

from __future__ import annotations

from alembic import op
from sqlalchemy import Boolean, Column, false

revision = "0079"
down_revision = "0078"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column(
        "users",
        Column(
            "hides_unread_counts",
            Boolean(),
            server_default=false(),
            nullable=False,
            comment="Pages show no counts next to lists.",
        ),
    )
