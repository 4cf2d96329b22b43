"""Vectors of PostgreSQL's full-text index that are stored once for the entries of several users.

    entry ─► search_vectors ─► a vector of its own, or
                           └─► shared_vectors: the vector that entries of several feeds of a source have

What a search finds in `shared_vectors` is nobody's: the row of the user's entry that refers to it makes it the user's.
Where rows are distributed by user, each entry has a vector of its own.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

from sqlalchemy import ColumnElement, delete, or_, select, text

from tidings.engine.database import Read, Write, is_distributed, is_sqlite
from tidings.engine.search_tables import search_sources, search_vectors, shared_vectors
from tidings.engine.statements import in_list, select_by_hash


class SharedContent(NamedTuple):
    """A content that entries of several users have."""

    id: int
    source_id: int


class SharedVector(NamedTuple):
    """A vector to store once."""

    content: SharedContent
    digest: bytes
    """Of the text that it was made from."""
    words: str

    @property
    def key(self) -> tuple[int, bytes]:
        return self.content.id, self.digest


# Searching

# No vector has it. Of several words PostgreSQL expects so few matches that it would not ask the index of sources; of
# these or this, half a percent.
_NO_TERM = "CAST('''!''' AS tsquery)"


def can_be_used(db: Read) -> bool:
    """Return whether entries of this database may have shared vectors."""
    return not is_sqlite(db.connection) and not is_distributed(db.connection)


def matching(query: str, user: str, what: str = "entry_id", *, are_many: bool = False) -> str:
    """Return the SELECT of the user's entries whose shared vector matches. query, user: SQL of the parameters.

    Words of all users are searched. PostgreSQL finds them in one index and the user's sources in another, before it
    reads any row. what: to select of each entry. are_many: reads all of the user's rows instead of looking up each
    match.
    """
    sources = f"SELECT source_id FROM search_sources WHERE user_id = {user}"  # noqa: S608 - a parameter
    found = (
        f"SELECT id FROM shared_vectors WHERE words @@ ({query} || {_NO_TERM})"  # noqa: S608 - a parameter
        f" AND source_id = ANY (ARRAY({sources}))"
    )
    owned = f"user_id = {user} AND vector_id IS NOT NULL"
    if not are_many:
        return f"SELECT {what} FROM search_vectors WHERE {owned} AND vector_id = ANY (ARRAY({found}))"  # noqa: S608
    # OFFSET 0: it expects few matches, and would look up each.
    own = f"SELECT entry_id, vector_id FROM search_vectors WHERE {owned} OFFSET 0"  # noqa: S608 - a parameter
    return f"SELECT {what} FROM ({found} OFFSET 0) AS shared JOIN ({own}) AS own ON own.vector_id = shared.id"  # noqa: S608


def compared(query: str, owned: str) -> str:
    """Return the SELECT of whether the vector of an entry, its own or a shared one, matches.

    query: SQL of the parameter. owned: the condition of the entry's row.
    """
    vector = "coalesce(words, (SELECT shared.words FROM shared_vectors AS shared WHERE shared.id = vector_id))"
    return f"SELECT {vector} @@ {query} FROM search_vectors WHERE {owned}"  # noqa: S608 - parameters


# Indexing

_SELECT_KNOWN = """
    SELECT wanted.content_id, wanted.digest, shared_vectors.id
    FROM wanted JOIN shared_vectors
        ON shared_vectors.content_id = wanted.content_id AND shared_vectors.digest = wanted.digest
    ORDER BY shared_vectors.id FOR KEY SHARE OF shared_vectors
"""
_add = text(
    "INSERT INTO shared_vectors (content_id, source_id, digest, words)"
    " VALUES (:content, :source, :digest, CAST(:words AS tsvector)) ON CONFLICT (content_id, digest) DO NOTHING"
)
_add_sources = text(
    "INSERT INTO search_sources (user_id, source_id)"
    " SELECT unnest(CAST(:users AS integer[])), unnest(CAST(:sources AS integer[])) ON CONFLICT DO NOTHING"
)


def store(db: Write, vectors: Iterable[SharedVector]) -> dict[tuple[int, bytes], int]:
    """Store vectors, unless others have done so. Return their ids by key; they are not removed in this transaction.

    Waits for a transaction that stores the same.
    """
    wanted = {vector.key: vector for vector in vectors}
    known: dict[tuple[int, bytes], int] = {}
    while missing := sorted(wanted.keys() - known.keys()):
        known |= {
            (content_id, bytes(digest)): int(id_)
            for content_id, digest, id_ in select_by_hash(db, _SELECT_KNOWN, missing, names=("content_id", "digest"))
        }
        # In order: two transactions that store the same do not wait for each other.
        new = [wanted[key] for key in missing if key not in known]
        db.run_many(_add, [_row(vector) for vector in new])
    return known


def _row(vector: SharedVector) -> dict[str, Any]:
    ids = {"content": vector.content.id, "source": vector.content.source_id}
    return ids | {"digest": vector.digest, "words": vector.words}


def note_sources(db: Write, found: Iterable[tuple[int, int]]) -> None:
    """Note whose entries have shared vectors of which sources. found: pairs of user id and source id."""
    if rows := sorted(set(found)):
        users, sources = (list(column) for column in zip(*rows, strict=True))
        db.run(_add_sources, users=users, sources=sources)


# Removing and checking


def lock_unused(db: Write, ids: Iterable[int]) -> list[int]:
    """Lock vectors that are to be removed, except those that entries are about to refer to. Never waits."""
    return db.scalars(_lock, ids=list(ids))


def clear(db: Write) -> None:
    """Remove all shared vectors. The caller has removed the rows that refer to them."""
    if not is_sqlite(db.connection):
        db.run(delete(shared_vectors))
        db.run(delete(search_sources))


def has_vector() -> ColumnElement[bool]:
    """Return the condition that a search can find the vector of a row of `search_vectors`, its own or a shared one."""
    is_found = (
        select(shared_vectors.c.id)
        .join(search_sources, search_sources.c.source_id == shared_vectors.c.source_id)
        .where(shared_vectors.c.id == search_vectors.c.vector_id, search_sources.c.user_id == search_vectors.c.user_id)
    )
    return or_(search_vectors.c.words.is_not(None), is_found.exists())


_lock = (
    select(shared_vectors.c.id)
    .where(in_list(shared_vectors.c.id, "ids"))
    .order_by(shared_vectors.c.id)
    .with_for_update(skip_locked=True)
)
