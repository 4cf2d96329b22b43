"""Entries that users share by a public link."""

from __future__ import annotations

from sqlalchemy import bindparam, literal_column, select, update

from tidings.domain.entries.entries import Entry
from tidings.engine.database import Read, Write, columns
from tidings.storage.accounts import change_log
from tidings.storage.accounts.change_log import Kind
from tidings.storage.schema import entries

# Exactly the condition of the partial index: otherwise neither engine uses it.
_select_by_code = select(*columns(entries, Entry)).where(
    entries.c.share_code == bindparam("code"), literal_column("share_code <> ''")
)
_set_code = (
    update(entries)
    .where(entries.c.user_id == bindparam("user"), entries.c.id == bindparam("entry"))
    .values(share_code=bindparam("code"))
)


def by_code(db: Read, code: str) -> Entry | None:
    """Return the shared entry of any user: the code is the permission. None if there is none."""
    return db.one(Entry, _select_by_code, code=code) if code else None


def set_code(db: Write, user_id: int, entry_id: int, code: str) -> None:
    """Share an entry of the user under a code. code: "" to stop sharing."""
    db.run(_set_code, user=user_id, entry=entry_id, code=code)
    change_log.note(db, user_id, Kind.ENTRY, [entry_id])
