"""Imports that run in the background of a web worker: their state is in the database, their files on disk until then.

    begin ─► waiting ─► running: a child process imports, this one records its progress ─► done │ failed │ interrupted
                  ▲        └─ of an archive, when asked to: what it would change ─► asking ─► answer │ cancel │ a day
                  └───────────────────────────────────────────────────────────────────┘

One import of a user at a time, even with several web workers: the row of the user is the lock, and is renewed while the
import runs. When the service stops, the import stops; it is shown as interrupted, and can be repeated.
"""

from __future__ import annotations

import secrets
import threading
import time
import weakref
from collections.abc import Collection, Iterator
from contextlib import contextmanager, suppress
from datetime import timedelta
from functools import partial
from pathlib import Path
from typing import Final, Protocol
from urllib.parse import urlsplit

import msgspec
import structlog

from tidings.archives import import_runs_store
from tidings.archives.account_export import Progress
from tidings.archives.import_runs import (
    IMPORT_LEASE,
    TIME_TO_ANSWER,
    AccountImportReport,
    ImportRun,
    ImportState,
    ImportTask,
)
from tidings.archives.parts import DEFAULT_PARTS, ArchivePart, ImportReview
from tidings.archives.source import SERVERS, ImportSource
from tidings.base.errors import ImportRunning, InvalidInput, StoreUnavailable, TidingsError
from tidings.base.messages import Message, encode_message, msg, verbatim
from tidings.base.times import Instant
from tidings.domain.accounts.users import User
from tidings.domain.feeds.feed_changes import validate_web_url
from tidings.engine.database import Database
from tidings.services.clock import Clock
from tidings.services.listeners import FinishedImport, Listeners

log = structlog.get_logger()

# Maximum number of imports that a web worker runs at the same time; others wait.
MAX_CONCURRENT: Final = 2
# Seconds after which a file without an import is removed; an arriving upload is written to all the time.
STALE_S: Final = 3_600
# Seconds between two renewals of an import that waits.
_RENEW_S: Final = 10.0
_TIME_TO_END_S: Final = 1.0
_LEASE_US: Final = IMPORT_LEASE // timedelta(microseconds=1)
_TIME_TO_ANSWER_US: Final = TIME_TO_ANSWER // timedelta(microseconds=1)
_MAX_ORIGIN_CHARS: Final = 200


class ImportEnded(Exception):
    """The process of an import ended because the service stops."""


class ImportRunner(Protocol):
    """Runs an import in a separate process. progress: called at least every few seconds, with steps and their total.

    Raises InvalidInput, FetchError, InsufficientStorage, LocalShortage; ImportEnded after it was closed.
    """

    def run(self, username: str, task: ImportTask, progress: Progress) -> AccountImportReport: ...

    def review(self, username: str, task: ImportTask, progress: Progress) -> ImportReview: ...

    def close(self) -> None: ...


