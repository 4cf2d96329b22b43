"""Entries with their contents, tags, labels and enclosures; designed for ten million rows.

`entries` is narrow and has the columns of every order and filter; bodies are in another table, so that no scan or count
reads them. Each list of the API has an index with its order, and the id as the tie-break. `category_id` repeats
the feed's (moving a feed rewrites its entries) so that a list of a category need not read its feeds one by one.
`user_id` and `category_id` are not foreign keys: deleting a feed already deletes its entries, and each key would need
one more index.
"""

from __future__ import annotations

from sqlalchemy import (
    BigInteger,
    Column,
    ForeignKey,
    Index,
    Integer,
    LargeBinary,
    SmallInteger,
    Table,
    UniqueConstraint,
    func,
    text,
)

from tidings.engine.columns import (
    BY_USER,
    COPIED,
    CompressedText,
    LongId,
    Words,
    big,
    flag,
    instant,
    key,
    long_key,
    metadata,
    number,
    owner,
    partial_index,
    words,
)

# Sorting by title or author reads this many characters from an index and sorts longer equal ones afterwards: PostgreSQL
# limits the size of an index entry, and titles have no limit.
SORT_PREFIX = 100

entries = Table(
    "entries",
    metadata,
    long_key(),
    Column("user_id", Integer, nullable=False),
    Column("feed_id", Integer, ForeignKey("feeds.id", ondelete="CASCADE"), nullable=False),
    Column("category_id", Integer, nullable=False, comment="The feed's."),
    Column("status", SmallInteger, nullable=False, comment="0 unread, 1 read, 2 removed, 3 folded."),
    flag("starred"),
    instant("published_at"),
    instant("created_at"),
    instant("changed_at", comment="Moves with status, star, and content that the publisher changed."),
    Column("hash", LargeBinary, nullable=False, comment="SHA-256 of the identity."),
    Column("fingerprint", LargeBinary, comment="Of the entry as published; the same again is not cleaned or written."),
    number("edited", 0, "Bits of the fields the user set: they no longer follow the publisher."),
    number("reading_time", 0, "Minutes."),
    words("title", None),
    words("url"),
    words("author"),
    words("comments_url"),
    words("language"),
    words("share_code", comment="Empty when not shared."),
    words("tags", "[]", "JSON array of strings."),
    flag("hidden", comment="A rule keeps it out of the global lists."),
    UniqueConstraint("feed_id", "hash"),
    # Some end with the status, so that counts read the index alone.
    Index("ix_entries_user_id", "user_id", "id", "status"),
    Index("ix_entries_user_status", "user_id", "status", "id"),
    Index("ix_entries_user_published", "user_id", "published_at", "id", "status"),
    Index("ix_entries_user_changed", "user_id", "changed_at", "id", "status"),
    Index("ix_entries_user_created", "user_id", "created_at", "id"),
    Index("ix_entries_user_reading_time", "user_id", "reading_time", "id", "status"),
    Index("ix_entries_category_published", "user_id", "category_id", "published_at", "id"),
    Index("ix_entries_feed_published", "feed_id", "published_at", "id", "status"),
    sqlite_autoincrement=True,
)
# Partial indexes contain the column of their condition: SQLite then prefers them to a full index of the same order.
partial_index(
    "ix_entries_user_unread",
    entries.c.user_id,
    entries.c.status,
    entries.c.published_at,
    entries.c.id,
    # Those that a rule has hidden are left out without looking at the table.
    entries.c.hidden,
    where="status = 0",
)
partial_index(
    "ix_entries_category_unread",
    entries.c.user_id,
    entries.c.category_id,
    entries.c.status,
    entries.c.published_at,
    entries.c.id,
    where="status = 0",
)
partial_index(
    "ix_entries_user_starred",
    entries.c.user_id,
    entries.c.starred,
    entries.c.published_at,
    entries.c.id,
    where="starred = true",
)
# Has all that counts of the global lists need, which subtract these.
partial_index(
    "ix_entries_user_hidden",
    entries.c.user_id,
    entries.c.hidden,
    entries.c.status,
    entries.c.feed_id,
    entries.c.starred,
    entries.c.id,
    where="hidden = true",
)
partial_index("ix_entries_share_code", entries.c.share_code, where="share_code <> ''", unique=True)
title_prefix = func.substr(entries.c.title, text("1"), text(str(SORT_PREFIX)))
author_prefix = func.substr(entries.c.author, text("1"), text(str(SORT_PREFIX)))
Index("ix_entries_user_title", entries.c.user_id, title_prefix, entries.c.id)
Index("ix_entries_user_author", entries.c.user_id, author_prefix, entries.c.id)
language_prefix = func.substr(entries.c.language, text("1"), text(str(SORT_PREFIX)))
Index("ix_entries_user_language", entries.c.user_id, language_prefix, entries.c.id, entries.c.status)

