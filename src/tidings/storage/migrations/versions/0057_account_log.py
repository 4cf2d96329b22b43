"""The log of what happens to accounts."""

from __future__ import annotations

from alembic import op
from sqlalchemy import (
    BigInteger,
    Column,
    ForeignKeyConstraint,
    Integer,
    LargeBinary,
    PrimaryKeyConstraint,
    Text,
    UniqueConstraint,
    text,
)

revision = "0057"
down_revision = "0056"
branch_labels = None
depends_on = None

# Compared by code point on both engines.
WORDS = Text().with_variant(Text(collation="C"), "postgresql")
# SQLite numbers rows by itself only in a column declared as INTEGER.
LONG_ID = BigInteger().with_variant(Integer(), "sqlite")
EMPTY = text("''")


def upgrade() -> None:
    op.create_table(
        "account_log",
        Column("id", LONG_ID, nullable=False),
        Column(
            "user_id",
            Integer(),
            comment="Whose account it is; NULL for a refused name that nobody has, and for a user who was removed.",
        ),
        Column("kind", WORDS, nullable=False, comment="What happened: domain.accounts.events.EventKind."),
        Column(
            "username",
            WORDS,
            server_default=EMPTY,
            nullable=False,
            comment="Of the user; empty for names that nobody has: a password may have been typed there.",
        ),
        Column(
            "method",
            WORDS,
            server_default=EMPTY,
            nullable=False,
            comment="How the user proved to be who they are, or who did it; empty if unknown.",
        ),
        Column("second_method", WORDS, server_default=EMPTY, nullable=False, comment="The second step of a sign-in."),
        Column(
            "address",
            WORDS,
            server_default=EMPTY,
            nullable=False,
            comment="From where; an asterisk for several addresses that share a row.",
        ),
        Column("user_agent", WORDS, server_default=EMPTY, nullable=False),
        Column(
            "actor",
            WORDS,
            server_default=EMPTY,
            nullable=False,
            comment="Name of the administrator who did it; empty for the user.",
        ),
        Column(
            "detail",
            WORDS,
            server_default=EMPTY,
            nullable=False,
            comment="The name of a key, the reason of a refusal; no secrets.",
        ),
        Column(
            "times",
            Integer(),
            server_default=text("1"),
            nullable=False,
            comment="How often it happened on this day.",
        ),
        Column("first_at", BigInteger(), nullable=False),
        Column("last_at", BigInteger(), nullable=False),
        Column(
            "merge_key",
            LargeBinary(),
            comment="Digest of what the same events of a day have in common; NULL for events with rows of their own.",
        ),
        ForeignKeyConstraint(["user_id"], ["users.id"], name=op.f("fk_account_log_user_id_users"), ondelete="CASCADE"),
        PrimaryKeyConstraint("id", name=op.f("pk_account_log")),
        UniqueConstraint("merge_key", name=op.f("uq_account_log_merge_key")),
        sqlite_autoincrement=True,
        comment="What happened to accounts in the last 90 days.",
    )
    op.create_index("ix_account_log_user", "account_log", ["user_id", "last_at", "id"])
    op.create_index("ix_account_log_last_at", "account_log", ["last_at", "id"])
