"""A search of what is stored that is killed in the middle goes on, and can be undone as if it had not been."""

from __future__ import annotations

import signal
from collections.abc import Callable

import pytest
from sqlalchemy import func, select

from duplicates.scanner import BATCH, scan
from duplicates.test_search import FOLDED, READ, UNREAD, URL, Reader
from support.entry_fixtures import NOW, ready
from tidings.domain.entries.entries import EntryStatus
from tidings.duplicates.tables import duplicate_keys, duplicate_scans
from tidings.engine.database import Database
from tidings.services.accounts.users import Users
from tidings.storage.entries import duplicates as core
from tidings.storage.schema import duplicates

# Steps until the end, and the statements before which a process kills itself on the way: first, in the middle and last
# in a step, which has about ten.
ARTICLES = 20 * BATCH
KILLED_AT = (1, 8, 10)

pytestmark = pytest.mark.slow


def test_a_killed_search_finds_each_duplicate_once_and_undoes_it(database: Database, database_url: str) -> None:
    reader = Reader(database)
    firsts = reader.arrive(reader.one, *(ready(f"Rain {number}", url=f"{URL}/{number}") for number in range(ARTICLES)))
    copies = reader.arrive(reader.two, *(ready(f"Rain! {number}", url=f"{URL}/{number}") for number in range(ARTICLES)))
    reader.set(*firsts[::3], status=EntryStatus.READ)
    starred = copies[::7]
    reader.set(*starred, starred=True)
    before = reader.states()

    choose(reader, "fold")
    run_with_kills(reader, database_url, lambda: position(reader), is_done=lambda: position(reader) >= copies[-1])
    folded = [id_ for id_ in copies if id_ not in starred]
    assert reader.statuses(*folded) == [FOLDED] * len(folded)
    assert reader.statuses(*firsts) == [READ if number % 3 == 0 else UNREAD for number in range(ARTICLES)]
    assert reader.statuses(*starred) == [UNREAD] * len(starred)
    with database.reading() as db:
        originals = core.originals(db, [reader.user_id], copies)
    assert originals == {copy: first for first, copy in zip(firsts, copies, strict=True) if copy in folded}
    reader.check_counters()

    choose(reader, "off")
    run_with_kills(reader, database_url, lambda: -recorded(reader), is_done=lambda: not has_scan(reader))
    assert reader.states() == before
    assert recorded(reader) == 0
    with database.reading() as db:
        assert db.scalars(select(duplicate_keys.c.entry_id)) == []
    reader.check_counters()


def choose(reader: Reader, mode: str) -> None:
    Users(reader.database, lambda: NOW).update(reader.user, reader.user_id, {"duplicates": mode})


def run_with_kills(
    reader: Reader, database_url: str, progress: Callable[[], int], *, is_done: Callable[[], bool]
) -> None:
    """Let processes work until all is done. The first ones are killed in the middle of a step, some steps on."""
    for statement in KILLED_AT:
        seen = progress()
        assert scan(database_url, killed_at=statement) == -signal.SIGKILL
        assert progress() > seen
        assert not is_done()
        reader.check_counters()
    assert scan(database_url) == 0
    assert is_done()


def position(reader: Reader) -> int:
    with reader.database.reading() as db:
        found = db.scalars(select(duplicate_scans.c.position).where(duplicate_scans.c.user_id == reader.user_id))
    return found[0] if found else 0


def has_scan(reader: Reader) -> bool:
    with reader.database.reading() as db:
        return bool(db.scalar(select(func.count()).where(duplicate_scans.c.user_id == reader.user_id)))


def recorded(reader: Reader) -> int:
    with reader.database.reading() as db:
        return int(db.scalar(select(func.count()).where(duplicates.c.user_id == reader.user_id)))
