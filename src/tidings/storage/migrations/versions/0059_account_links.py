"""Links that are used once: invitations and sign-ins."""

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

revision = "0059"
down_revision = "0058"
branch_labels = None
depends_on = None

# Compared by code point on both engines.
WORDS = Text().with_variant(Text(collation="C"), "postgresql")
EMPTY = text("''")


def upgrade() -> None:
    op.create_table(
        "account_links",
        Column("id", Integer(), nullable=False),
        Column("token_hash", LargeBinary(), nullable=False, comment="SHA-256 of the end of the link."),
        Column(
            "for_user_id",
            Integer(),
            comment="Who signs in with it; NULL for an invitation, with which someone creates an account.",
        ),
        Column(
            "note",
            WORDS,
            server_default=EMPTY,
            nullable=False,
            comment="For whom it is, as the administrator calls them.",
        ),
        Column(
            "invited_by",
            WORDS,
            server_default=EMPTY,
            nullable=False,
            comment="Name of the administrator; empty for the command line.",
        ),
        Column(
            "is_admin",
            Boolean(),
            server_default=false(),
            nullable=False,
            comment="The account that is created is an administrator's.",
        ),
        Column(
            "limits",
            WORDS,
            server_default=text("'{}'"),
            nullable=False,
            comment="Of the account that is created, as JSON: see sign_in.limits_model.",
        ),
        Column("created_at", BigInteger(), nullable=False),
        Column("expires_at", BigInteger(), nullable=False),
        ForeignKeyConstraint(
            ["for_user_id"], ["users.id"], name=op.f("fk_account_links_for_user_id_users"), ondelete="CASCADE"
        ),
        PrimaryKeyConstraint("id", name=op.f("pk_account_links")),
        UniqueConstraint("token_hash", name=op.f("uq_account_links_token_hash")),
        sqlite_autoincrement=True,
        comment="Links that are used once: invitations, and sign-ins that the command line has made.",
    )
    op.create_index(op.f("ix_account_links_for_user_id"), "account_links", ["for_user_id"])
    op.create_index("ix_account_links_expires", "account_links", ["expires_at"])
