"""After how many days users have old unread entries marked as read."""

from __future__ import annotations

from alembic import op
from sqlalchemy import Column, ForeignKeyConstraint, Integer, PrimaryKeyConstraint, text

revision = "0076"
down_revision = "0075"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "read_after",
        Column("id", Integer(), nullable=False),
        Column("user_id", Integer(), nullable=False),
        Column("category_id", Integer()),
        Column("feed_id", Integer()),
        Column(
            "days",
            Integer(),
            server_default=text("0"),
            nullable=False,
            comment="0: never. Without category and feed it holds for all feeds; a feed comes before its category.",
        ),
        ForeignKeyConstraint(["user_id"], ["users.id"], name=op.f("fk_read_after_user_id_users"), ondelete="CASCADE"),
        ForeignKeyConstraint(
            ["category_id"], ["categories.id"], name=op.f("fk_read_after_category_id_categories"), ondelete="CASCADE"
        ),
        ForeignKeyConstraint(["feed_id"], ["feeds.id"], name=op.f("fk_read_after_feed_id_feeds"), ondelete="CASCADE"),
        PrimaryKeyConstraint("id", name=op.f("pk_read_after")),
        sqlite_autoincrement=True,
        comment="After how many days without a change unread entries become read.",
    )
    op.create_index("ix_read_after_user", "read_after", ["user_id", "id"])
    for column in ("category_id", "feed_id"):
        op.create_index(
            f"ix_read_after_{column.removesuffix('_id')}",
            "read_after",
            [column],
            sqlite_where=text(f"{column} IS NOT NULL"),
            postgresql_where=text(f"{column} IS NOT NULL"),
        )
