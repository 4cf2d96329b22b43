"""The content of an entry, stored in a table of its own, and what the user can switch to."""

from __future__ import annotations

from msgspec import Struct
from sqlalchemy import and_, bindparam, case, select, update

from tidings.domain.entries.entries import EditedEntryField
from tidings.engine.database import Read, Write
from tidings.storage.schema import entries, entry_contents

_update = update(entry_contents).where(
    entry_contents.c.user_id == bindparam("user"), entry_contents.c.entry_id == bindparam("entry")
)
_set = _update.values(content=bindparam("body"))
_set_both = _update.values(content=bindparam("body"), other_content=bindparam("other"))
_set_of_feed = _update.values(content=bindparam("body"), chapters=bindparam("written"))
_body_of_feed = bindparam("body", type_=entry_contents.c.other_content.type)
_set_hidden_of_feed = _update.values(
    other_content=case((entry_contents.c.other_content.is_not(None), _body_of_feed)), chapters=bindparam("written")
)
# The body of an entry; a condition on the owner in both tables lets PostgreSQL read one partition.
has_body = and_(entry_contents.c.entry_id == entries.c.id, entry_contents.c.user_id == entries.c.user_id)
_select_extras = (
    select(entry_contents.c.chapters, entry_contents.c.other_content, entries.c.edited)
    .select_from(entry_contents.join(entries, has_body))
    .where(entries.c.user_id == bindparam("user"), entries.c.id == bindparam("entry"))
)


class ContentExtras(Struct, frozen=True):
    """What is stored next to an entry's content."""

    chapters: str = ""
    """As `domain.entries.entries` writes them."""
    other_content: str | None = None
    """Clean HTML, None if there is nothing to switch to."""


class EntryExtras(ContentExtras, frozen=True):
    """What is stored next to an entry's content, with the fields that its user has edited."""

    edited: int = 0
    """Bits of the fields that no longer follow the publisher."""

    @property
    def is_whole_article(self) -> bool:
        """Whether the content did not come from the feed: then the feed's is what the user can switch to."""
        return bool(self.edited & EditedEntryField.CONTENT)


def extras(db: Read, user_id: int, entry_id: int) -> EntryExtras:
    return db.one(EntryExtras, _select_extras, user=user_id, entry=entry_id) or EntryExtras()


def set_content(db: Write, user_id: int, entry_id: int, content: str) -> None:
    """Replace the content of an entry of the user. content: cleaned HTML.

    The caller calls `search_index.note_changed`.
    """
    db.run(_set, user=user_id, entry=entry_id, body=content)


def set_contents(db: Write, user_id: int, entry_id: int, content: str, other_content: str) -> None:
    """Like `set_content`, with what the user can switch to."""
    db.run(_set_both, user=user_id, entry=entry_id, body=content, other=other_content)


def set_of_feed(db: Write, user_id: int, entry_id: int, content: str, chapters: str, *, is_shown: bool) -> None:
    """Like `set_content`, for what the publisher has changed. chapters: as in `ContentExtras`.

    is_shown: whether the user sees the content of the feed. Otherwise it becomes what the user can switch to, unless
    there is nothing to switch to.
    """
    statement = _set_of_feed if is_shown else _set_hidden_of_feed
    db.run(statement, user=user_id, entry=entry_id, body=content, written=chapters)
