"""The lists of feeds that users follow, and the feeds that each of them names."""

from __future__ import annotations

from sqlalchemy import Column, ForeignKey, Index, Integer, PrimaryKeyConstraint, Table, UniqueConstraint

from tidings.engine.columns import instant, key, metadata, number, owner, partial_index, words

opml_subscriptions = Table(
    "opml_subscriptions",
    metadata,
    key(),
    owner(),
    words("url", None, "Address of the OPML document or list."),
    Column(
        "category_id",
        Integer,
        ForeignKey("categories.id", ondelete="CASCADE"),
        nullable=False,
        comment="The category of its feeds. Whoever deletes it ends the subscription.",
    ),
    words("etag", comment="Of the document that was read last, as last_modified."),
    words("last_modified"),
    instant("created_at"),
    instant("checked_at", comment="When it was fetched last, with or without success."),
    instant("next_check_at"),
    number("failures", 0, "Checks that failed since the last success."),
    words("error", comment="Why the last check failed, in English; empty if it did not."),
    words("error_form", comment="The same as a JSON message; empty if it cannot be restored from it."),
    instant("claimed_until", nullable=True, comment="A worker holds it until then; who dies loses it."),
    words("claimed_by"),
    UniqueConstraint("user_id", "url"),
    Index("ix_opml_subscriptions_due", "next_check_at", "id"),
    Index("ix_opml_subscriptions_category", "category_id"),
    sqlite_autoincrement=True,
)

opml_feeds = Table(
    "opml_feeds",
    metadata,
    Column(
        "subscription_id",
        Integer,
        ForeignKey("opml_subscriptions.id", ondelete="CASCADE"),
        nullable=False,
        autoincrement=False,
    ),
    words("url", None, "As the list names it; the feed may have moved."),
    Column("user_id", Integer, nullable=False),
    Column(
        "feed_id",
        Integer,
        ForeignKey("feeds.id", ondelete="SET NULL"),
        comment="The feed that was added for it; NULL if the user had it before, or has deleted it.",
    ),
    instant("missing_since", nullable=True, comment="The list does not name it any more: its user is asked."),
    PrimaryKeyConstraint("subscription_id", "url"),
    sqlite_with_rowid=False,
    comment="Feeds that a list names, or that were added for it.",
)
partial_index("ix_opml_feeds_feed", opml_feeds.c.feed_id, where="feed_id IS NOT NULL")
