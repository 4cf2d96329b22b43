"""Lists of feeds that users follow."""

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

revision = "0073"
down_revision = "0072"
branch_labels = None
depends_on = None

# Compared by code point on both engines.
WORDS = Text().with_variant(Text(collation="C"), "postgresql")


def _words(name: str, comment: str | None = None) -> Column[str]:
    return Column(name, WORDS, server_default=text("''"), nullable=False, comment=comment)


def upgrade() -> None:
    op.create_table(
        "opml_subscriptions",
        Column("id", Integer(), nullable=False),
        Column("user_id", Integer(), nullable=False),
        Column("url", WORDS, nullable=False, comment="Address of the OPML document or list."),
        Column(
            "category_id",
            Integer(),
            nullable=False,
            comment="The category of its feeds. Whoever deletes it ends the subscription.",
        ),
        _words("etag", "Of the document that was read last, as last_modified."),
        _words("last_modified"),
        Column("created_at", BigInteger(), nullable=False),
        Column(
            "checked_at", BigInteger(), nullable=False, comment="When it was fetched last, with or without success."
        ),
        Column("next_check_at", BigInteger(), nullable=False),
        Column(
            "failures",
            Integer(),
            server_default=text("0"),
            nullable=False,
            comment="Checks that failed since the last success.",
        ),
        _words("error", "Why the last check failed, in English; empty if it did not."),
        _words("error_form", "The same as a JSON message; empty if it cannot be restored from it."),
        Column("claimed_until", BigInteger(), comment="A worker holds it until then; who dies loses it."),
        _words("claimed_by"),
        ForeignKeyConstraint(
            ["user_id"], ["users.id"], name=op.f("fk_opml_subscriptions_user_id_users"), ondelete="CASCADE"
        ),
        ForeignKeyConstraint(
            ["category_id"],
            ["categories.id"],
            name=op.f("fk_opml_subscriptions_category_id_categories"),
            ondelete="CASCADE",
        ),
        PrimaryKeyConstraint("id", name=op.f("pk_opml_subscriptions")),
        UniqueConstraint("user_id", "url", name=op.f("uq_opml_subscriptions_user_id_url")),
        sqlite_autoincrement=True,
    )
    op.create_index("ix_opml_subscriptions_due", "opml_subscriptions", ["next_check_at", "id"])
    op.create_index("ix_opml_subscriptions_category", "opml_subscriptions", ["category_id"])
    op.create_table(
        "opml_feeds",
        Column("subscription_id", Integer(), autoincrement=False, nullable=False),
        Column("url", WORDS, nullable=False, comment="As the list names it; the feed may have moved."),
        Column("user_id", Integer(), nullable=False),
        Column(
            "feed_id",
            Integer(),
            comment="The feed that was added for it; NULL if the user had it before, or has deleted it.",
        ),
        Column("missing_since", BigInteger(), comment="The list does not name it any more: its user is asked."),
        ForeignKeyConstraint(
            ["subscription_id"],
            ["opml_subscriptions.id"],
            name=op.f("fk_opml_feeds_subscription_id_opml_subscriptions"),
            ondelete="CASCADE",
        ),
        ForeignKeyConstraint(["feed_id"], ["feeds.id"], name=op.f("fk_opml_feeds_feed_id_feeds"), ondelete="SET NULL"),
        PrimaryKeyConstraint("subscription_id", "url", name=op.f("pk_opml_feeds")),
        sqlite_with_rowid=False,
        comment="Feeds that a list names, or that were added for it.",
    )
    op.create_index(
        "ix_opml_feeds_feed",
        "opml_feeds",
        ["feed_id"],
        sqlite_where=text("feed_id IS NOT NULL"),
        postgresql_where=text("feed_id IS NOT NULL"),
    )
