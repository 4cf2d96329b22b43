"""Full-text search: the index, what it knows of each entry, what waits to be indexed. And better indexes for lists.

Some now know the status, so that counting under a bound reads nothing else. Two are now always chosen: without
statistics SQLite does not prefer a partial index to a full one with the same order; with its own condition among its
columns it fits that condition, too.
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision = "0002"
down_revision = "0001"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "search_pending",
        sa.Column("entry_id", sa.Integer(), autoincrement=False, nullable=False, comment="Its title or body changed."),
        sa.Column("user_id", sa.Integer(), nullable=False),
        sa.PrimaryKeyConstraint("entry_id", name=op.f("pk_search_pending")),
    )
    op.create_index("ix_search_pending_user", "search_pending", ["user_id", "entry_id"], unique=False)
    if op.get_bind().dialect.name == "sqlite":
        _index_of_sqlite()
    else:
        _index_of_postgresql()
    _again("ix_entries_user_id", "user_id", "id", "status")
    _again("ix_entries_user_published", "user_id", "published_at", "id", "status")
    _again("ix_entries_user_changed", "user_id", "changed_at", "id", "status")
    _again("ix_entries_user_unread", "user_id", "status", "published_at", "id", where="status = 0")
    _again("ix_entries_category_unread", "user_id", "category_id", "status", "published_at", "id", where="status = 0")
    _again("ix_entries_user_starred", "user_id", "starred", "published_at", "id", where="starred = true")
    # Entries that are there already are indexed after the start, the newest first.
    op.execute("INSERT INTO search_pending (entry_id, user_id) SELECT id, user_id FROM entries")


def _index_of_sqlite() -> None:
    op.create_table(
        "search_documents",
        sa.Column(
            "id",
            sa.Integer(),
            autoincrement=False,
            nullable=False,
            comment="The entry's, also when it is gone.",
        ),
        sa.Column(
            "entry_id",
            sa.Integer(),
            nullable=True,
            comment="Null: the entry is gone, and the index has yet to forget it.",
        ),
        sa.Column("user_id", sa.Integer(), nullable=False),
        sa.Column(
            "words",
            sa.LargeBinary(),
            nullable=False,
            comment="Terms as indexed: of the title, a line feed, of the body.",
        ),
        sa.ForeignKeyConstraint(
            ["entry_id"], ["entries.id"], name=op.f("fk_search_documents_entry_id_entries"), ondelete="SET NULL"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_search_documents")),
        sa.UniqueConstraint("entry_id", name=op.f("uq_search_documents_entry_id")),
    )
    # It gets terms that are made already, with their owner in front: 7/rain. Nothing is left to its tokenizer but the
    # blanks between them.
    op.execute(
        "CREATE VIRTUAL TABLE entry_words USING fts5(title, body, content='', tokenize = \"ascii tokenchars '/'\")"
    )


def _index_of_postgresql() -> None:
    op.create_table(
        "search_vectors",
        sa.Column("entry_id", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("words", postgresql.TSVECTOR(), nullable=False),
        sa.ForeignKeyConstraint(
            ["entry_id"], ["entries.id"], name=op.f("fk_search_vectors_entry_id_entries"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("entry_id", name=op.f("pk_search_vectors")),
    )
    # Kept beside the row as it is: compression gains little, and checking a phrase would undo it each time.
    op.execute("ALTER TABLE search_vectors ALTER COLUMN words SET STORAGE EXTERNAL")
    # Without statistics PostgreSQL believes that a search finds little, and asks the index. With them it compares the
    # vectors of all rows as soon as a word is frequent: it does not know what it costs to fetch them.
    op.execute("ALTER TABLE search_vectors ALTER COLUMN words SET STATISTICS 0")
    op.create_index("ix_search_vectors_words", "search_vectors", ["words"], unique=False, postgresql_using="gin")


def _again(name: str, *columns: str, where: str = "") -> None:
    condition = sa.text(where) if where else None
    op.drop_index(name, "entries")
    op.create_index(name, "entries", list(columns), unique=False, sqlite_where=condition, postgresql_where=condition)
