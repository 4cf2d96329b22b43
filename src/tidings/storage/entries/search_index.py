"""Keeping the full-text index in step. Asking it: `storage.entries.entry_lists`.

    title or body written ─► search_pending ─► index_pending, many entries in one go ─► the index

Indexing an entry costs ten times what storing it does, most of it the same for one entry as for fifty. So whoever
writes entries only leaves a line, and does not wait.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from sqlalchemy import RowMapping, bindparam, delete, exists, select

from tidings.domain.cleaning import text_of
from tidings.domain.entries import search
from tidings.domain.entries.search import SearchQuery
from tidings.domain.entries.stemming import group_of
from tidings.storage.engine import bulk_insert, full_text
from tidings.storage.engine.database import Read, Write
from tidings.storage.engine.full_text import Document
from tidings.storage.engine.id_list import in_list
from tidings.storage.engine.upsert import upsert
from tidings.storage.schema import entries, entry_contents, search_languages, search_pending

MOST_TITLE_TERMS = 300

# A line that is there is written again: on PostgreSQL this waits for whoever is indexing the text as it was.
_add = upsert(search_pending, ["entry_id"], update=["user_id"])
_add_language = upsert(search_languages, ["user_id", "language"])
_languages = (
    select(search_languages.c.language)
    .where(search_languages.c.user_id == bindparam("user"))
    .order_by(search_languages.c.language)
)
_newest = (
    select(search_pending.c.entry_id)
    .order_by(search_pending.c.entry_id.desc())
    .limit(bindparam("limit"))
    # A line that somebody is working on is theirs; and nobody ever waits for anybody here.
    .with_for_update(skip_locked=True)
)
_newest_of_user = _newest.where(search_pending.c.user_id == bindparam("user"))
_any = select(exists(select(search_pending.c.entry_id)))
_any_of_user = select(exists().where(search_pending.c.user_id == bindparam("user")))
_there = select(entries.c.id).where(in_list(entries.c.id, "ids"))
_done = delete(search_pending).where(in_list(search_pending.c.entry_id, "ids"))
_texts = (
    select(entries.c.id, entries.c.user_id, entries.c.title, entries.c.language, entry_contents.c.content)
    .select_from(entries.outerjoin(entry_contents, entry_contents.c.entry_id == entries.c.id))
    .where(in_list(entries.c.id, "ids"))
    # One that is just being deleted is left out: indexing it would wait for that, and that for us.
    .with_for_update(of=entries, key_share=True, skip_locked=True)
)


def questions(db: Read, user_id: int, text: str) -> dict[str, SearchQuery]:
    """What a search asks for, by the group of languages of the entries that it is asked of."""
    groups = ["", *db.scalars(_languages, user=user_id)] if text else [""]
    return {group: search.parse_query(text, group) for group in groups}


def note(db: Write, user_id: int, entry_ids: Iterable[int]) -> None:
    """Title or body of these entries are new or changed."""
    db.run_many(_add, [{"entry_id": id_, "user_id": user_id} for id_ in sorted(entry_ids)])


def note_new(db: Write, numbered: Sequence[tuple[int, int]]) -> None:
    """Entries that nobody has seen yet. numbered: their ids, and those of their users."""
    bulk_insert.add(db, search_pending, [{"entry_id": id_, "user_id": user_id} for id_, user_id in numbered])


def is_behind(db: Read, user_id: int | None = None) -> bool:
    """Whether anything (of one user) waits to be indexed."""
    return bool(db.scalar(_any) if user_id is None else db.scalar(_any_of_user, user=user_id))


def index_pending(db: Write, *, limit: int, user_id: int | None = None) -> int:
    """Index what waits (of one user), the newest first; how many lines were dealt with."""
    if user_id is None:
        ids = db.scalars(_newest, limit=limit)
    else:
        ids = db.scalars(_newest_of_user, user=user_id, limit=limit)
    if not ids:
        return 0
    documents = [_document(row) for row in db.rows(_texts, ids=ids)]
    full_text.index(db, documents)
    languages = sorted({(one.user_id, one.group) for one in documents if one.group})
    db.run_many(_add_language, [{"user_id": user_id, "language": group} for user_id, group in languages])
    missing = set(ids).difference(one.entry_id for one in documents)
    later = db.scalars(_there, ids=sorted(missing)) if missing else []
    done = sorted(set(ids).difference(later))
    db.run(_done, ids=done)
    return len(done)


def has_deleted(db: Read) -> bool:
    """Whether entries that are gone are still in the index. They are in nobody's way."""
    return full_text.has_deleted(db)


def compact(db: Write) -> None:
    """Leave nothing in the index of what was taken out. Takes long."""
    full_text.compact(db)


def remove_deleted(db: Write, *, limit: int) -> int:
    """Take them out; how many."""
    return full_text.remove_deleted(db, limit)


def _document(row: RowMapping) -> Document:
    group = group_of(row["language"])
    return Document(
        entry_id=row["id"],
        user_id=row["user_id"],
        title=search.terms(row["title"], group)[:MOST_TITLE_TERMS],
        body=search.terms(text_of(row["content"] or ""), group),
        group=group,
    )