class BackgroundImports:
    def __init__(
        self, database: Database, clock: Clock, runner: ImportRunner, folder: Path, listeners: Listeners
    ) -> None:
        """Keep uploaded files in `folder` until they are imported."""
        self._database = database
        self._clock = clock
        self._listeners = listeners
        self._runner = runner
        self._folder = folder
        self._slots = threading.Semaphore(MAX_CONCURRENT)
        self._closed = threading.Event()
        self._threads: weakref.WeakSet[threading.Thread] = weakref.WeakSet()

    def of_user(self, user_id: int) -> ImportRun | None:
        """Return the user's last import, None if there was no import yet."""
        with self._database.reading() as db:
            return import_runs_store.of_user(db, user_id)

    def start_file(
        self,
        user: User,
        source: ImportSource,
        path: Path,
        origin: str,
        *,
        parts: Collection[ArchivePart] = DEFAULT_PARTS,
        asks: bool = False,
    ) -> None:
        """Import a file in the background, and remove it afterwards. Raises ImportRunning; then the file stays.

        origin: the user's name for the file. parts: what is applied in addition to feeds and entries.
        asks: wait for `answer` if the archive would change more than feeds and entries.
        """
        if source is ImportSource.MINIFLUX:
            raise InvalidInput(msg("An import from Miniflux needs the address of the server instead of a file."))
        if source in SERVERS:
            raise InvalidInput(verbatim("An import from Tiny Tiny RSS needs the address of the server, not a file."))
        self.remove_stale_files()
        asks = asks and source is ImportSource.TIDINGS
        task = ImportTask(source, origin[:_MAX_ORIGIN_CHARS], parts=frozenset(parts), asks=asks)
        self._start(user, task, path)

    def start_miniflux(
        self, user: User, url: str, api_key: str, *, parts: Collection[ArchivePart] = DEFAULT_PARTS
    ) -> None:
        """Import the account of a running Miniflux in the background. Raises InvalidInput, ImportRunning."""
        origin = _host(url)
        if not api_key.strip():
            raise InvalidInput(msg("Enter an API key of the server."), field="api_key")
        task = ImportTask(ImportSource.MINIFLUX, origin, url=url, secret=api_key.strip(), parts=frozenset(parts))
        self._start(user, task)

    def start_ttrss(self, user: User, url: str, username: str, password: str) -> None:
        """Import an account of a running Tiny Tiny RSS in the background. Raises InvalidInput, ImportRunning.

        username, password: the credentials of the account there.
        """
        origin = _host(url)
        if not username.strip():
            raise InvalidInput(msg("Enter the username and the password of the account there."), field="username")
        if not password:
            raise InvalidInput(msg("Enter the username and the password of the account there."), field="password")
        task = ImportTask(ImportSource.TINY_TINY_RSS, origin, url=url, username=username.strip(), secret=password)
        self._start(user, task)

    def answer(self, user: User, started_at: Instant, parts: Collection[ArchivePart]) -> None:
        """Continue the import that asks and began then. Raises InvalidInput if it does not exist."""
        forgotten, now = self._forgotten(), self._clock()
        with self._database.writing() as db:
            asked = import_runs_store.asked(db, user.id, started_at, forgotten=forgotten)
            is_resumed = asked is not None and import_runs_store.resume(
                db, user.id, asked.token, started_at, now=now, forgotten=forgotten
            )
        if asked is None or not is_resumed:
            raise InvalidInput(msg("This import does not wait for an answer any more: choose the file again."))
        path = self._file(user.id, asked.token)
        task = ImportTask(ImportSource.TIDINGS, asked.origin, path=str(path), parts=frozenset(parts))
        self._start_thread(_Run(self._database, self._clock, user, asked.token, self._listeners), task, path)

    def cancel(self, user: User, started_at: Instant) -> None:
        """Delete the import that asks and began then, with its file."""
        forgotten = self._forgotten()
        with self._database.writing() as db:
            asked = import_runs_store.asked(db, user.id, started_at, forgotten=forgotten)
            is_dropped = import_runs_store.drop(db, user.id, started_at, forgotten=forgotten)
        if asked is not None and is_dropped:
            self._file(user.id, asked.token).unlink(missing_ok=True)

    def remove_stale_files(self) -> None:
        """Remove files left behind by a process that was killed."""
        oldest = time.time() - STALE_S
        with suppress(OSError):
            for path in self._folder.iterdir():
                if path.stat().st_mtime < oldest and not self._is_needed(path):
                    path.unlink(missing_ok=True)

    def close(self) -> None:
        """End all imports, and wait until they are recorded as interrupted."""
        self._closed.set()
        self._runner.close()
        ends_at = time.monotonic() + _TIME_TO_END_S
        for thread in list(self._threads):
            thread.join(max(0.0, ends_at - time.monotonic()))

    def _is_needed(self, path: Path) -> bool:
        """Return whether an import runs with the file, whose name begins with the id of the user."""
        owner, _, token = path.stem.partition("-")
        if not owner.isdecimal():
            return False
        with self._database.reading() as db:
            kept = import_runs_store.open_token(
                db, int(owner), abandoned=self._abandoned(), forgotten=self._forgotten()
            )
        return kept == token

    def _file(self, user_id: int, token: str) -> Path:
        return self._folder / f"{user_id}-{token}"

    def _start(self, user: User, task: ImportTask, path: Path | None = None) -> None:
        token, now = secrets.token_hex(16), self._clock()
        with self._database.writing() as db:
            replaced = import_runs_store.open_token(db, user.id, abandoned=now, forgotten=self._forgotten())
            is_begun = import_runs_store.begin(
                db, user.id, token, source=task.source, origin=task.origin, now=now, abandoned=self._abandoned(),
            )  # fmt: skip
        if not is_begun:
            raise ImportRunning(msg("Another import is running: wait until it has ended."))
        if replaced:
            # The file of an import that waited for an answer.
            self._file(user.id, replaced).unlink(missing_ok=True)
        if path is not None:
            path = path.rename(self._file(user.id, token))
            task = msgspec.structs.replace(task, path=str(path))
        self._start_thread(_Run(self._database, self._clock, user, token, self._listeners), task, path)

    def _start_thread(self, run: _Run, task: ImportTask, path: Path | None) -> None:
        thread = threading.Thread(target=self._run, args=(run, task, path), name="import", daemon=True)
        self._threads.add(thread)
        thread.start()

    def _run(self, run: _Run, task: ImportTask, path: Path | None) -> None:
        is_asking = False
        try:
            is_asking = self._attempt(run, task)
        except StoreUnavailable as error:
            # The state stays as it was; without renewals it becomes "interrupted".
            log.error("import failed", user_id=run.user.id, reason=error.reason)  # noqa: TRY400
        finally:
            if path is not None and not is_asking:
                path.unlink(missing_ok=True)

    def _attempt(self, run: _Run, task: ImportTask) -> bool:
        """Import, and record the end. Returns whether the import waits for an answer."""
        try:
            with self._slot(run):
                run.renew(ImportState.RUNNING, 0, 0)
                progress = partial(run.renew, ImportState.RUNNING)
                if task.asks:
                    review = self._runner.review(run.user.username, task, progress)
                    if review.parts:
                        run.ask(review)
                        return True
                    task = msgspec.structs.replace(task, asks=False)
                report = self._runner.run(run.user.username, task, progress)
        except (ImportEnded, _Replaced):
            run.finish(ImportState.INTERRUPTED)
        except StoreUnavailable:
            raise
        except TidingsError as error:
            log.info("import failed", user_id=run.user.id, source=task.source, reason=error.message)
            run.fail(task, error.text)
        except Exception:
            log.exception("import crashed", user_id=run.user.id, source=task.source)
            run.fail(task, msg("Something went wrong on our side; the log of the server has the details."))
        else:
            log.info("import done", user_id=run.user.id, source=task.source, new_entries=report.new_entries)
            run.complete(task, report)
        return False

    @contextmanager
    def _slot(self, run: _Run) -> Iterator[None]:
        """Wait until few enough other imports run."""
        while not self._slots.acquire(timeout=_RENEW_S):
            if self._closed.is_set():
                raise ImportEnded
            run.renew(ImportState.WAITING, 0, 0)
        try:
            yield
        finally:
            self._slots.release()

    def _abandoned(self) -> Instant:
        return Instant(self._clock() - _LEASE_US)

    def _forgotten(self) -> Instant:
        return Instant(self._clock() - _TIME_TO_ANSWER_US)


