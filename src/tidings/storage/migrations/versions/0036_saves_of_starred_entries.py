"""Whether entries of a user are saved to services when they become starred."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0036"
down_revision = "0035"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column(
        "users",
        sa.Column(
            "saves_starred",
            sa.Boolean(),
            server_default=sa.false(),
            nullable=False,
            comment="Entries that become starred are saved to services.",
        ),
    )
