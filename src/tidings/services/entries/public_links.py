"""Public links to single entries: create, revoke, and find the entry of a link."""

from __future__ import annotations

import secrets

from msgspec import Struct

from tidings.base.errors import NotFound
from tidings.base.messages import msg
from tidings.domain.entries.entries import Entry
from tidings.engine.database import Database
from tidings.services.entries.entries import owned_entry
from tidings.storage.entries import counters, entry_lists, public_links
from tidings.storage.feeds import feeds

CODE_BYTES = 16


class PublicEntry(Struct, frozen=True):
    """An entry for a visitor with its public link, with what the page shows of its feed."""

    entry: Entry
    content: str
    """Cleaned HTML."""
    feed_title: str
    site_url: str
    no_media_player: bool


class PublicLinks:
    def __init__(self, database: Database) -> None:
        self._database = database

    def create(self, user_id: int, entry_id: int) -> str:
        """Return the code of the link of an entry, a new one if it has none. Raises NotFound."""
        with self._database.writing() as db:
            counters.lock(db, user_id, [owned_entry(db, user_id, entry_id).feed_id])
            entry = owned_entry(db, user_id, entry_id)
            code = entry.share_code or secrets.token_urlsafe(CODE_BYTES)
            if not entry.share_code:
                public_links.set_code(db, user_id, entry_id, code)
            return code

    def revoke(self, user_id: int, entry_id: int) -> None:
        """Delete the link of an entry; `create` makes another one later. Raises NotFound."""
        with self._database.writing() as db:
            owned_entry(db, user_id, entry_id)
            public_links.set_code(db, user_id, entry_id, "")

    def find(self, code: str) -> PublicEntry:
        """Return the entry of a link. Raises NotFound if the code is unknown or revoked."""
        with self._database.reading() as db:
            entry = public_links.by_code(db, code[:100])
            feed = feeds.get(db, entry.user_id, entry.feed_id) if entry else None
            if entry is None or feed is None:
                raise NotFound(msg("Nothing is shared at this address."))
            content = entry_lists.bodies(db, [entry.user_id], [entry.id]).get(entry.id, "")
            return PublicEntry(entry, content, feed.title, feed.site_url, feed.no_media_player)
