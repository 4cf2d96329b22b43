"""Failed sign-ins, counted for all processes."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0019"
down_revision = "0018"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "sign_in_failures",
        sa.Column("lane", sa.LargeBinary(), nullable=False, comment="Digest of a name, a network, both or a browser."),
        sa.Column("failures", sa.Integer(), server_default=sa.text("0"), nullable=False),
        sa.Column("last_at", sa.BigInteger(), nullable=False),
        sa.Column("next_turn_at", sa.BigInteger(), nullable=False, comment="No attempt is looked at before."),
        sa.PrimaryKeyConstraint("lane", name=op.f("pk_sign_in_failures")),
        comment="Of the last quarter of an hour; of nobody, since most names are nobody's.",
    )
    op.create_index(op.f("ix_sign_in_failures_last_at"), "sign_in_failures", ["last_at"])
