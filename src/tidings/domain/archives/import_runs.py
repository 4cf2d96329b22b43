"""An import that runs in the background: where it comes from, how far it is, and what it did."""

from __future__ import annotations

from datetime import timedelta
from enum import StrEnum
from typing import Final

import msgspec
from msgspec import Struct

from tidings.domain.messages import Message, decode_message
from tidings.domain.times import Instant

# A run whose process has not renewed it for this long has ended without saying so.
LEASE: Final = timedelta(seconds=60)


class ImportState(StrEnum):
    """INTERRUPTED: the process ended before the import did. The import can be repeated, and goes on where it ended."""

    WAITING = "waiting"
    RUNNING = "running"
    DONE = "done"
    FAILED = "failed"
    INTERRUPTED = "interrupted"


UNFINISHED: Final = (ImportState.WAITING, ImportState.RUNNING)


class AccountImportReport(Struct):
    """What an import did. problems: what could not be stored, in words."""

    new_feeds: int = 0
    known_feeds: int = 0
    new_entries: int = 0
    known_entries: int = 0
    deleted_entries: int = 0
    problems: list[str] = []


class ImportTask(Struct, frozen=True):
    """What to import. source: as in `ImportSource`. origin: the name of the file, or the host of the server.

    path: the uploaded file, "" for an account of a running server. url: of that server. username: "" if the secret
    alone says whose account it is. secret: an API key or a password.
    """

    source: str
    origin: str
    path: str = ""
    url: str = ""
    username: str = ""
    secret: str = ""


class ImportRun(Struct, frozen=True):
    """The last import of a user. origin: the name of the file, or the address of the server.

    steps_done, steps_total: entries read and stored; 0 while unknown. report: JSON of an AccountImportReport, "" before
    the end. error, error_form: the message of a failure as text and as `encode_message` wrote it.
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
        is_abandoned = self.renewed_at + LEASE // timedelta(microseconds=1) < now
        return ImportState.INTERRUPTED if state in UNFINISHED and is_abandoned else state

    def decoded_report(self) -> AccountImportReport | None:
        """Returns the report; None before the end, and after a failure."""
        return msgspec.json.decode(self.report, type=AccountImportReport) if self.report else None

    def problem(self) -> Message | None:
        """Returns why the import failed, None unless it did."""
        return decode_message(self.error, self.error_form) if self.error else None
