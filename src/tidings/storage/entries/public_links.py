"""Entries that their users show to everybody who has the link."""

from __future__ import annotations

from sqlalchemy import bindparam, literal_column, select, update

from tidings.domain.entries.entries import Entry
from tidings.storage.engine.database import Read, Write, columns
from tidings.storage.schema import entries

# The condition of the index, word for word: neither engine uses a partial one otherwise.
_by_code = select(*columns(entries, Entry)).where(
    entries.c.share_code == bindparam("code"), literal_column("share_code <> ''")
)
_set_code = (
    update(entries)
    .where(entries.c.user_id == bindparam("user"), entries.c.id == bindparam("entry"))
    .values(share_code=bindparam("code"))
)


def by_code(db: Read, code: str) -> Entry | None:
    """Whoever's it is: the code is the permission."""
    return db.one(Entry, _by_code, code=code) if code else None


def set_code(db: Write, user_id: int, entry_id: int, code: str) -> None:
    """code: "" to stop sharing."""
    db.run(_set_code, user=user_id, entry=entry_id, code=code)
