"""Each transaction that changes what lists show gives its users another version, in the order of commits."""

from __future__ import annotations

import ast
import importlib
import pkgutil
import threading
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from sqlalchemy import Table, select
from sqlalchemy.sql.dml import UpdateBase

import tidings
from storage.test_lock_order import ensure_order
from support.entry_fixtures import NOW, FeedFixture, ready
from tidings.base.times import Instant
from tidings.engine.columns import metadata
from tidings.engine.database import Database
from tidings.services.polling import store as polling_store
from tidings.storage.accounts import change_log
from tidings.storage.entries import entries
from tidings.storage.feeds import categories, feeds
from tidings.storage.polling import entry_writes
from tidings.storage.schema import categories as category_table
from tidings.storage.schema import list_versions as version_table
from tidings.wiring import slices

# What lists of the API and of apps show.
SHOWN = frozenset({
    "categories", "duplicates", "enclosures", "entries", "entry_contents", "entry_labels", "feed_categories", "feeds",
    "labels", "users", "views",
})  # fmt: skip
# Functions that write to these tables without a note: why.
WITHOUT_NOTE = {
    "storage.accounts.users.remove": "nobody asks any more",
    "storage.accounts.users.set_last_login": "no list shows it",
    "storage.entries.contents": "callers note the entry",
    "storage.entries.labels.set_published": "the caller notes the entry",
    "storage.entries.reading_times.set_position": "no list shows how far the entries are computed",
    "storage.feeds.feeds._update_source": "no list shows it",
    "storage.feeds.feeds.follow_bridges": "no list shows from which source a feed comes",
    "storage.polling.entry_writes._add_rows": "the caller notes the entries",
    "storage.polling.entry_writes._replace_details": "the caller notes the entries",
    "storage.polling.entry_writes._update_statement": "the caller notes feeds of which lists show something else",
    "storage.polling.sources.set_next_checks": "lists of feeds may show an earlier next check",
    "duplicates.store.set_compared": "no list shows it",
    "media.store": "no list shows the queue",
    "websub.store": "lists of feeds may show an earlier next check",
}

# Functions that note a user without what has changed: lists show it, and clients that sync do not.
WITHOUT_IDS = {
    "services.polling.store._show": "when feeds were checked",
    "storage.feeds.bulk.forget_documents": "the headers of the last check",
    "storage.polling.sources.make_due": "when feeds will be checked",
}


def version(fixture: FeedFixture) -> int:
    with fixture.database.reading() as db:
        found = change_log.version(db, fixture.user_id)
    assert found is not None
    return found


@pytest.fixture
def fixture(database: Database) -> FeedFixture:
    return FeedFixture.create(database)


def test_each_change_has_a_version_that_no_other_had(fixture: FeedFixture) -> None:
    other = FeedFixture.create(fixture.database)
    theirs, seen = version(other), {version(fixture)}
    (entry_id,) = fixture.add(ready("One"))
    seen.add(version(fixture))
    for starred in (True, False):
        with fixture.database.writing() as db:
            entries.set_state(db, fixture.user_id, [entry_id], starred=starred, now=NOW)
        seen.add(version(fixture))
    with fixture.database.writing() as db:
        feeds.remove(db, fixture.user_id, fixture.feed_id)
    seen.add(version(fixture))

    assert len(seen) == 5
    assert version(other) == theirs


def test_what_fails_changes_no_version(fixture: FeedFixture) -> None:
    before = version(fixture)

    def fail() -> None:
        with fixture.database.writing() as db:
            categories.add(db, fixture.user_id, title="Sea", title_key="sea", hide_globally=False)
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        fail()

    assert version(fixture) == before


def test_a_check_without_news_changes_no_version(fixture: FeedFixture) -> None:
    with fixture.database.reading() as db:
        feed = feeds.get(db, fixture.user_id, fixture.feed_id)
    assert feed is not None
    before = version(fixture)
    checked = {"checked_at": Instant(NOW + 1), "next_check_at": Instant(NOW + 2), "took_ms": 3, "etag_header": "x"}
    with fixture.database.writing() as db:
        entry_writes.record(db, [(feed, {**checked, "parsing_error_count": 0, "parsing_error_message": ""})])
    assert version(fixture) == before

    with fixture.database.writing() as db:
        entry_writes.record(db, [(feed, {**checked, "parsing_error_count": 1, "parsing_error_message": "No feed."})])
    assert version(fixture) != before


def test_a_transaction_of_several_users_changes_the_versions_of_all(database: Database) -> None:
    fixtures = [FeedFixture.create(database) for _ in range(3)]
    before = [version(one) for one in fixtures]

    with database.writing() as db:
        for one in fixtures[1:]:
            entry_writes.add(db, one.user_id, one.feed_id, one.category_id, [ready("New")], now=NOW)

    assert [version(one) == old for one, old in zip(fixtures, before, strict=True)] == [True, False, False]


