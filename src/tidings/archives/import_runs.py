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

# A run whose process has not renewed it for this long has ended without saying so.
LEASE: Final = timedelta(seconds=60)
# The file of an import that asks is kept for this long.
TIME_TO_ANSWER: Final = timedelta(days=1)


class ImportState(StrEnum):
    """INTERRUPTED: the process ended before the import did. The import can be repeated, and goes on where it ended.

    ASKING: the archive was read; the person has to say what of it is applied, or nobody did so in time (EXPIRED).
    """

    WAITING = "waiting"
    RUNNING = "running"
    ASKING = "asking"
    EXPIRED = "expired"
    DONE = "done"
    FAILED = "failed"
    INTERRUPTED = "interrupted"


UNFINISHED: Final = (ImportState.WAITING, ImportState.RUNNING)


class AccountImportReport(Struct):
    """What an import did. problems: what could not be stored, in words. left_off: what was not asked for."""

    new_feeds: int = 0
    known_feeds: int = 0
    new_entries: int = 0
    known_entries: int = 0
    deleted_entries: int = 0
    problems: list[str] = []
    left_off: list[LeftOff] = []


class ImportTask(Struct, frozen=True):
    """What to import. source: as in `ImportSource`. origin: the name of the file, or the host of the server.

    path: the uploaded file, "" for an account of a running server. url: of that server. username: "" if the secret
    alone says whose account it is. secret: an API key or a password. parts: what is applied besides feeds and entries.
    asks: only read what the archive would change.
    """

    source: str
    origin: str
    path: str = ""
    url: str = ""
    username: str = ""
    secret: str = ""
    parts: frozenset[ArchivePart] = DEFAULT_PARTS
    asks: bool = False


class ImportRun(Struct, frozen=True):
    """The last import of a user. origin: the name of the file, or the address of the server.

    steps_done, steps_total: entries read and stored; 0 while unknown. report: JSON of an AccountImportReport, of an
    ImportReview while the import asks, "" before. error, error_form: the message of a failure as text and as
    `encode_message` wrote it.
    """

    source: str
    origin: str
    state: str
    steps_done: int
    steps_total: int
    started_at: Instant
    renewed_at: Instant
    finished_at: Instant | None
    report: str
    error: str
    error_form: str

    def state_at(self, now: Instant) -> ImportState:
        """Returns the state; INTERRUPTED if the process that ran the import has ended without saying so."""
        state = ImportState(self.state)
        idle = timedelta(microseconds=now - self.renewed_at)
        if state is ImportState.ASKING:
            return ImportState.EXPIRED if idle > TIME_TO_ANSWER else state
        return ImportState.INTERRUPTED if state in UNFINISHED and idle > LEASE else state

    def decoded_report(self) -> AccountImportReport | None:
        """Returns the report; None before the end, and after a failure."""
        if not self.report or self.state == ImportState.ASKING:
            return None
        return msgspec.json.decode(self.report, type=AccountImportReport)

    def review(self) -> ImportReview | None:
        """Returns what the archive would change while the import asks, None otherwise."""
        if self.state != ImportState.ASKING:
            return None
        return msgspec.json.decode(self.report, type=ImportReview)

    def problem(self) -> Message | None:
        """Returns why the import failed, None unless it did."""
        return decode_message(self.error, self.error_form) if self.error else None
