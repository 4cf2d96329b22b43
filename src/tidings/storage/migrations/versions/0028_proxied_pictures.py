"""Whether the pages of a user load all pictures of articles through the media proxy."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0028"
down_revision = "0027"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column(
        "users",
        sa.Column(
            "proxies_pictures",
            sa.Boolean(),
            server_default=sa.false(),
            nullable=False,
            comment="Pages load all pictures of articles through the media proxy.",
        ),
    )