duplicates = Table(
    "duplicates",
    metadata,
    Column(
        "entry_id",
        LongId,
        ForeignKey("entries.id", ondelete="CASCADE"),
        primary_key=True,
        autoincrement=False,
    ),
    Column("user_id", Integer, nullable=False, comment="The entry's."),
    Column("original_id", LongId, nullable=False, comment="The entry of another feed that it repeats."),
    Column("status", SmallInteger, nullable=False, comment="Its own, before it was folded or marked read."),
    Column("original_status", SmallInteger, nullable=False, comment="The other's at that time."),
    instant("found_at"),
    flag("compared", True, "False: it may have the whole text, and then takes the place of the other."),
    flag("by_page", False, "Only its page says that it has the other's address: nothing repeats the other through it."),
    Index("ix_duplicates_user_original", "user_id", "original_id", "entry_id"),
    comment="Entries that repeat another one. Only of users who have this on.",
)
partial_index("ix_duplicates_compared", duplicates.c.user_id, duplicates.c.compared, where="compared = false")

snoozed_entries = Table(
    "snoozed_entries",
    metadata,
    Column(
        "entry_id",
        LongId,
        ForeignKey("entries.id", ondelete="CASCADE"),
        primary_key=True,
        autoincrement=False,
    ),
    Column("user_id", Integer, nullable=False, comment="The entry's."),
    instant("until", comment="When it becomes unread again."),
    Index("ix_snoozed_entries_user", "user_id", "until", "entry_id"),
    Index("ix_snoozed_entries_until", "until", "user_id"),
    comment="Read entries that become unread again at a time which their user has chosen.",
)

page_addresses = Table(
    "page_addresses",
    metadata,
    Column(
        "entry_id",
        LongId,
        ForeignKey("entries.id", ondelete="CASCADE"),
        primary_key=True,
        autoincrement=False,
    ),
    Column("user_id", Integer, nullable=False, comment="The entry's."),
    words("url", None, "Where the entry's link led, or what the page there gave as its own address."),
    Column("address", BigInteger, nullable=False, comment="Digest of the canonical address of the URL."),
    Index("ix_page_addresses_address", "user_id", "address", "entry_id"),
    comment="Only of entries whose page was fetched and has another address than the entry.",
)

shared_contents = Table(
    "shared_contents",
    metadata,
    long_key(),
    # Not a foreign key: what is left of a source without feeds, the cleanup removes.
    Column("source_id", Integer, nullable=False, comment="Whose entries have it; several feeds show the source."),
    Column("digest", LargeBinary, nullable=False, comment="Half of the SHA-256 of the content, which never changes."),
    Column("content", CompressedText, nullable=False, comment="Cleaned HTML."),
    UniqueConstraint("source_id", "digest"),
    sqlite_autoincrement=True,
    info={"has_large_rows": True} | COPIED,
    comment="Contents of entries that several users may have. Read through the entry of a user only.",
)

entry_contents = Table(
    "entry_contents",
    metadata,
    Column(
        "entry_id",
        LongId,
        ForeignKey("entries.id", ondelete="CASCADE"),
        primary_key=True,
        autoincrement=False,
    ),
    Column("user_id", Integer, nullable=False, comment="The entry's."),
    Column("content", CompressedText, nullable=False, comment="Cleaned HTML; empty with a shared content."),
    Column("other_content", CompressedText, comment="What the user can switch to: of the feed, or the whole article."),
    words("chapters", comment="JSON array of the chapters in the feed, or empty."),
    Column("shared_id", LongId, ForeignKey("shared_contents.id"), comment="Null: the entry has a content of its own."),
    info={"has_large_rows": True},
)
partial_index("ix_entry_contents_shared", entry_contents.c.shared_id, where="shared_id IS NOT NULL")

