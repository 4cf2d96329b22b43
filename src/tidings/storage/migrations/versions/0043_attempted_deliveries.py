"""A receiver names the delivery that is attempted, so that a full queue does not drop it."""

from __future__ import annotations

from alembic import op
from sqlalchemy import BigInteger, Column, Integer

revision = "0043"
down_revision = "0042"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column(
        "receivers",
        Column(
            "attempted_id",
            BigInteger().with_variant(Integer(), "sqlite"),
            nullable=True,
            comment="Delivery that a worker attempts, or attempted last; null: none yet.",
        ),
    )
