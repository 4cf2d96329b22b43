"""Lists that other feed readers follow by a secret link."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0013"
down_revision = "0012"
branch_labels = None
depends_on = None

WORDS = sa.Text().with_variant(sa.Text(collation="C"), "postgresql")


def upgrade() -> None:
    op.create_table(
        "list_links",
        sa.Column("user_id", sa.Integer(), nullable=False),
        sa.Column("token", WORDS, nullable=False, comment="Part of the addresses; shown to its owner again and again."),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.ForeignKeyConstraint(["user_id"], ["users.id"], name="fk_list_links_user_id_users", ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("user_id", name="pk_list_links"),
        sa.UniqueConstraint("token", name="uq_list_links_token"),
        comment="Who lets their lists be followed as feeds, without signing in.",
    )
