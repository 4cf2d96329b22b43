"""Old entries are deleted in short steps; what a user keeps stays; what was deleted does not come back."""

from __future__ import annotations

from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import func, select, text, update

from support.entry_fixtures import NOW, FeedFixture, ready
from tidings.base.times import DAY, Instant
from tidings.content.icons import IconImage
from tidings.deliveries.store import outbox
from tidings.deliveries.tables import deliveries as delivery_table
from tidings.deliveries.wiring import CLEANUP_TASKS
from tidings.domain.accounts.events import Origin
from tidings.domain.entries.entries import EntryStatus
from tidings.domain.entries.retention import MAX_BATCH, Retention, next_batch_size
from tidings.engine import disk_space, full_text
from tidings.engine.database import Database
from tidings.maintenance import cleanup
from tidings.maintenance.cleanup import CONTINUE_DELAY, FIRST_RUN_DELAY, LEASE, Cleanup, CleanupSettings
from tidings.maintenance.cleanup_worker import run_cleanup
from tidings.services.accounts.sessions import Sessions
from tidings.services.accounts.users import by_id
from tidings.services.entries.labels import Labels
from tidings.services.entries.search_index import SearchIndexer
from tidings.services.listeners import Listeners
from tidings.storage import migrate
from tidings.storage.entries import entries, labels, search_index, snoozed
from tidings.storage.feeds import feeds, icons
from tidings.storage.polling import entry_writes
from tidings.storage.schema import entries as entry_table
from tidings.storage.schema import feed_counters, search_documents, search_vectors
from tidings.storage.schema import feeds as feed_table


class MovableClock:
    """A clock that the test turns on."""

    def __init__(self) -> None:
        self.now = NOW

    def __call__(self) -> Instant:
        return self.now

    def pass_days(self, days: float) -> None:
        self.now = Instant(self.now + int(days * DAY))


@pytest.fixture
def clock() -> MovableClock:
    return MovableClock()


@pytest.fixture
def feed_fixture(database: Database) -> FeedFixture:
    return FeedFixture.create(database)


def clean_up(feed_fixture: FeedFixture, clock: MovableClock, **settings: Any) -> Counter[str]:
    removed = run_cleanup(
        create_cleanup(feed_fixture.database, clock, **settings), "somebody", lambda _done, _total: None
    )
    assert removed is not None
    return removed


def create_cleanup(database: Database, clock: MovableClock, **settings: Any) -> Cleanup:
    return Cleanup(database, clock, CleanupSettings(**settings), CLEANUP_TASKS)


def set_state(feed_fixture: FeedFixture, ids: list[int], now: Instant, **state: Any) -> None:
    with feed_fixture.database.writing() as db:
        entries.set_state(db, feed_fixture.user_id, ids, now=now, **state)


def share(feed_fixture: FeedFixture, entry_id: int) -> None:
    with feed_fixture.database.writing() as db:
        db.run(update(entry_table).where(entry_table.c.id == entry_id).values(share_code=f"code-{entry_id}"))


def count(database: Database, table: Any) -> int:
    with database.reading() as db:
        return int(db.scalar(select(func.count()).select_from(table)))


# Ages


@pytest.mark.parametrize(
    ("status", "days"), [(EntryStatus.READ, 60), (EntryStatus.REMOVED, 60), (EntryStatus.UNREAD, 180)], ids=str
)
def test_an_entry_is_deleted_after_its_retention_time(
    feed_fixture: FeedFixture, clock: MovableClock, status: EntryStatus, days: int
) -> None:
    (entry,) = feed_fixture.add(ready("Old"))
    if status != EntryStatus.UNREAD:
        set_state(feed_fixture, [entry], NOW, status=status)

    clock.pass_days(days - 0.1)
    assert clean_up(feed_fixture, clock)["entries"] == 0
    clock.pass_days(0.2)
    assert clean_up(feed_fixture, clock)["entries"] == 1
    assert count(feed_fixture.database, entry_table) == 0


