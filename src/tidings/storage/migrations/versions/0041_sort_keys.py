"""Titles of feeds are sorted without accents, too: stored keys of other letters than ASCII change."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

from tidings.base.text import sort_key

revision = "0041"
down_revision = "0039"
branch_labels = None
depends_on = None

BATCH = 1_000
COMMENT = "Without case and accents, for the order of the feed list."

feeds = sa.table("feeds", sa.column("id", sa.Integer), sa.column("title", sa.Text), sa.column("title_key", sa.Text))


def upgrade() -> None:
    connection, last = op.get_bind(), 0
    select = (
        sa.select(feeds.c.id, feeds.c.title, feeds.c.title_key)
        .where(feeds.c.id > sa.bindparam("last"))
        .order_by(feeds.c.id)
        .limit(BATCH)
    )
    update = feeds.update().where(feeds.c.id == sa.bindparam("number")).values(title_key=sa.bindparam("new_key"))
    while rows := connection.execute(select, {"last": last}).all():
        changed = [
            {"number": row.id, "new_key": new_key} for row in rows if (new_key := sort_key(row.title)) != row.title_key
        ]
        if changed:
            connection.execute(update, changed)
        last = rows[-1].id
    # SQLite has no comments.
    if connection.dialect.name == "postgresql":
        op.execute(f"COMMENT ON COLUMN feeds.title_key IS '{COMMENT}'")
