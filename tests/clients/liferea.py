"""Liferea, the reader for GNOME, on a screen that nobody sees (Xvfb): set up before its start, driven by keys."""

from __future__ import annotations

import os
import shutil
import signal
import sqlite3
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from xml.sax.saxutils import quoteattr

from support.people import Person

PROGRAMS = ("liferea", "Xvfb", "xdotool", "dbus-run-session")
# Its own names of account types.
GOOGLE_READER, MINIFLUX = "fl_google_reader", "fl_miniflux"
NEXT_UNREAD, TOGGLE_STAR = "ctrl+n", "ctrl+t"

FEED_LIST = """<?xml version="1.0" encoding="UTF-8"?>
<opml version="1.0"><head><title>Liferea Feed List Export</title></head><body>
<outline title="Tidings" text="Tidings" description="Tidings" type="source" id="abcdefg" sortColumn="time" htmlUrl=""
  sourceType={kind} xmlUrl={url} updateInterval="-1" username={username} password={password}/>
</body></opml>
"""


def missing() -> str:
    """Which programs are not on the PATH; "" when all are there (Debian: liferea xvfb xdotool dbus-daemon)."""
    return ", ".join(name for name in PROGRAMS if shutil.which(name) is None)


@dataclass
class Liferea:
    """One that runs. home: where it keeps its things."""

    home: Path
    display: str

    def items(self) -> dict[str, tuple[bool, bool]]:
        """By title: whether it is read, and starred; as far as Liferea has stored them."""
        path = self.home / ".local/share/liferea/liferea.db"
        try:
            with closing(sqlite3.connect(f"file:{path}?mode=ro", uri=True)) as stored:
                found = stored.execute("SELECT title, read, marked FROM items").fetchall()
        except sqlite3.OperationalError:
            return {}
        return {title: (bool(read), bool(marked)) for title, read, marked in found}

    def folders(self) -> str:
        return (self.home / ".config/liferea/feedlist.opml").read_text()

    def press(self, key: str) -> None:
        """In its window, which there is no manager to give the focus to."""
        environment = {**os.environ, "DISPLAY": self.display}
        found = subprocess.run(
            ["xdotool", "search", "--onlyvisible", "--class", "liferea"],
            env=environment, capture_output=True, text=True, check=False, timeout=30,
        )  # fmt: skip
        for window in found.stdout.split()[-1:]:
            command = ["xdotool", "windowfocus", "--sync", window, "key", "--clearmodifiers", key]
            subprocess.run(command, env=environment, check=False, timeout=30, capture_output=True)


@contextmanager
def liferea(person: Person, password: str, folder: Path, *, kind: str = GOOGLE_READER) -> Iterator[Liferea]:
    """Started with an account of the service, and stopped at the end with its screen."""
    # The path of its sockets has a length limit.
    home = Path(tempfile.mkdtemp(prefix="liferea-"))
    configuration = home / ".config/liferea"
    configuration.mkdir(parents=True)
    account = {"kind": kind, "url": person.service.url, "username": person.user.username, "password": password}
    (configuration / "feedlist.opml").write_text(FEED_LIST.format_map({n: quoteattr(v) for n, v in account.items()}))
    with (folder / "liferea.log").open("wb") as log, _screen(log.fileno()) as display:
        environment = {
            "PATH": os.environ["PATH"],
            "HOME": str(home),
            "XDG_RUNTIME_DIR": str(home),
            "DISPLAY": display,
            "GSETTINGS_BACKEND": "memory",
            "LC_ALL": "C.UTF-8",
            "NO_AT_BRIDGE": "1",
        }
        process = subprocess.Popen(
            ["dbus-run-session", "--", "liferea"],
            env=environment, stdin=subprocess.DEVNULL, stdout=log, stderr=log, start_new_session=True,
        )  # fmt: skip
        try:
            yield Liferea(home, display)
        finally:
            _end(process)
            shutil.rmtree(home, ignore_errors=True)


@contextmanager
def _screen(log: int) -> Iterator[str]:
    """A display of its own; its number is the first that is free."""
    reading, writing = os.pipe()
    command = ["Xvfb", "-displayfd", str(writing), "-screen", "0", "1200x800x24", "-nolisten", "tcp"]
    process = subprocess.Popen(command, pass_fds=[writing], stdout=log, stderr=log, start_new_session=True)
    os.close(writing)
    try:
        with os.fdopen(reading) as told:
            yield f":{told.readline().strip()}"
    finally:
        _end(process)


def _end(process: subprocess.Popen[bytes]) -> None:
    """With the processes that it has started."""
    for how in (signal.SIGTERM, signal.SIGKILL):
        try:
            os.killpg(process.pid, how)
            process.wait(5)
        except ProcessLookupError:
            return
        except subprocess.TimeoutExpired:
            continue


def eventually(holds: Callable[[], bool], told: Callable[[], object], within_s: float = 40) -> None:
    deadline = time.monotonic() + within_s
    while not holds():
        assert time.monotonic() < deadline, f"Liferea did not get there: {told()}"
        time.sleep(0.2)
