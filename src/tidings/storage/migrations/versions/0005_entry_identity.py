"""Identity: how a feed's entries are told apart."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0005"
down_revision = "0004"
branch_labels = None
depends_on = None

COLUMNS = {
    "match_entries_by_url": "Entries are known by their address: the publisher's ids change.",
    "once_matched_by_url": "They were, before: some may still be stored under its hash.",
}


def upgrade() -> None:
    for name, comment in COLUMNS.items():
        op.add_column(
            "feeds",
            sa.Column(name, sa.Boolean(), server_default=sa.text("false"), nullable=False, comment=comment),
        )
