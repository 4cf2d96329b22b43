"""Labels that users give to entries."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0029"
down_revision = "0028"
branch_labels = None
depends_on = None

WORDS = sa.Text().with_variant(sa.Text(collation="C"), "postgresql")


def upgrade() -> None:
    op.create_table(
        "labels",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("user_id", sa.Integer(), nullable=False),
        sa.Column("name", WORDS, nullable=False),
        sa.Column(
            "name_key", WORDS, nullable=False, comment="Case-folded: names are compared without case everywhere."
        ),
        sa.ForeignKeyConstraint(["user_id"], ["users.id"], name=op.f("fk_labels_user_id_users"), ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_labels")),
        sa.UniqueConstraint("user_id", "name_key", name=op.f("uq_labels_user_id_name_key")),
        sqlite_autoincrement=True,
        comment="Names that users give to entries.",
    )
    op.create_table(
        "entry_labels",
        sa.Column("label_id", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("entry_id", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("user_id", sa.Integer(), nullable=False),
        sa.Column(
            "published_at",
            sa.BigInteger(),
            nullable=False,
            comment="The entry's, so that a list of a label need not sort its entries.",
        ),
        sa.ForeignKeyConstraint(
            ["label_id"], ["labels.id"], name=op.f("fk_entry_labels_label_id_labels"), ondelete="CASCADE"
        ),
        sa.ForeignKeyConstraint(
            ["entry_id"], ["entries.id"], name=op.f("fk_entry_labels_entry_id_entries"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("label_id", "entry_id", name=op.f("pk_entry_labels")),
        sqlite_with_rowid=False,
    )
    op.create_index(op.f("ix_entry_labels_entry_id"), "entry_labels", ["entry_id"], unique=False)
    op.create_index(
        "ix_entry_labels_published", "entry_labels", ["label_id", "published_at", "entry_id", "user_id"], unique=False
    )
