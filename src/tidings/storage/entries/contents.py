"""The content of an entry, stored in a table of its own."""

from __future__ import annotations

from sqlalchemy import bindparam, update

from tidings.storage.engine.database import Write
from tidings.storage.schema import entry_contents

_set = update(entry_contents).where(entry_contents.c.entry_id == bindparam("entry")).values(content=bindparam("body"))


def set_content(db: Write, entry_id: int, content: str) -> None:
    """Replace the content of an entry. content: cleaned HTML.

    The caller has checked the owner, and calls `search_index.note_changed`.
    """
    db.run(_set, entry=entry_id, body=content)
