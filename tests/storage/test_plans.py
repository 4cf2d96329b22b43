"""Every list, count and mark on 100,000 entries goes through an index: read from the plans of both engines.

The statements are those that the storage functions run: they are called, listened to, and explained.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import msgspec
import pytest
from sqlalchemy import event

from support import archive as archives
from support import distributed
from support.archive import Archive
from support.databases import Databases
from support.entry_fixtures import NOW
from support.replication import until
from tidings.base.times import SECOND, Instant
from tidings.domain.entries.entries import Direction, EntryCursor, EntryFilter, EntryStatus, Order, PageRequest, Shown
from tidings.domain.feeds.health import FeedOrder
from tidings.engine.database import Database, Read, Write
from tidings.engine.statements import split_ids
from tidings.maintenance.store import cleanup, status
from tidings.maintenance.store.cleanup import ExpiredEntry
from tidings.storage.entries import counters, entries, entry_lists, labels, public_links, read_state, unread_ids
from tidings.storage.feeds import bulk, categories, feed_texts, feeds, further_categories, health, sidebar
from tidings.storage.polling import entry_writes, sources
from tidings.websub import store as subscriptions

pytestmark = pytest.mark.slow

# Sorting more than this of what a filter lets through is no list of a page any more.
MAX_SORTED = 7_000
LARGE = {
    "changes",
    "duplicate_keys",
    "duplicates",
    "entries",
    "entry_contents",
    "entry_labels",
    "entry_tags",
    "page_addresses",
    "enclosures",
    "rule_changed_entries",
    "rule_run_entries",
    "search_vectors",
    "search_pending",
    "search_documents",
    "search_terms",
    "shared_contents",
    "shared_vectors",
    "snoozed_entries",
    "websub_subscriptions",
    "websub_topics",
}


@pytest.fixture(scope="module")
def archive(databases: Databases) -> Iterator[Archive]:
    distributed.skip_plans(databases)
    with databases.migrated() as url:
        database = Database(url)
        yield archives.build(database)
        database.close()


RECENTLY = Instant(NOW - 3_600 * SECOND)
LAST_WEEK = Instant(NOW - 7 * 86_400 * SECOND)
FILTERS: dict[str, dict[str, Any]] = {
    "none": {},
    "unread": {"statuses": (EntryStatus.UNREAD,)},
    "read": {"statuses": (EntryStatus.READ,)},
    "removed": {"statuses": (EntryStatus.REMOVED,)},
    "starred": {"starred": True},
    "not starred": {"starred": False},
    "unread and starred": {"statuses": (EntryStatus.UNREAD,), "starred": True},
    "feed": {"feed_id": "feed"},
    "unread of a feed": {"feed_id": "feed", "statuses": (EntryStatus.UNREAD,)},
    "category": {"category_id": "category"},
    "unread of a category": {"category_id": "category", "statuses": (EntryStatus.UNREAD,)},
    "tree of categories": {"category_id": "tree"},
    "unread of a tree of categories": {"category_id": "tree", "statuses": (EntryStatus.UNREAD,)},
    "starred of a tree of categories": {"category_id": "tree", "starred": True},
    "search in a tree of categories": {"category_id": "tree", "search": "n77"},
    "shared category": {"category_id": "shared"},
    "unread of a shared category": {"category_id": "shared", "statuses": (EntryStatus.UNREAD,)},
    "starred of a shared category": {"category_id": "shared", "starred": True},
    "search in a shared category": {"category_id": "shared", "search": "n77"},
    "published before": {"published_before": LAST_WEEK},
    "published after": {"published_after": LAST_WEEK},
    "unread published before": {"published_before": LAST_WEEK, "statuses": (EntryStatus.UNREAD,)},
    "changed after": {"changed_after": RECENTLY},
    "changed before": {"changed_before": RECENTLY},
    "after an id": {"after_entry_id": 59_000},
    "before an id": {"before_entry_id": 1_000},
    "unread after an id": {"after_entry_id": 59_000, "statuses": (EntryStatus.UNREAD,)},
    "shared": {"shared": True},
    "tags": {"tags": ("tag 3",)},
    "two tags": {"tags": ("tag 3", "tag 4")},
    "label": {"label_ids": ("large",)},
    "small label": {"label_ids": ("small",)},
    "unread of a label": {"label_ids": ("large",), "statuses": (EntryStatus.UNREAD,)},
    "starred of a label": {"label_ids": ("large",), "starred": True},
    "two labels": {"label_ids": ("large", "small")},
    "not a label": {"excluded_label_ids": ("large",)},
    "label of a category": {"label_ids": ("large",), "category_id": "category"},
    "search in a label": {"label_ids": ("large",), "search": "n77"},
    "globally visible": {"globally_visible": True},
    "unread globally visible": {"globally_visible": True, "statuses": (EntryStatus.UNREAD,)},
    "search": {"search": "n77"},
    "search for a frequent word": {"search": "rain"},
    "search for a beginning": {"search": "rai*"},
    "search without a frequent word": {"search": "-rain"},
    "unread search": {"search": "rain", "statuses": (EntryStatus.UNREAD,)},
    "search in a feed": {"search": "rain", "feed_id": "feed"},
    "search in a category": {"search": "n77", "category_id": "category"},
    "starred search": {"search": "rain -n77", "starred": True},
}


def which(archive: Archive, name: str) -> EntryFilter:
    places = {
        "feed": archive.feed_id,
        "category": archive.category_id,
        "tree": archive.tree_id,
        "shared": archive.shared_id,
    }
    given = {key: places.get(value, value) if key.endswith("_id") else value for key, value in FILTERS[name].items()}
    for key in ("label_ids", "excluded_label_ids"):
        given[key] = tuple(archive.label_ids[label] for label in FILTERS[name].get(key, ()))
    return msgspec.convert(given, EntryFilter)


@pytest.mark.parametrize("name", FILTERS)
def test_a_list_is_read_from_an_index_in_every_order(archive: Archive, name: str) -> None:
    entry_filter = which(archive, name)
    pages = [PageRequest(order=order, direction=direction) for order in Order for direction in Direction]

    with explained(archive.database) as plans, archive.database.reading() as db:
        for page in pages:
            # Without a search, the total and what belongs to the entries are read in the same way in each order.
            is_whole = entry_filter.search or page.order is Order.PUBLISHED_AT
            (entry_lists.page if is_whole else entry_lists.rows)(db, archive.user_id, entry_filter, page)

    assert [plan.complaints() for plan in plans if plan.complaints()] == []


INTENDED_INDEXES = {
    ("none", Order.PUBLISHED_AT): "ix_entries_user_published",
    ("unread", Order.PUBLISHED_AT): "ix_entries_user_unread",
    ("starred", Order.PUBLISHED_AT): "ix_entries_user_starred",
    ("unread globally visible", Order.PUBLISHED_AT): "ix_entries_user_unread",
    ("feed", Order.PUBLISHED_AT): "ix_entries_feed_published",
    ("category", Order.PUBLISHED_AT): "ix_entries_category_published",
    ("unread of a category", Order.PUBLISHED_AT): "ix_entries_category_unread",
    ("tree of categories", Order.PUBLISHED_AT): "ix_entries_category_published",
    ("unread of a tree of categories", Order.PUBLISHED_AT): "ix_entries_category_unread",
    ("starred of a tree of categories", Order.PUBLISHED_AT): "ix_entries_user_starred",
    ("shared category", Order.PUBLISHED_AT): "ix_entries_feed_published",
    ("unread of a shared category", Order.PUBLISHED_AT): "ix_entries_category_unread",
    ("shared", Order.PUBLISHED_AT): "ix_entries_share_code",
    ("label", Order.PUBLISHED_AT): "ix_entry_labels_published",
    ("unread of a label", Order.PUBLISHED_AT): "ix_entry_labels_published",
    ("none", Order.ID): "ix_entries_user_id",
    ("after an id", Order.ID): "ix_entries_user_id",
    ("none", Order.STATUS): "ix_entries_user_status",
    ("none", Order.CHANGED_AT): "ix_entries_user_changed",
    ("changed after", Order.CHANGED_AT): "ix_entries_user_changed",
    ("none", Order.CREATED_AT): "ix_entries_user_created",
    ("none", Order.TITLE): "ix_entries_user_title",
    ("none", Order.AUTHOR): "ix_entries_user_author",
    ("none", Order.CATEGORY_ID): "ix_entries_category_published",
    ("none", Order.CATEGORY_TITLE): "ix_entries_category_published",
    ("unread", Order.CATEGORY_TITLE): "ix_categories_user_title",
}


@pytest.mark.parametrize(("name", "order"), INTENDED_INDEXES, ids=str)
def test_a_list_is_read_from_the_index_that_was_made_for_it(archive: Archive, name: str, order: Order) -> None:
    with explained(archive.database) as plans, archive.database.reading() as db:
        entry_lists.page(db, archive.user_id, which(archive, name), PageRequest(order=order))

    plan = next(plan for plan in plans if "FROM entries" in plan.statement)
    assert INTENDED_INDEXES[name, order] in json.dumps(plan.plan), plan.plan


@pytest.mark.parametrize("number", [1, 200])
def test_entries_of_dates_are_read_from_an_index_of_dates(archive: Archive, number: int) -> None:
    dates = [Instant(NOW - n * 60 * SECOND) for n in range(number)]
    of_feeds = {(archive.user_id, archive.feed_id + n): dates for n in range(25)}

    with explained(archive.database) as plans, archive.database.reading() as db:
        entry_writes.of_dates(db, of_feeds)

    assert len({plan.statement for plan in plans}) == 1
    assert [plan.complaints() for plan in plans if plan.complaints()] == []
    assert "ix_entries_feed_published" in json.dumps(plans[0].plan), plans[0].plan


def test_whether_feeds_have_entries_is_read_from_indexes(archive: Archive) -> None:
    of_feeds = {(archive.user_id, archive.feed_id + n) for n in range(25)}

    with explained(archive.database) as plans, archive.database.reading() as db:
        assert entry_writes.with_entries(db, of_feeds)

    assert [plan.complaints() for plan in plans if plan.complaints()] == []


@pytest.mark.parametrize("name", ["none", "unread", "read", "removed", "starred", "not starred"])
def test_ids_are_read_from_an_index(archive: Archive, name: str) -> None:
    with explained(archive.database) as plans, archive.database.reading() as db:
        entry_lists.ids(db, archive.user_id, which(archive, name), limit=10_000, offset=20_000)

    assert [plan.complaints() for plan in plans if plan.complaints()] == []


STREAMS = ("none", "unread", "read", "starred", "not starred", "unread and starred", "feed", "category",
           "unread of a category", "after an id", "unread after an id", "label", "small label", "unread of a label",
           "two labels", "not a label", "label of a category")  # fmt: skip


@pytest.mark.parametrize("direction", Direction)
@pytest.mark.parametrize("name", STREAMS)
def test_ten_thousand_ids_of_a_stream_are_read_from_an_index(archive: Archive, name: str, direction: Direction) -> None:
    with explained(archive.database) as plans, archive.database.reading() as db:
        entry_lists.id_page(db, archive.user_id, which(archive, name), direction=direction, limit=10_001)

    assert [plan.complaints() for plan in plans if plan.complaints()] == []
    if archive.database.is_sqlite and name in ("none", "unread", "read", "after an id", "unread after an id"):
        assert "COVERING INDEX" in json.dumps(plans[0].plan)
        assert "TEMP B-TREE" not in json.dumps(plans[0].plan)


@pytest.mark.parametrize("direction", Direction)
def test_a_page_of_a_label_is_read_in_the_order_of_its_index(archive: Archive, direction: Direction) -> None:
    """20,000 entries have the label, and the page begins in the middle of them."""
    with archive.database.reading() as db:
        joined = entry_lists.id_page(db, archive.user_id, which(archive, "label"), direction=direction, limit=20_000)
    every = split_ids(joined)
    cursor = {"before_entry_id" if direction is Direction.DESC else "after_entry_id": every[9_000]}
    filter_ = msgspec.structs.replace(which(archive, "label"), **cursor)

    with explained(archive.database) as plans, archive.database.reading() as db:
        ids = split_ids(entry_lists.id_page(db, archive.user_id, filter_, direction=direction, limit=51))

    assert len(every) > 15_000
    assert ids == every[9_001:9_052]
    plan = json.dumps(plans[0].plan)
    if archive.database.is_sqlite:
        assert "TEMP B-TREE" not in plan, plan
        assert "SEARCH entry_labels USING PRIMARY KEY (label_id=? AND entry_id" in plan, plan
    else:
        assert "pk_entry_labels" in plan, plan
        assert '"Sort"' not in plan, plan


@pytest.mark.parametrize(
    ("name", "index"), [("unread", "ix_entries_user_status"), ("starred", "ix_entries_user_starred")]
)
def test_joined_ids_are_read_from_an_index(archive: Archive, name: str, index: str) -> None:
    with explained(archive.database) as plans, archive.database.reading() as db:
        joined = entry_lists.joined_ids(db, archive.user_id, which(archive, name))

    ids = [int(one) for one in joined.split(",")]
    assert ids == sorted(ids)
    assert len(ids) > 1_000
    assert [plan.complaints() for plan in plans if plan.complaints()] == []
    # PostgreSQL may prefer the partial index of unread entries, and sort them.
    if archive.database.is_sqlite:
        assert index in json.dumps(plans[0].plan), plans[0].plan


def test_entries_by_id_are_found_by_their_ids(archive: Archive) -> None:
    with explained(archive.database) as plans, archive.database.reading() as db:
        found = entries.get_many(db, archive.user_id, range(100, 200))
        entry_lists.for_apps(db, archive.user_id, range(100, 200))
        entry_lists.enclosures_of(db, [archive.user_id], range(100, 200))

    assert [one.published_at for one in found] == sorted(one.published_at for one in found)
    assert len(found) > 1
    plan = json.dumps(plans[0].plan)
    expected = "INTEGER PRIMARY KEY" if archive.database.is_sqlite else "pk_entries"
    assert expected in plan or "ix_entries_user_id" in plan, plan


READS: dict[str, Callable[[Read, Archive], object]] = {
    "what hubs send": lambda db, archive: (
        subscriptions.any_due(db, Instant(NOW + 4_000 * SECOND)),
        subscriptions.by_token(db, "token 77"),
        subscriptions.feeds_of(db, 77),
        subscriptions.offered_for_each(db, [archive.feed_id, archive.feed_id + 1]),
        subscriptions.hubs_of(db, sources.of_feeds(db, [archive.feed_id]), NOW),
    ),
    "the sidebar": lambda db, archive: sidebar.count_by_category(db, archive.user_id),
    "since when a client has not looked": lambda db, archive: (
        entry_lists.is_older_than_all(db, archive.user_id, RECENTLY),
        entry_lists.first_id_created_after(db, archive.user_id, RECENTLY),
    ),
    "the newest entry of each feed": lambda db, archive: entry_lists.newest_by_feed(db, archive.user_id, 1_000),
    "an entry": lambda db, archive: entries.get(db, archive.user_id, 5),
    "an entry with its body": lambda db, archive: entry_lists.single(db, archive.user_id, 5),
    "counters": lambda db, archive: counters.list_all(db, archive.user_id),
    "unread ids, feed by feed": lambda db, archive: (
        unread_ids.feeds_with_unread(db, archive.user_id),
        unread_ids.of_feeds(db, archive.user_id, [archive.feed_id]),
    ),
    "texts of feeds by id": lambda db, archive: (
        feed_texts.texts(db, archive.user_id, ("title",), [archive.feed_id]),
        feed_texts.records(db, archive.user_id, ("title",), [archive.feed_id]),
        feeds.origins(db, archive.user_id, [archive.feed_id]),
    ),
    "feeds of a category": lambda db, archive: feeds.ids_of_category(db, archive.user_id, archive.category_id),
    "feeds in several categories": lambda db, archive: (
        further_categories.of_user(db, archive.user_id),
        further_categories.of_feeds(db, archive.user_id, [archive.feed_id]),
        further_categories.feeds_in(db, archive.user_id, [archive.shared_id]),
        sidebar.list_feeds_of(db, archive.user_id, [archive.shared_id]),
    ),
    "counts of categories": lambda db, archive: categories.counts(db, archive.user_id),
    "hidden feeds": lambda db, archive: feeds.hidden_feed_ids(db, archive.user_id),
    "when feeds of a list were checked": lambda db, archive: (
        feeds.last_check(db, archive.user_id),
        feeds.last_check(db, archive.user_id, feed_id=archive.feed_id),
        feeds.last_check(db, archive.user_id, category_id=archive.category_id),
        feeds.count_due(db, archive.user_id, NOW),
        feeds.count_due(db, archive.user_id, NOW, category_id=archive.category_id),
    ),
    "how feeds are": lambda db, archive: (
        [health.list_summaries(db, archive.user_id, order, NOW) for order in FeedOrder],
        health.get(db, archive.user_id, archive.feed_id, NOW),
        health.count_unchecked(db, archive.user_id),
    ),
    "entries of each week": lambda db, archive: health.entries_per_week(
        db, archive.user_id, [archive.feed_id, archive.feed_id + 1, archive.feed_id + 2], NOW, 26
    ),
    "unread ones of some": lambda db, archive: read_state.unread_of(db, archive.user_id, range(1, 500)),
    "entries in another state": lambda db, archive: read_state.differing_from(
        db, archive.user_id, range(1, 500), status=EntryStatus.READ, starred=True
    ),
    "labels": lambda db, a: (
        labels.list_all(db, a.user_id),
        labels.of_entries(db, a.user_id, range(1, 200)),
        labels.by_key(db, a.user_id, "large"),
        labels.owned(db, a.user_id, a.label_ids.values()),
        labels.counts(db, a.user_id, a.label_ids.values()),
    ),
    "a shared entry": lambda db, _: (public_links.by_code(db, "a code"), public_links.by_code(db, "")),
    "how things stand": lambda db, _: (
        status.poll_queue_counts(db, NOW, overdue_after=SECOND),
        status.feed_counts(db, since=LAST_WEEK),
        status.entry_counts(db),
        status.delivery_counts(db),
    ),
}
WRITES: dict[str, Callable[[Write, Archive], object]] = {
    "marking a feed read": lambda db, a: entries.mark_read(
        db, a.user_id, feed_id=a.feed_id, published_before=NOW, now=NOW
    ),
    "marking a category read": lambda db, a: entries.mark_read(
        db, a.user_id, category_id=a.category_id, published_before=NOW, now=NOW
    ),
    "marking a shared category read": lambda db, a: entries.mark_read(
        db, a.user_id, category_id=a.shared_id, published_before=NOW, now=NOW
    ),
    "marking what is old read": lambda db, a: entries.mark_read(db, a.user_id, published_before=LAST_WEEK, now=NOW),
    "marking all read": lambda db, a: entries.mark_read(db, a.user_id, now=NOW),
    "marking what is not hidden read": lambda db, a: entries.mark_read(db, a.user_id, except_hidden=True, now=NOW),
    "hiding entries": lambda db, a: entries.set_hidden(db, a.user_id, [3, 4, 5], hidden=True),
    "marking what was shown read": lambda db, a: (
        entries.mark_read(db, a.user_id, published_before=NOW, shown=Shown(10**9, (3, 4)), now=NOW),
        entries.mark_read(db, a.user_id, feed_id=a.feed_id, published_before=NOW, shown=Shown(10**9), now=NOW),
        entries.mark_read(db, a.user_id, category_id=a.category_id, shown=Shown(10**9), now=NOW),
        entry_lists.newest_id(db, a.user_id),
    ),
    "marking what is below an entry read": lambda db, a: [
        entries.mark_read(
            db,
            a.user_id,
            feed_id=feed_id,
            published_before=NOW,
            page=PageRequest(order=order, direction=Direction.DESC, cursor=EntryCursor(LAST_WEEK, 5_000)),
            now=NOW,
        )
        for order in (Order.PUBLISHED_AT, Order.CREATED_AT, Order.CHANGED_AT)
        for feed_id in (None, a.feed_id)
    ],
    "marking what was stored before read": lambda db, a: (
        entries.mark_read(db, a.user_id, created_before=RECENTLY, now=NOW),
        entries.mark_read(db, a.user_id, created_before=NOW, starred=True, now=NOW),
    ),
    "taking a mark back": lambda db, a: (
        entries.mark_read(db, a.user_id, feed_id=a.feed_id, now=Instant(NOW + 7)),
        read_state.undo_mark_read(db, a.user_id, Instant(NOW + 7), now=Instant(NOW + 8)),
        read_state.undo_mark_read(db, a.user_id, Instant(NOW + 9), now=Instant(NOW + 10)),
    ),
    "telling what was marked": lambda db, a: (
        entries.mark_read(db, a.user_id, feed_id=a.feed_id, now=Instant(NOW + 7)),
        read_state.marked_at(db, a.user_id, Instant(NOW + 7), after=0, limit=10),
    ),
    "taking the marks of an app back": lambda db, a: (
        entries.mark_read(db, a.user_id, feed_id=a.feed_id, created_before=NOW, now=Instant(NOW + 7)),
        read_state.undo_mark_read(
            db, a.user_id, Instant(NOW + 7), since=Instant(NOW + 7 - 15 * SECOND), now=Instant(NOW + 8)
        ),
    ),
    "marking a label read": lambda db, a: (
        entries.mark_read(db, a.user_id, label_ids=[a.label_ids["large"]], created_before=NOW, now=NOW),
        entries.mark_read(db, a.user_id, label_ids=[a.label_ids["small"]], published_before=NOW, now=NOW),
    ),
    "giving labels": lambda db, a: labels.attach(
        db, a.user_id, [*a.label_ids.values(), labels.add(db, a.user_id, "New", "new")], [3, 4, 5]
    ),
    "locking all labels": lambda db, a: labels.lock_all(db, a.user_id),
    "ordering labels": lambda db, a: labels.set_order(db, a.user_id, labels.list_all(db, a.user_id)),
    "taking labels": lambda db, a: labels.detach(db, a.user_id, list(a.label_ids.values()), [3, 4, 5], now=NOW),
    "dating a labelled entry": lambda db, a: labels.set_published(db, a.user_id, 7, NOW),
    "taking a label from all": lambda db, a: labels.detach_all(db, a.user_id, a.label_ids["small"], now=NOW),
    "deleting a label": lambda db, a: labels.remove(db, a.user_id, a.label_ids["small"]),
    "sharing an entry": lambda db, a: public_links.set_code(db, a.user_id, 5, "a code"),
    "marking some read": lambda db, a: entries.set_state(db, a.user_id, [3, 4, 5], status=EntryStatus.READ, now=NOW),
    "claiming due feeds": lambda db, _: sources.claim_due(
        db, "w", now=Instant(NOW + 9), until=Instant(NOW + 99), limit=5, per_host=2, gap=9
    ),
    "looking for what is due": lambda db, _: sources.any_due(db, Instant(NOW + 9)),
    "putting off a host": lambda db, a: sources.postpone_host(
        db, "host 7", Instant(NOW + 99), user_ids=[a.user_id], users_until=Instant(NOW + 999)
    ),
    "letting go of claims": lambda db, _: sources.release_all(db, "w"),
    "subscriptions that are due": lambda db, _: subscriptions.due(db, now=Instant(NOW + 4_000 * SECOND), limit=8),
    "settling a source": lambda db, a: sources.release(db, sources.of_feeds(db, [a.feed_id]), "w"),
    "renewing a claim": lambda db, _: sources.renew(db, "w", [1, 2], Instant(NOW + 99)),
    "making feeds due": lambda db, a: sources.make_due(db, a.user_id, now=NOW, checked_before=NOW),
    "moving a feed": lambda db, a: feeds.change(db, a.user_id, a.feed_id, category_id=a.category_id),
    "removing what is old": lambda db, a: cleanup.remove_entries(
        db,
        a.user_id,
        [ExpiredEntry(n, a.feed_id, NOW) for n in range(1, 500)],
        EntryStatus.READ,
        before=LAST_WEEK,
        now=NOW,
    ),
    "moving many feeds": lambda db, a: bulk.move(db, a.user_id, [a.feed_id, a.feed_id + 1], a.category_id),
    "switching many feeds": lambda db, a: (
        bulk.disable(db, a.user_id, [a.feed_id, a.feed_id + 1]),
        bulk.enable(db, a.user_id, [a.feed_id, a.feed_id + 1], NOW),
    ),
    "setting many intervals": lambda db, a: bulk.set_interval(db, a.user_id, 60, {a.feed_id: NOW, a.feed_id + 1: NOW}),
    "making some feeds due": lambda db, a: sources.make_due(
        db, a.user_id, now=NOW, checked_before=NOW, feed_ids=[a.feed_id, a.feed_id + 1]
    ),
    "deleting many feeds": lambda db, a: bulk.remove(db, a.user_id, [a.feed_id, a.feed_id + 1]),
    "deleting a feed": lambda db, a: feeds.remove(db, a.user_id, a.feed_id),
}


@pytest.mark.parametrize("name", READS)
def test_a_query_uses_an_index(archive: Archive, name: str) -> None:
    with explained(archive.database) as plans, archive.database.reading() as db:
        READS[name](db, archive)

    assert [plan.complaints() for plan in plans if plan.complaints()] == []


@pytest.mark.parametrize("kind", [EntryStatus.READ, EntryStatus.REMOVED, EntryStatus.UNREAD], ids=str)
def test_expired_entries_are_read_from_an_index_on_from_the_last_position(archive: Archive, kind: EntryStatus) -> None:
    given: dict[str, Any] = {"before": LAST_WEEK, "from_position": Instant(NOW - 100 * 86_400 * SECOND), "limit": 500}

    with explained(archive.database) as plans, archive.database.reading() as db:
        of_all = cleanup.find_expired(db, archive.user_id, kind, overridden=[archive.feed_id], **given)
        cleanup.find_expired_of_feed(db, archive.user_id, archive.feed_id, kind, **given)

    assert of_all
    assert [plan.complaints() for plan in plans if plan.complaints()] == []
    plan_text = [json.dumps(plan.plan) for plan in (plans[0], plans[-1])]
    # PostgreSQL knows how few were removed, and sorts those.
    indexes = (("ix_entries_user_changed", "ix_entries_user_status"), ("ix_entries_feed_published",))
    for plan, allowed in zip(plan_text, indexes, strict=True):
        assert any(index in plan for index in allowed), plan
    if archive.database.is_sqlite:
        assert "ix_entries_user_changed" in plan_text[0]
        assert "TEMP B-TREE" not in "".join(plan_text)


def test_orphaned_subscriptions_are_found_without_a_lookup_for_each(archive: Archive) -> None:
    with explained(archive.database) as plans, archive.database.reading() as db:
        assert subscriptions.find_orphaned(db, now=NOW, limit=200) == []

    plan_text = json.dumps(plans[0].plan)
    if archive.database.is_sqlite:
        # It has no other way: a look at two indexes for each, 2 µs.
        assert "SCAN websub_topics" not in plan_text
        assert "SCAN feeds" not in plan_text
    else:
        assert "hashed SubPlan" in plan_text, plan_text


class UndoneError(Exception):
    pass


@pytest.mark.parametrize("name", WRITES)
def test_a_change_uses_an_index(archive: Archive, name: str) -> None:
    def change_and_undo() -> None:
        with archive.database.writing() as db:
            WRITES[name](db, archive)
            raise UndoneError

    with explained(archive.database) as plans, pytest.raises(UndoneError):
        change_and_undo()

    assert [plan.complaints() for plan in plans if plan.complaints()] == []


def test_the_check_sees_a_scan_and_a_sort(archive: Archive) -> None:
    for bad in (
        "SELECT id FROM entries WHERE edited = 7",
        "SELECT id FROM entries WHERE user_id = 1 ORDER BY url LIMIT 10",
    ):
        with archive.database.reading() as db:
            assert plan_of(archive.database, db.connection, bad, ()).complaints()


# A list, and the most work that a page of it may be, three times what it is: thousands of SQLite's steps, and
# pages of PostgreSQL, 8 KiB each.
MAIN_LISTS: dict[str, tuple[str, PageRequest, int, int]] = {
    "unread": ("unread", PageRequest(limit=100), 20, 400),
    "unread, newest first": ("unread", PageRequest(limit=100, direction=Direction.DESC), 20, 400),
    "all, at offset 20,000": ("none", PageRequest(limit=100, offset=20_000), 400, 60_000),
    "of a category": ("category", PageRequest(limit=100), 20, 400),
    "of a shared category": ("shared category", PageRequest(limit=100), 60, 7_500),
    "unread of a feed": ("unread of a feed", PageRequest(limit=100), 20, 400),
    "starred": ("starred", PageRequest(limit=100), 20, 400),
    "of a label with 20,000": ("label", PageRequest(limit=100, direction=Direction.DESC), 1_000, 70_000),
    "of a label with 300": ("small label", PageRequest(limit=100), 30, 1_500),
    "by title": ("none", PageRequest(limit=100, order=Order.TITLE), 30, 400),
    "by category": ("none", PageRequest(limit=100, order=Order.CATEGORY_TITLE), 20, 18_000),
    "search, 60": ("search", PageRequest(limit=100), 20, 1_600),
    "search, 30,000": ("search for a frequent word", PageRequest(limit=100), 1_200, 5_000),
    "search, 30,000, at offset 20,000": (
        "search for a frequent word",
        PageRequest(limit=100, offset=20_000),
        3_000,
        120_000,
    ),
}


@pytest.mark.parametrize("name", MAIN_LISTS)
def test_a_page_of_a_main_list_is_little_work(name: str, archive: Archive) -> None:
    """Counted, not timed; `make bench ARGS=lists` has milliseconds."""
    filter_name, page, most_steps, most_pages = MAIN_LISTS[name]
    engine = "sqlite" if archive.database.is_sqlite else "postgresql"
    forget_undone_writes(archive.database)
    with archive.database.reading() as db:
        work = work_of(db, lambda: entry_lists.page(db, archive.user_id, which(archive, filter_name), page))
    sys.stdout.write(f"\n{engine:12}{name:34}{work.total:9.1f}")
    assert 0 < work.total < (most_steps if engine == "sqlite" else most_pages)


# A list, and the most work that 100 of its ids in the middle of the archive may be, as above.
DEEP_LISTS = {
    "none": (2, 20),
    "unread": (2, 20),
    "read": (2, 20),
    "category": (30, 100),
    "unread of a feed": (20, 400),
    "label": (3, 500),
}


@pytest.mark.parametrize("direction", Direction)
@pytest.mark.parametrize("name", DEEP_LISTS)
def test_ids_in_the_middle_of_the_archive_are_little_work(archive: Archive, name: str, direction: Direction) -> None:
    """An app reads the archive page by page: a page must not cost more the more entries were read before it."""
    bound = "after_entry_id" if direction is Direction.ASC else "before_entry_id"
    entry_filter = msgspec.structs.replace(which(archive, name), **{bound: 30_000})
    forget_undone_writes(archive.database)
    with archive.database.reading() as db:
        work = work_of(
            db, lambda: entry_lists.id_page(db, archive.user_id, entry_filter, direction=direction, limit=100)
        )
    ids = split_ids(work.result)
    sys.stdout.write(f"\n{name:20} {direction} {work.total:.1f} {len(ids)}")
    assert len(ids) == 100
    assert 0 <= work.total < DEEP_LISTS[name][0 if archive.database.is_sqlite else 1]


OTHERS_READING = """
    SELECT count(*) FROM pg_stat_activity
    WHERE datname = current_database() AND backend_xmin IS NOT NULL AND pid <> pg_backend_pid()
