"""A version of the entries of each feed, under which lists of their ids are kept in memory."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0033"
down_revision = "0032"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column(
        "feed_counters",
        sa.Column(
            "version",
            sa.BigInteger(),
            server_default=sa.text("0"),
            nullable=False,
            comment="Random, another one after each change of which entries are counted, and how.",
        ),
    )
    is_postgresql = op.get_bind().dialect.name == "postgresql"
    a_random_number = "floor(random() * 9007199254740992)" if is_postgresql else "abs(random() % 9007199254740992)"
    op.execute(f"UPDATE feed_counters SET version = {a_random_number}")  # noqa: S608 - a literal
