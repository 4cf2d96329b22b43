"""Requests that users send by hand to a host that is paused."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0024"
down_revision = "0023"
branch_labels = None
depends_on = None

WORDS = sa.Text().with_variant(sa.Text(collation="C"), "postgresql")


def upgrade() -> None:
    op.add_column(
        "hosts",
        sa.Column(
            "asked_until",
            sa.BigInteger(),
            nullable=True,
            comment="What the host asked for, at most a day: feeds of the users it asked are postponed to then.",
        ),
    )
    op.create_table(
        "host_attempts",
        sa.Column("user_id", sa.Integer(), nullable=False),
        sa.Column("host", WORDS, nullable=False),
        sa.Column(
            "last_at",
            sa.BigInteger(),
            nullable=False,
            comment="When the user last sent a request by hand although the host was paused.",
        ),
        sa.ForeignKeyConstraint(
            ["user_id"], ["users.id"], name=op.f("fk_host_attempts_user_id_users"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("user_id", "host", name=op.f("pk_host_attempts")),
        comment="Of the last minute.",
        sqlite_with_rowid=False,
    )
