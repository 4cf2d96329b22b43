"""`tidings backup`, `restore`, `check` and `move`, on both engines and while the database is in use."""

from __future__ import annotations

import re
import signal
import stat
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from sqlalchemy import text

from cli.commands import Tidings, error_line, eventually
from support.databases import Databases
from support.entry_fixtures import FeedFixture, ready
from support.people import PASSWORD
from tidings.engine.database import Database
from tidings.storage.accounts import users
from tidings.wiring.services import AllServices

pytestmark = pytest.mark.slow


@pytest.fixture
def database_url(databases: Databases) -> Iterator[str]:
    """A database to restore, which no other program may use."""
    with databases.migrated(is_alone=True) as url:
        yield url


def usernames(database: Database) -> list[str]:
    with database.reading() as db:
        return [user.username for user in users.list_all(db)]


def test_a_backup_has_what_was_committed_and_is_readable_by_its_owner_only(
    tidings: Tidings, services: AllServices, database: Database
) -> None:
    services.accounts.users.create("alice", PASSWORD)
    target = tidings.folder / "copy.db"

    with database.writing() as db:
        if not database.is_sqlite:
            # The backup may take longer than a transaction may wait, on a busy machine.
            db.run(text("SET LOCAL idle_in_transaction_session_timeout = 0"))
        users.add(db, username="unfinished", password_hash="x", is_admin=False, now=services.clock())
        done = tidings("backup", str(target))

    assert (done.returncode, done.stderr) == (0, "")
    assert str(target) in done.stdout
    assert stat.S_IMODE(target.stat().st_mode) == 0o600
    copy = Database(f"sqlite:///{target}")
    assert usernames(copy) == ["alice"]
    copy.close()


def test_a_backup_replaces_no_file(tidings: Tidings) -> None:
    target = tidings.folder / "precious"
    target.write_text("mine")

    assert "File exists" in error_line(tidings("backup", str(target)), 1)
    assert target.read_text() == "mine"
    assert "No such file" in error_line(tidings("backup", str(tidings.folder / "missing" / "copy.db")), 1)


def test_a_backup_made_while_entries_arrive_has_every_entry_acknowledged_before(
    tidings: Tidings, database: Database, tmp_path: Path
) -> None:
    feed = FeedFixture.create(database)
    acknowledged: list[int] = []
    stop = threading.Event()

    def write() -> None:
        while not stop.is_set():
            acknowledged.extend(feed.add(*(ready("Rain", "<p>rain</p>" * 50) for _ in range(20))))

    writer = threading.Thread(target=write)
    writer.start()
    try:
        while len(acknowledged) < 1000:
            assert writer.is_alive()
        before = set(acknowledged)
        done = tidings("backup", str(tmp_path / "copy.db"))
    finally:
        stop.set()
        writer.join()
    assert done.returncode == 0, done.stderr
    written_meanwhile = len(acknowledged) - len(before)

    fresh = Tidings(tmp_path, {"DATABASE_URL": f"sqlite:///{tmp_path}/restored.db"})
    assert fresh("restore", str(tmp_path / "copy.db")).returncode == 0
    checked = fresh("check")
    assert (checked.returncode, checked.stdout) == (0, "No problems found.\n")
    restored = Database(f"sqlite:///{tmp_path}/restored.db")
    with restored.reading() as db:
        assert before <= set(db.scalars(text("SELECT id FROM entries")))
    restored.close()
    assert written_meanwhile > 0


def test_a_restored_database_is_the_one_of_the_backup(
    tidings: Tidings, services: AllServices, database: Database
) -> None:
    services.accounts.users.create("alice", PASSWORD)
    copy = str(tidings.folder / "copy.db")
    assert tidings("backup", copy).returncode == 0
    services.accounts.users.create("bob", PASSWORD)

    assert "--force" in error_line(tidings("restore", copy), 1)
    assert "stop Tidings" in error_line(tidings("restore", copy, "--force"), 1)
    assert usernames(database) == ["alice", "bob"]
    database.close()
    done = tidings("restore", copy, "--force")

    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith(f"Restored from {copy}: users 1\n")
    assert usernames(database) == ["alice"]
    assert tidings("check").returncode == 0


