"""An index of entries by reading time, for queries such as minutes<5."""

from __future__ import annotations

from alembic import op

revision = "0062"
down_revision = "0061"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_index("ix_entries_user_reading_time", "entries", ["user_id", "reading_time", "id", "status"])
