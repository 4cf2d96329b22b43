"""Feeds that are fetched through FlareSolverr, and whose turn it is there."""

from __future__ import annotations

from alembic import op
from sqlalchemy import BigInteger, Boolean, Column, PrimaryKeyConstraint, Text, false, text

revision = "0081"
down_revision = "0080"
branch_labels = None
depends_on = None

WORDS = Text().with_variant(Text(collation="C"), "postgresql")


def upgrade() -> None:
    op.add_column(
        "feeds",
        Column(
            "fetch_via_flaresolverr",
            Boolean(),
            server_default=false(),
            nullable=False,
            comment="A browser that the operator has set up fetches it, not with fetch_via_proxy.",
        ),
    )
    op.create_table(
        "bridge_turns",
        Column("name", WORDS, nullable=False, comment="Of the service."),
        Column("taken_until", BigInteger(), nullable=True, comment="It works until then; whoever dies loses the turn."),
        Column("taken_by", WORDS, server_default=text("''"), nullable=False),
        PrimaryKeyConstraint("name", name=op.f("pk_bridge_turns")),
        sqlite_with_rowid=False,
    )
