"""Mailboxes whose TLS begins after STARTTLS."""

from __future__ import annotations

from alembic import op
from sqlalchemy import Boolean, Column, false

revision = "0082"
down_revision = "0081"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column(
        "newsletter_mailboxes",
        Column(
            "has_starttls",
            Boolean(),
            server_default=false(),
            nullable=False,
            comment="TLS begins after STARTTLS, instead of with the first byte.",
        ),
    )
