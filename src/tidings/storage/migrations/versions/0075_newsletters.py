"""Newsletters: secret addresses, senders, and which letters have arrived."""

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

revision = "0075"
down_revision = "0074"
branch_labels = None
depends_on = None

# Compared by code point on both engines.
WORDS = Text().with_variant(Text(collation="C"), "postgresql")
LONG_ID = BigInteger().with_variant(Integer(), "sqlite")


def _words(name: str, default: str | None = "", comment: str | None = None) -> Column[str]:
    server_default = None if default is None else text(f"'{default}'")
    return Column(name, WORDS, server_default=server_default, nullable=False, comment=comment)


def _flag(name: str, comment: str) -> Column[bool]:
    return Column(name, Boolean(), server_default=false(), nullable=False, comment=comment)


def _number(name: str, comment: str) -> Column[int]:
    return Column(name, Integer(), server_default=text("0"), nullable=False, comment=comment)


def _owner(table: str) -> tuple[Column[int], ForeignKeyConstraint]:
    return (
        Column("user_id", Integer(), nullable=False),
        ForeignKeyConstraint(["user_id"], ["users.id"], name=op.f(f"fk_{table}_user_id_users"), ondelete="CASCADE"),
    )


def _addresses() -> None:
    user_id, of_user = _owner("newsletter_addresses")
    op.create_table(
        "newsletter_addresses",
        Column("id", Integer(), nullable=False),
        user_id,
        _words("name", None),
        _words("secret", None, "Whoever knows it may deliver."),
        _flag("is_one_feed", "New senders share one feed, instead of one for each."),
        Column("category_id", Integer(), nullable=True, comment="Of new feeds."),
        Column("created_at", BigInteger(), nullable=False),
        Column("last_letter_at", BigInteger(), nullable=True),
        _number("letters", "How many have arrived, without repeated ones."),
        _number("hour", "The hour since 1970 that hour_letters is about."),
        _number("hour_letters", "How many were delivered in it, to limit them."),
        of_user,
        ForeignKeyConstraint(
            ["category_id"],
            ["categories.id"],
            name=op.f("fk_newsletter_addresses_category_id_categories"),
            ondelete="SET NULL",
        ),
        PrimaryKeyConstraint("id", name=op.f("pk_newsletter_addresses")),
        UniqueConstraint("secret", name=op.f("uq_newsletter_addresses_secret")),
        sqlite_autoincrement=True,
        comment="Secret addresses to which letters are delivered.",
    )
    op.create_index("ix_newsletter_addresses_user", "newsletter_addresses", ["user_id", "id"])
    _partial_index("ix_newsletter_addresses_category", "newsletter_addresses", "category_id")


def _senders() -> None:
    user_id, of_user = _owner("newsletter_senders")
    op.create_table(
        "newsletter_senders",
        Column("id", Integer(), nullable=False),
        user_id,
        _words("sender_key", None, "list: and its List-Id, or from: and the address."),
        _words("name", None, "As its user wrote it, or as the first letter had it."),
        _words("address"),
        Column("feed_id", Integer(), nullable=True, comment="Where its letters go; null: the next one makes a feed."),
        _flag("is_blocked", "Its letters are discarded."),
        _number("letters", "How many have arrived."),
        _number("discarded", "How many were discarded since it is blocked."),
        Column("last_letter_at", BigInteger(), nullable=True),
        _words("unsubscribe_url", comment="Of the newest letter that has one, as what follows."),
        _words("unsubscribe_mail"),
        _flag("is_one_click", "A POST to unsubscribe_url unsubscribes (RFC 8058)."),
        Column("unsubscribed_at", BigInteger(), nullable=True),
        _words("authentication", comment="Of the newest letter: method=result, separated by blanks (RFC 8601)."),
        _flag("is_spam", "A filter said so of the newest letter."),
        _words("confirmation_url", comment="Where the subscription has to be confirmed; empty: nothing to do."),
        _words("confirmation_subject"),
        of_user,
        ForeignKeyConstraint(
            ["feed_id"], ["feeds.id"], name=op.f("fk_newsletter_senders_feed_id_feeds"), ondelete="SET NULL"
        ),
        PrimaryKeyConstraint("id", name=op.f("pk_newsletter_senders")),
        UniqueConstraint("user_id", "sender_key", name=op.f("uq_newsletter_senders_user_id_sender_key")),
        sqlite_autoincrement=True,
        comment="Newsletters that have arrived.",
    )
    _partial_index("ix_newsletter_senders_feed", "newsletter_senders", "feed_id")


def _letters() -> None:
    user_id, of_user = _owner("newsletter_letters")
    op.create_table(
        "newsletter_letters",
        Column("id", LONG_ID, nullable=False),
        user_id,
        Column("digest", LargeBinary(), nullable=False, comment="SHA-256 of the Message-ID."),
        Column("received_at", BigInteger(), nullable=False),
        of_user,
        PrimaryKeyConstraint("id", name=op.f("pk_newsletter_letters")),
        UniqueConstraint("user_id", "digest", name=op.f("uq_newsletter_letters_user_id_digest")),
        sqlite_autoincrement=True,
        comment="Letters that have arrived, so that a copy is not stored again.",
    )
    op.create_index("ix_newsletter_letters_received", "newsletter_letters", ["received_at"])


def _partial_index(name: str, table: str, column: str) -> None:
    is_set = text(f"{column} IS NOT NULL")
    op.create_index(name, table, [column], sqlite_where=is_set, postgresql_where=is_set)


def upgrade() -> None:
    _addresses()
    _senders()
    _letters()
