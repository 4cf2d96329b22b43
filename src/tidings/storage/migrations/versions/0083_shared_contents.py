"""Contents that several feeds of a source have are stored once.

Nothing is copied here: each source with several feeds is marked, and workers share its contents afterwards, in batches.
"""

from __future__ import annotations

from alembic import op
from sqlalchemy import (
    BigInteger,
    Column,
    Integer,
    LargeBinary,
    PrimaryKeyConstraint,
    UniqueConstraint,
    text,
)

revision = "0083"
down_revision = "0082"
branch_labels = None
depends_on = None

LONG_ID = BigInteger().with_variant(Integer(), "sqlite")


def upgrade() -> None:
    op.create_table(
        "shared_contents",
        Column("id", LONG_ID, nullable=False),
        Column("source_id", Integer(), nullable=False, comment="Whose entries have it; several feeds show the source."),
        Column(
            "digest", LargeBinary(), nullable=False, comment="Half of the SHA-256 of the content, which never changes."
        ),
        Column("content", LargeBinary(), nullable=False, comment="Cleaned HTML."),
        PrimaryKeyConstraint("id", name=op.f("pk_shared_contents")),
        UniqueConstraint("source_id", "digest", name=op.f("uq_shared_contents_source_id_digest")),
        comment="Contents of entries that several users may have. Read through the entry of a user only.",
        sqlite_autoincrement=True,
    )
    _refer()
    is_shared = text("shared_id IS NOT NULL")
    op.create_index(
        "ix_entry_contents_shared",
        "entry_contents",
        ["shared_id"],
        sqlite_where=is_shared,
        postgresql_where=is_shared,
    )
    op.add_column(
        "sources",
        Column(
            "unshared_after",
            Integer(),
            nullable=True,
            comment="Contents of entries of feeds with a higher id may not be shared yet; null: no feed's.",
        ),
    )
    is_unshared = text("unshared_after IS NOT NULL")
    op.create_index("ix_sources_unshared", "sources", ["id"], sqlite_where=is_unshared, postgresql_where=is_unshared)
    op.execute(
        "UPDATE sources SET unshared_after = 0 WHERE id IN"
        " (SELECT source_id FROM feeds GROUP BY source_id HAVING count(*) > 1)"
    )


def _refer() -> None:
    """Add the column that names a shared content. Its rows are not rewritten."""
    name, comment = "fk_entry_contents_shared_id_shared_contents", "Null: the entry has a content of its own."
    if op.get_bind().dialect.name == "sqlite":
        # Alembic adds a constraint with a statement of its own, which SQLite does not have.
        reference = f"CONSTRAINT {name} REFERENCES shared_contents (id)"
        op.execute(f"ALTER TABLE entry_contents ADD COLUMN shared_id INTEGER {reference}")
        return
    op.add_column("entry_contents", Column("shared_id", LONG_ID, nullable=True, comment=comment))
    op.create_foreign_key(name, "entry_contents", "shared_contents", ["shared_id"], ["id"])
    op.execute("COMMENT ON COLUMN entry_contents.content IS 'Cleaned HTML; empty with a shared content.'")
