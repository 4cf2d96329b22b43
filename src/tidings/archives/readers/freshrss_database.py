"""Reads the SQLite database of a user of FreshRSS: the original, or the output of the command export-sqlite-for-user.

Tables and their meaning: https://github.com/FreshRSS/FreshRSS, app/SQL/install.sql.sqlite.php and app/Models, 1.25.
Names and URLs are stored with the characters of HTML escaped.
"""

from __future__ import annotations

import base64
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial
from hashlib import sha256
from pathlib import Path
from types import TracebackType
from typing import Any, Final, Self, TypeVar

import msgspec
from msgspec import Struct

from tidings.archives.readers.foreign_file import ForeignFile
from tidings.archives.records import ArchivedCategory, ArchivedEnclosure, ArchivedEntry, ArchivedFeed, ArchivedLabel
from tidings.base.errors import InvalidInput
from tidings.base.messages import verbatim
from tidings.base.times import SECOND, Instant, to_datetime
from tidings.domain.feeds.feeds import EditedFeedField
from tidings.engine.sqlite_file import UnreadableFile

# Kinds of feeds that are not feed documents but pages from which FreshRSS extracts entries; 25 is JSON Feed.
_DOCUMENTS: Final = frozenset({0, 2, 25})
# Feeds with a lower priority are in their category only.
_MAIN_STREAM: Final = 10
_ESCAPED: Final = {"&amp;": "&", "&lt;": "<", "&gt;": ">", "&quot;": '"', "&#039;": "'", "&#39;": "'", "&apos;": "'"}
_ESCAPE: Final = re.compile("|".join(_ESCAPED))
_TAG_SEPARATOR: Final = re.compile("[#,]")
_COLUMNS: Final = {
    "category": {"id", "name"},
    "feed": {"id", "url", "category", "name", "website", "description", "priority", "httpAuth", "ttl"},
    "entry": {
        "id", "guid", "title", "author", "content", "link", "date", "is_read", "is_favorite", "id_feed", "tags",
    },
}  # fmt: skip


_KINDS: Final[Mapping[type, str]] = {bytes: "a BLOB", str: "a text"}

R = TypeVar("R")


class _Enclosure(Struct):
    url: str
    type: str = ""
    length: int | str = 0


class _Attributes(Struct):
    enclosures: list[_Enclosure] = []


class FreshRssSource:
    """An `AccountSource`, used as a context manager. Raises InvalidInput if the file is not such a database."""

    application = "FreshRSS"
    username = ""

    def __init__(self, path: Path) -> None:
        self._path = path
        self.entry_count = 0
        self.problems: list[str] = []
        self._has_labels = False

    def __enter__(self) -> Self:
        try:
            self._file = ForeignFile(self._path)
        except UnreadableFile as error:
            raise _unreadable(error) from error
        try:
            self._check()
        except BaseException:
            self._file.close()
            raise
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._file.close()

    def settings(self) -> dict[str, Any]:
        return {}

    def categories(self) -> list[ArchivedCategory]:
        return [ArchivedCategory(name) for name in self._names("category").values()]

    def feeds(self) -> list[ArchivedFeed]:
        # Joined here: in SQL, ids that are not unique would multiply the rows.
        categories = self._names("category")
        return [
            _read(partial(_feed, categories=categories), row, "feed")
            for row in self._rows("SELECT * FROM feed ORDER BY id")
        ]

    def labels(self) -> list[ArchivedLabel]:
        """Return the labels that the user made. Databases before 1.12 do not have labels."""
        if not self._has_labels:
            return []
        return [ArchivedLabel(name) for name in self._names("tag").values()]

    def entries(self) -> Iterator[ArchivedEntry]:
        self.entry_count = next(self._rows("SELECT count(*) AS total FROM entry"))["total"]
        labels = self._labels_by_entry()
        for row in self._rows("SELECT * FROM entry WHERE id_feed IS NOT NULL ORDER BY id"):
            yield _read(partial(_entry, labels=labels.get(row["id"], ())), row, "entry")

    def _labels_by_entry(self) -> dict[int, list[str]]:
        """Return the labels that the user gave, by entry."""
        if not self._has_labels:
            return {}
        names = self._names("tag")
        labels: dict[int, list[str]] = {}
        for row in self._rows("SELECT id_tag, id_entry FROM entrytag"):
            if row["id_tag"] in names:
                labels.setdefault(row["id_entry"], []).append(names[row["id_tag"]])
        return labels

    def _names(self, table: str) -> dict[int, str]:
        """Return the names in a table of categories or labels by id, in the order of the ids."""
        return {
            row["id"]: _read(lambda row: _plain(_text(row, "name")), row, table)
            for row in self._rows(f"SELECT id, name FROM {table} ORDER BY id")  # noqa: S608 - names of tables are ours
        }

    def _check(self) -> None:
        try:
            for table, columns in _COLUMNS.items():
                if missing := columns - self._file.columns(table):
                    lacks = f"its table {table} lacks {', '.join(sorted(missing))}"
                    raise InvalidInput(verbatim(f"this is not a database of FreshRSS: {lacks}"))
            self._has_labels = all([self._file.columns("tag"), self._file.columns("entrytag")])
            damage = self._file.damage()
        except UnreadableFile as error:
            raise _unreadable(error) from error
        if damage:
            raise InvalidInput(verbatim(f"this database of FreshRSS is damaged: {damage}"))

    def _rows(self, statement: str) -> Iterator[Mapping[str, Any]]:
        try:
            yield from self._file.rows(statement)
        except UnreadableFile as error:
            raise _unreadable(error) from error


