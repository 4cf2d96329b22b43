"""Titles of feeds are sorted without accents, too: stored keys of other letters than ASCII change.

The key is computed here as it was when this migration was written: code that changes later must not change what an old
migration does. A later form of the key needs a migration of its own.
"""

from __future__ import annotations

import re
import unicodedata

import sqlalchemy as sa
from alembic import op

revision = "0041"
down_revision = "0039"
branch_labels = None
depends_on = None

BATCH = 1_000
COMMENT = "Without case and accents, for the order of the feed list."

feeds = sa.table("feeds", sa.column("id", sa.Integer), sa.column("title", sa.Text), sa.column("title_key", sa.Text))

# Combining marks; the Cyrillic short i is a letter of its own.
MARKS = re.compile("[\u0300-\u0305\u0307-\u036f]+|(?<!\u0438)\u0306")
# Letters that Unicode does not decompose.
UNDECOMPOSED = str.maketrans({
    "\u00e6": "ae", "\u00f0": "d", "\u00f8": "o", "\u00fe": "th", "\u0111": "d", "\u0127": "h", "\u0131": "i",
    "\u0142": "l", "\u0153": "oe", "\u0167": "t",
})  # fmt: skip


def sort_key(name: str) -> str:
    folded = name.strip().casefold()
    if folded.isascii():
        return folded
    plain = MARKS.sub("", unicodedata.normalize("NFKD", folded).translate(UNDECOMPOSED))
    return unicodedata.normalize("NFC", plain).casefold().strip() or folded


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
