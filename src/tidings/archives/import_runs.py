"""An import that runs in the background: where it comes from, how far it is, and what it did."""

from __future__ import annotations

from datetime import timedelta
from enum import StrEnum
from typing import Final

import msgspec
from msgspec import Struct

from tidings.archives.parts import DEFAULT_PARTS, ArchivePart, ImportReview, LeftOff
from tidings.base.messages import Message, decode_message
from tidings.base.times import Instant
from tidings.services.listeners import FinishedImport

# A run whose process has not renewed it for this long has ended without saying so.
IMPORT_LEASE: Final = timedelta(seconds=60)
# The file of an import that asks is kept for this long.
TIME_TO_ANSWER: Final = timedelta(days=1)


class ImportState(StrEnum):
    """The state of an import."""

    WAITING = "waiting"
    RUNNING = "running"
    ASKING = "asking"
    """The archive was read, and the user has to choose what of it is applied."""
    EXPIRED = "expired"
    """The user did not choose in time."""
    DONE = "done"
    FAILED = "failed"
    INTERRUPTED = "interrupted"
    """The process ended before the import did. The import can be repeated, and continues where it ended."""


UNFINISHED: Final = (ImportState.WAITING, ImportState.RUNNING)


class AccountImportReport(Struct):
    """What an import did."""

    new_feeds: int = 0
    known_feeds: int = 0
    new_entries: int = 0
    known_entries: int = 0
    deleted_entries: int = 0
    problems: list[str] = []
    """What could not be stored, in words."""
    left_off: list[LeftOff] = []
    """What was not asked for."""

    def finished(self, user_id: int, source: str, origin: str) -> FinishedImport:
        """Return what is told when the import has ended."""
        return FinishedImport(
            user_id=user_id,
            source=source,
            origin=origin,
            new_feeds=self.new_feeds,
            known_feeds=self.known_feeds,
            new_entries=self.new_entries,
            known_entries=self.known_entries,
            problems=len(self.problems),
        )


class ImportTask(Struct, frozen=True):
    """What to import."""

    source: str
    """As in `ImportSource`."""
    origin: str
    """Name of the file, or host of the server."""
    path: str = ""
    """The uploaded file; empty for an account of a running server."""
    url: str = ""
    """URL of the server."""
    username: str = ""
    """Empty if the secret alone identifies the account."""
    secret: str = ""
    """An API key or a password."""
    parts: frozenset[ArchivePart] = DEFAULT_PARTS
    """What is applied in addition to feeds and entries."""
    asks: bool = False
    """Only read what the archive would change."""


class ImportRun(Struct, frozen=True):
    """The last import of a user."""

    source: str
    origin: str
    """Name of the file, or address of the server."""
    state: str
    steps_done: int
    """Entries read and stored; 0 while unknown."""
    steps_total: int
    """Entries to read and store; 0 while unknown."""
    started_at: Instant
    renewed_at: Instant
    finished_at: Instant | None
    report: str
    """JSON of an AccountImportReport, or of an ImportReview while the import asks; empty before."""
    error: str
    """The message of a failure as text."""
    error_form: str
    """The message of a failure as `encode_message` wrote it."""

    def state_at(self, now: Instant) -> ImportState:
        """Return the state; INTERRUPTED if the process that ran the import has ended without saying so."""
        state = ImportState(self.state)
        idle = timedelta(microseconds=now - self.renewed_at)
        if state is ImportState.ASKING:
            return ImportState.EXPIRED if idle > TIME_TO_ANSWER else state
        return ImportState.INTERRUPTED if state in UNFINISHED and idle > IMPORT_LEASE else state

    def decoded_report(self) -> AccountImportReport | None:
        """Return the report; None before the end, and after a failure."""
        if not self.report or self.state == ImportState.ASKING:
            return None
        return msgspec.json.decode(self.report, type=AccountImportReport)

    def review(self) -> ImportReview | None:
        """Return what the archive would change while the import asks, None otherwise."""
        if self.state != ImportState.ASKING:
            return None
        return msgspec.json.decode(self.report, type=ImportReview)

    def problem(self) -> Message | None:
        """Return why the import failed, None unless it did."""
        return decode_message(self.error, self.error_form) if self.error else None
