"""Contents that entries of several feeds of a source have are stored once, and nobody notices."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import pytest
from msgspec import structs
from sqlalchemy import event, func, select, text, update

from support import distributed
from support.entry_fixtures import NOW, FeedFixture, ready
from support.replication import until
from tidings.base.times import Instant
from tidings.domain.entries.entries import EditedEntryField, EntryCursor, EntryFilter, PageRequest, ReadyEntry
from tidings.engine import full_text
from tidings.engine.database import Database, Read, is_distributed
from tidings.maintenance.cleanup import Cleanup, CleanupSettings
from tidings.maintenance.cleanup_worker import run_cleanup
from tidings.maintenance.integrity import IntegrityCheck, Problem
from tidings.query import parse
from tidings.query.model import DatedQuery
from tidings.services.entries.content_sharing import ContentSharing
from tidings.services.entries.search_index import SearchIndexer
from tidings.storage.accounts import users
from tidings.storage.entries import contents, counters, entry_lists, search_index
from tidings.storage.entries.contents import FeedContent
from tidings.storage.feeds import feeds
from tidings.storage.polling import entry_writes
from tidings.storage.schema import entries as entry_table
from tidings.storage.schema import (
    entry_contents,
    search_documents,
    search_terms,
    search_vectors,
    shared_contents,
    shared_vectors,
)
from tidings.storage.schema import feeds as feed_table
from tidings.storage.schema import sources as source_table

RAIN = "<p>Rain, and nothing but rain.</p>" * 20
SNOW = "<p>Snow, and nothing but snow.</p>" * 20


def subscribe(database: Database, number: int, url: str = "https://example.org/shared.xml") -> list[FeedFixture]:
    """Return feeds of that many new users, all of one source."""
    found = []
    for _ in range(number):
        fixture = FeedFixture.create(database)
        with database.writing() as db:
            id_ = feeds.add(
                db, fixture.user_id, category_id=fixture.category_id, feed_url=url, title="Shared", created_at=NOW,
                checked_at=NOW, next_check_at=NOW,
            )  # fmt: skip
        found.append(replace(fixture, feed_id=id_))
    return found


def store(fixtures: Sequence[FeedFixture], *new: ReadyEntry) -> list[int]:
    """Store entries in feeds, as a check does for all subscribers. Returns the ids."""
    database = fixtures[0].database
    with database.writing() as db:
        wanted = [feeds.get(db, one.user_id, one.feed_id) for one in fixtures]
        counters.lock_each(db, [(one.user_id, one.feed_id) for one in fixtures])
        return entry_writes.add_all(db, [(feed, feed.category_id, NOW, new) for feed in wanted if feed is not None])


def bodies(database: Database) -> dict[int, str]:
    """Return what the users read, by entry id."""
    with database.reading() as db:
        users_and_ids = db.tuples(select(entry_table.c.user_id, entry_table.c.id))
        return entry_lists.bodies(db, {row[0] for row in users_and_ids}, [row[1] for row in users_and_ids])


def count(db: Read, table: Any = shared_contents) -> int:
    return int(db.scalar(select(func.count()).select_from(table)))


def shared(database: Database) -> int:
    with database.reading() as db:
        return count(db)


def referring(database: Database) -> list[int]:
    """Return the ids of the entries whose content is shared."""
    statement = select(entry_contents.c.entry_id).where(entry_contents.c.shared_id.is_not(None))
    with database.reading() as db:
        return sorted(db.scalars(statement))


def sweep(database: Database) -> int:
    with database.reading() as db:
        found = contents.find_unused(db, after=0, limit=100)
    with database.writing() as db:
        return contents.remove_unused(db, found)


def work(database: Database) -> int:
    """Share all that was stored before. Returns how many entries refer to a shared content now."""
    sharing, total = ContentSharing(database), 0
    while (done := sharing.work()) is not None:
        total += done
    return total


def unshare(database: Database) -> None:
    """Give each entry its own content, and let all be shared again, as after an upgrade."""
    with database.writing() as db:
        own = select(contents.body).select_from(shared_contents).where(contents.has_shared).scalar_subquery()
        db.run(update(entry_contents).where(entry_contents.c.shared_id.is_not(None)).values(content=own))
        db.run(update(entry_contents).values(shared_id=None))
        is_theirs = source_table.c.id.in_(select(shared_contents.c.source_id))
        db.run(update(source_table).where(is_theirs).values(unshared_after=0))
        db.run(shared_contents.delete())


def test_a_content_is_stored_once_for_all_feeds_of_its_source(database: Database) -> None:
    readers = subscribe(database, 3)
    ids = store(readers, ready("Rain", RAIN), ready("Snow", SNOW))

    assert shared(database) == 2
    assert referring(database) == ids
    assert bodies(database) == dict(zip(ids, [RAIN, SNOW] * 3, strict=True))

    later = store(readers[1:], ready("Rain again", RAIN))
    assert shared(database) == 2
    assert bodies(database)[later[0]] == RAIN


def test_the_only_feed_of_a_source_and_short_contents_are_stored_as_ever(database: Database) -> None:
    store(subscribe(database, 1), ready("Rain", RAIN))
    store(subscribe(database, 2, "https://example.org/short.xml"), ready("Short", "<p>Rain</p>"))

    assert shared(database) == 0
    assert sorted(bodies(database).values()) == [RAIN, "<p>Rain</p>", "<p>Rain</p>"]


def test_sources_do_not_share_with_each_other(database: Database) -> None:
    store(subscribe(database, 2), ready("Rain", RAIN))
    store(subscribe(database, 2, "https://example.org/other.xml"), ready("Rain", RAIN))

    assert shared(database) == 2


def test_a_search_finds_a_shared_content(database: Database) -> None:
    readers = subscribe(database, 2)
    store(readers, ready("One", RAIN), ready("Two", SNOW))
    with database.writing() as db:
        search_index.index_pending(db, limit=100)

    assert [one.titles("rain") for one in readers] == [["One"], ["One"]]


def test_an_edit_gives_an_entry_a_content_of_its_own(database: Database) -> None:
    alice, bob = subscribe(database, 2)
    hers, his = store([alice, bob], ready("Rain", RAIN))
    with database.writing() as db:
        contents.set_content(db, alice.user_id, hers, SNOW)

    assert bodies(database) == {hers: SNOW, his: RAIN}
    assert referring(database) == [his]

    with database.writing() as db:
        contents.set_contents(db, bob.user_id, his, "<p>Whole</p>", RAIN)
    assert bodies(database)[his] == "<p>Whole</p>"
    assert (referring(database), sweep(database), shared(database)) == ([], 1, 0)


def test_what_the_publisher_changes_is_shared_again(database: Database) -> None:
    alice, bob = subscribe(database, 2)
    hers, his = store([alice, bob], ready("Rain", RAIN))
    with database.writing() as db:
        contents.set_contents(db, bob.user_id, his, "<p>Whole</p>", RAIN)
        db.run(update(entry_table).where(entry_table.c.id == his).values(edited=int(EditedEntryField.CONTENT)))

    with database.writing() as db:
        for owner, id_ in ((alice, hers), (bob, his)):
            entry_writes.change(db, owner.user_id, {id_: ready("Snow", SNOW)}, now=NOW)

    assert bodies(database) == {hers: SNOW, his: "<p>Whole</p>"}
    with database.reading() as db:
        assert contents.extras(db, bob.user_id, his).other_content == SNOW
    assert (referring(database), sweep(database), shared(database)) == ([hers], 1, 1)

    with database.writing() as db:
        entry_writes.change(db, alice.user_id, {hers: ready("Short", "<p>Short</p>")}, now=NOW)
    assert (bodies(database)[hers], referring(database)) == ("<p>Short</p>", [])


def test_a_content_goes_with_the_last_entry_that_has_it(database: Database) -> None:
    alice, bob = subscribe(database, 2)
    _, his = store([alice, bob], ready("Rain", RAIN))
    with database.writing() as db:
        feeds.remove(db, alice.user_id, alice.feed_id)
    assert (sweep(database), bodies(database)) == (0, {his: RAIN})

    with database.writing() as db:
        users.remove(db, bob.user_id)
    assert (sweep(database), shared(database)) == (1, 0)


def test_the_cleanup_removes_what_no_entry_has(database: Database) -> None:
    alice, bob = subscribe(database, 2)
    store([alice, bob], ready("Rain", RAIN))
    store([bob], ready("Snow", SNOW))
    with database.writing() as db:
        feeds.remove(db, bob.user_id, bob.feed_id)

    removed = run_cleanup(Cleanup(database, lambda: NOW, CleanupSettings()), "somebody", lambda *_: None)

    assert removed is not None
    assert (removed["contents"], shared(database)) == (1, 1)


# At the same time


def test_nobody_waits_for_who_stores_contents_of_the_source(database: Database) -> None:
    if database.is_sqlite:
        pytest.skip("SQLite has one writer at a time")
    alice, bob = subscribe(database, 2)
    arriving = FeedContent(alice.user_id, alice.feed_id, RAIN)
    with database.writing() as db:
        (first,) = contents.share(db, [arriving]).values()
        with database.writing() as other:
            other.connection.exec_driver_sql("SET LOCAL lock_timeout = '1s'")
            assert contents.share(other, [arriving]) == {}
            # Whoever deletes from a table that is copied to all nodes waits for those who write to it.
            if not is_distributed(other.connection):
                assert contents.remove_unused(other, [(first, 1)]) == 0
        (again,) = contents.share(db, [arriving]).values()
        assert again == first
    with database.writing() as db:
        source_id = db.scalar(select(shared_contents.c.source_id))
        assert contents.remove_unused(db, [(first, source_id)]) == 1
        with database.writing() as other:
            other.connection.exec_driver_sql("SET LOCAL lock_timeout = '1s'")
            assert contents.share(other, [arriving]) == {}
    (his,) = store([bob], ready("Rain", RAIN))
    assert bodies(database) == {his: RAIN}


TURNS = 12


def write_and_remove(reader: FeedFixture, texts: Sequence[str]) -> dict[int, str]:
    """Store two entries with the same content many times, and remove one of them, or both. Returns what is left."""
    kept: dict[int, str] = {}
    for turn in range(TURNS):
        body = texts[turn % len(texts)]
        ids = store([reader], ready("Kept", body), ready("Removed", body))
        gone = ids[1:] if turn % 4 else ids
        with reader.database.writing() as db:
            counters.lock(db, reader.user_id, [reader.feed_id])
            db.run(entry_table.delete().where(entry_table.c.id.in_(gone), entry_table.c.user_id == reader.user_id))
        kept |= dict.fromkeys(set(ids) - set(gone), body)
    return kept


def share_again(database: Database) -> None:
    with database.writing() as db:
        db.run(update(source_table).values(unshared_after=0))
    work(database)


def repeat(step: Callable[[Database], object], database: Database, done: threading.Event) -> None:
    while not done.wait(0.01):
        step(database)


@pytest.mark.slow
def test_contents_survive_storing_deleting_sharing_and_cleanup_at_the_same_time(database: Database) -> None:
    readers, done = subscribe(database, 3), threading.Event()
    texts = [f"{RAIN}{number}" for number in range(3)]
    with ThreadPoolExecutor(6) as threads:
        others = [threads.submit(repeat, step, database, done) for step in (sweep, sweep, share_again)]
        writers = [threads.submit(write_and_remove, reader, texts) for reader in readers]
        try:
            kept = {id_: body for writer in writers for id_, body in writer.result().items()}
        finally:
            done.set()
        for other in others:
            other.result()

    assert len(kept) == 3 * TURNS * 3 // 4
    assert bodies(database) == kept
    sweep(database)
    with database.reading() as db:
        used = select(func.count(entry_contents.c.shared_id.distinct()))
        assert count(db) == db.scalar(used) <= len(texts)


# What was stored before


def test_what_was_stored_before_is_shared_in_batches(database: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(contents, "SHARED_FEEDS", 2)
    readers = subscribe(database, 5)
    ids = store(readers, ready("Rain", RAIN), ready("Snow", SNOW), ready("Short", "<p>Short</p>"))
    before = bodies(database)
    unshare(database)
    assert (bodies(database), shared(database)) == (before, 0)

    assert work(database) == 10

    assert (bodies(database), shared(database)) == (before, 2)
    assert referring(database) == [id_ for number, id_ in enumerate(ids) if number % 3 != 2]
    assert ContentSharing(database).sources_left() == 0


def test_sharing_that_was_killed_goes_on(database: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(contents, "SHARED_FEEDS", 2)
    readers = subscribe(database, 4)
    store(readers, ready("Rain", RAIN))
    before = bodies(database)
    unshare(database)
    sharing = ContentSharing(database)
    assert sharing.work() == 2

    def fail() -> None:
        with database.writing() as db:
            source = contents.first_unshared(db)
            assert source is not None
            contents.share_stored(db, source, search_index.share_terms)
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        fail()

    assert (bodies(database), len(referring(database))) == (before, 2)
    assert work(database) == 2
    assert (bodies(database), shared(database)) == (before, 1)


def test_nothing_is_done_while_another_worker_shares_the_same_contents(database: Database, engine: str) -> None:
    if engine == "sqlite":
        pytest.skip("SQLite has one writer, which waits")
    store(subscribe(database, 2), ready("Rain", RAIN))
    unshare(database)
    with database.reading() as db:
        source = contents.first_unshared(db)
    assert source is not None

    with database.writing() as other:
        assert contents.share_stored(other, source, search_index.share_terms) == 2
        assert ContentSharing(database).work() is None
    assert work(database) == 0


def test_contents_of_users_stay_their_own(database: Database) -> None:
    alice, bob = subscribe(database, 2)
    hers, his = store([alice, bob], ready("Rain", RAIN))
    with database.writing() as db:
        contents.set_content(db, alice.user_id, hers, SNOW)
        db.run(update(entry_table).where(entry_table.c.id == hers).values(edited=int(EditedEntryField.CONTENT)))
    unshare(database)

    assert work(database) == 1
    assert (bodies(database), referring(database)) == ({hers: SNOW, his: RAIN}, [his])


def test_with_the_second_feed_the_contents_of_the_first_are_shared(database: Database) -> None:
    (alice,) = subscribe(database, 1)
    hers = store([alice], ready("Rain", RAIN))
    assert ContentSharing(database).work() is None

    (bob,) = subscribe(database, 1)
    his = store([bob], ready("Rain", RAIN))
    assert referring(database) == his

    work(database)
    assert (referring(database), shared(database)) == ([*hers, *his], 1)
    subscribe(database, 1)
    assert ContentSharing(database).work() is None


def test_a_source_that_has_lost_its_other_feeds_is_left_alone(database: Database) -> None:
    alice, bob = subscribe(database, 2)
    store([alice, bob], ready("Rain", RAIN))
    unshare(database)
    with database.writing() as db:
        feeds.remove(db, bob.user_id, bob.feed_id)

    assert (work(database), shared(database)) == (0, 0)


def test_a_changed_feed_is_not_the_second_of_its_own_source(database: Database) -> None:
    (alice,) = subscribe(database, 1)
    with database.writing() as db:
        feeds.change(db, alice.user_id, alice.feed_id, disabled=True)
        feeds.change(db, alice.user_id, alice.feed_id, disabled=False)
    store([alice], ready("Rain", RAIN))

    assert (shared(database), ContentSharing(database).work()) == (0, None)

    (bob,) = subscribe(database, 1)
    with database.writing() as db:
        feeds.change(db, alice.user_id, alice.feed_id, feed_url="https://example.org/moved.xml")
        feeds.change(db, alice.user_id, alice.feed_id, feed_url="https://example.org/shared.xml")
    store([bob], ready("Snow", SNOW))
    assert shared(database) == 1


def test_how_many_sources_a_batch_has_does_not_change_the_number_of_statements(database: Database) -> None:
    distributed.skip(database, "a statement locks rows of one shard there")

    def stored(number: int) -> list[str]:
        urls = [f"https://example.org/{number}-{place}.xml" for place in range(number)]
        readers = [one for url in urls for _ in range(2) for one in subscribe(database, 1, url)]
        with counted_statements(database) as executed:
            store(readers, ready("Rain", RAIN))
        return executed

    def imported(number: int) -> list[str]:
        reader = FeedFixture.create(database)
        urls = [f"https://example.org/imported-{number}-{place}.xml" for place in range(number)]
        rows = [{"category_id": reader.category_id, "feed_url": url, "title": url} for url in urls]
        moments = {"created_at": NOW, "checked_at": NOW, "next_check_at": NOW}
        with counted_statements(database) as executed, database.writing() as db:
            feeds.add_many(db, reader.user_id, [row | moments for row in rows])
        return executed

    def without_owners(executed: Sequence[str]) -> list[str]:
        """Leave out what `store` asks for each feed, each user's log, and what is said where there are many rows."""
        of_each = (
            "SELECT feeds.id, feeds.user_id, feeds.category_id",
            "UPDATE list_versions",
            "SET LOCAL plan_cache_mode",
        )
        return [one for one in executed if not one.startswith(of_each)]

    for written in (stored, imported):
        assert len(without_owners(written(2))) == len(without_owners(written(6)))


