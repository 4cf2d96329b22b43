"""RSS Guard with its account type for the Google Reader API: set up before its start, driven by keys."""

from __future__ import annotations

import base64
import json
import os
import shutil
import sqlite3
import tempfile
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from clients.desktop import eventually, press, screen, started
from support.people import Person

# Its own numbers of services.
FRESHRSS, OTHER = 1, 1024
# Keys that we give to its actions. At the first run of a version it covers its window with news.
NEXT_FEED, NEXT_UNREAD, TOGGLE_STAR, MARK_ALL_READ, UPDATE_ALL = "F6", "F7", "F8", "F9", "F10"
SETTINGS = f"""\
[feeds]
feeds_update_on_startup=true
feeds_update_on_startup_delay=1

[keyboard]
m_actionSelectNextItem={NEXT_FEED}
m_actionSelectNextUnreadMessage={NEXT_UNREAD}
m_actionSwitchImportanceOfSelectedMessages={TOGGLE_STAR}
m_actionMarkAllItemsRead={MARK_ALL_READ}
m_actionUpdateAllItems={UPDATE_ALL}

[main]
first_run=false
first_run_4.0.4=false
"""
# By its title: hints and notes of other kinds are windows, too.
_MAIN_WINDOW = ("--name", "^RSS Guard [0-9]")
# Of a database in which each table is made, the last one, too.
_IS_COMPLETE = "SELECT (SELECT COUNT(*) FROM LabelsInMessages) FROM Information WHERE inf_key = 'schema_version'"
_KEY = 1_234_567_890_123


@dataclass
class RssGuard:
    """A running RSS Guard. data: its folder. log: what it writes of its requests."""

    data: Path
    display: str
    log: Path

    def items(self) -> dict[str, tuple[bool, bool, str]]:
        """By title: whether it is read, whether it is starred, and the body; as far as RSS Guard has stored them."""
        rows = self._stored("SELECT title, is_read, is_important, contents FROM Messages")
        return {title: (bool(read), bool(starred), body) for title, read, starred, body in rows}

    def folders(self) -> dict[str, str]:
        """By feed: the folder that it is in."""
        rows = self._stored("SELECT f.title, c.title FROM Feeds f JOIN Categories c ON c.id = f.category ORDER BY 1")
        return dict(rows)

    def labels(self) -> dict[str, set[str]]:
        """By label, the titles of its entries."""
        found: dict[str, set[str]] = {name: set() for (name,) in self._stored("SELECT name FROM Labels")}
        given = "LabelsInMessages g JOIN Labels l ON l.custom_id = g.label JOIN Messages m ON m.custom_id = g.message"
        for name, title in self._stored(f"SELECT l.name, m.title FROM {given}"):
            found[name].add(title)
        return found

    def press(self, *keys: str) -> None:
        for key in keys:
            press(self.display, _MAIN_WINDOW, key)

    def _stored(self, query: str) -> list[Any]:
        return _rows(self.data, query)


def _rows(data: Path, query: str) -> list[Any]:
    try:
        with closing(sqlite3.connect(f"file:{data}/database/database.db?mode=ro", uri=True)) as stored:
            return stored.execute(query).fetchall()
    except sqlite3.OperationalError:
        return []


@contextmanager
def rss_guard(person: Person, password: str, folder: Path, service: int) -> Iterator[RssGuard]:
    """Started with an account, which it synchronises by itself, and stopped at the end with its screen."""
    home = Path(tempfile.mkdtemp(prefix="rss-guard-"))
    data, log_path = home / "data", folder / "rss-guard.log"
    (data / "config").mkdir(parents=True)
    (data / "config/config.ini").write_text(SETTINGS)
    try:
        with log_path.open("wb") as log, screen(log.fileno()) as display:
            environment = {
                "PATH": os.environ["PATH"],
                "HOME": str(home),
                "XDG_RUNTIME_DIR": str(home),
                "DISPLAY": display,
                "LC_ALL": "C.UTF-8",
                # As root Chromium, which shows articles, does not start with it.
                "QTWEBENGINE_DISABLE_SANDBOX": "1",
            }
            command = ["rssguard", "--data", str(data)]
            with started(command, environment, log.fileno()):
                eventually(lambda: bool(_rows(data, _IS_COMPLETE)), log_path.read_text)
            _add_account(data, person, password, service)
            with started(command, environment, log.fileno()):
                yield RssGuard(data, display, log_path)
    finally:
        shutil.rmtree(home, ignore_errors=True)


def _add_account(data: Path, person: Person, password: str, service: int) -> None:
    account = {
        "service": service,
        "url": person.service.url,
        "username": person.user.username,
        "password": _sealed(password),
        "batch_size": 100,
        "download_only_unread": False,
        "intelligent_synchronization": True,
    }
    (data / "config/key.private").write_text(str(_KEY))
    with closing(sqlite3.connect(data / "database/database.db")) as stored, stored:
        stored.execute("INSERT INTO Accounts (type, custom_data) VALUES ('greader', ?)", [json.dumps(account)])


def _sealed(text: str) -> str:
    """Return a password as RSS Guard stores it: each byte combined with one of the key and with the byte before."""
    last, sealed = 0, bytearray()
    # The first byte counts for nothing.
    for number, byte in enumerate(b"\1" + text.encode()):
        last ^= byte ^ _KEY.to_bytes(8, "little")[number % 8]
        sealed.append(last)
    # Version 3, neither compressed nor with a checksum.
    return base64.b64encode(b"\3\0" + sealed).decode()
