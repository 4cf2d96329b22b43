"""Categories form a tree: the category that one is under, its name, and how apps that know no tree see it."""

from __future__ import annotations

from alembic import op
from sqlalchemy import Column, Integer, Text

revision = "0047"
down_revision = "0046"
branch_labels = None
depends_on = None

WORDS = Text().with_variant(Text(collation="C"), "postgresql")


def upgrade() -> None:
    op.add_column("categories", Column("parent_id", Integer, comment="The category that it is under; null: none."))
    op.add_column(
        "categories",
        Column("name", WORDS, server_default="", nullable=False, comment="The last part of its path."),
    )
    op.execute("UPDATE categories SET name = title")
    op.create_index("ix_categories_user_parent", "categories", ["user_id", "parent_id"])
    if op.get_bind().dialect.name == "postgresql":
        op.alter_column("categories", "title", comment="As apps show it: its path or its name.")
    op.add_column(
        "users",
        Column(
            "category_titles",
            WORDS,
            server_default="path",
            nullable=False,
            comment="How apps that know no tree see a category: path or name.",
        ),
    )
