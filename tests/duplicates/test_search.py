"""Entries that repeat another feed's are folded or marked read, counted so, and come back exactly."""

from __future__ import annotations

import random
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from sqlalchemy import select

from storage.entries.test_counters import counted, kept
from support.entry_fixtures import NOW, FeedFixture, ready
from tidings.base.times import DAY, Instant
from tidings.domain.accounts.users import User
from tidings.domain.entries.entries import EntryStatus, ReadyEntry
from tidings.domain.feeds.feeds import Feed
from tidings.duplicates import search
from tidings.duplicates.search import DuplicateSearch
from tidings.duplicates.tables import duplicate_keys
from tidings.engine.database import Database, Write
from tidings.query.model import DatedQuery
from tidings.query.parser import parse
from tidings.services.accounts.users import Users
from tidings.services.entries.labels import Labels
from tidings.services.feeds.bulk import BulkFeedChanges
from tidings.services.feeds.categories import Categories
from tidings.services.listeners import ArrivingEntries, Listeners
from tidings.storage.accounts import users
from tidings.storage.entries import counters, entries, history, labels
from tidings.storage.entries import duplicates as core
from tidings.storage.feeds import feeds
from tidings.storage.polling import entry_writes
from tidings.storage.schema import duplicates
from tidings.storage.schema import entries as entry_table

TEXT = "<p>" + " ".join(f"The front comes in from the west with rain, part {number}." for number in range(9)) + "</p>"
URL = "https://news.example/rain"
SAME_URL = "http://www.news.example/rain/?utm_source=feed"
LATER = Instant(NOW + 9 * DAY)


class Reader:
    """A user with three feeds, whose entries arrive as if they were polled."""

    def __init__(self, database: Database, mode: str = "off") -> None:
        self.database = database
        self.one = FeedFixture.create(database)
        self.two, self.three = self.one.another_feed(), self.one.another_feed()
        self.user_id = self.one.user_id
        self.search = DuplicateSearch(database, lambda: LATER)
        if mode != "off":
            self.choose(mode)

    @property
    def user(self) -> User:
        with self.database.reading() as db:
            found = users.get(db, self.user_id)
        assert found is not None
        return found

    def choose(self, mode: str) -> None:
        """Change the setting, and let the worker finish."""
        Users(self.database, lambda: NOW).update(self.user, self.user_id, {"duplicates": mode})
        self.work()

    def work(self) -> None:
        while self.search.work():
            pass

    def except_feed(self, feed: FeedFixture, *, is_kept: bool = True) -> None:
        with self.database.writing() as db:
            feeds.change(db, self.user_id, feed.feed_id, keep_duplicates=is_kept)
        self.work()

    def arrive(self, feed: FeedFixture, *new: ReadyEntry) -> list[int]:
        """Store new entries of a feed. Returns their ids."""
        return self.arriving(feed, *new)[0]

    def arriving(self, feed: FeedFixture, *new: ReadyEntry, pause_s: float = 0) -> tuple[list[int], Sequence[int]]:
        """Store new entries of a feed. Returns their ids, and the ids of those that are announced."""
        with self.database.writing() as db:
            counters.lock(db, self.user_id, [feed.feed_id])
            arriving = self.stored(db, feed, new)
            self.search_among(db, [arriving])
            time.sleep(pause_s)
        return list(arriving.ids.values()), arriving.stored.unread_ids

    def stored(self, db: Write, feed: FeedFixture, new: Sequence[ReadyEntry]) -> ArrivingEntries:
        ids = entry_writes.add(db, self.user_id, feed.feed_id, feed.category_id, new, now=NOW)
        stored, user = feeds.get(db, self.user_id, feed.feed_id), users.get(db, self.user_id)
        assert isinstance(stored, Feed)
        assert isinstance(user, User)
        hashes = [entry.hash for entry in new]
        return ArrivingEntries(
            user=user,
            feed=stored,
            category_id=feed.category_id,
            now=NOW,
            new=dict(zip(hashes, new, strict=True)),
            ids=dict(zip(hashes, ids, strict=True)),
        )

    def search_among(self, db: Write, arriving: Sequence[ArrivingEntries]) -> None:
        complete = self.search.decide_arrivals(db, arriving)
        if complete is not None:
            complete(db)

    def set(self, *ids: int, **state: Any) -> None:
        with self.database.writing() as db:
            entries.set_state(db, self.user_id, ids, **state, now=LATER)

    def states(self) -> dict[int, tuple[int, bool, int]]:
        """Return the status, the star and the last change of all entries."""
        wanted = select(entry_table.c.id, entry_table.c.status, entry_table.c.starred, entry_table.c.changed_at)
        with self.database.reading() as db:
            rows = db.tuples(wanted.where(entry_table.c.user_id == self.user_id).order_by(entry_table.c.id))
        return {id_: (status, starred, changed_at) for id_, status, starred, changed_at in rows}

    def statuses(self, *ids: int) -> list[int]:
        states = self.states()
        return [states[id_][0] for id_ in ids]

    def found(self, query: str) -> list[str]:
        return sorted(self.one.titles(query=DatedQuery(parse(query), Instant(NOW), "UTC")))

    def check_counters(self) -> None:
        """The counters are true, and no folded entry is under one that is folded itself."""
        originals = select(duplicates.c.original_id).where(duplicates.c.user_id == self.user_id)
        states = self.states()
        with self.database.reading() as db:
            assert FOLDED not in {states[id_][0] for id_ in db.scalars(originals) if id_ in states}
        assert kept(self.database, self.user_id) == counted(self.database, self.user_id)