@contextmanager
def counted_statements(database: Database) -> Iterator[list[str]]:
    executed: list[str] = []

    def note(_connection: object, _cursor: object, statement: str, *_: object) -> None:
        executed.append(statement)

    event.listen(database.engine, "before_cursor_execute", note)
    try:
        yield executed
    finally:
        event.remove(database.engine, "before_cursor_execute", note)


@pytest.mark.usefixtures("database")
def test_each_content_has_the_source_of_its_feeds(database: Database) -> None:
    readers = subscribe(database, 2)
    store(readers, ready("Rain", RAIN))
    of_feed = select(feed_table.c.source_id).where(feed_table.c.id == readers[0].feed_id)
    with database.reading() as db:
        assert db.scalar(select(shared_contents.c.source_id)) == db.scalar(of_feed)
        assert db.scalar(text("SELECT length(content) FROM entry_contents LIMIT 1")) == 1


# Search terms, which SQLite stores next to its index, and PostgreSQL as vectors with an index of their own.


def index(database: Database) -> None:
    with database.writing() as db:
        while search_index.index_pending(db, limit=100):
            pass


def check(database: Database, *, repair: bool = False) -> list[Problem]:
    return list(IntegrityCheck(database).run(repair=repair, progress=lambda *_: None))


def forget(database: Database) -> None:
    """Remove deleted entries from the index, and vectors that no entry has, as the indexer and the cleanup do."""
    with database.writing() as db:
        while search_index.remove_deleted(db, limit=100):
            pass
        if unused := contents.find_unused_vectors(db, after=0, limit=100):
            contents.remove_unused_vectors(db, unused)


