"""The time of the last read mark of an app of the Fever API, which the app can undo."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0022"
down_revision = "0021"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column(
        "api_passwords",
        sa.Column(
            "marked_read_at",
            sa.BigInteger(),
            nullable=True,
            comment="When the app last marked entries read with the Fever API; NULL once that is undone.",
        ),
    )