entry_tags = Table(
    "entry_tags",
    metadata,
    Column("user_id", Integer, primary_key=True),
    Column("tag", Words, primary_key=True, comment="Case-folded, cut at 200 characters."),
    Column("entry_id", LongId, ForeignKey("entries.id", ondelete="CASCADE"), primary_key=True, index=True),
    sqlite_with_rowid=False,
)

labels = Table(
    "labels",
    metadata,
    key(),
    owner(),
    words("name", None),
    words("name_key", None, "Case-folded: names are compared without case everywhere."),
    words("color", comment="Name of a colour, or empty."),
    Column("position", Integer, comment="Order of the user, NULL: behind the others, by name."),
    UniqueConstraint("user_id", "name_key"),
    sqlite_autoincrement=True,
    info=BY_USER,
    comment="Names that users give to entries.",
)

entry_labels = Table(
    "entry_labels",
    metadata,
    # In the order of the Google Reader API, which is the order of the ids.
    Column("label_id", Integer, ForeignKey("labels.id", ondelete="CASCADE"), primary_key=True, autoincrement=False),
    Column(
        "entry_id",
        LongId,
        ForeignKey("entries.id", ondelete="CASCADE"),
        primary_key=True,
        autoincrement=False,
        index=True,
    ),
    Column("user_id", Integer, nullable=False),
    instant("published_at", comment="The entry's, so that a list of a label need not sort its entries."),
    # Ends with the user, so that a page is found in the index alone.
    Index("ix_entry_labels_published", "label_id", "published_at", "entry_id", "user_id"),
    sqlite_with_rowid=False,
)

enclosures = Table(
    "enclosures",
    metadata,
    long_key(),
    Column("user_id", Integer, nullable=False),
    Column("entry_id", LongId, ForeignKey("entries.id", ondelete="CASCADE"), nullable=False),
    words("url", None),
    words("mime_type"),
    big("size", "Bytes, 0 when unknown."),
    big("media_progression", "Seconds, set by the client."),
    Column("queue_position", Integer, comment="Order in the queue of the user, NULL when it is not in it."),
    Index("ix_enclosures_entry", "entry_id", "id"),
    sqlite_autoincrement=True,
)
partial_index(
    "ix_enclosures_queue", enclosures.c.user_id, enclosures.c.queue_position, where="queue_position IS NOT NULL"
)
# As long as image/, audio/ and video/.
KIND_LENGTH = 6
enclosure_kind = func.substr(enclosures.c.mime_type, text("1"), text(str(KIND_LENGTH)))
Index("ix_enclosures_user_kind", enclosures.c.user_id, enclosure_kind, enclosures.c.entry_id)

tombstones = Table(
    "tombstones",
    metadata,
    Column("feed_id", Integer, ForeignKey("feeds.id", ondelete="CASCADE"), primary_key=True),
    Column("hash", LargeBinary, primary_key=True, comment="Of an entry that was deleted and must not come back."),
    instant("seen_at", comment="When it was deleted or, about a month exact, last seen in the document."),
    Column("user_id", Integer, nullable=False, comment="The feed's."),
    sqlite_with_rowid=False,
)

feed_counters = Table(
    "feed_counters",
    metadata,
    Column("feed_id", Integer, ForeignKey("feeds.id", ondelete="CASCADE"), primary_key=True, autoincrement=False),
    Column("user_id", Integer, nullable=False, index=True),
    number("unread"),
    number("read"),
    number("starred_unread", 0, "Of the unread ones."),
    number("starred_read", 0, "Of the read ones."),
    big("version", "Random, another one after each change of which entries are counted, and how."),
    comment="Changed in the transaction that changes an entry. Removed entries are not counted.",
)