@pytest.fixture
def reader(database: Database) -> Reader:
    return Reader(database, "fold")


UNREAD, READ, REMOVED, FOLDED = map(int, EntryStatus)


def test_a_later_entry_with_the_same_address_is_folded(reader: Reader) -> None:
    (first,) = reader.arrive(reader.one, ready("Rain", url=URL))
    (second,) = reader.arrive(reader.two, ready("Rain!", url=SAME_URL))

    assert reader.statuses(first, second) == [UNREAD, FOLDED]
    assert reader.one.titles() == ["Rain"]
    assert reader.one.total() == reader.one.total(statuses=(EntryStatus.UNREAD,)) == 1
    assert reader.one.total(feed_id=reader.two.feed_id) == 0
    assert reader.found("is:duplicate") == ["Rain!"]
    assert reader.found("is:duplicate is:unread") == []
    assert reader.found("-is:duplicate") == ["Rain"]
    reader.check_counters()
    with reader.database.reading() as db:
        others = core.others_of(db, reader.user_id, [first, second])
    assert [(one.other_id, one.is_original, one.feed_id) for one in others[first]] == [
        (second, False, reader.two.feed_id)
    ]
    assert [(one.other_id, one.is_original, one.status) for one in others[second]] == [(first, True, UNREAD)]


def test_what_is_the_same(reader: Reader) -> None:
    day: dict[str, Any] = {"published_at": NOW}
    ids = [
        *reader.arrive(reader.one, ready("Text", TEXT, **day), ready("Same id", hash=b"h" * 32, **day)),
        *reader.arrive(
            reader.two,
            ready("“Text”", f"{TEXT}<p>Read more at our site.</p>", published_at=Instant(NOW + 6 * DAY)),
            ready("Another title", hash=b"h" * 32, **day),
        ),
    ]
    assert reader.statuses(*ids) == [UNREAD, UNREAD, FOLDED, FOLDED]


