"""Feeds in several categories."""

from __future__ import annotations

from alembic import op
from sqlalchemy import Column, ForeignKeyConstraint, Integer, PrimaryKeyConstraint

revision = "0055"
down_revision = "0054"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "feed_categories",
        Column("feed_id", Integer(), autoincrement=False, nullable=False),
        Column("category_id", Integer(), autoincrement=False, nullable=False),
        Column("user_id", Integer(), nullable=False),
        ForeignKeyConstraint(
            ["category_id"],
            ["categories.id"],
            name=op.f("fk_feed_categories_category_id_categories"),
            ondelete="CASCADE",
        ),
        ForeignKeyConstraint(
            ["feed_id"], ["feeds.id"], name=op.f("fk_feed_categories_feed_id_feeds"), ondelete="CASCADE"
        ),
        PrimaryKeyConstraint("feed_id", "category_id", name=op.f("pk_feed_categories")),
        comment="The categories of a feed other than its first, which is in feeds.",
        sqlite_with_rowid=False,
    )
    op.create_index("ix_feed_categories_category", "feed_categories", ["category_id", "feed_id"])
    op.create_index("ix_feed_categories_user", "feed_categories", ["user_id", "feed_id", "category_id"])