def edit_title(reader: FeedFixture, entry_id: int, title: str) -> None:
    is_entry = (entry_table.c.user_id == reader.user_id, entry_table.c.id == entry_id)
    with reader.database.writing() as db:
        db.run(update(entry_table).where(*is_entry).values(title=title))
        search_index.note_changed(db, reader.user_id, [entry_id])
    index(reader.database)


def shared_terms(database: Database) -> dict[int, list[int]]:
    """Return the entries that have the same terms, by id of the terms; 0 for entries with terms of their own.

    On SQLite, deleted entries are among them until the index has forgotten them. No terms are left that none has.
    """
    index, terms, id_, terms_id = (
        (search_documents, search_terms, search_documents.c.id, search_documents.c.terms_id)
        if database.is_sqlite
        else (search_vectors, shared_vectors, search_vectors.c.entry_id, search_vectors.c.vector_id)
    )
    found: dict[int, list[int]] = {}
    with database.reading() as db:
        for row in db.rows(select(id_.label("id"), terms_id.label("terms_id"), index.c.words).order_by(id_)):
            assert bool(row["words"]) is (row["terms_id"] is None)
            found.setdefault(row["terms_id"] or 0, []).append(row["id"])
        assert set(found) - {0} == set(db.scalars(select(terms.c.id)))
    return found


