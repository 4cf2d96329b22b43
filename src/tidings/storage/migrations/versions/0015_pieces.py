"""Which entries the last document of a source held, so that those are not read again."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0015"
down_revision = "0014"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "source_pieces",
        sa.Column("source_id", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("packed", sa.LargeBinary(), nullable=False, comment="See `content.formats.pieces`."),
        sa.ForeignKeyConstraint(
            ["source_id"], ["sources.id"], name="fk_source_pieces_source_id_sources", ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("source_id", name="pk_source_pieces"),
        comment="Which entries the last document held, by digests of their texts.",
    )
