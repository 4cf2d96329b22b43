"""Accounts at OpenID Connect providers that are linked with users, and the sessions that began there."""

from __future__ import annotations

from alembic import op
from sqlalchemy import (
    BigInteger,
    Column,
    ForeignKeyConstraint,
    Integer,
    PrimaryKeyConstraint,
    Text,
    UniqueConstraint,
    text,
)

revision = "0054"
down_revision = "0053"
branch_labels = None
depends_on = None


def upgrade() -> None:
    words = Text().with_variant(Text(collation="C"), "postgresql")
    op.create_table(
        "identities",
        Column("id", Integer(), nullable=False),
        Column("user_id", Integer(), nullable=False),
        Column("issuer", words, nullable=False, comment="The provider, as it names itself."),
        Column(
            "subject",
            words,
            nullable=False,
            comment="The account there; with the issuer, it never names anybody else.",
        ),
        Column(
            "name",
            words,
            server_default=text("''"),
            nullable=False,
            comment="How the provider called the user when they signed in the last time.",
        ),
        Column("created_at", BigInteger(), nullable=False),
        Column("last_used_at", BigInteger(), nullable=True),
        ForeignKeyConstraint(["user_id"], ["users.id"], name=op.f("fk_identities_user_id_users"), ondelete="CASCADE"),
        PrimaryKeyConstraint("id", name=op.f("pk_identities")),
        UniqueConstraint("issuer", "subject", name=op.f("uq_identities_issuer_subject")),
        sqlite_autoincrement=True,
        comment="Accounts at OpenID Connect providers, each linked with one user.",
    )
    op.create_index("ix_identities_user", "identities", ["user_id"])
    op.create_table(
        "provider_sessions",
        Column("session_id", Integer(), nullable=False, autoincrement=False),
        Column("user_id", Integer(), nullable=False),
        Column("issuer", words, nullable=False),
        Column("subject", words, nullable=False),
        Column(
            "provider_session_id",
            words,
            server_default=text("''"),
            nullable=False,
            comment="Claim sid; empty if the provider does not say.",
        ),
        Column(
            "id_token",
            words,
            server_default=text("''"),
            nullable=False,
            comment="The last one, as a hint for signing out; empty if it was too long.",
        ),
        ForeignKeyConstraint(
            ["session_id"],
            ["sessions.id"],
            name=op.f("fk_provider_sessions_session_id_sessions"),
            ondelete="CASCADE",
        ),
        ForeignKeyConstraint(
            ["user_id"], ["users.id"], name=op.f("fk_provider_sessions_user_id_users"), ondelete="CASCADE"
        ),
        PrimaryKeyConstraint("session_id", name=op.f("pk_provider_sessions")),
        comment="Sessions that began at an OpenID Connect provider.",
    )
    op.create_index("ix_provider_sessions_user", "provider_sessions", ["user_id"])
    op.create_index("ix_provider_sessions_subject", "provider_sessions", ["issuer", "subject"])
    op.create_index("ix_provider_sessions_provider_session", "provider_sessions", ["issuer", "provider_session_id"])
