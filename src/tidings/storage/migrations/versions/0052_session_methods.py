"""How and when users of sessions proved who they are, and sign-ins that lack their second step."""

from __future__ import annotations

from alembic import op
from sqlalchemy import (
    BigInteger,
    Boolean,
    Column,
    ForeignKeyConstraint,
    Integer,
    LargeBinary,
    PrimaryKeyConstraint,
    Text,
    UniqueConstraint,
    false,
    text,
)

revision = "0052"
down_revision = "0051"
branch_labels = None
depends_on = None


def upgrade() -> None:
    words = Text().with_variant(Text(collation="C"), "postgresql")
    op.add_column(
        "sessions",
        Column(
            "method",
            words,
            server_default=text("''"),
            nullable=False,
            comment="How: a method, or two joined by a plus sign; empty before there were several.",
        ),
    )
    op.add_column(
        "sessions",
        Column(
            "authenticated_at",
            BigInteger(),
            server_default=text("0"),
            nullable=False,
            comment="When the user last proved who they are: a password, a passkey, …",
        ),
    )
    op.execute("UPDATE sessions SET authenticated_at = created_at")
    op.create_table(
        "pending_sign_ins",
        Column("id", Integer(), nullable=False),
        Column("user_id", Integer(), nullable=False),
        Column("token_hash", LargeBinary(), nullable=False, comment="SHA-256 of what the cookie holds."),
        Column("method", words, server_default=text("''"), nullable=False, comment="The first step."),
        Column("next", words, server_default=text("''"), nullable=False, comment="The path to open after signing in."),
        Column(
            "is_shared",
            Boolean(),
            server_default=false(),
            nullable=False,
            comment="Other people use this browser too.",
        ),
        Column(
            "note",
            words,
            server_default=text("''"),
            nullable=False,
            comment="What the way of signing in keeps with the session.",
        ),
        Column("expires_at", BigInteger(), nullable=False),
        ForeignKeyConstraint(
            ["user_id"], ["users.id"], name=op.f("fk_pending_sign_ins_user_id_users"), ondelete="CASCADE"
        ),
        PrimaryKeyConstraint("id", name=op.f("pk_pending_sign_ins")),
        UniqueConstraint("token_hash", name=op.f("uq_pending_sign_ins_token_hash")),
        sqlite_autoincrement=True,
        comment="Sign-ins that lack their second step, which open nothing else.",
    )
    op.create_index("ix_pending_sign_ins_user", "pending_sign_ins", ["user_id"])
    op.create_index("ix_pending_sign_ins_expires", "pending_sign_ins", ["expires_at"])
