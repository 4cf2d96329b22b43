"""The statements of earlier versions, and the listener that keeps them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from msgspec import Struct
from sqlalchemy import and_, bindparam, delete, func, insert, select

from tidings.base.times import Instant
from tidings.content.cleaning import text_of
from tidings.domain.entries.entries import EditedEntryField, ReadyEntry
from tidings.engine.database import Read, Row, Write
from tidings.engine.statements import in_list
from tidings.history.tables import entry_versions
from tidings.services.listeners import ArrivingEntries
from tidings.storage.entries.contents import body, has_body, has_shared
from tidings.storage.schema import entries, entry_contents, shared_contents

# How many earlier versions of an entry are kept.
MAX_VERSIONS: Final = 5
# Longer articles, in characters of HTML, are not kept.
MAX_SIZE: Final = 500_000


class Version(Struct, frozen=True):
    """An earlier version of an entry, without its content."""

    version: int
    """Counted from 1 for each entry."""
    title: str
    replaced_at: Instant


class Article(Struct, frozen=True):
    """The title and the content of an entry, as its feed has them."""

    title: str
    content: str
    """Clean HTML."""


_of_user = entry_versions.c.user_id == bindparam("user")
_of_entry = and_(_of_user, entry_versions.c.entry_id == bindparam("entry"))
_select_versions = (
    select(entry_versions.c.version, entry_versions.c.title, entry_versions.c.replaced_at)
    .where(_of_entry)
    .order_by(entry_versions.c.version.desc())
)
_select_article = select(entry_versions.c.title, entry_versions.c.content).where(
    _of_entry, entry_versions.c.version == bindparam("version")
)
_select_present = (
    select(entries.c.id, entries.c.title, entries.c.edited, body, entry_contents.c.other_content)
    .select_from(entries.join(entry_contents, has_body).outerjoin(shared_contents, has_shared))
    .where(entries.c.user_id == bindparam("user"), in_list(entries.c.id, "ids"))
)
_select_last = (
    select(entry_versions.c.entry_id, func.max(entry_versions.c.version))
    .where(_of_user, in_list(entry_versions.c.entry_id, "ids"))
    .group_by(entry_versions.c.entry_id)
)
_add = insert(entry_versions)
_delete_up_to = delete(entry_versions).where(_of_entry, entry_versions.c.version <= bindparam("last"))


def earlier_versions(db: Read, user_id: int, entry_id: int) -> list[Version]:
    """Return the earlier versions of an entry of the user, the newest first."""
    return db.all(Version, _select_versions, user=user_id, entry=entry_id)


def article(db: Read, user_id: int, entry_id: int, version: int) -> Article | None:
    return db.one(Article, _select_article, user=user_id, entry=entry_id, version=version)


def present(db: Read, user_id: int, entry_id: int) -> Article | None:
    """Return what an entry of the user has now: of its feed, if the whole article is shown instead."""
    row = db.row(_select_present, user=user_id, ids=[entry_id])
    return None if row is None else Article(row["title"], _content_of_feed(row) or row["content"])


def keep_versions(db: Write, arriving: Sequence[ArrivingEntries]) -> None:
    """Keep the stored versions of entries of which the publisher has changed words.

    Called before the changes are written. Without changed entries no statement runs.
    """
    for one in arriving:
        if one.changed and not one.feed.discard_versions:
            _keep(db, one.user.id, one.changed, one.now)


def _keep(db: Write, user_id: int, changed: Mapping[int, ReadyEntry], now: Instant) -> None:
    kept = {
        row["id"]: Article(row["title"], content)
        for row in db.rows(_select_present, user=user_id, ids=sorted(changed))
        if (content := _content_of_feed(row)) is not None and _has_other_words(row, content, changed[row["id"]])
    }
    if not kept:
        return
    last = dict(db.tuples(_select_last, user=user_id, ids=sorted(kept)))
    db.run_many(
        _add,
        [
            {
                "entry_id": id_,
                "version": last.get(id_, 0) + 1,
                "user_id": user_id,
                "title": was.title,
                "content": was.content,
                "replaced_at": now,
            }
            for id_, was in kept.items()
        ],
    )
    for id_, version in last.items():
        if version >= MAX_VERSIONS:
            db.run(_delete_up_to, user=user_id, entry=id_, last=version + 1 - MAX_VERSIONS)


def _content_of_feed(row: Row) -> str | None:
    """Return the content that the publisher has changed; None if only the user's own is left."""
    if EditedEntryField.CONTENT in EditedEntryField(row["edited"]):
        content: str | None = row["other_content"]
    else:
        content = row["content"]
    return content


def _has_other_words(row: Row, content: str, entry: ReadyEntry) -> bool:
    """Return whether the words of the title or of the content change; pictures and addresses alone do not count."""
    if len(content) > MAX_SIZE:
        return False
    if row["title"] != entry.title and EditedEntryField.TITLE not in EditedEntryField(row["edited"]):
        return True
    return content != entry.content and text_of(content) != text_of(entry.content)
