"""Reads an account from the PostgreSQL database of Miniflux.

Checked with the schema of Miniflux 2.3.4; columns that other versions lack have the values of a new feed or entry.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import groupby
from operator import itemgetter
from types import TracebackType
from typing import Any, Final, Self

from tidings.archives.formats import miniflux
from tidings.archives.readers.foreign_server import ForeignServer, UnreadableServer
from tidings.archives.records import ArchivedCategory, ArchivedEntry, ArchivedFeed, ArchivedLabel
from tidings.base.errors import InvalidInput
from tidings.base.messages import verbatim

_COLUMNS: Final = {
    "users": {"id", "username"},
    "categories": {"id", "user_id", "title"},
    "feeds": {"id", "user_id", "category_id", "title", "feed_url", "site_url"},
    "entries": {"id", "user_id", "feed_id", "hash", "published_at", "title", "url", "content", "status", "starred"},
    "enclosures": {"id", "user_id", "entry_id", "url", "size", "mime_type"},
}
_ENTRY_COLUMNS: Final = (
    "id", "feed_id", "hash", "status", "published_at", "starred", "created_at", "changed_at", "title", "url", "author",
    "comments_url", "language", "reading_time", "content", "tags",
)  # fmt: skip


class MinifluxDatabase:
    """An `AccountSource`, used as a context manager. from_user: may be "" if the database has one user."""

    application = "Miniflux"

    def __init__(self, dsn: str, from_user: str) -> None:
        self._dsn = dsn
        self.username = from_user
        self.entry_count = 0
        self.problems: list[str] = []

    def __enter__(self) -> Self:
        try:
            self._server = ForeignServer(self._dsn)
        except UnreadableServer as error:
            raise _unreadable(error) from error
        try:
            self._columns = self._check()
            self._user = self._find_user()
        except BaseException:
            self._server.close()
            raise
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._server.close()

    def settings(self) -> dict[str, Any]:
        return miniflux.settings_of_row(self._user)

    def categories(self) -> list[ArchivedCategory]:
        rows = self._rows("SELECT * FROM categories WHERE user_id = %(user)s ORDER BY id")
        return [ArchivedCategory(row["title"], bool(row.get("hide_globally"))) for row in rows]

    def labels(self) -> list[ArchivedLabel]:
        return []

    def feeds(self) -> list[ArchivedFeed]:
        statement = (
            "SELECT feeds.*, categories.title AS category_title FROM feeds"
            " JOIN categories ON categories.id = feeds.category_id WHERE feeds.user_id = %(user)s ORDER BY feeds.id"
        )
        return [miniflux.feed_of_row(row) for row in self._rows(statement)]

    def entries(self) -> Iterator[ArchivedEntry]:
        """Yield all entries, the oldest id first, with their enclosures, which a second cursor reads in parallel."""
        (self.entry_count,) = next(self._rows("SELECT count(*) FROM entries WHERE user_id = %(user)s")).values()
        names = ", ".join(name for name in _ENTRY_COLUMNS if name in self._columns["entries"])
        attached = _Attached(self._rows("SELECT * FROM enclosures WHERE user_id = %(user)s ORDER BY entry_id, id"))
        statement = f"SELECT {names} FROM entries WHERE user_id = %(user)s ORDER BY id"  # noqa: S608 - names are ours
        for row in self._rows(statement):
            yield miniflux.entry_of_row(row, attached.of(row["id"]))

    def _check(self) -> dict[str, set[str]]:
        """Return the columns of each table. Raises InvalidInput if this is not a database of Miniflux."""
        found = {}
        for table, columns in _COLUMNS.items():
            try:
                found[table] = self._server.columns(table)
            except UnreadableServer as error:
                raise _unreadable(error) from error
            if missing := columns - found[table]:
                lacks = f"its table {table} lacks {', '.join(sorted(missing))}"
                raise InvalidInput(verbatim(f"this is not a database of Miniflux: {lacks}"))
        return found

    def _find_user(self) -> Mapping[str, Any]:
        users = {row["username"]: row for row in self._all("SELECT * FROM users ORDER BY username")}
        if not self.username and len(users) == 1:
            (self.username,) = users
        if self.username not in users:
            names = ", ".join(list(users)[:20])
            raise InvalidInput(verbatim(f"name the user of Miniflux with --from-user: the database has {names}"))
        return users[self.username]

    def _rows(self, statement: str) -> Iterator[Mapping[str, Any]]:
        return self._all(statement, user=self._user["id"])

    def _all(self, statement: str, **parameters: Any) -> Iterator[Mapping[str, Any]]:
        try:
            yield from self._server.rows(statement, **parameters)
        except UnreadableServer as error:
            raise _unreadable(error) from error


class _Attached:
    """Hands out rows that are sorted by their entry, for entries in the same order."""

    def __init__(self, rows: Iterator[Mapping[str, Any]]) -> None:
        self._groups = groupby(rows, key=itemgetter("entry_id"))
        self._next: tuple[int, list[Mapping[str, Any]]] | None = None

    def of(self, entry_id: int) -> list[Mapping[str, Any]]:
        while self._next is None or self._next[0] < entry_id:
            id_, rows = next(self._groups, (2**63, ()))
            self._next = id_, list(rows)
        return self._next[1] if self._next[0] == entry_id else []


def _unreadable(error: UnreadableServer) -> InvalidInput:
    return InvalidInput(verbatim(f"the database of Miniflux cannot be read: {error}"))