def indexed_terms(database: Database) -> set[str]:
    """Return the terms in the index, and check it."""
    with database.writing() as db:
        full_text.check_structure(db)
        assert full_text.count_differing(db) == 0
        db.run(text("CREATE VIRTUAL TABLE temp.vocabulary USING fts5vocab(main, entry_words, row)"))
        known = set(db.scalars(text("SELECT term FROM temp.vocabulary")))
        db.run(text("DROP TABLE temp.vocabulary"))
    return known


@pytest.fixture
def on_sqlite(engine: str) -> None:
    if engine != "sqlite":
        pytest.skip("PostgreSQL has no FTS5")


@pytest.fixture
def on_postgresql(database: Database) -> None:
    if database.is_sqlite:
        pytest.skip("only PostgreSQL has vectors")
    distributed.skip(database, "entries have vectors of their own there")


@pytest.fixture
def on_one_server(database: Database) -> None:
    distributed.skip(database, "entries have vectors of their own there")


@pytest.mark.usefixtures("on_one_server")
def test_terms_of_a_shared_content_are_stored_once(database: Database) -> None:
    alice, bob = subscribe(database, 2)
    (charlie,) = subscribe(database, 1, "https://example.org/alone.xml")
    hers, his = store([alice, bob], ready("Rain", RAIN))
    (own,) = store([charlie], ready("Rain", RAIN))
    index(database)

    assert sorted(shared_terms(database).values()) == [[hers, his], [own]]
    assert shared_terms(database)[0] == [own]
    assert [one.titles("noth* rain") for one in (alice, bob, charlie)] == [["Rain"]] * 3


