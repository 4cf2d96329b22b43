"""`tidings …` in a process of its own, as scripts start it and as people do who sit at a terminal."""

from __future__ import annotations

import contextlib
import os
import re
import select
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

Finished = subprocess.CompletedProcess[str]

CTRL_C = "\x03"
# Takes the terminal on stdin as its own, as a login shell has it, and becomes the command.
ON_ITS_TERMINAL = """
import fcntl, os, sys, termios
fcntl.ioctl(0, termios.TIOCSCTTY, 0)
os.execv(sys.argv[1], sys.argv[1:])
"""


@dataclass(frozen=True)
class Tidings:
    """The real command line; the settings of whoever runs the tests do not count.

    folder: its home, and where it keeps its data. settings: without TIDINGS_, as in `DATABASE_URL`.
    """

    folder: Path
    settings: Mapping[str, str] = field(default_factory=dict)

    def environment(self, **given: str) -> dict[str, str]:
        named = {"DATA_DIR": str(self.folder), "FETCHER_ALLOW_PRIVATE_NETWORKS": "1", **self.settings, **given}
        return {
            "PATH": os.environ["PATH"],
            "HOME": str(self.folder),
            "TERM": "xterm",
            "COLUMNS": "100",
            **{f"TIDINGS_{name}": text for name, text in named.items()},
        }

    def __call__(self, *arguments: str, stdin: str = "", **given: str) -> Finished:
        """Run to its end. given: more settings."""
        return subprocess.run(
            [sys.executable, "-m", "tidings", *arguments],
            input=stdin,
            env=self.environment(**given),
            cwd=self.folder,
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )

    @contextmanager
    def started(self, *arguments: str, **given: str) -> Iterator[subprocess.Popen[str]]:
        """Running; killed at the end if it still is."""
        process = subprocess.Popen(
            [sys.executable, "-m", "tidings", *arguments],
            env=self.environment(**given),
            cwd=self.folder,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        with process:
            try:
                yield process
            finally:
                process.kill()

    @contextmanager
    def on_a_terminal(self, *arguments: str, **given: str) -> Iterator[Terminal]:
        mine, theirs = os.openpty()
        process = subprocess.Popen(
            [sys.executable, "-c", ON_ITS_TERMINAL, sys.executable, "-m", "tidings", *arguments],
            env=self.environment(**given),
            cwd=self.folder,
            stdin=theirs,
            stdout=theirs,
            stderr=theirs,
            start_new_session=True,
        )
        os.close(theirs)
        try:
            yield Terminal(mine, process)
        finally:
            os.close(mine)
            process.kill()
            process.wait()


class Terminal:
    """What a person sees and types. seen: everything so far, as it was sent."""

    def __init__(self, descriptor: int, process: subprocess.Popen[bytes]) -> None:
        self._descriptor = descriptor
        self._process = process
        self.seen = ""

    def wait_for(self, text: str, within_s: float = 30) -> None:
        deadline = time.monotonic() + within_s
        while text not in self.seen:
            assert self._read(deadline), f"{text!r} was not to be seen in {self.seen!r}"

    def type(self, text: str) -> None:
        os.write(self._descriptor, text.encode())

    def answer(self, question: str, text: str) -> None:
        self.wait_for(question)
        self.type(f"{text}\n")

    def exit_code(self, within_s: float = 30) -> int:
        """When it has ended by itself."""
        deadline = time.monotonic() + within_s
        while self._read(deadline):
            pass
        return self._process.wait(max(0.1, deadline - time.monotonic()))

    def _read(self, deadline: float) -> bool:
        """False when there is nothing more to come, or not in time."""
        if not select.select([self._descriptor], [], [], max(0, deadline - time.monotonic()))[0]:
            return False
        with contextlib.suppress(OSError):  # the other end was closed
            if data := os.read(self._descriptor, 4096):
                self.seen += data.decode()
                return True
        return False


def complaint(done: Finished, exit_code: int) -> str:
    """The one line that it ended with."""
    assert done.returncode == exit_code, done
    assert re.fullmatch(r"tidings: [^\n]+\n", done.stderr), done.stderr
    assert "Traceback" not in done.stderr
    return done.stderr


def eventually(claim: Callable[[], object], within_s: float = 30) -> bool:
    deadline = time.monotonic() + within_s
    while not (found := claim()) and time.monotonic() < deadline:
        time.sleep(0.05)
    return bool(found)
