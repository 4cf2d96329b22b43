"""The keys by which duplicates are found, and how far the archive of each user has been searched for them."""

from __future__ import annotations

from sqlalchemy import BigInteger, Column, ForeignKey, Index, Integer, Table

from tidings.engine.columns import LongId, flag, instant, metadata, words

duplicate_keys = Table(
    "duplicate_keys",
    metadata,
    Column(
        "entry_id",
        LongId,
        ForeignKey("entries.id", ondelete="CASCADE"),
        primary_key=True,
        autoincrement=False,
    ),
    Column("user_id", Integer, nullable=False, comment="The entry's."),
    Column("address", BigInteger, comment="Digest of the canonical address; NULL: it names no article."),
    Column("identity", BigInteger, comment="Digest of the publisher's id with the host of the address."),
    Column("title", BigInteger, comment="Digest of the words of the title; NULL: it has none."),
    instant("published_at", comment="The entry's when it was stored."),
    Index("ix_duplicate_keys_address", "user_id", "address", "entry_id"),
    Index("ix_duplicate_keys_identity", "user_id", "identity", "entry_id"),
    Index("ix_duplicate_keys_title", "user_id", "title", "published_at", "entry_id"),
    comment="Only of users who have their duplicates found.",
)

duplicate_scans = Table(
    "duplicate_scans",
    metadata,
    Column(
        "user_id",
        Integer,
        ForeignKey("users.id", ondelete="CASCADE"),
        primary_key=True,
        autoincrement=False,
    ),
    words("mode", None, "The user's setting for which duplicates are found."),
    words("kept_feeds", "[]", "JSON: ids of the feeds that the user excepted."),
    flag("is_released", comment="False: what an earlier setting did is being undone."),
    Column("position", LongId, nullable=False, comment="The entry up to which all have been searched."),
    comment="One row for each user whose duplicates are found, or are still folded.",
)
