"""How much accounts may have."""

from __future__ import annotations

from alembic import op
from sqlalchemy import (
    BigInteger,
    Column,
    ForeignKeyConstraint,
    Integer,
    PrimaryKeyConstraint,
)

revision = "0058"
down_revision = "0057"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "account_limits",
        Column("user_id", Integer(), nullable=False),
        Column("max_feeds", Integer(), comment="NULL: as the settings say; 0: without limit."),
        Column("max_entries", Integer(), comment="NULL: as the settings say; 0: without limit."),
        Column("max_megabytes", Integer(), comment="NULL: as the settings say; 0: without limit."),
        Column("size_bytes", BigInteger(), comment="What the articles take, as measured, and what arrived since."),
        Column("measured_at", BigInteger(), comment="NULL: never, since there was no limit."),
        ForeignKeyConstraint(
            ["user_id"], ["users.id"], name=op.f("fk_account_limits_user_id_users"), ondelete="CASCADE"
        ),
        PrimaryKeyConstraint("user_id", name=op.f("pk_account_limits")),
        sqlite_with_rowid=False,
        comment="How much accounts may have, and the size of their articles.",
    )
