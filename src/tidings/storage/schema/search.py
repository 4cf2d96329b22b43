"""What the full-text index needs. How the engines index, and ask: `storage.engine.full_text`.

Each change of a title or a body adds a row to `search_pending` in the same transaction. `storage.entries.search_index`
moves many of these rows at a time into the index.
"""

from __future__ import annotations

from typing import Any

from sqlalchemy import Column, ForeignKey, Index, Integer, Table
from sqlalchemy.dialects.postgresql import TSVECTOR

from tidings.storage.schema.base import CompressedText, Words, metadata, words

# The FTS5 table, and the beginning of the names of those that SQLite keeps behind it.
FTS_TABLE = "entry_words"

# No foreign key: a line whose entry is gone is dropped when its turn comes, and deleting a feed waits for nobody.
search_pending = Table(
    "search_pending",
    metadata,
    Column("entry_id", Integer, primary_key=True, autoincrement=False, comment="Its title or body changed."),
    Column("user_id", Integer, nullable=False),
    Index("ix_search_pending_user", "user_id", "entry_id"),
)

# Never taken back while the user is there: asking for a language that no entry has any more costs next to nothing.
search_languages = Table(
    "search_languages",
    metadata,
    Column("user_id", Integer, ForeignKey("users.id", ondelete="CASCADE"), primary_key=True, autoincrement=False),
    Column("language", Words, primary_key=True, comment="ISO 639 code of a language with stems of its own."),
    sqlite_with_rowid=False,
    comment="Which languages with stems of their own entries of a user have, so that a search asks in them.",
)

# SQLite only. Its index, the FTS5 table, holds no texts: to take something out, it has to be told what
# was put in.
search_documents = Table(
    "search_documents",
    metadata,
    Column("id", Integer, primary_key=True, autoincrement=False, comment="The entry's, also when it is gone."),
    Column(
        "entry_id",
        Integer,
        ForeignKey("entries.id", ondelete="SET NULL"),
        unique=True,
        comment="Null: the entry is gone, and the index has yet to forget it.",
    ),
    Column("user_id", Integer, nullable=False),
    words("language", comment="Of the entry, if it has stems of its own; every term has it behind the owner's id."),
    Column(
        "words", CompressedText, nullable=False, comment="Terms as indexed: of the title, a line feed, of the body."
    ),
    info={"engine": "sqlite"},
)

# PostgreSQL only.
search_vectors = Table(
    "search_vectors",
    metadata,
    Column("entry_id", Integer, ForeignKey("entries.id", ondelete="CASCADE"), primary_key=True, autoincrement=False),
    Column("words", TSVECTOR, nullable=False),
    Index("ix_search_vectors_words", "words", postgresql_using="gin"),
    info={"engine": "postgresql"},
)


def is_compared(thing: Any, name: str | None, engine: str) -> bool:
    """Whether Alembic may expect a table of the code on that engine, or one of the engine in the code."""
    return thing.info.get("engine", engine) == engine and not (name or "").startswith(FTS_TABLE)
