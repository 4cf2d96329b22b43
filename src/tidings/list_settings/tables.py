"""The table of lists with an order or a layout of their own."""

from __future__ import annotations

from sqlalchemy import Column, ForeignKey, Integer, Table, UniqueConstraint

from tidings.engine.columns import key, metadata, owner, partial_index, words

list_settings = Table(
    "list_settings",
    metadata,
    key(),
    owner(),
    words("list", None, "unread, starred, history or shared; or f, c or l and the id of a feed, category or label."),
    Column("feed_id", Integer, ForeignKey("feeds.id", ondelete="CASCADE")),
    Column("category_id", Integer, ForeignKey("categories.id", ondelete="CASCADE")),
    Column("label_id", Integer, ForeignKey("labels.id", ondelete="CASCADE")),
    words("direction", comment="asc or desc; empty: as everywhere."),
    words("density", comment="How its page lists entries; empty for the device's setting."),
    UniqueConstraint("user_id", "list"),
    sqlite_autoincrement=True,
    comment="Lists that their users have shown in another way than all others.",
)
partial_index("ix_list_settings_feed", list_settings.c.feed_id, where="feed_id IS NOT NULL")
partial_index("ix_list_settings_category", list_settings.c.category_id, where="category_id IS NOT NULL")
partial_index("ix_list_settings_label", list_settings.c.label_id, where="label_id IS NOT NULL")
