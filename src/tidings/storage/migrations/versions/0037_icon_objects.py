"""Whether the app of an API key fails at feeds whose icon is null."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0037"
down_revision = "0036"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column(
        "api_keys",
        sa.Column(
            "needs_icon_object",
            sa.Boolean(),
            server_default=sa.false(),
            nullable=False,
            comment="The app that it was made for fails at a feed whose icon is null.",
        ),
    )
