"""Sync and live events read what changed, however much there is."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from sqlalchemy import text

from storage.test_plans import LARGE, explained
from support import archive as archives
from support import distributed
from support.archive import Archive
from support.databases import Databases
from support.entry_fixtures import NOW
from tidings.domain.accounts.users import User
from tidings.engine.database import Database, Read, Write
from tidings.live.changes import described
from tidings.services.accounts import grants
from tidings.services.accounts.grants import Grant
from tidings.storage.accounts import change_log, users
from tidings.storage.accounts.change_log import Kind, LoggedChange, Point
from tidings.sync import store

pytestmark = pytest.mark.slow

IDS = list(range(1000, 1200))
CHANGED = LoggedChange(Point(1, 1), json.dumps({Kind.ENTRY: IDS, Kind.NEW_ENTRY: IDS[:50], Kind.FEED: [1, 2]}))
# An API key, a session, and the password of the account.
WAYS: tuple[dict[str, Any], ...] = ({"key_id": 1}, {"session_id": 1}, {"password_hash": "x"})


def _user(db: Read, archive: Archive) -> User:
    found = users.get(db, archive.user_id)
    assert found is not None
    return found


STEPS: dict[str, Callable[[Write, Archive], object]] = {
    "the last change": lambda db, a: change_log.last_point(db, a.user_id),
    "changes since": lambda db, a: change_log.rows(db, a.user_id, 2_900, limit=2_001),
    "entries of a listing": lambda db, a: store.entry_ids(db, a.user_id, 500, 500),
    "copies of entries": lambda db, a: store.repeating(db, a.user_id, IDS),
    "old changes": lambda db, _: store.remove_old(db, NOW, 100_000, 100),
    "a version": lambda db, a: change_log.version(db, a.user_id),
    "what streams lack": lambda db, a: change_log.last_numbers(db, [a.user_id]),
    "what an event says": lambda db, a: described(db, _user(db, a), [CHANGED]),
    "who may hear it": lambda db, a: grants.still_valid(db, {Grant(a.user_id, **one) for one in WAYS}, NOW),
    "a change": lambda db, a: change_log._write(db, {a.user_id: {Kind.ENTRY: set(IDS)}}),
}


@pytest.fixture(scope="module")
def archive(databases: Databases) -> Iterator[Archive]:
    distributed.skip_plans(databases)
    with databases.migrated() as url:
        database = Database(url)
        built = archives.build(database, (12_000, 10_000, 8_000))
        with database.writing() as db:
            owners = db.scalars(text("SELECT id FROM users"))
            rows = [
                {"u": user, "n": number, "o": b'\0{"entries":[1]}'} for user in owners for number in range(100, 3_100)
            ]
            db.run_many(
                text("INSERT INTO changes (user_id, number, version, made_at, objects) VALUES (:u,:n,1,:n,:o)"), rows
            )
            db.run(text("UPDATE list_versions SET number = 3100"))
            db.run(text("ANALYZE"))
        yield built
        database.close()


def test_sync_reads_through_indexes(archive: Archive) -> None:
    complaints = {}
    for name, step in STEPS.items():
        with explained(archive.database) as plans, archive.database.writing() as db:
            step(db, archive)
        complaints[name] = [found for plan in plans if (found := plan.complaints())]

    assert {"changes", "entries"} <= LARGE
    assert {name: found for name, found in complaints.items() if found} == {}