def test_what_is_not_the_same(reader: Reader) -> None:
    day: dict[str, Any] = {"published_at": NOW}
    first = [
        ready("Late", TEXT, **day),
        ready("Short", "Rain.", **day),
        ready("German", TEXT, language="de", **day),
        ready("A number as id", hash=b"7" * 32, **day),
        ready("The front page", url="https://news.example/", **day),
        ready("A page", url=URL, **day),
        ready("Part 1", url="https://news.example/parts", **day),
        ready("Part 2", url="https://news.example/parts", **day),
    ]
    second = [
        ready("Late", TEXT, published_at=Instant(NOW + 8 * DAY)),
        ready("Short", "Rain.", **day),
        ready("German", TEXT, language="en-GB", **day),
        ready("Another number", hash=b"7" * 32, published_at=LATER),
        ready("The front page again", url="https://news.example/", **day),
        ready("A comment", url=f"{URL}#comment-1", **day),
        ready("Part 3", url="https://news.example/parts", **day),
    ]
    ids = [*reader.arrive(reader.one, *first), *reader.arrive(reader.two, *second)]
    assert reader.statuses(*ids) == [UNREAD] * len(ids)


def test_entries_of_one_feed_are_never_in_one_group(reader: Reader) -> None:
    ids = [
        *reader.arrive(reader.one, ready("Rain", url=URL)),
        *reader.arrive(reader.two, ready("Rain", url=URL)),
        *reader.arrive(reader.one, ready("Rain again", url=URL)),
        *reader.arrive(reader.three, ready("Rain", url=f"{URL}#top", published_at=NOW)),
    ]
    # The feed has two entries with this address now: it is not the address of one article.
    assert reader.statuses(*ids) == [UNREAD, FOLDED, UNREAD, FOLDED]


def test_documents_of_one_transaction_are_compared(reader: Reader) -> None:
    with reader.database.writing() as db:
        arriving = [reader.stored(db, feed, [ready("Rain", url=URL)]) for feed in (reader.one, reader.two)]
        reader.search_among(db, arriving)
    assert reader.statuses(*(id_ for one in arriving for id_ in one.ids.values())) == [UNREAD, FOLDED]


@pytest.mark.parametrize("mode", ["fold", "mark_read"])
def test_duplicates_are_not_announced(database: Database, mode: str) -> None:
    reader = Reader(database, mode)
    ids, announced = reader.arriving(reader.one, ready("Rain", url=URL))
    assert announced == ids
    ids, announced = reader.arriving(reader.two, ready("Rain", url=URL), ready("Snow"))
    assert announced == ids[1:]


def test_reading_and_starring_one_is_about_its_original(reader: Reader) -> None:
    (first,) = reader.arrive(reader.one, ready("Rain", url=URL))
    (second,) = reader.arrive(reader.two, ready("Rain", url=URL))

    reader.set(second, status=EntryStatus.READ)
    assert reader.statuses(first, second) == [READ, FOLDED]
    reader.set(second, status=EntryStatus.UNREAD)
    reader.set(first, second, starred=True)
    assert {id_: state[:2] for id_, state in reader.states().items()} == {
        first: (UNREAD, True),
        second: (FOLDED, False),
    }
    reader.check_counters()


def test_no_change_folds_an_entry(reader: Reader) -> None:
    """What restores states that it has stored may name the status of a folded entry."""
    ids = [*reader.arrive(reader.one, ready("Rain", url=URL)), *reader.arrive(reader.two, ready("Rain", url=URL))]
    reader.set(*ids, status=EntryStatus.FOLDED, starred=True)
    assert {id_: state[:2] for id_, state in reader.states().items()} == {
        ids[0]: (UNREAD, True),
        ids[1]: (FOLDED, False),
    }
    reader.check_counters()


