"""Reads earlier versions of entries, with what has changed since."""

from __future__ import annotations

from msgspec import Struct

from tidings.base.errors import NotFound
from tidings.base.messages import msg
from tidings.base.times import Instant
from tidings.engine.database import Read
from tidings.history import store
from tidings.history.differences import mark_differences, mark_text_differences
from tidings.history.store import Article, Version
from tidings.services.entries.entries import owned_entry, unknown_entry


class ComparedVersion(Struct, frozen=True):
    """An earlier version of an entry, and what differs from it in the present one."""

    version: int
    replaced_at: Instant
    earlier: Article
    title_differences: str
    """HTML of the present title, with <del> and <ins>."""
    content_differences: str
    """Clean HTML of the present content, with <del> and <ins>."""


def versions_of(db: Read, user_id: int, entry_id: int) -> list[Version]:
    """Return the earlier versions of an entry, the newest first. Raises NotFound."""
    owned_entry(db, user_id, entry_id)
    return store.earlier_versions(db, user_id, entry_id)


def compare_version(db: Read, user_id: int, entry_id: int, version: int) -> ComparedVersion:
    """Return an earlier version with the differences to the present one. Raises NotFound."""
    known = {one.version: one for one in versions_of(db, user_id, entry_id)}
    earlier = store.article(db, user_id, entry_id, version)
    present = store.present(db, user_id, entry_id)
    if present is None:
        raise unknown_entry(entry_id)
    if earlier is None or version not in known:
        raise NotFound(msg("The entry {id} has no earlier version {version}.", id=entry_id, version=version))
    return ComparedVersion(
        version,
        known[version].replaced_at,
        earlier,
        mark_text_differences(earlier.title, present.title),
        mark_differences(earlier.content, present.content),
    )
