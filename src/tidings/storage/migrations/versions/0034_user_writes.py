"""Where in the write-ahead log the last write of each user is, for reading from replicas of PostgreSQL."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0034"
down_revision = "0033"
branch_labels = None
depends_on = None


def upgrade() -> None:
    if op.get_bind().dialect.name != "postgresql":
        return
    op.create_table(
        "user_writes",
        sa.Column("user_id", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column(
            "position",
            sa.BigInteger(),
            nullable=False,
            comment="In the write-ahead log, in bytes, after the last write.",
        ),
        sa.ForeignKeyConstraint(
            ["user_id"], ["users.id"], name=op.f("fk_user_writes_user_id_users"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("user_id", name=op.f("pk_user_writes")),
        prefixes=["UNLOGGED"],
    )