def test_switching_off_brings_everything_back(database: Database) -> None:
    reader = Reader(database)
    fresh: dict[str, Any] = {"url": URL, "published_at": NOW}
    ids = reader.arrive(reader.one, ready("Read later", url=URL + "1"), ready("Rain", **fresh))
    ids += reader.arrive(reader.two, ready("Read", url=URL + "1"), ready("Rain", **fresh))
    ids += reader.arrive(reader.three, ready("Starred", url=URL + "1"), ready("Rain", **fresh))
    reader.set(ids[2], status=EntryStatus.READ)
    reader.set(ids[4], starred=True)
    before = reader.states()

    reader.choose("fold")
    assert reader.statuses(*ids) == [UNREAD, UNREAD, FOLDED, FOLDED, UNREAD, FOLDED]
    reader.check_counters()
    reader.choose("off")
    assert reader.states() == before
    reader.check_counters()
    with database.reading() as db:
        assert db.scalars(select(duplicate_keys.c.entry_id)) == []

    reader.choose("fold")
    reader.set(ids[1], status=EntryStatus.READ)
    reader.choose("off")
    assert reader.statuses(*ids) == [UNREAD, READ, READ, READ, UNREAD, READ]
    reader.check_counters()


def test_later_ones_are_marked_read_and_unread_again(database: Database) -> None:
    reader = Reader(database)
    (first,) = reader.arrive(reader.one, ready("Rain", url=URL))
    (second,) = reader.arrive(reader.two, ready("Rain", url=URL))
    reader.choose("mark_read")
    (third,) = reader.arrive(reader.three, ready("Rain", url=URL))
    assert reader.statuses(first, second, third) == [UNREAD, READ, READ]
    assert reader.one.total() == 3
    assert reader.found("is:duplicate") == ["Rain", "Rain"]
    reader.check_counters()

    reader.set(second, status=EntryStatus.UNREAD)
    reader.choose("off")
    # The second was changed by its user since.
    assert reader.statuses(first, second, third) == [UNREAD, UNREAD, UNREAD]
    reader.check_counters()


def test_reading_a_later_one_that_was_marked_read_reads_all(database: Database) -> None:
    reader = Reader(database, "mark_read")
    ids = [reader.arrive(feed, ready("Rain", url=URL))[0] for feed in (reader.one, reader.two, reader.three)]
    other = reader.arrive(reader.one, ready("Snow"))
    stranger = Reader(database, "mark_read")
    strangers = [stranger.arrive(feed, ready("Rain", url=URL))[0] for feed in (stranger.one, stranger.two)]
    assert reader.statuses(*ids) == [UNREAD, READ, READ]

    reader.set(ids[2], status=EntryStatus.READ)
    assert reader.statuses(*ids, *other) == [READ, READ, READ, UNREAD]
    reader.set(*ids[:2], status=EntryStatus.UNREAD)
    assert reader.statuses(*ids) == [UNREAD, UNREAD, READ]
    reader.set(ids[0], status=EntryStatus.READ)
    assert reader.statuses(*ids) == [READ, READ, READ]
    reader.check_counters()
    reader.set(strangers[1], status=EntryStatus.READ)
    assert stranger.statuses(*strangers) == [UNREAD, READ]


def test_an_excepted_feed_has_no_duplicates(reader: Reader) -> None:
    ids = [*reader.arrive(reader.one, ready("Rain", url=URL)), *reader.arrive(reader.two, ready("Rain", url=URL))]
    reader.except_feed(reader.two)
    assert reader.statuses(*ids) == [UNREAD, UNREAD]
    ids += reader.arrive(reader.three, ready("Rain", url=URL))
    ids += reader.arrive(reader.two, ready("Rain and wind", url=URL))
    assert reader.statuses(*ids) == [UNREAD, UNREAD, FOLDED, UNREAD]
    reader.except_feed(reader.one)
    assert reader.statuses(*ids) == [UNREAD] * 4
    reader.except_feed(reader.one, is_kept=False)
    assert reader.statuses(*ids) == [UNREAD, UNREAD, FOLDED, UNREAD]
    reader.check_counters()


