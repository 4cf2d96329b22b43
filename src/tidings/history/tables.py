"""The earlier versions of entries."""

from __future__ import annotations

from sqlalchemy import Column, ForeignKey, Integer, Table

from tidings.engine.columns import CompressedText, LongId, instant, metadata, words

entry_versions = Table(
    "entry_versions",
    metadata,
    Column(
        "entry_id",
        LongId,
        ForeignKey("entries.id", ondelete="CASCADE"),
        primary_key=True,
        autoincrement=False,
    ),
    Column("version", Integer, primary_key=True, autoincrement=False, comment="Counted from 1 for each entry."),
    Column("user_id", Integer, nullable=False, comment="The entry's."),
    words("title", None),
    Column("content", CompressedText, nullable=False, comment="Cleaned HTML of the feed."),
    instant("replaced_at", comment="When the next version was stored."),
    comment="The last few versions of entries whose words the publisher changed, without the present one.",
    info={"has_large_rows": True},
)
