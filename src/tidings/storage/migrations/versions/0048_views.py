"""Saved views: queries to which users gave a name."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0048"
down_revision = "0047"
branch_labels = None
depends_on = None


def upgrade() -> None:
    words = sa.Text().with_variant(sa.Text(collation="C"), "postgresql")
    op.create_table(
        "views",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("user_id", sa.Integer(), nullable=False),
        sa.Column("name", words, nullable=False),
        sa.Column(
            "name_key",
            words,
            nullable=False,
            comment="Case-folded: names are compared without case everywhere.",
        ),
        sa.Column(
            "query",
            words,
            server_default=sa.text("''"),
            nullable=False,
            comment="As its user wrote it; empty for all entries.",
        ),
        sa.Column(
            "entry_order",
            words,
            server_default=sa.text("'published_at'"),
            nullable=False,
            comment="By which time its entries are sorted.",
        ),
        sa.Column("direction", words, server_default=sa.text("'desc'"), nullable=False),
        sa.Column(
            "density",
            words,
            server_default=sa.text("''"),
            nullable=False,
            comment="How densely its page lists entries; empty for the device's setting.",
        ),
        sa.Column("icon", words, server_default=sa.text("'filter'"), nullable=False, comment="Name of a drawing."),
        sa.Column(
            "position",
            sa.Integer(),
            server_default=sa.text("0"),
            nullable=False,
            comment="Place in the sidebar, from 1 on.",
        ),
        sa.Column(
            "in_apps",
            sa.Boolean(),
            server_default=sa.false(),
            nullable=False,
            comment="Apps of the Google Reader API see it as a label.",
        ),
        sa.Column(
            "is_home",
            sa.Boolean(),
            server_default=sa.false(),
            nullable=False,
            comment="The first page after signing in; of one view at most.",
        ),
        sa.ForeignKeyConstraint(["user_id"], ["users.id"], name=op.f("fk_views_user_id_users"), ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_views")),
        sa.UniqueConstraint("user_id", "name_key", name=op.f("uq_views_user_id_name_key")),
        sqlite_autoincrement=True,
        comment="Queries to which users gave a name.",
    )