"""


def forget_undone_writes(database: Database) -> None:
    """Other tests undo what they write; PostgreSQL reads the rows and index entries of that until a vacuum."""
    if not database.is_sqlite:
        with database.outside_transaction() as raw:
            # What another backend may still see would stay, such as while autovacuum analyses a table.
            until(lambda: raw.execute(OTHERS_READING).fetchone() == (0,))
            # Otherwise the index entries stay while there are few.
            raw.execute("VACUUM (INDEX_CLEANUP ON)")


# Recording and reading plans


@contextmanager
def explained(database: Database) -> Iterator[list[Plan]]:
    """Yield the plans of all statements that run in the block, taken before each runs."""
    plans: list[Plan] = []
    is_explaining = False

    def explain(connection: Any, _cursor: Any, statement: str, parameters: Any, _context: Any, many: bool) -> None:
        nonlocal is_explaining
        if is_explaining or not statement.lstrip().upper().startswith(
            ("SELECT", "UPDATE", "DELETE", "WITH", "INSERT INTO")
        ):
            return
        is_explaining = True
        try:
            plans.append(plan_of(database, connection, statement, parameters[0] if many else parameters))
        finally:
            is_explaining = False

    engines = {database._engines.reader, database._engines.writer}
    for engine in engines:
        event.listen(engine, "before_cursor_execute", explain)
    try:
        yield plans
    finally:
        for engine in engines:
            event.remove(engine, "before_cursor_execute", explain)


@dataclass
class Work:
    """total: thousands of steps on SQLite, pages read on PostgreSQL, from memory or disk."""

    result: Any = None
    total: float = 0


def work_of(db: Read, read: Callable[[], object]) -> Work:
    """Count the work of the statements of `read`, not how long they take.

    It runs once before: the first statement of a connection also reads the schema.
    """
    read()
    work = Work()
    is_sqlite = db.connection.dialect.name == "sqlite"

    def step() -> int:
        work.total += 0.1
        return 0

    def count(connection: Any, _cursor: Any, statement: str, parameters: Any, *_: Any) -> None:
        if not statement.startswith("EXPLAIN"):
            explain = "EXPLAIN (ANALYZE, BUFFERS, FORMAT JSON) "
            (found,) = connection.exec_driver_sql(explain + statement, parameters).scalar()
            work.total += found["Plan"]["Shared Hit Blocks"] + found["Plan"]["Shared Read Blocks"]

    if is_sqlite:
        driver_connection: Any = db.connection.connection.driver_connection
        driver_connection.set_progress_handler(step, 100)
        try:
            work.result = read()
        finally:
            driver_connection.set_progress_handler(None, 0)
    else:
        event.listen(db.connection, "before_cursor_execute", count)
        try:
            work.result = read()
        finally:
            event.remove(db.connection, "before_cursor_execute", count)
    return work


def plan_of(database: Database, connection: Any, statement: str, parameters: Any) -> Plan:
    if database.is_sqlite:
        rows = connection.exec_driver_sql("EXPLAIN QUERY PLAN " + statement, parameters).all()
        return SqlitePlan(statement, [row[3] for row in rows])
    row = connection.exec_driver_sql("EXPLAIN (FORMAT JSON) " + statement, parameters).scalar()
    return PostgresPlan(statement, row if isinstance(row, list) else json.loads(row))


class Plan:
    def __init__(self, statement: str, plan: list[Any]) -> None:
        self.statement = " ".join(statement.split())
        self.plan = plan

    def faults(self) -> Iterator[str]:
        raise NotImplementedError

    def complaints(self) -> str:
        """Return the faults as text, "" if there are none."""
        found = list(self.faults())
        return f"{'; '.join(found)}\n{self.statement}\n{json.dumps(self.plan, indent=1)}" if found else ""


class SqlitePlan(Plan):
    def faults(self) -> Iterator[str]:
        for line in self.plan:
            table = re.match(r"SCAN (\w+)", line)
            if table and table[1] in LARGE:
                yield f"reads all of {table[1]}"
        first = next((line for line in self.plan if not line.startswith("CO-ROUTINE")), "")
        # Of each category in a list, a page merges the first entries.
        is_merged = any(line.startswith("SCAN category VIRTUAL TABLE") for line in self.plan)
        if "USE TEMP B-TREE FOR ORDER BY" in self.plan and not is_merged and not _narrows(first):
            yield "sorts everything of a user"


def _narrows(line: str) -> bool:
    """Whether a step, the first, reads less than all of a user, or all of theirs with a status."""
    conditions = re.match(r"SEARCH .*\((.*)\)$", line)
    return bool(conditions and set(re.findall(r"(\w+)[<>=]", conditions[1])) - {"user_id", "status"})


class PostgresPlan(Plan):
    def faults(self) -> Iterator[str]:
        yield from self._faults_of(self.plan[0]["Plan"])

    def _faults_of(self, node: dict[str, Any]) -> Iterator[str]:
        kind = node["Node Type"]
        if kind == "Seq Scan" and node["Relation Name"] in LARGE and node["Relation Name"] in self._filled():
            yield f"reads all of {node['Relation Name']}"
        if kind == "Sort" and node["Plan Rows"] > MAX_SORTED:
            yield f"sorts {node['Plan Rows']} rows"
        for part in node.get("Plans", ()):
            yield from self._faults_of(part)

    @staticmethod
    def _filled() -> set[str]:
        return {"changes", "entries", "entry_labels", "entry_tags", "rule_changed_entries", "rule_run_entries",
                "search_vectors", "shared_vectors", "websub_subscriptions", "websub_topics"}  # fmt: skip
