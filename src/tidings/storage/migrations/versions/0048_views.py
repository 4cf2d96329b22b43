"""Saved views: queries to which users gave a name."""

from __future__ import annotations

from alembic import op
from sqlalchemy import (
    Boolean,
    Column,
    ForeignKeyConstraint,
    Integer,
    PrimaryKeyConstraint,
    Text,
    UniqueConstraint,
    false,
    text,
)

revision = "0048"
down_revision = "0047"
branch_labels = None
depends_on = None


def upgrade() -> None:
    words = Text().with_variant(Text(collation="C"), "postgresql")
    op.create_table(
        "views",
        Column("id", Integer(), nullable=False),
        Column("user_id", Integer(), nullable=False),
        Column("name", words, nullable=False),
        Column(
            "name_key",
            words,
            nullable=False,
            comment="Case-folded: names are compared without case everywhere.",
        ),
        Column(
            "query",
            words,
            server_default=text("''"),
            nullable=False,
            comment="As its user wrote it; empty for all entries.",
        ),
        Column(
            "entry_order",
            words,
            server_default=text("'published_at'"),
            nullable=False,
            comment="By which time its entries are sorted.",
        ),
        Column("direction", words, server_default=text("'desc'"), nullable=False),
        Column(
            "density",
            words,
            server_default=text("''"),
            nullable=False,
            comment="How densely its page lists entries; empty for the device's setting.",
        ),
        Column("icon", words, server_default=text("'filter'"), nullable=False, comment="Name of a drawing."),
        Column(
            "position",
            Integer(),
            server_default=text("0"),
            nullable=False,
            comment="Place in the sidebar, from 1 on.",
        ),
        Column(
            "in_apps",
            Boolean(),
            server_default=false(),
            nullable=False,
            comment="Apps of the Google Reader API see it as a label.",
        ),
        Column(
            "is_home",
            Boolean(),
            server_default=false(),
            nullable=False,
            comment="The first page after signing in; of one view at most.",
        ),
        ForeignKeyConstraint(["user_id"], ["users.id"], name=op.f("fk_views_user_id_users"), ondelete="CASCADE"),
        PrimaryKeyConstraint("id", name=op.f("pk_views")),
        UniqueConstraint("user_id", "name_key", name=op.f("uq_views_user_id_name_key")),
        sqlite_autoincrement=True,
        comment="Queries to which users gave a name.",
    )
