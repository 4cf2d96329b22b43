"""Categories whose entries are no duplicates of other feeds'."""

from __future__ import annotations

from alembic import op
from sqlalchemy import Boolean, Column, false, text

revision = "0051"
down_revision = "0050"
branch_labels = None
depends_on = None

KEPT = text("keep_duplicates = true")


def upgrade() -> None:
    op.add_column(
        "categories",
        Column(
            "keep_duplicates",
            Boolean(),
            server_default=false(),
            nullable=False,
            comment="As of each feed in it and below it.",
        ),
    )
    op.create_index(
        "ix_categories_keep_duplicates", "categories", ["user_id", "id"], sqlite_where=KEPT, postgresql_where=KEPT
    )