def _read(read: Callable[[Mapping[str, Any]], R], row: Mapping[str, Any], table: str) -> R:
    """Return what `read` makes of a row. SQLite stores values of any type in any column."""
    try:
        return read(row)
    except (TypeError, ValueError, OverflowError) as error:
        text = f"row {str(row['id'])[:30]} of its table {table} cannot be read: {error}"
        raise InvalidInput(verbatim(f"this database of FreshRSS is damaged: {text}")) from error


def _text(row: Mapping[str, Any], column: str) -> str:
    """Return a text, "" for NULL. Raises TypeError for anything else."""
    value = row[column]
    if value is not None and not isinstance(value, str):
        raise TypeError(f"its column {column} is {_KINDS.get(type(value), 'a number')} instead of a text")
    return value or ""


def _whole(row: Mapping[str, Any], column: str) -> int:
    """Return a whole number, 0 for NULL. Raises TypeError for anything else."""
    value = row[column]
    if value is not None and not isinstance(value, int):
        raise TypeError(f"its column {column} is {_KINDS.get(type(value), 'a fraction')} instead of a whole number")
    return value or 0


def _feed(row: Mapping[str, Any], *, categories: Mapping[int, str]) -> ArchivedFeed:
    ttl_s = _whole(row, "ttl")
    settings: dict[str, Any] = {}
    # Negative: the user muted the feed.
    if ttl_s < 0 or (row.get("kind") or 0) not in _DOCUMENTS:
        settings["disabled"] = True
    if ttl_s > 0:
        settings["check_interval_minutes"] = max(1, round(ttl_s / 60))
    if _whole(row, "priority") < _MAIN_STREAM:
        settings["hide_globally"] = True
    username, _, password = _credentials(_text(row, "httpAuth")).partition(":")
    if username and password:
        settings |= {"username": username, "password": password}
    return ArchivedFeed(
        number=_whole(row, "id"),
        category=categories.get(row["category"], ""),
        feed_url=_plain(_text(row, "url")),
        site_url=_plain(_text(row, "website")),
        title=_plain(_text(row, "name")),
        description=_plain(_text(row, "description")),
        edited=EditedFeedField.TITLE,
        settings=settings,
    )


def _entry(row: Mapping[str, Any], *, labels: Iterable[str]) -> ArchivedEntry:
    tags = [_plain(tag) for part in _TAG_SEPARATOR.split(_text(row, "tags")) if (tag := part.strip())]
    # The id is the time at which the entry was added, in microseconds.
    created_at = to_datetime(Instant(_whole(row, "id")))
    return ArchivedEntry(
        feed=_whole(row, "id_feed"),
        hash=sha256((_text(row, "guid") or _plain(_text(row, "link"))).encode("utf-8", "replace")).hexdigest(),
        status="read" if row["is_read"] else "unread",
        starred=bool(row["is_favorite"]),
        published_at=to_datetime(Instant(_whole(row, "date") * SECOND)) if row["date"] else created_at,
        created_at=created_at,
        title=_plain(_text(row, "title")),
        url=_plain(_text(row, "link")),
        author=_plain(_text(row, "author")).strip("; "),
        tags=list(dict.fromkeys(tags)),
        labels=list(dict.fromkeys(labels)),
        enclosures=_enclosures(_text(row, "attributes") if "attributes" in row else ""),
        content=_text(row, "content"),
    )


def _enclosures(attributes: str) -> list[ArchivedEnclosure]:
    try:
        decoded = msgspec.json.decode(attributes or "{}", type=_Attributes)
    except msgspec.MsgspecError:
        return []
    return [
        ArchivedEnclosure(each.url, each.type, int(each.length) if str(each.length).isdecimal() else 0)
        for each in decoded.enclosures
        if each.url
    ]


def _credentials(stored: str) -> str:
    """Return `user:password`. FreshRSS stores it in Base64."""
    try:
        return base64.b64decode(stored, validate=True).decode()
    except ValueError:
        return ""


def _plain(text: str) -> str:
    return _ESCAPE.sub(lambda match: _ESCAPED[match[0]], text)


def _unreadable(error: UnreadableFile) -> InvalidInput:
    return InvalidInput(verbatim(f"this is not an SQLite database that can be read: {error}"))
