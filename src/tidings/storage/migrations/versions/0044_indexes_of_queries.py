"""Indexes for queries: the number of words, words of the title on PostgreSQL, languages, and types of enclosures.

Everything is indexed again in the background. Until then words are found as before, but those of a title
count as words of the text on PostgreSQL, and the number of words is 0.
"""

from __future__ import annotations

from alembic import op
from sqlalchemy import Column, Integer, text

revision = "0044"
down_revision = "0043"
branch_labels = None
depends_on = None


def upgrade() -> None:
    is_postgresql = op.get_bind().dialect.name == "postgresql"
    table = "search_vectors" if is_postgresql else "search_documents"
    op.add_column(
        table,
        Column("word_count", Integer, server_default=text("0"), nullable=False, comment="Of the body."),
    )
    op.create_index(f"ix_{table}_word_count", table, ["user_id", "word_count", "entry_id"])
    prefix = text("substr(language, 1, 100)")
    op.create_index("ix_entries_user_language", "entries", ["user_id", prefix, "id", "status"])
    op.create_index("ix_enclosures_user_kind", "enclosures", ["user_id", text("substr(mime_type, 1, 6)"), "entry_id"])
    op.execute(
        "INSERT INTO search_pending (entry_id, user_id) SELECT id, user_id FROM entries WHERE true"
        " ON CONFLICT (entry_id) DO NOTHING"
    )
