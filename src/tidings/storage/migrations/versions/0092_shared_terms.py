"""On SQLite, search terms of entries with a shared content are stored once.

Nothing is copied here: each source with shared contents is marked, and workers share its terms afterwards, in batches.
"""

from __future__ import annotations

from alembic import op
from sqlalchemy import Column, Integer, LargeBinary, PrimaryKeyConstraint, UniqueConstraint, text

revision = "0092"
down_revision = "0091"
branch_labels = None
depends_on = None


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
    op.execute("UPDATE sources SET unshared_after = 0 WHERE is_shared")