def test_retention_counts_from_the_last_change_of_state(feed_fixture: FeedFixture, clock: MovableClock) -> None:
    (entry,) = feed_fixture.add(ready("Old", published_at=Instant(NOW - 3000 * DAY)))
    clock.pass_days(179)
    set_state(feed_fixture, [entry], clock.now, status=EntryStatus.READ)

    clock.pass_days(59)
    assert clean_up(feed_fixture, clock)["entries"] == 0


def test_starred_and_shared_entries_are_kept(feed_fixture: FeedFixture, clock: MovableClock) -> None:
    plain, starred, shared = feed_fixture.add(ready("Plain"), ready("Starred"), ready("Shared"))
    set_state(feed_fixture, [plain, starred, shared], NOW, status=EntryStatus.READ)
    set_state(feed_fixture, [starred], NOW, starred=True)
    share(feed_fixture, shared)

    clock.pass_days(4000)
    assert clean_up(feed_fixture, clock)["entries"] == 1
    assert feed_fixture.titles() == ["Starred", "Shared"]


def test_snoozed_entries_are_kept(feed_fixture: FeedFixture, clock: MovableClock) -> None:
    _plain, put_off = ids = feed_fixture.add(ready("Plain"), ready("Snoozed"))
    set_state(feed_fixture, ids, NOW, status=EntryStatus.READ)
    with feed_fixture.database.writing() as db:
        snoozed.put(db, feed_fixture.user_id, {put_off: Instant(NOW + 300 * DAY)})

    clock.pass_days(200)
    assert clean_up(feed_fixture, clock)["entries"] == 1
    assert feed_fixture.titles() == ["Snoozed"]


def test_labelled_entries_are_kept_until_their_last_label_is_taken(
    feed_fixture: FeedFixture, clock: MovableClock
) -> None:
    plain, labelled = feed_fixture.add(ready("Plain"), ready("Labelled"))
    set_state(feed_fixture, [plain, labelled], NOW, status=EntryStatus.READ)
    service = Labels(feed_fixture.database, clock, Listeners())
    service.change(feed_fixture.user_id, [labelled], add=["Work", "Home"])

    clock.pass_days(4000)
    assert clean_up(feed_fixture, clock)["entries"] == 1
    service.change(feed_fixture.user_id, [labelled], remove=["Home"])
    clock.pass_days(61)
    assert clean_up(feed_fixture, clock)["entries"] == 0
    with feed_fixture.database.reading() as db:
        (work,) = [label.id for label in labels.list_all(db, feed_fixture.user_id) if label.name == "Work"]
    service.delete(feed_fixture.user_id, work)
    # As after a star, the time begins anew.
    clock.pass_days(59)
    assert clean_up(feed_fixture, clock)["entries"] == 0
    clock.pass_days(2)
    assert clean_up(feed_fixture, clock)["entries"] == 1
    assert feed_fixture.titles() == []


def test_a_feed_with_its_own_retention_keeps_labelled_entries(feed_fixture: FeedFixture, clock: MovableClock) -> None:
    plain, labelled = feed_fixture.add(ready("Plain"), ready("Labelled"))
    set_state(feed_fixture, [plain, labelled], NOW, status=EntryStatus.READ)
    Labels(feed_fixture.database, clock, Listeners()).change(feed_fixture.user_id, [labelled], add=["Work"])
    with feed_fixture.database.writing() as db:
        db.run(update(feed_table).values(keep_read_days=3))

    clock.pass_days(4)
    assert clean_up(feed_fixture, clock)["entries"] == 1
    assert feed_fixture.titles() == ["Labelled"]


