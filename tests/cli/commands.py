"""Runs `tidings …` in a child process, as a script starts it, or on a pseudo-terminal as a person does."""

from __future__ import annotations

import contextlib
import itertools
import os
import re
import select
import subprocess
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from support import forked_command
from support.forked_command import ForkedCommand

Finished = subprocess.CompletedProcess[str]

_numbers = itertools.count(1)
CTRL_C = "\x03"
CTRL_D = "\x04"


@dataclass(frozen=True)
class Tidings:
    """The real command line, without the settings in the environment of the test run.

    folder: the home and the data folder. settings: names without TIDINGS_, as in `DATABASE_URL`.
    """

    folder: Path
    settings: Mapping[str, str] = field(default_factory=dict)

    def environment(self, **extra: str) -> dict[str, str]:
        settings = {"DATA_DIR": str(self.folder), "FETCHER_ALLOW_PRIVATE_NETWORKS": "1", **self.settings, **extra}
        return {
            "PATH": os.environ["PATH"],
            "HOME": str(self.folder),
            "TERM": "xterm",
            "COLUMNS": "100",
            **{f"TIDINGS_{name}": text for name, text in settings.items()},
        }

    def __call__(self, *arguments: str, stdin: str = "", **extra: str) -> Finished:
        """Run a command to its end. extra: further settings."""
        return forked_command.run(arguments, self.environment(**extra), self.folder, stdin=stdin, timeout=120)

    @contextmanager
    def started(self, *arguments: str, environment: Mapping[str, str] | None = None, **extra: str) -> Iterator[Started]:
        """Start a command and yield its process, which is killed at the end if it still runs.

        environment: variables that are no settings.
        """
        process = Started(arguments, self.environment(**extra) | dict(environment or {}), self.folder)
        try:
            yield process
        finally:
            process.kill()
            process.wait()

    @contextmanager
    def on_a_terminal(self, *arguments: str, **extra: str) -> Iterator[Terminal]:
        """Start a command on a new pseudo-terminal and yield that; the command is killed at the end."""
        terminal, child_end = os.openpty()
        # The first terminal that a process without one opens is its own, as after a log-in.
        name = os.ttyname(child_end)
        process = ForkedCommand(
            arguments, self.environment(**extra), self.folder, stdin=name, stdout=Path(name), stderr=Path(name)
        )
        try:
            yield Terminal(terminal, process)
        finally:
            os.close(terminal)
            os.close(child_end)
            process.kill()
            process.wait()


class Started(ForkedCommand):
    """A running command whose output is in files."""

    def __init__(self, arguments: Sequence[str], environment: Mapping[str, str], folder: Path) -> None:
        self._stdout, self._stderr = (
            folder / f"{'-'.join(arguments)}-{next(_numbers)}.{stream}" for stream in ("out", "err")
        )
        for file in (self._stdout, self._stderr):
            file.touch()
        super().__init__(arguments, environment, folder, stdout=self._stdout, stderr=self._stderr)

    @property
    def output(self) -> str:
        """What it has written to stdout."""
        return self._stdout.read_text(encoding="utf-8")

    @property
    def errors(self) -> str:
        """What it has written to stderr, where the log is."""
        return self._stderr.read_text(encoding="utf-8")

    def is_ready(self) -> bool:
        """Wait until `tidings serve` says that it is ready. Returns whether it did."""
        return eventually(lambda: self.poll() is not None or "Tidings is ready at" in self.output) and (
            self.returncode is None
        )


class Terminal:
    """The terminal of a running command. seen: all output so far, with its escape sequences."""

    def __init__(self, descriptor: int, process: ForkedCommand) -> None:
        self._descriptor = descriptor
        self._process = process
        self.seen = ""

    def wait_for(self, text: str, within_s: float = 120) -> None:
        deadline = time.monotonic() + within_s
        while text not in self.seen:
            assert self._read(deadline), f"{text!r} is not in {self.seen!r}"

    def type(self, text: str) -> None:
        os.write(self._descriptor, text.encode())

    def answer(self, question: str, text: str) -> None:
        self.wait_for(question)
        self.type(f"{text}\n")

    def exit_code(self, within_s: float = 120) -> int:
        """Wait until the command has ended by itself, and return its exit code."""
        deadline = time.monotonic() + within_s
        while self._process.poll() is None and time.monotonic() < deadline:
            self._read(time.monotonic() + 0.05)
        while self._read(time.monotonic()):
            pass
        return self._process.wait(0.1)

    def _read(self, deadline: float) -> bool:
        """Read some output. Returns False at its end, or if nothing comes before the deadline."""
        if not select.select([self._descriptor], [], [], max(0, deadline - time.monotonic()))[0]:
            return False
        with contextlib.suppress(OSError):  # the other end was closed
            if data := os.read(self._descriptor, 4096):
                self.seen += data.decode()
                return True
        return False


def error_line(done: Finished, exit_code: int) -> str:
    """Return the single line of stderr of a command that failed with this exit code."""
    assert done.returncode == exit_code, done
    assert re.fullmatch(r"tidings: [^\n]+\n", done.stderr), done.stderr
    assert "Traceback" not in done.stderr
    return done.stderr


def eventually(condition: Callable[[], object], within_s: float = 120) -> bool:
    """Wait until the condition holds, and return whether it does."""
    deadline = time.monotonic() + within_s
    while not (found := condition()) and time.monotonic() < deadline:
        time.sleep(0.05)
    return bool(found)
