"""Bridges that users set up for themselves, and the feeds that are fetched through them."""

from __future__ import annotations

from alembic import op
from sqlalchemy import (
    BigInteger,
    Boolean,
    Column,
    ForeignKeyConstraint,
    Integer,
    PrimaryKeyConstraint,
    Text,
    false,
    text,
)

revision = "0086"
down_revision = "0085"
branch_labels = None
depends_on = None

WORDS = Text().with_variant(Text(collation="C"), "postgresql")


def upgrade() -> None:
    op.add_column(
        "feeds",
        Column(
            "own_bridge",
            Boolean(),
            server_default=false(),
            nullable=False,
            comment="A bridge of its user fetches it, so that it shares its source with nobody.",
        ),
    )
    op.create_table(
        "user_bridges",
        Column("user_id", Integer(), autoincrement=False, nullable=False),
        _address("rssbridge_url"),
        _address("rsshub_url"),
        _address("flaresolverr_url"),
        Column(
            "taken_until",
            BigInteger(),
            nullable=True,
            comment="Its FlareSolverr works until then; whoever dies loses the turn.",
        ),
        Column("taken_by", WORDS, server_default=text("''"), nullable=False),
        ForeignKeyConstraint(["user_id"], ["users.id"], name=op.f("fk_user_bridges_user_id_users"), ondelete="CASCADE"),
        PrimaryKeyConstraint("user_id", name=op.f("pk_user_bridges")),
        comment="Bridges that users have set up for themselves. Most users have no row.",
    )


def _address(name: str) -> Column[str]:
    return Column(name, WORDS, server_default=text("''"), nullable=False, comment="Empty: the server's.")