def test_retention_can_be_unlimited(feed_fixture: FeedFixture, clock: MovableClock) -> None:
    read, _ = feed_fixture.add(ready("Read"), ready("Unread"))
    set_state(feed_fixture, [read], NOW, status=EntryStatus.READ)

    clock.pass_days(4000)
    assert clean_up(feed_fixture, clock, retention=Retention(None, None))["entries"] == 0
    assert clean_up(feed_fixture, clock, retention=Retention(None, timedelta(days=1)))["entries"] == 1
    assert feed_fixture.titles() == ["Read"]


def test_a_feed_can_have_its_own_retention(feed_fixture: FeedFixture, clock: MovableClock) -> None:
    feed_fixtures = {
        "as all": feed_fixture,
        "for ever": feed_fixture.another_feed(),
        "a week": feed_fixture.another_feed(),
    }
    with feed_fixture.database.writing() as db:
        for name, days in (("for ever", -1), ("a week", 7)):
            feeds.change(
                db, feed_fixture.user_id, feed_fixtures[name].feed_id, keep_read_days=days, keep_unread_days=days
            )
    for name, one in feed_fixtures.items():
        read, _ = one.add(ready(f"{name}, read"), ready(f"{name}, unread"))
        set_state(one, [read], NOW, status=EntryStatus.READ)

    clock.pass_days(8)
    assert clean_up(feed_fixture, clock)["entries"] == 2
    clock.pass_days(53)
    assert clean_up(feed_fixture, clock)["entries"] == 1
    assert feed_fixture.titles() == ["as all, unread", "for ever, read", "for ever, unread"]
    clock.pass_days(4000)
    assert clean_up(feed_fixture, clock)["entries"] == 1
    assert feed_fixture.titles() == ["for ever, read", "for ever, unread"]


def test_a_feed_can_have_a_retention_while_others_are_unlimited(feed_fixture: FeedFixture, clock: MovableClock) -> None:
    short = feed_fixture.another_feed()
    with feed_fixture.database.writing() as db:
        feeds.change(db, feed_fixture.user_id, short.feed_id, keep_unread_days=7)
    feed_fixture.add(ready("Kept"))
    short.add(*(ready(f"Gone {n}") for n in range(250)))

    clock.pass_days(8)
    assert clean_up(feed_fixture, clock, retention=Retention(None, None))["entries"] == 250
    assert feed_fixture.titles() == ["Kept"]


# Steps


@pytest.mark.slow
def test_cleanup_runs_in_short_transactions_between_which_others_can_write(
    feed_fixture: FeedFixture, clock: MovableClock
) -> None:
    ids = feed_fixture.add(*(ready(f"Entry {n}") for n in range(1200)))
    set_state(feed_fixture, ids[::2], NOW, status=EntryStatus.READ)
    clock.pass_days(400)

    steps = []
    for step in create_cleanup(feed_fixture.database, clock).steps():
        steps.append(step)
        # Nobody would get here, and the test would time out, if a step left its transaction open.
        with ThreadPoolExecutor(1) as other_user:
            other_user.submit(set_state, feed_fixture, ids[-1:], clock.now, status=EntryStatus.READ).result(20)
            other_user.submit(feed_fixture.titles).result(20)
        assert kept_counts(feed_fixture) == counted(feed_fixture)

    assert max(step.count for step in steps) <= MAX_BATCH
    assert len([step for step in steps if step.what == "entries"]) >= 3
    assert sum(step.count for step in steps if step.what == "entries") == 1200 - 1


def kept_counts(feed_fixture: FeedFixture) -> tuple[int, int]:
    with feed_fixture.database.reading() as db:
        found = db.row(
            select(feed_counters.c.unread, feed_counters.c.read).where(feed_counters.c.feed_id == feed_fixture.feed_id)
        )
    assert found is not None
    return found["unread"], found["read"]


def counted(feed_fixture: FeedFixture) -> tuple[int, int]:
    with feed_fixture.database.reading() as db:
        found = Counter(db.scalars(select(entry_table.c.status).where(entry_table.c.feed_id == feed_fixture.feed_id)))
    return found[0], found[1]


