"""What is read from another reader to import it, in the records of archives."""

from __future__ import annotations

from collections.abc import Iterable
from enum import StrEnum
from typing import Any, Final, Protocol

from tidings.archives.records import ArchivedCategory, ArchivedEntry, ArchivedFeed, ArchivedLabel


class ImportSource(StrEnum):
    """Where an account is imported from: a file of Tidings or of another reader, or a running server."""

    TIDINGS = "tidings"
    MINIFLUX = "miniflux"
    FRESHRSS = "freshrss"
    INOREADER = "inoreader"
    GOOGLE_READER = "google-reader"
    NEWSBLUR = "newsblur"
    FEEDBIN = "feedbin"
    INSTAPAPER = "instapaper"
    OMNIVORE = "omnivore"
    POCKET = "pocket"
    TINY_TINY_RSS = "tiny-tiny-rss"


# Read from a running server, and not from a file.
SERVERS: Final = frozenset({ImportSource.MINIFLUX, ImportSource.TINY_TINY_RSS})


class AccountSource(Protocol):
    """An account of another reader. Each method is called once, in this order; all raise InvalidInput.

    application: name of the reader. username: "" if unknown. Categories that only feeds name, and labels that only
    entries name, need not be listed.
    entry_count: known when entries are read, 0 if unknown.
    problems: what the source itself left out, in words; complete when entries were read.
    """

    @property
    def application(self) -> str: ...
    @property
    def username(self) -> str: ...
    @property
    def entry_count(self) -> int: ...
    @property
    def problems(self) -> list[str]: ...
    def settings(self) -> dict[str, Any]: ...
    def categories(self) -> Iterable[ArchivedCategory]: ...
    def feeds(self) -> Iterable[ArchivedFeed]: ...
    def labels(self) -> Iterable[ArchivedLabel]: ...
    def entries(self) -> Iterable[ArchivedEntry]: ...
