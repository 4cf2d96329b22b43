"""Measures 1,000 users with the same 50 feeds: requests to publishers, and the cost per subscriber."""

from __future__ import annotations

import sys
import tempfile
import time
import urllib.request
from contextlib import ExitStack
from pathlib import Path

from sqlalchemy import func, select, text, update

from benchmarks.polling import publisher
from support.postgres import create_database, postgres_server
from support.running import environment_for, running
from tidings.base.times import HOUR
from tidings.engine import notify
from tidings.engine.database import Database
from tidings.services.clock import system_clock
from tidings.storage import migrate
from tidings.storage.accounts import users
from tidings.storage.feeds import categories, feeds
from tidings.storage.schema import entries
from tidings.storage.schema import feeds as feed_table
from tidings.storage.schema import sources as source_table

USERS, FEEDS, ENTRIES = 1_000, 50, 10
# Until when feeds are not due. A worker corrects times that are too far ahead, so it is not much longer than a run.
PAUSE = 2 * HOUR
TIMEOUT_S = 1_200.0


def run() -> None:
    sys.stdout.write(f"subscribers: {USERS} users with the same {FEEDS} feeds of {ENTRIES} entries\n")
    with publisher(FEEDS, ENTRIES) as origin:
        with tempfile.TemporaryDirectory() as folder:
            _measure("SQLite", origin, f"sqlite:///{folder}/bench.db", Path(folder))
        with postgres_server(is_durable=True) as server, tempfile.TemporaryDirectory() as folder:
            _measure("PostgreSQL", origin, create_database(server, "bench"), Path(folder))


def _measure(engine: str, origin: str, database_url: str, folder: Path) -> None:
    environment = environment_for(database_url, folder, polling_limit_per_host="100", log_level="warning")
    database = Database(database_url)
    migrate.upgrade(database)
    before = _size(database)
    _subscribe(database, origin)
    subscribed = _size(database)
    with ExitStack() as stack:
        for _ in range(2):
            stack.enter_context(running("worker", environment, folder))
        time.sleep(5)  # until they are running and idle
        first, asked_first = _round(database, origin)
        again, asked_again = _round(database, origin)
    with database.reading() as db:
        stored = int(db.scalar(select(func.count()).select_from(entries)))
    filled = _size(database)
    shown = USERS * FEEDS
    say = sys.stdout.write
    say(f"  {engine}: {stored} of {shown * ENTRIES} entries\n")
    say(f"    first round             {asked_first:5} fetches {first:7.1f} s\n")
    say(f"    one without news        {asked_again:5} fetches {again:7.1f} s\n")
    say(f"    one more subscriber     {first / shown * 1e3:.2f} ms with news, {again / shown * 1e3:.3f} ms without\n")
    say(f"    on the disk             {(subscribed - before) / shown:.0f} bytes a feed,")
    say(f" {(filled - subscribed) / stored:.0f} an entry\n")
    database.close()


def _subscribe(database: Database, origin: str) -> None:
    now = system_clock()
    moments = {"created_at": now, "checked_at": 0, "next_check_at": now + PAUSE, "icon_checked_at": now}
    for number in range(USERS):
        with database.writing() as db:
            user_id = users.add(db, username=f"user{number}", password_hash="", is_admin=False, now=now)
            category_id = categories.add(db, user_id, title="All", title_key="all", hide_globally=False)
            rows = [
                {"category_id": category_id, "feed_url": f"{origin}/feed/{number}", "title": f"{number}"}
                | {"site_url": f"{origin}/site/{number}"}
                | moments
                for number in range(1, FEEDS + 1)
            ]
            feeds.add_many(db, user_id, rows)


def _round(database: Database, origin: str) -> tuple[float, int]:
    """Returns the seconds, and the number of requests to the publisher."""
    requested, started, due_at = _request_count(origin), time.monotonic(), system_clock()
    with database.writing() as db:
        db.run(update(feed_table).values(next_check_at=0))
        db.run(update(source_table).values(next_check_at=0))
        notify.notify(db, notify.FEEDS)
    unchecked = select(func.count()).select_from(feed_table).where(feed_table.c.checked_at < due_at)
    while True:
        with database.reading() as db:
            left = int(db.scalar(unchecked))
        if not left:
            return time.monotonic() - started, _request_count(origin) - requested
        if time.monotonic() - started > TIMEOUT_S:
            raise TimeoutError(f"{left} feeds were not polled")
        time.sleep(0.2)


def _request_count(origin: str) -> int:
    with urllib.request.urlopen(f"{origin}/count") as answer:  # noqa: S310
        return int(answer.read())


def _size(database: Database) -> int:
    """Returns the number of bytes."""
    with database.reading() as db:
        if database.is_sqlite:
            return int(db.scalar(text("SELECT page_count * page_size FROM pragma_page_count, pragma_page_size")))
        return int(db.scalar(text("SELECT pg_database_size(current_database())")))