def test_another_worker_continues_an_interrupted_cleanup_after_its_lease(
    feed_fixture: FeedFixture, clock: MovableClock
) -> None:
    feed_fixture.add(*(ready(f"Entry {n}") for n in range(400)))
    clock.pass_days(400)
    cleanups = create_cleanup(feed_fixture.database, clock)
    assert cleanups.begin("dying", ignore_schedule=True)
    steps = cleanups.steps()
    removed = next(steps).count + next(steps).count
    del steps

    assert not cleanups.begin("other", ignore_schedule=True)
    clock.now = Instant(clock.now + LEASE)
    assert cleanups.begin("other", ignore_schedule=True)
    assert not cleanups.renew("dying")
    removed += sum(step.count for step in cleanups.steps() if step.what == "entries")

    assert 0 < removed == 400
    assert kept_counts(feed_fixture) == (0, 0)


def test_only_one_worker_runs_the_cleanup(database: Database, clock: MovableClock) -> None:
    cleanups = create_cleanup(database, clock)
    assert not cleanups.begin("early")
    clock.now = Instant(clock.now + FIRST_RUN_DELAY)
    with ThreadPoolExecutor(8) as workers:
        got = list(workers.map(cleanups.begin, [f"worker {n}" for n in range(8)]))

    assert sum(got) == 1


def test_the_next_cleanup_is_a_day_later_or_a_minute_if_unfinished(
    feed_fixture: FeedFixture, clock: MovableClock
) -> None:
    feed_fixture.add(*(ready(f"Entry {n}") for n in range(25)))
    cleanups = create_cleanup(feed_fixture.database, clock, max_entries=10)
    assert not cleanups.begin("worker")
    clock.pass_days(400)

    intervals = []
    while cleanups.begin("worker"):
        intervals.append(sum(step.count for step in cleanups.steps() if step.what == "entries"))
        cleanups.finish("worker", intervals[-1])
        assert not cleanups.begin("worker")
        clock.now = Instant(clock.now + CONTINUE_DELAY)

    assert intervals == [10, 10, 5]
    clock.pass_days(1)
    assert cleanups.begin("worker")


# What else goes


def test_a_tombstone_is_kept_until_long_after_the_publisher_stopped_listing_the_entry(
    feed_fixture: FeedFixture, clock: MovableClock
) -> None:
    listed, gone = ready("Listed"), ready("Gone")
    feed_fixture.add(listed, gone)
    clock.pass_days(200)
    clean_up(feed_fixture, clock)

    for _ in range(10):
        clock.pass_days(20)
        with feed_fixture.database.writing() as db:
            assert entry_writes.look_up(db, {feed_fixture.feed_id: [listed.hash]})[feed_fixture.feed_id].deleted
            entry_writes.mark_seen(db, feed_fixture.user_id, feed_fixture.feed_id, [listed.hash], now=clock.now)
            feeds.change(db, feed_fixture.user_id, feed_fixture.feed_id, parsed_at=clock.now)
        clean_up(feed_fixture, clock)

    with feed_fixture.database.reading() as db:
        assert set(
            entry_writes.look_up(db, {feed_fixture.feed_id: [listed.hash, gone.hash]})[feed_fixture.feed_id].deleted
        ) == {listed.hash}


def test_tombstones_are_kept_while_the_document_was_not_parsed_since(
    feed_fixture: FeedFixture, clock: MovableClock
) -> None:
    entry = ready("Still in a document that never changes")
    feed_fixture.add(entry)
    with feed_fixture.database.writing() as db:
        feeds.change(db, feed_fixture.user_id, feed_fixture.feed_id, parsed_at=NOW)
    clock.pass_days(200)
    clean_up(feed_fixture, clock)

    clock.pass_days(4000)
    assert clean_up(feed_fixture, clock)["tombstones"] == 0
    with feed_fixture.database.reading() as db:
        assert entry_writes.look_up(db, {feed_fixture.feed_id: [entry.hash]})[feed_fixture.feed_id].deleted