def _host(url: str) -> str:
    """Return the server's host, which names the import. Raises InvalidInput."""
    return (urlsplit(validate_web_url(url, field="url")).hostname or "")[:_MAX_ORIGIN_CHARS]


class _Replaced(Exception):
    """Another import replaced this one, since it was not renewed in time."""


class _Run:
    """The row of an import that runs."""

    def __init__(self, database: Database, clock: Clock, user: User, token: str, listeners: Listeners) -> None:
        self._database = database
        self._clock = clock
        self.user = user
        self._token = token
        self._listeners = listeners

    def renew(self, state: ImportState, done: int, total: int) -> None:
        with self._database.writing() as db:
            is_ours = import_runs_store.renew(
                db, self.user.id, self._token, state=state, steps_done=done, steps_total=total, now=self._clock()
            )
        if not is_ours:
            raise _Replaced

    def ask(self, review: ImportReview) -> None:
        with self._database.writing() as db:
            is_ours = import_runs_store.ask(
                db, self.user.id, self._token, review=msgspec.json.encode(review).decode(), now=self._clock()
            )
        if not is_ours:
            raise _Replaced

    def complete(self, task: ImportTask, report: AccountImportReport) -> None:
        """Record what the import did, and tell that it has ended."""
        result = report.finished(self.user.id, task.source, task.origin)
        self.finish(ImportState.DONE, result, report=msgspec.json.encode(report).decode())

    def fail(self, task: ImportTask, problem: Message) -> None:
        """Record why the import failed, and tell that it has ended."""
        text = problem.english()
        result = FinishedImport(user_id=self.user.id, source=task.source, origin=task.origin, error=text)
        self.finish(ImportState.FAILED, result, error=text, error_form=encode_message(problem, text))

    def finish(self, state: ImportState, result: FinishedImport | None = None, **more: str) -> None:
        with self._database.writing() as db:
            import_runs_store.finish(db, self.user.id, self._token, state=state, now=self._clock(), **more)
            if result is not None:
                self._listeners.tell_import_finished(db, result)