def test_a_category_excepts_the_feeds_in_it_and_below_it(reader: Reader) -> None:
    services = Categories(reader.database, lambda: NOW, Listeners())
    top = services.create(reader.user_id, "Kept")
    below = services.create(reader.user_id, "Below", parent_id=top.id)
    ids = [*reader.arrive(reader.one, ready("Rain", url=URL)), *reader.arrive(reader.two, ready("Rain", url=URL))]
    with reader.database.writing() as db:
        feeds.change(db, reader.user_id, reader.two.feed_id, category_id=below.id)
    services.update(reader.user_id, top.id, keep_duplicates=True)
    reader.work()
    assert reader.statuses(*ids) == [UNREAD, UNREAD]
    with reader.database.writing() as db:
        feeds.change(db, reader.user_id, reader.two.feed_id, category_id=reader.one.category_id)
    reader.work()
    assert reader.statuses(*ids) == [UNREAD, FOLDED]
    reader.check_counters()


def test_the_one_with_the_whole_text_represents_the_others(reader: Reader) -> None:
    ids = [
        *reader.arrive(reader.one, ready("Rain", "Rain.", url=URL)),
        *reader.arrive(reader.two, ready("Rain", "Rain!", url=URL)),
        *reader.arrive(reader.three, ready("Rain", TEXT, url=URL)),
    ]
    assert reader.statuses(*ids) == [UNREAD, FOLDED, FOLDED]
    reader.work()
    assert reader.statuses(*ids) == [FOLDED, FOLDED, UNREAD]
    reader.check_counters()
    with reader.database.reading() as db:
        assert core.originals(db, [reader.user_id], ids) == {ids[0]: ids[2], ids[1]: ids[2]}
    reader.choose("off")
    assert reader.statuses(*ids) == [UNREAD] * 3
    reader.check_counters()


def test_the_one_that_was_read_or_starred_stays(reader: Reader) -> None:
    ids = reader.arrive(reader.one, ready("Rain", "Rain.", url=URL), ready("Snow", "Snow.", url=URL + "2"))
    reader.set(ids[0], status=EntryStatus.READ)
    reader.set(ids[1], starred=True)
    ids += reader.arrive(reader.two, ready("Rain", TEXT, url=URL), ready("Snow", TEXT, url=URL + "2"))
    reader.work()
    assert reader.statuses(*ids) == [READ, UNREAD, FOLDED, FOLDED]


def test_star_and_labels_survive_the_deletion_of_the_feed(reader: Reader) -> None:
    ids = [
        *reader.arrive(reader.one, ready("Rain", url=URL)),
        *reader.arrive(reader.two, ready("Rain", url=URL)),
        *reader.arrive(reader.three, ready("Rain", url=URL)),
    ]
    reader.set(ids[0], starred=True, status=EntryStatus.READ)
    label = Labels(reader.database, lambda: NOW, Listeners()).create(reader.user_id, "Later").id
    with reader.database.writing() as db:
        labels.attach(db, reader.user_id, [label], ids[:1])
    BulkFeedChanges(reader.database, lambda: NOW, schedule=None).delete(  # type: ignore[arg-type]
        reader.user_id, [reader.one.feed_id]
    )

    assert {id_: state[:2] for id_, state in reader.states().items()} == {
        ids[1]: (READ, True),
        ids[2]: (FOLDED, False),
    }
    with reader.database.reading() as db:
        assert [one.id for one in labels.of_entries(db, reader.user_id, ids)[ids[1]]] == [label]
        assert core.originals(db, [reader.user_id], ids) == {ids[2]: ids[1]}
    reader.check_counters()


def test_what_is_folded_is_deleted_with_its_original(reader: Reader) -> None:
    ids = [*reader.arrive(reader.one, ready("Rain", url=URL)), *reader.arrive(reader.two, ready("Rain", url=URL))]
    reader.set(ids[0], status=EntryStatus.READ)
    with reader.database.writing() as db:
        history.flush(db, reader.user_id, after=0, now=LATER)
    assert reader.states() == {}
    reader.check_counters()


def test_nothing_is_stored_for_users_without_it(database: Database) -> None:
    reader = Reader(database)
    reader.arrive(reader.one, ready("Rain", url=URL))
    reader.arrive(reader.two, ready("Rain", url=URL))
    assert not reader.search.work()
    with database.reading() as db:
        assert db.scalars(select(duplicate_keys.c.entry_id)) == []
    assert reader.one.total() == 2


