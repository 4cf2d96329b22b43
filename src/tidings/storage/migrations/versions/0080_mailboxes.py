"""Mailboxes: folders on IMAP servers, which are polled for letters."""

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
    UniqueConstraint,
    false,
    text,
    true,
)

revision = "0080"
down_revision = "0079"
branch_labels = None
depends_on = None

# Compared by code point on both engines.
WORDS = Text().with_variant(Text(collation="C"), "postgresql")


def _words(name: str, default: str | None = "", comment: str | None = None) -> Column[str]:
    server_default = None if default is None else text(f"'{default}'")
    return Column(name, WORDS, server_default=server_default, nullable=False, comment=comment)


def _flag(name: str, comment: str, *, default: bool = False) -> Column[bool]:
    server_default = true() if default else false()
    return Column(name, Boolean(), server_default=server_default, nullable=False, comment=comment)


def _number(name: str, default: int = 0, comment: str | None = None) -> Column[int]:
    return Column(name, Integer(), server_default=text(str(default)), nullable=False, comment=comment)


def _big(name: str, comment: str) -> Column[int]:
    return Column(name, BigInteger(), server_default=text("0"), nullable=False, comment=comment)


def _instant(name: str, comment: str | None = None, *, nullable: bool = False) -> Column[int]:
    return Column(name, BigInteger(), nullable=nullable, comment=comment)


def upgrade() -> None:
    op.create_table(
        "newsletter_mailboxes",
        Column("id", Integer(), nullable=False),
        Column(
            "user_id",
            Integer(),
            nullable=True,
            comment="NULL for the mailbox of this installation, whose password is in the settings.",
        ),
        _flag("is_shared", "It is the mailbox of this installation."),
        _words("host", None),
        _number("port", 993),
        _flag("has_tls", "Without it, only connections to this machine are made.", default=True),
        _words("username", None),
        _words("password"),
        _words("folder", None),
        _flag("marks_seen", "Letters that were stored are marked as seen."),
        _big(
            "uid_validity",
            "Of the folder when it was read last; the UIDs are worth nothing with another one. 0: never read.",
        ),
        _big("last_uid", "Messages up to this one are done."),
        _big("horizon_uid", "The newest message at the first round: up to it, only those since letters_since count."),
        _instant("letters_since"),
        _words("deferred", comment="UIDs up to last_uid that are tried again, separated by blanks."),
        _instant("polled_at", "When it was read last, with or without success.", nullable=True),
        _instant("next_poll_at"),
        _number("failures", 0, "Rounds that failed since the last success."),
        _words("error", comment="Why the last round failed, in English; empty if it did not."),
        _words("error_form", comment="The same as a JSON message; empty if it cannot be restored from it."),
        _number("letters", 0, "How many have become entries."),
        _instant("claimed_until", "A worker reads it until then; who dies loses it.", nullable=True),
        _words("claimed_by"),
        ForeignKeyConstraint(
            ["user_id"], ["users.id"], name=op.f("fk_newsletter_mailboxes_user_id_users"), ondelete="CASCADE"
        ),
        PrimaryKeyConstraint("id", name=op.f("pk_newsletter_mailboxes")),
        UniqueConstraint("user_id", name=op.f("uq_newsletter_mailboxes_user_id")),
        sqlite_autoincrement=True,
        comment="Folders on IMAP servers, which are polled for letters.",
    )
    op.create_index("ix_newsletter_mailboxes_due", "newsletter_mailboxes", ["next_poll_at", "id"])
    op.create_index(
        "uq_newsletter_mailboxes_shared",
        "newsletter_mailboxes",
        ["is_shared"],
        unique=True,
        sqlite_where=text("is_shared"),
        postgresql_where=text("is_shared"),
    )