@pytest.mark.usefixtures("on_one_server")
def test_terms_in_another_language_are_other_terms(database: Database) -> None:
    alice, bob = subscribe(database, 2)
    german = ready("Regen", "<p>Die Kinder spielen.</p>" * 20, language="de")
    hers, his = store([alice, bob], german)
    index(database)
    assert list(shared_terms(database).values()) == [[hers, his]]

    with database.writing() as db:
        is_his = (entry_table.c.user_id == bob.user_id, entry_table.c.id == his)
        db.run(update(entry_table).where(*is_his).values(language="fr"))
        search_index.note_changed(db, bob.user_id, [his])
    index(database)

    assert sorted(shared_terms(database).values()) == [[hers], [his]]
    assert [one.titles("kindern") for one in (alice, bob)] == [["Regen"], []]


@pytest.mark.usefixtures("on_one_server")
def test_a_title_that_one_user_edits_is_found_by_that_user_alone(database: Database) -> None:
    alice, bob = subscribe(database, 2)
    hers, his = store([alice, bob], ready("Rain", RAIN))
    index(database)
    edit_title(alice, hers, "Hail")

    assert [(one.titles("hail"), one.titles("rain")) for one in (alice, bob)] == [
        (["Hail"], ["Hail"]),
        ([], ["Rain"]),
    ]
    assert sorted(shared_terms(database).values()) == [[hers], [his]]
    edit_title(alice, hers, "Rain")
    assert (alice.titles("hail"), alice.titles("rain")) == ([], ["Rain"])
    forget(database)
    assert list(shared_terms(database).values()) == [[hers, his]]


@pytest.mark.usefixtures("on_one_server")
def test_an_article_that_one_user_fetches_is_found_by_that_user_alone(database: Database) -> None:
    alice, bob = subscribe(database, 2)
    hers, his = store([alice, bob], ready("Rain", RAIN))
    index(database)
    with database.writing() as db:
        contents.set_contents(db, alice.user_id, hers, "<p>Snow, the whole article</p>", RAIN)
        search_index.note_changed(db, alice.user_id, [hers])

    assert [one.titles("nothing") for one in (alice, bob)] == [["Rain"], ["Rain"]]
    index(database)

    assert [(one.titles("nothing"), one.titles("article")) for one in (alice, bob)] == [([], ["Rain"]), (["Rain"], [])]
    assert shared_terms(database)[0] == [hers]
    with database.writing() as db:
        contents.set_content(db, bob.user_id, his, SNOW)
        search_index.note_changed(db, bob.user_id, [his])
    index(database)
    sweep(database)
    assert shared_terms(database) == {0: [hers, his]}
    assert [(one.titles("rain"), one.titles("snow")) for one in (alice, bob)] == [
        (["Rain"], ["Rain"]),
        (["Rain"], ["Rain"]),
    ]


@pytest.mark.usefixtures("on_sqlite")
def test_terms_stay_until_the_index_has_forgotten_the_last_entry_that_has_them(database: Database) -> None:
    alice, bob = subscribe(database, 2)
    hers, his = store([alice, bob], ready("Rain", RAIN))
    index(database)
    with database.writing() as db:
        feeds.remove(db, alice.user_id, alice.feed_id)
    assert list(shared_terms(database).values()) == [[hers, his]]
    forget(database)
    assert list(shared_terms(database).values()) == [[his]]
    assert (alice.titles("rain"), bob.titles("rain")) == ([], ["Rain"])

    with database.writing() as db:
        users.remove(db, bob.user_id)
    # The content goes first.
    assert (sweep(database), shared(database)) == (1, 0)
    assert list(shared_terms(database).values()) == [[his]]
    forget(database)

    assert shared_terms(database) == {}
    assert indexed_terms(database) == set()


