"""The child process that imports a file or an account of another server: hostile input can exhaust only its memory.

    parent ── settings, user, task ──► stdin │ import │ stdout ── progress, then a report or an error ──► parent

`archives.import_runner` starts one for each import. It ends when its parent does.
"""

from __future__ import annotations

import os
import pickle
import resource
import signal
import sys
import tempfile
import threading
from collections.abc import Callable
from pathlib import Path
from typing import BinaryIO, Final, Self

import msgspec
from msgspec import Struct

from tidings.archives.import_runs import AccountImportReport, ImportTask
from tidings.archives.parts import ImportReview
from tidings.archives.source import ImportSource
from tidings.base.errors import TidingsError
from tidings.base.ipc import framed, read_message
from tidings.base.messages import Message, msg
from tidings.runtime import allocator, logs, parent_watch
from tidings.runtime.limited_process import limit_resources
from tidings.settings import Settings

# Data memory of the process in bytes. Large accounts take 200 MB; a document at a reader's limit a few times its size.
MAX_MEMORY_BYTES: Final = 2**30
# Seconds between two reports of progress, which show that the process is alive, too.
REPORT_S: Final = 2.0


class ImportRequest(Struct, frozen=True):
    """What the process of an import is to do."""

    settings: bytes
    """Pickled; they come from the parent, which runs the same code."""
    username: str
    task: ImportTask
    parent_pid: int


class ImportMessage(Struct, frozen=True, omit_defaults=True):
    """Progress, or the last message: a report, a review of an archive, or a problem."""

    done: int = 0
    total: int = 0
    report: AccountImportReport | None = None
    review: ImportReview | None = None
    problem: Message | None = None


def main() -> None:
    # Ctrl-C is for the parent, which then ends this process.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    limit_resources({resource.RLIMIT_CORE: 0, resource.RLIMIT_DATA: MAX_MEMORY_BYTES})
    # Other output must not get between the messages.
    messages = os.fdopen(os.dup(sys.stdout.fileno()), "wb")
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
    request = msgspec.msgpack.decode(read_message(sys.stdin.buffer), type=ImportRequest)
    settings: Settings = pickle.loads(request.settings)  # noqa: S301 - from the parent alone
    parent_watch.follow(request.parent_pid)
    allocator.share_one_arena()
    with _Reporter(messages) as reporter:
        reporter.finish(_result(settings, request, reporter.progress))


def _result(settings: Settings, request: ImportRequest, progress: Callable[[int, int], None]) -> ImportMessage:
    stored_as = Path(request.task.path).name

    def with_known_name(text: str) -> str:
        return text.replace(stored_as, request.task.origin) if stored_as else text

    try:
        if request.task.asks:
            return ImportMessage(review=_reviewed(settings, request))
        report = _imported(settings, request, progress)
        report.problems = [with_known_name(problem) for problem in report.problems]
        return ImportMessage(report=report)
    except TidingsError as error:
        return ImportMessage(problem=error.text.with_texts(with_known_name))
    except MemoryError:
        size = MAX_MEMORY_BYTES // 2**20
        return ImportMessage(
            problem=msg("This import needs more than {size} MiB of memory: split the file, or export less.", size=size)
        )


def _reviewed(settings: Settings, request: ImportRequest) -> ImportReview:
    from tidings.wiring.application import build

    logs.configure(settings.log_level, settings.log_format)
    with build(settings) as application, Path(request.task.path).open("rb") as file:
        services = application.services
        return services.archives.account_import.review(services.accounts.users.find(request.username), file)


def _imported(settings: Settings, request: ImportRequest, progress: Callable[[int, int], None]) -> AccountImportReport:
    from tidings.wiring.application import build

    logs.configure(settings.log_level, settings.log_format)
    task = request.task
    # Temporary files are as large as archives, and the folder for them may be in memory.
    tempfile.tempdir = str(Path(task.path).parent if task.path else settings.data_dir)
    with build(settings) as application:
        services = application.services
        archives = services.archives
        user = services.accounts.users.find(request.username)
        if task.source == ImportSource.MINIFLUX:
            with application.miniflux_source(task.url, task.secret, is_operator=False) as miniflux:
                return archives.foreign_import.store(user, miniflux, progress, parts=task.parts)
        if task.source == ImportSource.TINY_TINY_RSS:
            with application.ttrss_source(task.url, task.username, task.secret, is_operator=False) as ttrss:
                return archives.foreign_import.store(user, ttrss, progress, parts=task.parts)
        path = Path(task.path)
        if task.source == ImportSource.TIDINGS:
            with path.open("rb") as file:
                return archives.account_import.store(user, file, progress, parts=task.parts)
        with application.file_source(path, ImportSource(task.source)) as content:
            return archives.foreign_import.store(user, content, progress, parts=task.parts)


class _Reporter:
    """Sends the progress every few seconds, in a thread, and the result at the end."""

    def __init__(self, pipe: BinaryIO) -> None:
        self._pipe = pipe
        self._lock = threading.Lock()
        self._ended = threading.Event()
        self._latest = (0, 0)
        self._thread = threading.Thread(target=self._report, name="progress", daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_error: object) -> None:
        self._ended.set()

    def progress(self, done: int, total: int) -> None:
        self._latest = done, total

    def finish(self, result: ImportMessage) -> None:
        self._ended.set()
        self._thread.join()
        self._send(result)

    def _report(self) -> None:
        while not self._ended.wait(REPORT_S):
            self._send(ImportMessage(*self._latest))

    def _send(self, message: ImportMessage) -> None:
        encoded = msgspec.msgpack.encode(message)
        with self._lock:
            self._pipe.write(framed(encoded))
            self._pipe.flush()


if __name__ == "__main__":
    main()