def test_a_version_that_a_reader_sees_has_all_its_changes(fixture: FeedFixture) -> None:
    """Another transaction of the same user commits while one is open, and takes no version from it."""
    database, before = fixture.database, version(fixture)
    if database.is_sqlite:
        pytest.skip("SQLite has one writer at a time")
    is_written, may_commit = threading.Event(), threading.Event()

    def write_slowly() -> None:
        with database.writing() as db:
            categories.add(db, fixture.user_id, title="Slow", title_key="slow", hide_globally=False)
            is_written.set()
            may_commit.wait(60)

    slow = threading.Thread(target=write_slowly)
    slow.start()
    assert is_written.wait(60)
    fixture.add(ready("Quick"))
    between = version(fixture)
    may_commit.set()
    slow.join(60)

    assert len({before, between, version(fixture)}) == 3


@pytest.mark.slow
def test_versions_are_locked_last_in_the_order_of_users(database: Database) -> None:
    if database.is_sqlite:
        pytest.skip("SQLite has one writer at a time")
    first, second = FeedFixture.create(database), FeedFixture.create(database)

    def note_both(db: Any) -> None:
        change_log.note(db, second.user_id)
        change_log.note(db, first.user_id)

    ensure_order(
        database,
        note_both,
        held=(version_table.c.user_id, first.user_id),
        then=(version_table.c.user_id, second.user_id),
    )

    def note_and_lock(db: Any) -> None:
        change_log.note(db, first.user_id)
        is_theirs = (category_table.c.id == first.category_id, category_table.c.user_id == first.user_id)
        db.scalars(select(category_table.c.id).where(*is_theirs).with_for_update())

    ensure_order(
        database,
        note_and_lock,
        held=(category_table.c.id, first.category_id),
        then=(version_table.c.user_id, first.user_id),
    )


# Every function that writes


def modules_with_sql() -> Iterator[ModuleType]:
    wanted = ("tidings.storage.", *(f"tidings.{name}." for name in slices.NAMES))
    for found in pkgutil.walk_packages(tidings.__path__, "tidings."):
        is_room = found.name.startswith("tidings.storage.") or ".store" in found.name or found.name.endswith("_store")
        is_other = ".migrations" in found.name or found.name.startswith("tidings.maintenance.")
        if found.name.startswith(wanted) and is_room and not is_other:
            yield importlib.import_module(found.name)


def writes(function: ast.AST, module: ModuleType) -> set[str]:
    """Return the tables to which a function writes: by statements of its module, or by what it builds itself."""
    tables = set()
    for node in ast.walk(function):
        if isinstance(node, ast.Name):
            value = getattr(module, node.id, None)
            if isinstance(value, UpdateBase) and isinstance(value.table, Table):
                tables.add(value.table.name)
        elif isinstance(node, ast.Call):
            name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
            if name in ("insert", "update", "delete", "upsert", "insert_rows"):
                named = [getattr(module, each.id, None) for each in node.args if isinstance(each, ast.Name)]
                tables |= {table.name for table in named if isinstance(table, Table)}
    return tables & SHOWN


def notes(function: ast.AST) -> bool:
    return any(
        isinstance(node, ast.Attribute)
        and isinstance(node.value, ast.Name)
        and (node.value.id, node.attr)
        in (("change_log", "note"), ("change_log", "note_removed_feeds"), ("change_log", "begin"))
        for node in ast.walk(function)
    )


def test_every_function_that_changes_what_lists_show_notes_it() -> None:
    assert metadata.tables.keys() >= SHOWN
    found, silent = set(), set()
    for module in modules_with_sql():
        tree = ast.parse(Path(str(module.__file__)).read_text(encoding="utf-8"))
        for function in ast.walk(tree):
            if isinstance(function, ast.FunctionDef) and writes(function, module):
                name = f"{module.__name__.removeprefix('tidings.')}.{function.name}"
                found.add(name)
                if not notes(function):
                    silent.add(name)
    assert len(found) > 50, "what was found is not what writes"
    excused = {name for name in silent for known in WITHOUT_NOTE if name == known or name.startswith(f"{known}.")}
    assert silent - excused == set()
    used = {known for known in WITHOUT_NOTE if any(name == known or name.startswith(f"{known}.") for name in silent)}
    assert WITHOUT_NOTE.keys() - used == set()


def test_what_clients_sync_is_noted_with_its_ids() -> None:
    without = set()
    for module in (polling_store, *modules_with_sql()):
        tree = ast.parse(Path(str(module.__file__)).read_text(encoding="utf-8"))
        for function in ast.walk(tree):
            calls = [node for node in ast.walk(function) if isinstance(node, ast.Call) and len(node.args) < 4]
            if isinstance(function, ast.FunctionDef) and any(
                ast.unparse(one.func) == "change_log.note" for one in calls
            ):
                without.add(f"{module.__name__.removeprefix('tidings.')}.{function.name}")
    assert without == WITHOUT_IDS.keys()
