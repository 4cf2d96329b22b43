"""Sources know whether several feeds show them, so that a check need not count their feeds."""

from __future__ import annotations

from alembic import op
from sqlalchemy import Boolean, Column, Integer, column, false, table, text, true

revision = "0090"
down_revision = "0088"
branch_labels = None
depends_on = None

# Within the number of parameters that SQLite allows.
BATCH = 10_000


def upgrade() -> None:
    op.add_column(
        "sources",
        Column(
            "is_shared",
            Boolean(),
            nullable=False,
            server_default=false(),
            comment="A second feed was added: contents of entries are stored once for all feeds.",
        ),
    )
    sources = table("sources", column("id", Integer()), column("is_shared", Boolean()))
    # Two statements: where feeds are on other servers than sources, one cannot read the former and write the latter.
    several = op.get_bind().execute(
        text("SELECT source_id FROM feeds WHERE source_id IS NOT NULL GROUP BY source_id HAVING count(*) > 1")
    )
    ids = sorted(several.scalars())
    for start in range(0, len(ids), BATCH):
        some = ids[start : start + BATCH]
        op.execute(sources.update().where(sources.c.id.in_(some)).values(is_shared=true()))