def test_tombstones_of_listed_entries_are_updated_once_a_month(feed_fixture: FeedFixture, clock: MovableClock) -> None:
    entry = ready("Listed")
    feed_fixture.add(entry)
    clock.pass_days(200)
    clean_up(feed_fixture, clock)

    written = 0
    for _ in range(120):
        clock.pass_days(1)
        with feed_fixture.database.writing() as db:
            written += entry_writes.mark_seen(
                db, feed_fixture.user_id, feed_fixture.feed_id, [entry.hash], now=clock.now
            )
    assert 3 <= written <= 4


def test_deleted_entries_leave_the_search_index(feed_fixture: FeedFixture, clock: MovableClock) -> None:
    feed_fixture.add(*(ready(f"Rain {n}") for n in range(120)))
    work = SearchIndexer(feed_fixture.database)
    while work.work():
        pass
    assert feed_fixture.total("rain") == 120

    clock.pass_days(400)
    clean_up(feed_fixture, clock)

    assert feed_fixture.total("rain") == 0
    assert count(feed_fixture.database, search_documents if feed_fixture.database.is_sqlite else search_vectors) == 0


def turn_over(feed_fixture: FeedFixture, times: int) -> None:
    """Store new entries, index them, and remove the ones before them, many times."""
    work, before = SearchIndexer(feed_fixture.database), list[int]()
    for turn in range(times):
        words = " ".join(f"word{turn}x{n}" for n in range(400))
        ids = feed_fixture.add(*(ready(f"Rain {n}", f"<p>{words} {n}</p>") for n in range(10)))
        with feed_fixture.database.writing() as db:
            is_before = (entry_table.c.id.in_(before), entry_table.c.user_id == feed_fixture.user_id)
            db.run(entry_table.delete().where(*is_before))
        while work.work():
            pass
        before = ids


def is_scattered(database: Database) -> bool:
    with database.reading() as db:
        return search_index.is_scattered(db)


def index_pages(database: Database) -> int:
    with database.reading() as db:
        return int(db.scalar(text("SELECT count(*) FROM entry_words_data")))


def test_a_search_index_that_keeps_traces_of_removed_entries_is_merged(
    feed_fixture: FeedFixture, clock: MovableClock
) -> None:
    database = feed_fixture.database
    if not database.is_sqlite:
        assert not is_scattered(database)
        return
    turn_over(feed_fixture, 20)
    assert is_scattered(database)
    before = index_pages(database)

    clean_up(feed_fixture, clock)

    assert not is_scattered(database)
    assert index_pages(database) < before / 4
    assert feed_fixture.total("rain") == feed_fixture.total("word19x7") == 10
    assert feed_fixture.total("word18x7") == 0
    with database.writing() as db:
        full_text.check_structure(db)


