"""Translates lists of saved pages, which other services export, into the records of an archive.

The pages become starred entries of a disabled feed. Formats: docs/moving.md says where each was verified.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Callable, Iterable, Iterator
from datetime import UTC, datetime
from hashlib import sha256
from typing import Any, Final

import msgspec
from msgspec import Struct

from tidings.archives.records import ArchivedEntry, ArchivedFeed
from tidings.base.errors import InvalidInput
from tidings.base.messages import verbatim
from tidings.domain.feeds.feeds import EditedFeedField

# Number of the list's only feed in the archive.
FEED: Final = 1
POCKET_COLUMNS: Final = ("title", "url", "time_added", "tags", "status")
INSTAPAPER_COLUMNS: Final = ("URL", "Title", "Selection", "Folder", "Timestamp")
_OWN_FOLDERS: Final = frozenset({"", "Unread", "Archive"})


def holder(name: str) -> ArchivedFeed:
    """Return the feed that receives the pages of the service. It is never fetched, and its entries are kept."""
    return ArchivedFeed(
        number=FEED,
        category=name,
        # A name that never exists (RFC 6761), should the user enable the feed.
        feed_url=f"https://{name.lower()}.invalid/saved",
        title=name,
        edited=EditedFeedField.TITLE,
        settings={"disabled": True, "keep_read_days": -1, "keep_unread_days": -1},
    )


def read_pocket(lines: Iterable[str]) -> Iterator[ArchivedEntry]:
    """Yield the entries of a CSV file of Pocket. Raises InvalidInput, which names the line."""

    def entry(row: dict[str, str]) -> ArchivedEntry:
        return _entry(
            row["url"],
            row["title"],
            _moment(row["time_added"]),
            is_read=row["status"] == "archive",
            tags=_split(row["tags"], "|"),
        )

    return _rows(lines, POCKET_COLUMNS, entry)


def read_instapaper(lines: Iterable[str]) -> Iterator[ArchivedEntry]:
    """Yield the entries of a CSV file of Instapaper; folders become tags. Raises InvalidInput with the line."""

    def entry(row: dict[str, str]) -> ArchivedEntry:
        folder = row["Folder"]
        return _entry(
            row["URL"],
            row["Title"],
            _moment(row["Timestamp"]),
            is_read=folder == "Archive",
            tags=[] if folder in _OWN_FOLDERS else [folder],
            content=row["Selection"],
        )

    return _rows(lines, INSTAPAPER_COLUMNS, entry)


class OmnivoreItem(Struct, rename="camel"):
    """An item of a file metadata_*.json."""

    slug: str
    url: str
    saved_at: datetime
    title: str | None = ""
    description: str | None = ""
    author: str | None = ""
    state: str = ""
    """Active, Archived or Unknown."""
    labels: list[str] | None = None
    published_at: datetime | None = None


def read_omnivore(document: bytes, content_of: Callable[[OmnivoreItem], str]) -> Iterator[ArchivedEntry]:
    """Yield the entries of a file of metadata. content_of: returns the HTML of an item. Raises InvalidInput."""
    for item in _decoded(document, list[OmnivoreItem]):
        yield _entry(
            item.url,
            item.title or "",
            item.published_at or item.saved_at,
            is_read=item.state == "Archived",
            tags=item.labels or [],
            content=content_of(item) or item.description or "",
            author=item.author or "",
            saved_at=item.saved_at,
        )


class _FeedbinItem(Struct):
    url: str | None
    published: datetime
    created_at: datetime
    title: str | None = ""
    author: str | None = ""
    content: str | None = ""


def read_feedbin(document: bytes) -> Iterator[ArchivedEntry]:
    """Yield the entries of a file starred.json of Feedbin, which does not name their feeds. Raises InvalidInput."""
    for item in _decoded(document, list[_FeedbinItem]):
        yield _entry(
            item.url or "",
            item.title or "",
            item.published,
            is_read=True,
            content=item.content or "",
            author=item.author or "",
            saved_at=item.created_at,
        )


def _entry(
    url: str,
    title: str,
    published_at: datetime,
    *,
    is_read: bool,
    tags: Iterable[str] = (),
    content: str = "",
    author: str = "",
    saved_at: datetime | None = None,
) -> ArchivedEntry:
    return ArchivedEntry(
        feed=FEED,
        hash=sha256((url or title).encode("utf-8", "replace")).hexdigest(),
        status="read" if is_read else "unread",
        starred=True,
        published_at=published_at,
        created_at=saved_at,
        title=title or url,
        url=url,
        author=author,
        tags=[tag for tag in tags if tag.strip()],
        content=content,
    )


def _rows(
    lines: Iterable[str], columns: tuple[str, ...], entry: Callable[[dict[str, str]], ArchivedEntry]
) -> Iterator[ArchivedEntry]:
    """Yield the entry of each row. Columns may be in any order, and there may be others."""
    reader = csv.reader(lines, strict=True)
    names: list[str] | None = None
    try:
        for row in reader:
            if names is None:
                names = row
                _require(set(columns) <= set(row), reader.line_num, f"the columns {', '.join(columns)}")
            elif row:
                _require(len(row) == len(names), reader.line_num, f"{len(names)} fields instead of {len(row)}")
                yield _converted(entry, dict(zip(names, row, strict=True)), reader.line_num)
    except csv.Error as error:
        raise InvalidInput(verbatim(f"line {reader.line_num}: expected CSV: {error}")) from error
    except UnicodeDecodeError as error:
        raise InvalidInput(verbatim(f"line {reader.line_num + 1}: expected text in UTF-8: {error}")) from error
    _require(names is not None, 1, f"the columns {', '.join(columns)}")


def _converted(entry: Callable[[dict[str, str]], ArchivedEntry], row: dict[str, str], line: int) -> ArchivedEntry:
    try:
        return entry(row)
    except (ValueError, OverflowError, OSError) as error:
        raise InvalidInput(verbatim(f"line {line}: expected a time in seconds since 1970: {error}")) from error


def _require(is_met: bool, line: int, expected: str) -> None:
    if not is_met:
        raise InvalidInput(verbatim(f"line {line}: expected are {expected}"))


def _moment(seconds: str) -> datetime:
    return datetime.fromtimestamp(int(seconds), UTC)


def _split(text: str, separator: str) -> list[str]:
    return [part.strip() for part in text.split(separator)]


def _decoded(document: bytes, kind: Any) -> Any:
    try:
        return msgspec.json.decode(document, type=kind)
    except (msgspec.MsgspecError, UnicodeDecodeError) as error:
        raise InvalidInput(verbatim(f"{_line_of(document, str(error))}{error}")) from error


def _line_of(document: bytes, problem: str) -> str:
    """Return the line that a problem of the JSON syntax names by its byte; "" for a problem of the types."""
    if (position := re.search(r"\(byte (\d+)\)", problem)) is None:
        return ""
    line = document.count(b"\n", 0, int(position[1])) + 1
    return f"line {line}: "
