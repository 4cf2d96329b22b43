"""Bodies and search vectors name their owner, so that PostgreSQL can partition them by user (`tidings migrate`).

SQLite writes the bodies anew and needs as much free space as they take. PostgreSQL writes the rows again, but
not bodies of more than 2 kB, which it keeps elsewhere.
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0035"
down_revision = "0034"
branch_labels = None
depends_on = None

COMMENT = "The entry's."


def upgrade() -> None:
    if op.get_bind().dialect.name == "sqlite":
        _write_bodies_anew()
        return
    for table in ("entry_contents", "search_vectors"):
        op.add_column(table, sa.Column("user_id", sa.Integer(), nullable=True, comment=COMMENT))
        op.execute(f"UPDATE {table} SET user_id = entries.user_id FROM entries WHERE entries.id = {table}.entry_id")  # noqa: S608 - literals
        op.alter_column(table, "user_id", nullable=False)


def _write_bodies_anew() -> None:
    """A column that is added comes behind the bodies, where SQLite finds it only by reading them."""
    op.rename_table("entry_contents", "former_contents")
    op.create_table(
        "entry_contents",
        sa.Column("entry_id", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("user_id", sa.Integer(), nullable=False, comment=COMMENT),
        sa.Column("content", sa.LargeBinary(), nullable=False, comment="Cleaned HTML."),
        sa.Column(
            "other_content",
            sa.LargeBinary(),
            nullable=True,
            comment="What the user can switch to: of the feed, or the whole article.",
        ),
        sa.Column(
            "chapters",
            sa.Text(),
            server_default=sa.text("''"),
            nullable=False,
            comment="JSON array of the chapters in the feed, or empty.",
        ),
        sa.ForeignKeyConstraint(
            ["entry_id"], ["entries.id"], name=op.f("fk_entry_contents_entry_id_entries"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("entry_id", name=op.f("pk_entry_contents")),
    )
    op.execute(
        "INSERT INTO entry_contents (entry_id, user_id, content, other_content, chapters)"
        " SELECT entry_id, user_id, content, other_content, chapters FROM former_contents"
        " JOIN entries ON entries.id = entry_id ORDER BY entry_id"
    )
    op.drop_table("former_contents")
