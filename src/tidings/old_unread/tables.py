"""After how many days users have old unread entries marked as read."""

from __future__ import annotations

from sqlalchemy import Column, ForeignKey, Index, Integer, Table

from tidings.engine.columns import key, metadata, number, owner, partial_index

read_after = Table(
    "read_after",
    metadata,
    key(),
    owner(),
    Column("category_id", Integer, ForeignKey("categories.id", ondelete="CASCADE")),
    Column("feed_id", Integer, ForeignKey("feeds.id", ondelete="CASCADE")),
    number("days", 0, "0: never. Without category and feed it holds for all feeds; a feed comes before its category."),
    Index("ix_read_after_user", "user_id", "id"),
    sqlite_autoincrement=True,
    comment="After how many days without a change unread entries become read.",
)
partial_index("ix_read_after_category", read_after.c.category_id, where="category_id IS NOT NULL")
partial_index("ix_read_after_feed", read_after.c.feed_id, where="feed_id IS NOT NULL")
