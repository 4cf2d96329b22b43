"""The limits at which the document of a feed was cut."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0023"
down_revision = "0022"
branch_labels = None
depends_on = None

WORDS = sa.Text().with_variant(sa.Text(collation="C"), "postgresql")


def upgrade() -> None:
    op.add_column(
        "feeds",
        sa.Column(
            "limits_reached",
            WORDS,
            server_default=sa.text("''"),
            nullable=False,
            comment="Of the last parsed body: elements, entries, text; what was beyond is left out.",
        ),
    )
