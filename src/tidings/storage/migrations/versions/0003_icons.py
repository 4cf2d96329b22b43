"""Icons: where a feed says its icon is, and when it was last looked for."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"
branch_labels = None
depends_on = None

WORDS = sa.Text().with_variant(sa.Text(collation="C"), "postgresql")


def upgrade() -> None:
    op.add_column(
        "feeds",
        sa.Column(
            "icon_url", WORDS, server_default=sa.text("''"), nullable=False, comment="As the feed itself names it."
        ),
    )
    op.add_column(
        "feeds",
        sa.Column(
            "icon_checked_at",
            sa.BigInteger(),
            nullable=True,
            comment="When an icon was last looked for; null: to be done at the next check.",
        ),
    )