@pytest.mark.usefixtures("on_sqlite")
def test_indexing_that_was_killed_changes_nothing(database: Database) -> None:
    alice, bob = subscribe(database, 2)
    hers, his = store([alice, bob], ready("Rain", RAIN))

    def fail(work: Callable[[Database], object]) -> None:
        def stop(*_: object) -> None:
            raise ZeroDivisionError

        event.listen(database.engine, "commit", stop)
        try:
            with pytest.raises(ZeroDivisionError):
                work(database)
        finally:
            event.remove(database.engine, "commit", stop)

    fail(index)
    assert (shared_terms(database), indexed_terms(database)) == ({}, set())
    index(database)
    before = indexed_terms(database)
    with database.writing() as db:
        feeds.remove(db, alice.user_id, alice.feed_id)
        feeds.remove(db, bob.user_id, bob.feed_id)

    fail(forget)
    assert (list(shared_terms(database).values()), indexed_terms(database)) == ([[hers, his]], before)
    forget(database)
    assert (shared_terms(database), indexed_terms(database)) == ({}, set())


@pytest.mark.usefixtures("on_sqlite")
def test_terms_that_were_stored_before_are_shared_by_the_worker(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(contents, "SHARED_BATCH", 3)
    monkeypatch.setattr(contents, "SHARED_TERMS", 3)
    alice, bob, charlie = readers = subscribe(database, 3)
    ids = store(readers, ready("Rain", RAIN), ready("Snow", SNOW), ready("Short", "<p>Short</p>"))
    unshare(database)
    index(database)
    edit_title(charlie, ids[6], "Hail")
    with database.writing() as db:
        db.run(update(source_table).values(unshared_after=0))
    assert shared_terms(database) == {0: ids}
    before = indexed_terms(database)

    assert work(database) == 12

    terms = sorted(shared_terms(database).values())
    assert terms == sorted([[ids[0], ids[3]], [ids[1], ids[4], ids[7]], [ids[2], ids[5], ids[8]], [ids[6]]])
    assert indexed_terms(database) == before
    assert [one.titles("nothing rain") for one in readers] == [["Rain"], ["Rain"], ["Hail"]]
    # They are what the index has to be given to forget an entry.
    for reader in (alice, bob, charlie):
        with database.writing() as db:
            feeds.remove(db, reader.user_id, reader.feed_id)
    forget(database)
    assert (shared_terms(database), indexed_terms(database)) == ({}, set())


@pytest.mark.usefixtures("on_one_server")
def test_the_search_index_can_be_emptied_with_shared_terms(database: Database) -> None:
    alice, bob = subscribe(database, 2)
    store([alice, bob], ready("Rain", RAIN))
    index(database)
    with database.writing() as db:
        full_text.clear(db)

    assert shared_terms(database) == {}
    if database.is_sqlite:
        assert indexed_terms(database) == set()


# What PostgreSQL finds in vectors of all users belongs to those whose entries refer to them.


SEARCHES = (
    "rain",
    "nothing rain",
    '"but rain"',
    "rai*",
    "rain or hail",
    "-rain",
    "rain -snow",
    "-rain -hail",
    "kindern",
    "-kindern",
    "nowhere",
)
QUERIES = (
    "title:rain",
    "rain is:starred",
    "(rain or title:hail) -is:starred",
    "is:starred or rain",
    "is:starred or -rain",
)


def asked(query: str) -> EntryFilter:
    return EntryFilter(query=DatedQuery(parse(query), NOW, "UTC"))


def found(reader: FeedFixture) -> list[tuple[list[str], int, int]]:
    """Return what each search and query finds of a user: the titles in order, and the total, exact and up to 50."""
    result = []
    for wanted in (*(EntryFilter(search=search) for search in SEARCHES), *map(asked, QUERIES)):
        with reader.database.reading() as db:
            page = entry_lists.page(db, reader.user_id, wanted, PageRequest())
        result.append(([entry.title for entry in page.entries], *counted(reader, wanted)))
    return result


def counted(reader: FeedFixture, wanted: EntryFilter) -> tuple[int, int]:
    """Return the total of a list, exact and up to 50, as the index has it: a page after a cursor does not say it."""
    request = PageRequest(limit=1, cursor=EntryCursor(Instant(0), 0))
    with reader.database.reading() as db:
        exact, bounded = (
            entry_lists.page(db, reader.user_id, wanted, structs.replace(request, count_up_to=up_to))
            for up_to in (None, 50)
        )
    return exact.total.number, bounded.total.number


def titled(reader: FeedFixture, word: str) -> list[str]:
    """Return the titles with a word."""
    with reader.database.reading() as db:
        page = entry_lists.page(db, reader.user_id, asked(f"title:{word}"), PageRequest())
    return [entry.title for entry in page.entries]


@pytest.mark.usefixtures("on_postgresql")
def test_shared_vectors_are_searched_as_own_ones_are(database: Database) -> None:
    alice, bob = readers = subscribe(database, 2)
    (charlie,) = subscribe(database, 1, "https://example.org/alone.xml")
    german = ready("Regen", "<p>Die Kinder spielen im Regen.</p>" * 20, language="de")
    both = (ready("Rain", RAIN), ready("Snow", SNOW), german, ready("Short", "<p>Rain</p>"))
    hers = store([alice], *both, ready("Hail and rain", f"{RAIN}{SNOW}"))
    store([bob], *both)
    store([charlie], ready("Rain", RAIN), ready("Sun", "<p>Sun</p>"))
    with database.writing() as db:
        is_hers = (entry_table.c.user_id == alice.user_id, entry_table.c.id.in_(hers[::2]))
        db.run(update(entry_table).where(*is_hers).values(starred=True))
    index(database)
    assert len(shared_terms(database)) == 5
    shared_ones = [found(one) for one in (*readers, charlie)]

    unshare(database)
    with database.writing() as db:
        full_text.unshare(db)
    index(database)
    assert set(shared_terms(database)) == {0}
    assert [found(one) for one in (*readers, charlie)] == shared_ones
    assert sorted(shared_ones[0][0][0]) == ["Hail and rain", "Rain", "Short"]


@pytest.mark.usefixtures("on_one_server")
def test_nobody_finds_the_text_of_a_stranger(database: Database) -> None:
    alice, bob = subscribe(database, 2)
    store([alice], ready("Rain", RAIN), ready("More rain", RAIN))
    his = store([alice, bob], ready("Snow", SNOW), ready("More snow", SNOW))[2:]
    index(database)
    expected = {"rain": (2, 0), "-rain": (2, 2), "snow": (2, 2), "-snow": (2, 0), "nothing": (4, 2), "-nothing": (0, 0)}

    for search, numbers in expected.items():
        for reader, number in zip((alice, bob), numbers, strict=True):
            assert len(reader.titles(search)) == reader.total(search) == number
            for wanted in (EntryFilter(search=search), asked(f"{search} OR is:starred")):
                assert counted(reader, wanted) == (number, number)
    with database.writing() as db:
        db.run(entry_table.delete().where(entry_table.c.id.in_(his), entry_table.c.user_id == bob.user_id))
    assert [counted(one, EntryFilter(search="snow")) for one in (alice, bob)] == [(2, 2), (0, 0)]


def test_entries_of_a_feed_that_has_moved_are_found(database: Database) -> None:
    alice, bob = subscribe(database, 2)
    store([alice, bob], ready("Rain", RAIN))
    index(database)
    before = [found(one) for one in (alice, bob)]
    with database.writing() as db:
        feeds.change(db, alice.user_id, alice.feed_id, feed_url="https://example.org/moved.xml")

    assert [found(one) for one in (alice, bob)] == before
    edit_title(alice, entry_of(alice), "Hail")
    assert (alice.titles("rain"), bob.titles("rain")) == (["Hail"], ["Rain"])


def entry_of(reader: FeedFixture) -> int:
    with reader.database.reading() as db:
        return int(db.scalar(select(entry_table.c.id).where(entry_table.c.user_id == reader.user_id)))


@pytest.mark.usefixtures("on_postgresql")
def test_a_vector_goes_with_its_content(database: Database) -> None:
    alice, bob = subscribe(database, 2)
    hers, his = store([alice, bob], ready("Rain", RAIN))
    index(database)
    with database.writing() as db:
        feeds.remove(db, alice.user_id, alice.feed_id)
    forget(database)
    assert list(shared_terms(database).values()) == [[his]]

    with database.writing() as db:
        users.remove(db, bob.user_id)
    assert (sweep(database), shared_terms(database)) == (1, {})
    assert hers


@pytest.mark.usefixtures("on_postgresql")
def test_the_cleanup_removes_a_vector_that_no_entry_has(database: Database) -> None:
    alice, bob = subscribe(database, 2)
    hers, his = store([alice, bob], ready("Rain", RAIN))
    index(database)
    for reader, id_ in ((alice, hers), (bob, his)):
        edit_title(reader, id_, "Hail")
    with database.reading() as db:
        assert count(db, shared_vectors) == 2

    removed = run_cleanup(Cleanup(database, lambda: NOW, CleanupSettings()), "somebody", lambda *_: None)

    assert removed is not None
    assert removed["index"] == 1
    assert list(shared_terms(database).values()) == [[hers, his]]
    assert [(titled(one, "hail"), titled(one, "rain")) for one in (alice, bob)] == [(["Hail"], [])] * 2


@pytest.mark.usefixtures("on_postgresql")
def test_a_vector_that_is_about_to_be_used_is_not_removed(database: Database) -> None:
    alice, bob = subscribe(database, 2)
    hers, his = store([alice, bob], ready("Rain", RAIN))
    index(database)
    for reader, id_ in ((alice, hers), (bob, his)):
        edit_title(reader, id_, "Hail")
    with database.writing() as db:
        db.run(update(entry_table).where(entry_table.c.id == hers).values(title="Rain"))
        search_index.note_changed(db, alice.user_id, [hers])
    with database.reading() as db:
        unused = contents.find_unused_vectors(db, after=0, limit=100)

    with database.writing() as indexing:
        search_index.index_pending(indexing, limit=100)
        with database.writing() as db:
            assert contents.remove_unused_vectors(db, unused) == 0
    with database.writing() as db:
        assert contents.remove_unused_vectors(db, unused) == 0

    assert sorted(shared_terms(database).values()) == [[hers], [his]]
    assert (titled(alice, "rain"), titled(bob, "rain")) == (["Rain"], [])


@pytest.mark.usefixtures("on_postgresql")
def test_two_transactions_index_the_same_text_at_the_same_time(database: Database) -> None:
    alice, bob = subscribe(database, 2)
    hers, his = store([alice, bob], ready("Rain", RAIN), ready("Snow", SNOW))[::2]

    def index_of_bob() -> None:
        with database.writing() as db:
            assert search_index.index_pending(db, limit=100, user_id=bob.user_id) == 2

    with ThreadPoolExecutor(1) as threads:
        with database.writing() as db:
            search_index.index_pending(db, limit=100, user_id=alice.user_id)
            other = threads.submit(index_of_bob)
            until(lambda: is_waiting(database))
        other.result()

    assert sorted(shared_terms(database).values()) == [[hers, his], [hers + 1, his + 1]]


def index_batch(database: Database) -> None:
    SearchIndexer(database).work()


def edit_titles(reader: FeedFixture) -> None:
    """Give the newest entry of a user another title, and the old one again."""
    with reader.database.reading() as db:
        newest = select(func.max(entry_table.c.id)).where(entry_table.c.user_id == reader.user_id)
        id_ = db.scalar(newest)
    for title in ("Edited", "Kept") if id_ else ():
        with reader.database.writing() as db:
            is_entry = (entry_table.c.user_id == reader.user_id, entry_table.c.id == id_)
            if db.run(update(entry_table).where(*is_entry).values(title=title)):
                search_index.note_changed(db, reader.user_id, [id_])


@pytest.mark.slow
@pytest.mark.usefixtures("on_postgresql")
def test_vectors_survive_indexing_edits_sharing_and_cleanup_at_the_same_time(database: Database) -> None:
    readers, done = subscribe(database, 3), threading.Event()
    texts = [f"{RAIN}{number}" for number in range(3)]

    def edit(_: Database) -> None:
        edit_titles(readers[0])

    with ThreadPoolExecutor(9) as threads:
        steps = (sweep, forget, share_again, index_batch, index_batch, edit)
        others = [threads.submit(repeat, step, database, done) for step in steps]
        writers = [threads.submit(write_and_remove, reader, texts) for reader in readers]
        try:
            for writer in writers:
                writer.result()
        finally:
            done.set()
        for other in others:
            other.result()
    while SearchIndexer(database).work():
        pass
    forget(database)

    assert set(shared_terms(database)) - {0} != set()
    assert [one.total("rain") for one in readers] == [TURNS * 3 // 4] * 3
    assert [problem.text for problem in check(database) if problem.area == "search"] == []


def is_waiting(database: Database) -> bool:
    """Return whether a transaction waits for another one."""
    with database.reading() as db:
        return bool(db.scalar(text("SELECT count(*) FROM pg_locks WHERE NOT granted")))


@pytest.mark.usefixtures("on_postgresql")
def test_vectors_that_were_stored_before_are_shared_by_the_worker(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(contents, "SHARED_BATCH", 3)
    monkeypatch.setattr(contents, "SHARED_TERMS", 3)
    readers = subscribe(database, 3)
    ids = store(readers, ready("Rain", RAIN), ready("Snow", SNOW), ready("Short", "<p>Short</p>"))
    unshare(database)
    index(database)
    edit_title(readers[2], ids[6], "Hail")
    with database.writing() as db:
        db.run(update(source_table).values(unshared_after=0))
    assert shared_terms(database) == {0: ids}
    before = [found(one) for one in readers]

    # Six contents, then their vectors.
    assert work(database) == 12

    assert shared_terms(database)[0] == ids[2::3]
    assert sorted(shared_terms(database).values()) == [[ids[0], ids[3]], [ids[1], ids[4], ids[7]], ids[2::3], [ids[6]]]
    assert [found(one) for one in readers] == before
    assert work(database) == 0


@pytest.mark.usefixtures("on_postgresql")
def test_no_feed_is_locked_while_its_entries_are_indexed_again(database: Database) -> None:
    alice, bob = subscribe(database, 2)
    ids = store([alice, bob], ready("Rain", RAIN))
    unshare(database)
    index(database)
    assert ContentSharing(database).work() == 2
    with database.reading() as db:
        source = contents.first_unshared(db)
    assert source is not None

    with database.writing() as sharing:
        assert contents.share_stored(sharing, source, search_index.share_terms) == 2
        with database.writing() as db:
            db.connection.exec_driver_sql("SET LOCAL lock_timeout = '1s'")
            counters.lock(db, alice.user_id, [alice.feed_id])
    assert list(shared_terms(database).values()) == [ids]


@pytest.mark.usefixtures("on_postgresql")
def test_entries_without_their_vector_are_found_and_indexed_again(database: Database) -> None:
    alice, bob = subscribe(database, 2)
    store([alice, bob], ready("Rain", RAIN), ready("Snow", SNOW))
    index(database)
    with database.writing() as db:
        db.run(text("DELETE FROM shared_vectors WHERE id = (SELECT min(id) FROM shared_vectors)"))
        db.run(text("DELETE FROM search_sources WHERE user_id = :user"), user=bob.user_id)

    assert [problem.text for problem in check(database)] == ["3 entries that no search finds"]
    check(database, repair=True)
    index(database)

    assert check(database) == []
    assert [(one.titles("rain"), one.titles("snow")) for one in (alice, bob)] == [(["Rain"], ["Snow"])] * 2
