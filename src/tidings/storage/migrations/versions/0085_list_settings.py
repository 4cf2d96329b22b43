"""Lists with an order or a layout of their own."""

from __future__ import annotations

from alembic import op
from sqlalchemy import Column, ForeignKeyConstraint, Integer, PrimaryKeyConstraint, Text, UniqueConstraint, text

revision = "0085"
down_revision = "0084"
branch_labels = None
depends_on = None


def upgrade() -> None:
    words = Text().with_variant(Text(collation="C"), "postgresql")
    op.create_table(
        "list_settings",
        Column("id", Integer(), nullable=False),
        Column("user_id", Integer(), nullable=False),
        Column(
            "list",
            words,
            nullable=False,
            comment="unread, starred, history or shared; or f, c or l and the id of a feed, category or label.",
        ),
        Column("feed_id", Integer()),
        Column("category_id", Integer()),
        Column("label_id", Integer()),
        Column(
            "direction", words, server_default=text("''"), nullable=False, comment="asc or desc; empty: as everywhere."
        ),
        Column(
            "density",
            words,
            server_default=text("''"),
            nullable=False,
            comment="How its page lists entries; empty for the device's setting.",
        ),
        _reference("user", "users"),
        _reference("feed", "feeds"),
        _reference("category", "categories"),
        _reference("label", "labels"),
        PrimaryKeyConstraint("id", name=op.f("pk_list_settings")),
        UniqueConstraint("user_id", "list", name=op.f("uq_list_settings_user_id_list")),
        sqlite_autoincrement=True,
        comment="Lists that their users have shown in another way than all others.",
    )
    for name in ("feed", "category", "label"):
        is_set = text(f"{name}_id IS NOT NULL")
        op.create_index(
            f"ix_list_settings_{name}",
            "list_settings",
            [f"{name}_id"],
            sqlite_where=is_set,
            postgresql_where=is_set,
        )


def _reference(name: str, table: str) -> ForeignKeyConstraint:
    return ForeignKeyConstraint(
        [f"{name}_id"],
        [f"{table}.id"],
        name=op.f(f"fk_list_settings_{name}_id_{table}"),
        ondelete="CASCADE",
    )