def test_an_interrupted_merge_of_the_search_index_goes_on(
    feed_fixture: FeedFixture, clock: MovableClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    database = feed_fixture.database
    if not database.is_sqlite:
        pytest.skip("PostgreSQL has no parts to merge")
    monkeypatch.setattr(cleanup, "INDEX_PAGES", 1)
    turn_over(feed_fixture, 20)
    merging = (step for step in create_cleanup(database, clock).steps() if step.what == "index")
    for _ in range(4):
        next(merging)
    # What comes in between is merged, too.
    feed_fixture.add(*(ready(f"Rain, later {n}") for n in range(3)))
    turn_over(feed_fixture, 2)
    assert is_scattered(database)

    clean_up(feed_fixture, clock)

    assert not is_scattered(database)
    assert (feed_fixture.total("rain"), feed_fixture.total("later")) == (23, 3)
    with database.writing() as db:
        full_text.check_structure(db)


def test_expired_sessions_are_deleted(feed_fixture: FeedFixture, clock: MovableClock) -> None:
    sessions = Sessions(feed_fixture.database, clock)
    with feed_fixture.database.reading() as db:
        user = by_id(db, feed_fixture.user_id)
    sessions.begin(user, Origin("127.0.0.1", "a"))
    clock.pass_days(31)
    token = sessions.begin(user, Origin("127.0.0.1", "b"))

    assert clean_up(feed_fixture, clock)["sessions"] == 1
    assert clean_up(feed_fixture, clock)["sessions"] == 0
    assert sessions.recognise(token) is not None


def test_old_finished_deliveries_are_deleted_and_pending_ones_kept(
    feed_fixture: FeedFixture, clock: MovableClock
) -> None:
    with feed_fixture.database.writing() as db:
        for number, (state, finished_at) in enumerate(
            [("delivered", NOW), ("failed", NOW), ("delivered", NOW + 9 * DAY), ("pending", None)]
        ):
            created = outbox.add(
                db, feed_fixture.user_id, delivery_id=f"{feed_fixture.user_id}-{number}", integration="webhook",
                event_type="new_entries", receiver="", feed_id=feed_fixture.feed_id, body=b"{}", now=NOW,
            )  # fmt: skip
            ended = update(delivery_table).where(delivery_table.c.id == created)
            db.run(ended.values(state=state, finished_at=finished_at))
    clock.pass_days(10)

    assert clean_up(feed_fixture, clock)["deliveries"] == 2
    assert clean_up(feed_fixture, clock)["deliveries"] == 0


def test_unused_icons_are_deleted(feed_fixture: FeedFixture, clock: MovableClock) -> None:
    with feed_fixture.database.writing() as db:
        kept, _, _ = (
            icons.add(
                db,
                IconImage("image/png", b"x"),
                digest=f"{feed_fixture.user_id}-{n}",
                external_id=f"{feed_fixture.user_id}-{n}",
            )
            for n in range(3)
        )
        feeds.change(db, feed_fixture.user_id, feed_fixture.feed_id, icon_id=kept)

    assert clean_up(feed_fixture, clock)["icons"] == 2
    assert clean_up(feed_fixture, clock)["icons"] == 0


@pytest.mark.slow
def test_an_sqlite_file_shrinks(clock: MovableClock, tmp_path: Path) -> None:
    file = tmp_path / "tidings.db"
    migrated = Database(f"sqlite:///{file}")
    migrate.upgrade(migrated)
    migrated.close()
    database = Database(f"sqlite:///{file}")
    feed_fixture = FeedFixture.create(database)
    for _ in range(3):
        feed_fixture.add(*(ready("Entry", content="x" * 900) for _ in range(500)))
    empty_log(database)
    before = file.stat().st_size

    clock.pass_days(400)
    pages = clean_up(feed_fixture, clock)["pages"]
    empty_log(database)
    database.close()

    assert pages > 100
    assert file.stat().st_size < before / 2


def test_an_sqlite_file_of_an_older_version_shrinks_after_a_vacuum(tmp_path: Path) -> None:
    database = Database(f"sqlite:///{tmp_path / 'old.db'}")
    with database.outside_transaction() as raw:
        raw.execute("PRAGMA journal_mode = WAL")
        raw.execute("CREATE TABLE thing (id INTEGER)")
    with database.reading() as db:
        assert disk_space.pages(db) == (0, 0)

    disk_space.vacuum(database)

    with database.reading() as db:
        assert disk_space.pages(db)[1] > 0
    database.close()


def empty_log(database: Database) -> None:
    with database.outside_transaction() as raw:
        raw.execute("PRAGMA wal_checkpoint(TRUNCATE)")


def test_the_size_of_steps_adapts_to_their_duration() -> None:
    assert next_batch_size(100, 0.04) == 100
    assert next_batch_size(100, 10.0) == 50
    assert next_batch_size(20, 10.0) == 20
    assert next_batch_size(100, 0.0) == 200
    assert next_batch_size(400, 0.0) == MAX_BATCH
