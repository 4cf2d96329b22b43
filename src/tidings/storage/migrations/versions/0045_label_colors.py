"""Labels have a colour and an order."""

from __future__ import annotations

from alembic import op
from sqlalchemy import Column, Integer, Text, text

revision = "0045"
down_revision = "0044"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column(
        "labels",
        Column("color", Text, server_default=text("''"), nullable=False, comment="Name of a colour, or empty."),
    )
    op.add_column(
        "labels",
        Column("position", Integer, nullable=True, comment="Order of the user, NULL: behind the others, by name."),
    )
