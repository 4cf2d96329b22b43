"""Liferea, the reader for GNOME, on a screen that nobody sees (Xvfb): set up before its start, driven by keys."""

from __future__ import annotations

import os
import shutil
import sqlite3
import tempfile
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from xml.sax.saxutils import quoteattr

from clients.desktop import press, screen, started
from support.people import Person

# Its own names of account types.
GOOGLE_READER, MINIFLUX = "fl_google_reader", "fl_miniflux"
NEXT_UNREAD, TOGGLE_STAR = "ctrl+n", "ctrl+t"

FEED_LIST = """<?xml version="1.0" encoding="UTF-8"?>
<opml version="1.0"><head><title>Liferea Feed List Export</title></head><body>
<outline title="Tidings" text="Tidings" description="Tidings" type="source" id="abcdefg" sortColumn="time" htmlUrl=""
  sourceType={kind} xmlUrl={url} updateInterval="-1" username={username} password={password}/>
</body></opml>
"""


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
        press(self.display, ["--class", "liferea"], key)


@contextmanager
def liferea(person: Person, password: str, folder: Path, *, kind: str = GOOGLE_READER) -> Iterator[Liferea]:
    """Started with an account of the service, and stopped at the end with its screen."""
    # The path of its sockets has a length limit.
    home = Path(tempfile.mkdtemp(prefix="liferea-"))
    configuration = home / ".config/liferea"
    configuration.mkdir(parents=True)
    account = {"kind": kind, "url": person.service.url, "username": person.user.username, "password": password}
    (configuration / "feedlist.opml").write_text(FEED_LIST.format_map({n: quoteattr(v) for n, v in account.items()}))
    try:
        with (folder / "liferea.log").open("wb") as log, screen(log.fileno()) as display:
            environment = {
                "PATH": os.environ["PATH"],
                "HOME": str(home),
                "XDG_RUNTIME_DIR": str(home),
                "DISPLAY": display,
                "GSETTINGS_BACKEND": "memory",
                "LC_ALL": "C.UTF-8",
                "NO_AT_BRIDGE": "1",
            }
            with started(["liferea"], environment, log.fileno()):
                yield Liferea(home, display)
    finally:
        shutil.rmtree(home, ignore_errors=True)
