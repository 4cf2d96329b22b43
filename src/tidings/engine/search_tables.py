"""Tables of the full-text index, which `engine.full_text` writes and queries.

Each change of a title or a body adds a row to `search_pending` in the same transaction. `storage.entries.search_index`
moves many of these rows at a time into the index.
"""

from __future__ import annotations

from typing import Any

from sqlalchemy import BigInteger, Column, ForeignKey, Index, Integer, LargeBinary, Table, UniqueConstraint
from sqlalchemy.dialects.postgresql import TSVECTOR

from tidings.engine.columns import BY_USER, CompressedText, LongId, Words, metadata, number, partial_index, words

# The FTS5 table; the names of its internal tables begin with it as well.
FTS_TABLE = "entry_words"

# No foreign key: a row without its entry is dropped when it is processed, so that deleting a feed need not wait.
search_pending = Table(
    "search_pending",
    metadata,
    Column("entry_id", LongId, primary_key=True, autoincrement=False, comment="Its title or body changed."),
    Column("user_id", Integer, nullable=False),
    Index("ix_search_pending_user", "user_id", "entry_id"),
    info=BY_USER,
)

# Rows stay until the user is deleted: searching in a language without entries costs next to nothing.
search_languages = Table(
    "search_languages",
    metadata,
    Column("user_id", Integer, ForeignKey("users.id", ondelete="CASCADE"), primary_key=True, autoincrement=False),
    Column("language", Words, primary_key=True, comment="ISO 639 code of a language with stems of its own."),
    sqlite_with_rowid=False,
    info=BY_USER,
    comment="Which languages with stems of their own entries of a user have, so that a search asks in them.",
)

# SQLite only. Entries with a shared content have the same terms, as long as they have the same title and language.
search_terms = Table(
    "search_terms",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("digest", LargeBinary, nullable=False, unique=True, comment="Half of the SHA-256 of the words."),
    Column("words", CompressedText, nullable=False, comment="As in search_documents; they never change."),
    info={"engine": "sqlite"},
    comment="Terms of entries that several users may have. A row goes with the last document that refers to it.",
)

# SQLite only. The FTS5 table holds no texts: to remove an entry, it needs the terms that were indexed.
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
        "words",
        CompressedText,
        nullable=False,
        comment="Terms as indexed: of the title, a line feed, of the body; empty if others have them, too.",
    ),
    number("word_count", 0, "Of the body."),
    Column("terms_id", Integer, ForeignKey("search_terms.id"), comment="Null: the entry has terms of its own."),
    Index("ix_search_documents_word_count", "user_id", "word_count", "entry_id"),
    info={"engine": "sqlite"},
)
partial_index("ix_search_documents_terms", search_documents.c.terms_id, where="terms_id IS NOT NULL")

# PostgreSQL only.
search_vectors = Table(
    "search_vectors",
    metadata,
    Column("entry_id", LongId, ForeignKey("entries.id", ondelete="CASCADE"), primary_key=True, autoincrement=False),
    Column("words", TSVECTOR, comment="Null: the entry has a shared vector."),
    Column("user_id", Integer, nullable=False, comment="The entry's."),
    number("word_count", 0, "Of the body."),
    # Not a foreign key: each new entry would lock and look up the vector again. It may be gone while the entry waits to
    # be indexed again.
    Column("vector_id", BigInteger, comment="Of the shared vector. Null: the entry has a vector of its own."),
    Index("ix_search_vectors_words", "words", postgresql_using="gin"),
    Index("ix_search_vectors_word_count", "user_id", "word_count", "entry_id"),
    info={"engine": "postgresql"},
)
partial_index(
    "ix_search_vectors_shared",
    search_vectors.c.user_id,
    search_vectors.c.vector_id,
    search_vectors.c.entry_id,
    where="vector_id IS NOT NULL",
)

# PostgreSQL only. Entries with a shared content have the same vector, as long as they have the same title and language.
# Vectors are kept outside of the rows: a frequent word is in many rows that no entry of the user refers to.
shared_vectors = Table(
    "shared_vectors",
    metadata,
    Column("id", BigInteger, primary_key=True),
    Column("content_id", BigInteger, ForeignKey("shared_contents.id", ondelete="CASCADE"), nullable=False),
    Column("source_id", Integer, nullable=False, comment="The content's."),
    Column("digest", LargeBinary, nullable=False, comment="Half of the SHA-256 of title, body and language group."),
    Column("words", TSVECTOR, nullable=False, comment="Terms without an owner; they never change."),
    UniqueConstraint("content_id", "digest"),
    Index("ix_shared_vectors_words", "words", postgresql_using="gin"),
    Index("ix_shared_vectors_source", "source_id"),
    info={"engine": "postgresql"},
    comment="Vectors of entries that several users may have. Read through search_vectors of a user only.",
)

# PostgreSQL only. Rows stay until the user is deleted: searching in a source without entries costs next to nothing.
search_sources = Table(
    "search_sources",
    metadata,
    Column("user_id", Integer, ForeignKey("users.id", ondelete="CASCADE"), primary_key=True, autoincrement=False),
    Column("source_id", Integer, primary_key=True, autoincrement=False),
    info={"engine": "postgresql"},
    comment="Of which sources entries of a user have shared vectors, even if the feed has moved to another source.",
)


def is_compared(thing: Any, name: str | None, engine: str) -> bool:
    """Return whether Alembic compares a table between the code and the database of this engine."""
    return thing.info.get("engine", engine) == engine and not (name or "").startswith(FTS_TABLE)
