"""On SQLite, search terms of entries with a shared content are stored once, and the search index becomes smaller.

The index is built again from the stored terms: FTS5 has two bytes for each word of an entry that is not in the first
column, so this should be the body. Terms are not copied here: each source with shared contents is marked, and workers
share its terms afterwards, in batches.
"""

from __future__ import annotations

from typing import Any

import zstandard
from alembic import op
from sqlalchemy import Column, Connection, Integer, LargeBinary, PrimaryKeyConstraint, UniqueConstraint, text

revision = "0092"
down_revision = "0091"
branch_labels = None
depends_on = None

BATCH = 500


def upgrade() -> None:
    if op.get_bind().dialect.name != "sqlite":
        return
    op.create_table(
        "search_terms",
        Column("id", Integer(), nullable=False),
        Column("digest", LargeBinary(), nullable=False),
        Column("words", LargeBinary(), nullable=False),
        PrimaryKeyConstraint("id", name=op.f("pk_search_terms")),
        UniqueConstraint("digest", name=op.f("uq_search_terms_digest")),
    )
    # Alembic adds a constraint with a statement of its own, which SQLite does not have. Rows are not rewritten.
    reference = "CONSTRAINT fk_search_documents_terms_id_search_terms REFERENCES search_terms (id)"
    op.execute(f"ALTER TABLE search_documents ADD COLUMN terms_id INTEGER {reference}")
    op.create_index(
        "ix_search_documents_terms", "search_documents", ["terms_id"], sqlite_where=text("terms_id IS NOT NULL")
    )
    op.execute("DROP TABLE entry_words")
    # It gets finished terms, with their owner in front: 7/rain. Its tokenizer only splits at the blanks between them.
    op.execute(
        "CREATE VIRTUAL TABLE entry_words USING fts5(body, title, content='', tokenize = \"ascii tokenchars '/'\")"
    )
    _index_again(op.get_bind())
    op.execute("UPDATE sources SET unshared_after = 0 WHERE is_shared")


def _index_again(connection: Connection) -> None:
    after = 0
    page = text("SELECT id, user_id, language, words FROM search_documents WHERE id > :after ORDER BY id LIMIT :limit")
    add = text("INSERT INTO entry_words (rowid, title, body) VALUES (:id, :title, :body)")
    while rows := connection.execute(page, {"after": after, "limit": BATCH}).all():
        connection.execute(add, [_terms(*row) for row in rows])
        after = rows[-1][0]


def _terms(id_: int, user_id: int, language: str, words: bytes) -> dict[str, Any]:
    # The first byte is the format: 0 for plain UTF-8, 1 for zstd.
    plain = zstandard.ZstdDecompressor().decompress(words[1:]) if words[0] else words[1:]
    title, _, body = plain.decode().partition("\n")
    prefix = f"{user_id}{language}/"
    return {
        "id": id_,
        "title": " ".join(prefix + term for term in title.split()),
        "body": " ".join(prefix + term for term in body.split()),
    }
