"""A program in a pseudo-terminal, and what it shows: enough of one to read and type, as a person would.

The terminal is a VT52: programs find it in every terminfo database, and it has a dozen commands where a modern one has
hundreds, so a page of code can be the screen.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import pty
import re
import select
import signal
import struct
import subprocess
import termios
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

ROWS, COLUMNS = 24, 80
ENTER = "\r"


class Screen:
    """What a VT52 shows after the bytes it was fed."""

    _COMMAND = re.compile(rb"\x1bY[ -\xff][ -\xff]|\x1b[^Y]")

    def __init__(self, rows: int = ROWS, columns: int = COLUMNS) -> None:
        self._rows, self._columns = rows, columns
        self._lines = [[" "] * columns for _ in range(rows)]
        self._row = self._column = 0
        self._rest = b""
        self._actions: dict[bytes, Callable[[], None]] = {
            b"A": lambda: self._go(self._row - 1, self._column),
            b"B": lambda: self._go(self._row + 1, self._column),
            b"C": lambda: self._go(self._row, self._column + 1),
            b"D": lambda: self._go(self._row, self._column - 1),
            b"H": lambda: self._go(0, 0),
            b"I": self._move_up,
            b"J": self._clear_below,
            b"K": self._clear_right,
        }

    @property
    def lines(self) -> list[str]:
        return ["".join(line).rstrip() for line in self._lines]

    @property
    def text(self) -> str:
        return "\n".join(self.lines)

    def feed(self, data: bytes) -> None:
        data = self._rest + data
        place = 0
        while place < len(data):
            if data[place] != 0x1B:
                self._put(data[place])
                place += 1
                continue
            command = self._COMMAND.match(data, place)
            if command is None:
                break  # the other half of it is still to come
            self._obey(command[0])
            place = command.end()
        self._rest = data[place:]

    def _obey(self, command: bytes) -> None:
        if command[1:2] == b"Y":
            self._go(command[2] - 32, command[3] - 32)
        elif action := self._actions.get(command[1:2]):
            action()

    def _put(self, byte: int) -> None:
        if byte == 0x08:
            self._go(self._row, self._column - 1)
        elif byte == 0x09:
            self._go(self._row, self._column // 8 * 8 + 8)
        elif byte == 0x0A:
            self._line_down()
        elif byte == 0x0D:
            self._go(self._row, 0)
        elif byte >= 0x20:
            self._lines[self._row][self._column] = chr(byte) if byte < 0x7F else "?"
            self._go(self._row, self._column + 1)

    def _go(self, row: int, column: int) -> None:
        self._row = min(max(row, 0), self._rows - 1)
        self._column = min(max(column, 0), self._columns - 1)

    def _line_down(self) -> None:
        if self._row == self._rows - 1:
            self._lines = [*self._lines[1:], [" "] * self._columns]
        self._go(self._row + 1, self._column)

    def _move_up(self) -> None:
        if self._row == 0:
            self._lines = [[" "] * self._columns, *self._lines[:-1]]
        self._go(self._row - 1, self._column)

    def _clear_right(self) -> None:
        self._lines[self._row][self._column :] = [" "] * (self._columns - self._column)

    def _clear_below(self) -> None:
        self._clear_right()
        for row in range(self._row + 1, self._rows):
            self._lines[row] = [" "] * self._columns


class Terminal:
    def __init__(self, process: subprocess.Popen[bytes], end: int) -> None:
        """end: the one of the pseudo-terminal's two ends that people sit at."""
        self.process = process
        self._end = end
        self._screen = Screen()
        self._lock = threading.Lock()
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._stop = threading.Event()
        self._reader.start()

    @property
    def lines(self) -> list[str]:
        with self._lock:
            return self._screen.lines

    @property
    def text(self) -> str:
        return "\n".join(self.lines)

    def line_with(self, pattern: str) -> str | None:
        return next((line for line in self.lines if re.search(pattern, line)), None)

    def see(self, *patterns: str, within_s: float = 180) -> str:
        """The line that matches the first pattern, as soon as there is one for each."""
        deadline = time.monotonic() + within_s
        while True:
            found = [self.line_with(pattern) for pattern in patterns]
            if all(line is not None for line in found):
                return found[0] or ""
            missing = [pattern for pattern, line in zip(patterns, found, strict=True) if line is None]
            assert time.monotonic() < deadline, f"{missing} did not show up; the screen:\n{self.text}"
            time.sleep(0.02)

    def type(self, keys: str) -> None:
        os.write(self._end, keys.encode())

    def close(self) -> None:
        """Ends the program, politely first."""
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self.process.pid, signal.SIGHUP)
        try:
            self.process.wait(5)
        except subprocess.TimeoutExpired:
            os.killpg(self.process.pid, signal.SIGKILL)
            self.process.wait()
        self._stop.set()
        self._reader.join()
        os.close(self._end)

    def _read(self) -> None:
        while not self._stop.is_set():
            if not select.select([self._end], [], [], 0.1)[0]:
                continue
            try:
                data = os.read(self._end, 65536)
            except OSError:  # the program has left
                return
            if not data:
                return
            with self._lock:
                self._screen.feed(data)


@contextmanager
def terminal(command: Sequence[str | Path], environment: Mapping[str, str], folder: Path) -> Iterator[Terminal]:
    """command, running in a terminal of its own until the end of the block."""
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", ROWS, COLUMNS, 0, 0))
    try:
        process = subprocess.Popen(
            command,
            env={"PATH": os.environ["PATH"], "TERM": "vt52", "LC_ALL": "C.UTF-8", **environment},
            stdin=theirs,
            stdout=theirs,
            stderr=theirs,
            cwd=folder,
            start_new_session=True,
        )
    except OSError:
        os.close(ours)
        raise
    finally:
        os.close(theirs)
    opened = Terminal(process, ours)
    try:
        yield opened
    finally:
        opened.close()