def test_what_arrives_while_the_archive_is_searched_is_folded_under_the_first(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(search, "BATCH", 1)
    reader = Reader(database)
    ids = reader.arrive(reader.one, ready("Rain", url=URL))
    Users(database, lambda: NOW).update(reader.user, reader.user_id, {"duplicates": "fold"})
    # The search has begun, and has not come to the first one.
    assert reader.search.work()
    ids += [*reader.arrive(reader.two, ready("Rain", url=URL)), *reader.arrive(reader.three, ready("Rain", url=URL))]
    assert reader.statuses(*ids) == [UNREAD, UNREAD, FOLDED]
    reader.work()
    assert reader.statuses(*ids) == [UNREAD, FOLDED, FOLDED]
    with database.reading() as db:
        assert core.originals(db, [reader.user_id], ids) == dict.fromkeys(ids[1:], ids[0])
    reader.check_counters()


def test_strangers_have_no_duplicates_in_common(database: Database) -> None:
    readers = Reader(database, "fold"), Reader(database, "fold")
    ids = [each.arrive(each.one, ready("Rain", TEXT, url=URL))[0] for each in readers]
    assert [each.statuses(id_) for each, id_ in zip(readers, ids, strict=True)] == [[UNREAD], [UNREAD]]
    (folded,) = readers[0].arrive(readers[0].two, ready("Rain", TEXT, url=URL))
    readers[1].set(folded, status=EntryStatus.READ)
    with database.reading() as db:
        assert core.others_of(db, readers[1].user_id, [ids[0], folded]) == {}
    assert readers[0].statuses(ids[0], folded) == [UNREAD, FOLDED]


@pytest.mark.slow
def test_counts_and_states_stay_true_whatever_happens(database: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(search, "BATCH", 3)
    rng = random.Random(7)
    reader = Reader(database)
    feeds_of_reader = [reader.one, reader.two, reader.three]
    for _ in range(120):
        ids = list(reader.states())
        some = rng.sample(ids, min(3, len(ids)))
        match rng.randrange(8):
            case 0 | 1 | 2:
                feed, url = rng.choice(feeds_of_reader), f"{URL}/{rng.randrange(9)}"
                reader.arrive(feed, ready(f"Rain {url}", rng.choice(["", TEXT]), url=url, published_at=NOW))
            case 3:
                reader.set(*some, status=EntryStatus(rng.randrange(2)))
            case 4:
                reader.set(*some, starred=rng.random() < 0.3)
            case 5:
                with database.writing() as db:
                    entries.mark_read(db, reader.user_id, feed_id=rng.choice(feeds_of_reader).feed_id, now=LATER)
            case 6:
                for _ in range(rng.randrange(9)):
                    reader.search.work()
            case 7:
                mode = rng.choice(["off", "fold", "fold", "mark_read"])
                Users(database, lambda: NOW).update(reader.user, reader.user_id, {"duplicates": mode})
        reader.check_counters()
    reader.choose("off")
    assert FOLDED not in {state[0] for state in reader.states().values()}
    reader.check_counters()


def test_two_transactions_that_store_the_same_article_see_each_other(reader: Reader) -> None:
    ids: dict[bool, list[int]] = {}

    def store(feed: FeedFixture, *, is_first: bool) -> None:
        # The second begins while the first has looked, and has not ended.
        time.sleep(0 if is_first else 0.2)
        ids[is_first], _ = reader.arriving(feed, ready("Rain", url=URL), pause_s=0.5 if is_first else 0)

    with ThreadPoolExecutor(2) as pool:
        for result in [pool.submit(store, reader.one, is_first=True), pool.submit(store, reader.two, is_first=False)]:
            result.result()
    assert sorted(reader.statuses(*ids[True], *ids[False])) == [UNREAD, FOLDED]
    reader.check_counters()
