"""Why a check disabled a feed, which its error message told before."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0027"
down_revision = "0026"
branch_labels = None
depends_on = None

WORDS = sa.Text().with_variant(sa.Text(collation="C"), "postgresql")


def upgrade() -> None:
    op.add_column(
        "feeds",
        sa.Column(
            "disabled_reason",
            WORDS,
            server_default=sa.text("''"),
            nullable=False,
            comment="Why a check disabled it: gone (410) or failed; empty: its user did, or it is not.",
        ),
    )
    op.execute(
        "UPDATE feeds SET disabled_reason = 'failed' WHERE disabled"
        " AND parsing_error_message LIKE '%Until you switch the feed on again, it is not checked any more.'"
    )
