"""How far the reading times of a user's entries follow a changed reading speed."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0025"
down_revision = "0024"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column(
        "users",
        sa.Column(
            "reading_times_after",
            sa.Integer(),
            nullable=True,
            comment="Entries with a greater id have reading times of an earlier speed; null: none.",
        ),
    )
    # Until now nothing was stored while reading times were hidden.
    op.execute("UPDATE users SET reading_times_after = 0 WHERE NOT show_reading_time")
