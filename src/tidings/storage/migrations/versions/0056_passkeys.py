"""Passkeys, authenticator apps and recovery codes."""

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

revision = "0056"
down_revision = "0055"
branch_labels = None
depends_on = None


def upgrade() -> None:
    words = Text().with_variant(Text(collation="C"), "postgresql")
    op.create_table(
        "passkeys",
        Column("id", Integer(), nullable=False),
        Column("user_id", Integer(), nullable=False),
        Column("name", words, nullable=False, comment="The user's name for it."),
        Column("credential_id", LargeBinary(), nullable=False, comment="As its authenticator chose it."),
        Column("public_key", LargeBinary(), nullable=False, comment="A COSE key (RFC 9052)."),
        Column(
            "sign_count",
            BigInteger(),
            server_default=text("0"),
            nullable=False,
            comment="Signatures that its authenticator has counted; 0 if it does not count.",
        ),
        Column(
            "transports",
            words,
            server_default=text("''"),
            nullable=False,
            comment="How browsers reach its authenticator, separated by blanks.",
        ),
        Column(
            "host",
            words,
            nullable=False,
            comment="Its relying party id: the host of BASE_URL when it was made.",
        ),
        Column(
            "works_alone",
            Boolean(),
            server_default=false(),
            nullable=False,
            comment="It needs no name and knows its user, so that it signs in without a password.",
        ),
        Column(
            "is_syncable",
            Boolean(),
            server_default=false(),
            nullable=False,
            comment="Its authenticator may copy it to other devices (backup eligible).",
        ),
        Column(
            "is_synced",
            Boolean(),
            server_default=false(),
            nullable=False,
            comment="It was copied when it was used last (backup state).",
        ),
        Column(
            "aaguid",
            words,
            server_default=text("''"),
            nullable=False,
            comment="The model of its authenticator; zeros if that stays unknown.",
        ),
        Column("created_at", BigInteger(), nullable=False),
        Column("last_used_at", BigInteger(), nullable=True, comment="NULL until it is used."),
        ForeignKeyConstraint(["user_id"], ["users.id"], name=op.f("fk_passkeys_user_id_users"), ondelete="CASCADE"),
        PrimaryKeyConstraint("id", name=op.f("pk_passkeys")),
        UniqueConstraint("credential_id", name=op.f("uq_passkeys_credential_id")),
        sqlite_autoincrement=True,
        comment="Passkeys (WebAuthn credentials), each of one user.",
    )
    op.create_index(op.f("ix_passkeys_user_id"), "passkeys", ["user_id"])
    op.create_table(
        "spent_challenges",
        Column("nonce", LargeBinary(), nullable=False),
        Column("expires_at", BigInteger(), nullable=False, comment="From then on the challenge is refused anyway."),
        PrimaryKeyConstraint("nonce", name=op.f("pk_spent_challenges")),
        comment="Challenges that a passkey has answered: a copied answer is refused.",
    )
    op.create_index(op.f("ix_spent_challenges_expires_at"), "spent_challenges", ["expires_at"])
    op.create_table(
        "second_factors",
        Column("user_id", Integer(), nullable=False),
        Column(
            "secret",
            words,
            server_default=text("''"),
            nullable=False,
            comment="Of the authenticator app, in Base32; empty without an app.",
        ),
        Column(
            "last_step",
            BigInteger(),
            server_default=text("0"),
            nullable=False,
            comment="The 30-second step whose code was used last: a code works once.",
        ),
        Column(
            "asks_for_passkey",
            Boolean(),
            server_default=false(),
            nullable=False,
            comment="A passkey is asked for after the password.",
        ),
        ForeignKeyConstraint(
            ["user_id"], ["users.id"], name=op.f("fk_second_factors_user_id_users"), ondelete="CASCADE"
        ),
        PrimaryKeyConstraint("user_id", name=op.f("pk_second_factors")),
        comment="What follows the password at a sign-in; no row: nothing.",
    )
    op.create_table(
        "recovery_codes",
        Column("user_id", Integer(), nullable=False),
        Column("digest", LargeBinary(), nullable=False, comment="HMAC of the code; removed when it is used."),
        ForeignKeyConstraint(
            ["user_id"], ["users.id"], name=op.f("fk_recovery_codes_user_id_users"), ondelete="CASCADE"
        ),
        PrimaryKeyConstraint("user_id", "digest", name=op.f("pk_recovery_codes")),
        comment="Recovery codes that are left, each of which replaces a second factor once.",
    )
