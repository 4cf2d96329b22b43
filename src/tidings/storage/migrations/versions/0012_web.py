"""Web: sessions of browsers that are signed in."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0012"
down_revision = "0011"
branch_labels = None
depends_on = None

WORDS = sa.Text().with_variant(sa.Text(collation="C"), "postgresql")
EMPTY = sa.text("''")


def upgrade() -> None:
    op.create_table(
        "sessions",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("user_id", sa.Integer(), nullable=False),
        sa.Column("token_hash", sa.LargeBinary(), nullable=False, comment="SHA-256 of what the cookie holds."),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.Column("last_seen_at", sa.BigInteger(), nullable=False, comment="Written at most once a minute."),
        sa.Column("expires_at", sa.BigInteger(), nullable=False, comment="Moves on with last_seen_at."),
        sa.Column(
            "user_agent",
            WORDS,
            server_default=EMPTY,
            nullable=False,
            comment="As the browser introduced itself when it signed in.",
        ),
        sa.Column("address", WORDS, server_default=EMPTY, nullable=False, comment="From where it signed in."),
        sa.ForeignKeyConstraint(["user_id"], ["users.id"], name="fk_sessions_user_id_users", ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("id", name="pk_sessions"),
        sa.UniqueConstraint("token_hash", name="uq_sessions_token_hash"),
        sqlite_autoincrement=True,
        comment="Of browsers that are signed in.",
    )
    op.create_index("ix_sessions_user", "sessions", ["user_id", "last_seen_at"])
    op.create_index("ix_sessions_expires", "sessions", ["expires_at"])
