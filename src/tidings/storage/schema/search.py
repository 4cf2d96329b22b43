"""What the full-text index needs. How the engines index, and ask: `storage.dialect`.

Whoever writes a title or a body leaves a line in `search_pending` in the same transaction; `storage.search` takes the
lines from there into the index, many at a time.
"""

from __future__ import annotations

from typing import Any

from sqlalchemy import Column, ForeignKey, Index, Integer, Table
from sqlalchemy.dialects.postgresql import TSVECTOR

from tidings.storage.schema.base import Squeezed, metadata

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
    Column("words", Squeezed, nullable=False, comment="Terms as indexed: of the title, a line feed, of the body."),
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