def test_a_backup_can_be_restored_where_nothing_was(bare: Tidings, tidings: Tidings, services: AllServices) -> None:
    services.accounts.users.create("alice", PASSWORD)
    copy = str(tidings.folder / "copy.db")
    assert tidings("backup", copy).returncode == 0

    fresh = Tidings(bare.folder, {"DATA_DIR": str(bare.folder / "new")})

    assert fresh("restore", copy).returncode == 0
    assert fresh("user", "list").stdout.endswith("\talice\n")


def test_a_file_that_is_no_backup_is_refused_in_one_line(tidings: Tidings) -> None:
    file = tidings.folder / "feeds.opml"
    file.write_text("<opml/>")

    assert "expected a file that `tidings backup` wrote" in error_line(tidings("restore", str(file), "--force"), 1)


def test_check_lists_problems_with_exit_code_4_until_they_are_repaired(tidings: Tidings, database: Database) -> None:
    feed = FeedFixture.create(database)
    feed.add(ready("One"), ready("Two"))
    with database.writing() as db:
        db.run(text("UPDATE feed_counters SET unread = 70"))

    found, repaired, afterwards = tidings("check"), tidings("check", "--repair"), tidings("check")

    line = "counters: 1 feeds whose counters differ from their entries"
    assert (found.returncode, found.stderr) == (4, "")
    assert found.stdout.splitlines() == [line, "Problems: 1; `tidings check --repair` repairs what it can"]
    assert (repaired.returncode, repaired.stdout.splitlines()[0]) == (0, f"{line} (repaired)")
    assert (afterwards.returncode, afterwards.stdout) == (0, "No problems found.\n")


def test_a_move_says_what_it_moved_and_what_to_do_next(
    tidings: Tidings, services: AllServices, database: Database
) -> None:
    services.accounts.users.create("alice", PASSWORD)
    FeedFixture.create(database).add(ready("One"), ready("Two"))
    target = f"sqlite:///{tidings.folder}/moved.db"

    done = tidings("move", "--to", target)
    again = tidings("move", "--to", target)

    assert (done.returncode, done.stderr) == (0, "")
    assert re.search(r"^Moved and compared: tables \d+, rows \d+, entries 2$", done.stdout, re.MULTILINE)
    assert "TIDINGS_DATABASE_URL" in done.stdout
    assert "is not empty" in error_line(again, 1)
    moved = Tidings(tidings.folder, {"DATABASE_URL": target})
    assert moved("check").returncode == 0
    assert "alice" in moved("user", "list").stdout


@pytest.mark.parametrize(
    ("url", "says"),
    [
        ("mysql://db/tidings", "sqlite:///path/to/file or postgresql://"),
        ("nonsense", "sqlite:///path/to/file or postgresql://"),
        ("postgresql://tidings@localhost:1/none", "Connection refused"),
        ("sqlite:////nowhere/at/all.db", "unable to open database file"),
    ],
)
def test_a_target_that_cannot_be_used_is_one_line(tidings: Tidings, url: str, says: str) -> None:
    assert says in error_line(tidings("move", "--to", url), 1)


def test_copying_shows_its_progress_at_a_terminal(tidings: Tidings, database: Database) -> None:
    FeedFixture.create(database).add(*(ready(f"Entry {number}") for number in range(300)))

    with tidings.on_a_terminal("move", "--to", f"sqlite:///{tidings.folder}/moved.db") as terminal:
        assert terminal.exit_code() == 0

    assert "Copying and comparing" in terminal.seen
    assert "Moved and compared" in terminal.seen


def test_two_workers_write_one_scheduled_backup(tidings: Tidings, services: AllServices) -> None:
    services.accounts.users.create("alice", PASSWORD)
    folder = tidings.folder / "backups"
    keeping = Tidings(tidings.folder, {**tidings.settings, "BACKUP_FOLDER": str(folder), "BACKUP_KEEP": "1"})

    with keeping.started("worker") as one, keeping.started("worker") as two:
        assert eventually(lambda: list(folder.glob("tidings-*.db")) if folder.exists() else [])
        assert eventually(lambda: services.maintenance.status.read().last_backup_s is not None)
        for process in (one, two):
            process.send_signal(signal.SIGTERM)
        assert [process.wait(60) for process in (one, two)] == [0, 0]

    (path,) = folder.iterdir()
    copy = Database(f"sqlite:///{path}")
    assert usernames(copy) == ["alice"]
    copy.close()
    assert "Backup" in tidings("status").stdout
