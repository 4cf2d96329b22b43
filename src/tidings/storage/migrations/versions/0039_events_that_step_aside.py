"""Deliveries whose own event fails step aside, and are tried again while later ones go on."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0039"
down_revision = "0038"
branch_labels = None
depends_on = None

PENDING = sa.text("state = 'pending'")
RETRYING = sa.text("retry_at IS NOT NULL AND state = 'pending'")


def upgrade() -> None:
    op.add_column(
        "deliveries",
        sa.Column(
            "failed_tries",
            sa.Integer(),
            server_default=sa.text("0"),
            nullable=False,
            comment="Attempts that failed because of this event, since its owner last asked for it.",
        ),
    )
    op.add_column(
        "deliveries",
        sa.Column(
            "retry_at",
            sa.BigInteger(),
            nullable=True,
            comment="When it is tried again, after later ones; null: in order.",
        ),
    )
    op.drop_index("ix_deliveries_waiting", table_name="deliveries")
    op.create_index(
        "ix_deliveries_waiting",
        "deliveries",
        ["receiver_id", "id", "retry_at"],
        sqlite_where=PENDING,
        postgresql_where=PENDING,
    )
    op.create_index(
        "ix_deliveries_retrying",
        "deliveries",
        ["receiver_id", "retry_at"],
        sqlite_where=RETRYING,
        postgresql_where=RETRYING,
    )
