"""Starts a child process for each import, and passes on what it reports."""

from __future__ import annotations

import os
import pickle
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import BinaryIO, Final, cast

import msgspec

from tidings.archives.account_export import Progress
from tidings.archives.background_imports import ImportEnded
from tidings.archives.import_process import ImportMessage, ImportRequest
from tidings.archives.import_runs import AccountImportReport, ImportTask
from tidings.archives.parts import ImportReview
from tidings.base.errors import InsufficientStorage, InvalidInput
from tidings.base.ipc import framed, read_message
from tidings.base.messages import msg
from tidings.http.uploads import has_space
from tidings.settings import Settings

# Seconds. A server that never stops sending must not occupy a slot forever.
MAX_RUN_S: Final = 12 * 3_600


class ProcessImportRunner:
    """An `ImportRunner` that imports in a child process.

    settings: the settings of this process.
    """

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._lock = threading.Lock()
        self._running: set[subprocess.Popen[bytes]] = set()
        self._is_closed = False

    def run(self, username: str, task: ImportTask, progress: Progress) -> AccountImportReport:
        report = self._result(username, task, progress).report
        assert report is not None
        return report

    def review(self, username: str, task: ImportTask, progress: Progress) -> ImportReview:
        review = self._result(username, task, progress).review
        assert review is not None
        return review

    def _result(self, username: str, task: ImportTask, progress: Progress) -> ImportMessage:
        request = ImportRequest(pickle.dumps(self._settings), username, task, os.getpid())
        with self._process() as process:
            encoded = msgspec.msgpack.encode(request)
            assert process.stdin is not None
            # A process that ended before it read this is noticed by its closed output.
            with suppress(BrokenPipeError):
                process.stdin.write(framed(encoded))
                process.stdin.flush()
            return self._follow(process, progress)

    def close(self) -> None:
        with self._lock:
            self._is_closed = True
            for process in self._running:
                process.kill()

    def _follow(self, process: subprocess.Popen[bytes], progress: Progress) -> ImportMessage:
        """Pass progress on until the last message. Raises InvalidInput with the problem that the process reports."""
        ends_at = time.monotonic() + MAX_RUN_S
        pipe = cast("BinaryIO", process.stdout)
        while encoded := read_message(pipe):
            message = msgspec.msgpack.decode(encoded, type=ImportMessage)
            if message.report is not None or message.review is not None:
                return message
            if message.problem is not None:
                raise InvalidInput(message.problem)
            if not has_space(self._settings.data_dir):
                raise InsufficientStorage(msg("The disk of the server has too little free space for this import."))
            if time.monotonic() > ends_at:
                raise InvalidInput(msg("The import took longer than {hours} hours.", hours=MAX_RUN_S // 3_600))
            progress(message.done, message.total)
        code = process.wait()
        if self._is_closed:
            raise ImportEnded
        raise RuntimeError(f"the process of an import ended with exit code {code}")

    @contextmanager
    def _process(self) -> Iterator[subprocess.Popen[bytes]]:
        with self._lock:
            if self._is_closed:
                raise ImportEnded
            # A forked process would inherit locks and connections in an undefined state.
            process = subprocess.Popen(
                [sys.executable, "-P", "-m", "tidings.archives.import_process"],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                env={"PYTHONPATH": os.pathsep.join(sys.path)},
            )
            self._running.add(process)
        try:
            yield process
        finally:
            process.kill()
            process.wait()
            with self._lock:
                self._running.discard(process)
            for pipe in (process.stdin, process.stdout):
                assert pipe is not None
                with suppress(BrokenPipeError):
                    pipe.close()
