"""Numbers in titles of feeds are sorted by value: stored keys with digits change.

The key is computed here as it was when this migration was written: code that changes later must not change what an old
migration does.
"""

from __future__ import annotations

import re

from alembic import op
from sqlalchemy import Integer, Text, bindparam, column, select, table

revision = "0084"
down_revision = "0083"
branch_labels = None
depends_on = None

BATCH = 1_000
NUMBER = re.compile("[0-9]+")

feeds = table("feeds", column("id", Integer), column("title_key", Text))


def with_length(number: re.Match[str]) -> str:
    digits = number[0].lstrip("0") or "0"
    return (str(len(digits)) if len(digits) < 9 else f"9{len(digits):07}") + digits


def upgrade() -> None:
    connection, last = op.get_bind(), 0
    following = (
        select(feeds.c.id, feeds.c.title_key).where(feeds.c.id > bindparam("last")).order_by(feeds.c.id).limit(BATCH)
    )
    update = feeds.update().where(feeds.c.id == bindparam("number")).values(title_key=bindparam("new_key"))
    while rows := connection.execute(following, {"last": last}).all():
        changed = [
            {"number": row.id, "new_key": new_key}
            for row in rows
            if (new_key := NUMBER.sub(with_length, row.title_key)) != row.title_key
        ]
        if changed:
            connection.execute(update, changed)
        last = rows[-1].id
