"""The content of an entry, stored beside its row."""

from __future__ import annotations

from sqlalchemy import bindparam, update

from tidings.storage.engine.database import Write
from tidings.storage.schema import entry_contents

_set = update(entry_contents).where(entry_contents.c.entry_id == bindparam("entry")).values(content=bindparam("body"))


def set_content(db: Write, entry_id: int, content: str) -> None:
    """content: cleaned HTML. The caller has checked whose entry it is, and notes it for the search index."""
    db.run(_set, entry=entry_id, body=content)
