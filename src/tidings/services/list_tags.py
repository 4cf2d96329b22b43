"""The tags of lists, with which clients ask whether a list has changed since they last read it.

Source: RFC 9110, sections 8.8.1 (weak validators) and 8.8.3 (entity tags).
"""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Callable, Sequence
from typing import Any

import msgspec

from tidings import __version__
from tidings.base.times import HOUR
from tidings.domain.accounts.users import User
from tidings.domain.entries.saved_views import SavedView
from tidings.engine.database import Database
from tidings.services.clock import Clock
from tidings.services.entries.queries import Queries
from tidings.storage.accounts import change_log


class ListTags:
    """Makes tags from the version of a user's lists, without reading the lists."""

    def __init__(self, database: Database, clock: Clock, queries: Queries) -> None:
        self._database = database
        self._clock = clock
        self._queries = queries

    def tag(
        self,
        user: User,
        request: Sequence[Any],
        *,
        queries: Sequence[str] = (),
        uses_view: Callable[[SavedView], bool] | None = None,
        with_checks: bool = False,
    ) -> str | None:
        """Return the weak tag of a list; None if it changes with time, and not only with what is stored.

        request: all that decides what is shown, besides the user: address, parameters, kind of client.
        queries: which entries the list has. uses_view: whether the query of a saved view matters to it.
        with_checks: it shows when feeds were checked. Such a time may be up to an hour old with an equal tag.
        Call it before the list is read: a tag may be older than its list, and never newer.
        """
        with self._database.reading(by_key=True) as db:
            version = change_log.version(db, user.id)
            asked = uses_view or (lambda _view: False)
            if version is None or (
                (queries or uses_view) and self._queries.change_with_time(db, user.id, asked, *queries)
            ):
                return None
        hour = self._clock() // HOUR if with_checks else 0
        # With the user as recognised, perhaps some moments ago: the list follows these settings.
        shown = msgspec.structs.replace(user, last_login_at=None)
        encoded = msgspec.json.encode([__version__, shown, version, hour, *request])
        digest = hashlib.blake2b(encoded, digest_size=15, usedforsecurity=False).digest()
        return f'W/"{base64.urlsafe_b64encode(digest).decode()}"'
