"""On PostgreSQL, search vectors of entries with a shared content are stored once.

Vectors are not rewritten here: each source with shared contents is marked, and workers index its entries again, in
batches. A database that is distributed over several servers keeps a vector for each entry.
"""

from __future__ import annotations

from alembic import op
from sqlalchemy import (
    BigInteger,
    Column,
    ForeignKeyConstraint,
    Integer,
    LargeBinary,
    PrimaryKeyConstraint,
    UniqueConstraint,
    text,
)
from sqlalchemy.dialects.postgresql import TSVECTOR

revision = "0093"
down_revision = "0092"
branch_labels = None
depends_on = None


def upgrade() -> None:
    if op.get_bind().dialect.name != "postgresql":
        return
    op.create_table(
        "shared_vectors",
        Column("id", BigInteger(), nullable=False),
        Column("content_id", BigInteger(), nullable=False),
        Column("source_id", Integer(), nullable=False, comment="The content's."),
        Column(
            "digest", LargeBinary(), nullable=False, comment="Half of the SHA-256 of title, body and language group."
        ),
        Column("words", TSVECTOR(), nullable=False, comment="Terms without an owner; they never change."),
        ForeignKeyConstraint(
            ["content_id"],
            ["shared_contents.id"],
            name=op.f("fk_shared_vectors_content_id_shared_contents"),
            ondelete="CASCADE",
        ),
        PrimaryKeyConstraint("id", name=op.f("pk_shared_vectors")),
        UniqueConstraint("content_id", "digest", name=op.f("uq_shared_vectors_content_id_digest")),
        comment="Vectors of entries that several users may have. Read through search_vectors of a user only.",
    )
    op.create_index("ix_shared_vectors_words", "shared_vectors", ["words"], postgresql_using="gin")
    op.create_index("ix_shared_vectors_source", "shared_vectors", ["source_id"])
    # As for search_vectors. Here nearly all vectors are outside of the rows: a search reads many rows of which no entry
    # of the user has one.
    op.execute("ALTER TABLE shared_vectors ALTER COLUMN words SET STORAGE EXTERNAL")
    op.execute("ALTER TABLE shared_vectors ALTER COLUMN words SET STATISTICS 0")
    op.execute("ALTER TABLE shared_vectors SET (toast_tuple_target = 128)")
    op.create_table(
        "search_sources",
        Column("user_id", Integer(), autoincrement=False, nullable=False),
        Column("source_id", Integer(), autoincrement=False, nullable=False),
        ForeignKeyConstraint(
            ["user_id"], ["users.id"], name=op.f("fk_search_sources_user_id_users"), ondelete="CASCADE"
        ),
        PrimaryKeyConstraint("user_id", "source_id", name=op.f("pk_search_sources")),
        comment="Of which sources entries of a user have shared vectors, even if the feed has moved to another source.",
    )
    op.add_column(
        "search_vectors",
        Column(
            "vector_id",
            BigInteger(),
            nullable=True,
            comment="Of the shared vector. Null: the entry has a vector of its own.",
        ),
    )
    op.alter_column("search_vectors", "words", nullable=True, comment="Null: the entry has a shared vector.")
    op.create_index(
        "ix_search_vectors_shared",
        "search_vectors",
        ["user_id", "vector_id", "entry_id"],
        postgresql_where=text("vector_id IS NOT NULL"),
    )
    op.execute("UPDATE sources SET unshared_after = 0 WHERE is_shared")
