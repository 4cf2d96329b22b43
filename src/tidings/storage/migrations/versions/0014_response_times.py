"""How long publishers take to answer, and deliveries found by where they went and why."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0014"
down_revision = "0013"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column(
        "feeds",
        sa.Column(
            "took_ms",
            sa.Integer(),
            server_default=sa.text("0"),
            nullable=False,
            comment="Milliseconds until the last answer was there, body and all; 0: not known.",
        ),
    )
    op.create_index("ix_deliveries_user_integration", "deliveries", ["user_id", "integration", "id"])
    saved = sa.text("event_type = 'save_entry'")
    op.create_index("ix_deliveries_saved", "deliveries", ["user_id", "id"], sqlite_where=saved, postgresql_where=saved)
