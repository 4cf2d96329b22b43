"""Queries in SQL on both engines: what they find, also next to the other filters, and that a matcher agrees."""

from __future__ import annotations

import random
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from msgspec import Struct, structs
from sqlalchemy import update

from query.trees import NAMES, WORDS, trees
from support.databases import Databases
from support.entry_fixtures import FeedFixture, ready
from tidings.base.errors import InvalidField
from tidings.base.text import normalize_for_search
from tidings.base.times import DAY, HOUR, Instant, from_datetime, zone_info
from tidings.content.model import ParsedEnclosure
from tidings.domain.entries.entries import Direction, EntryFilter, EntryStatus, Order, PageRequest, Total
from tidings.engine import full_text
from tidings.engine.database import Database
from tidings.query import Candidate, Matcher, QueryError, normal_form, parse
from tidings.query.model import DatedQuery, Tree
from tidings.services.entries.search_index import SearchIndexer
from tidings.storage.entries import entry_lists, labels, query_filter
from tidings.storage.feeds import categories, feeds, further_categories
from tidings.storage.polling import entry_writes
from tidings.storage.schema import entries

NOW = from_datetime(datetime(2026, 3, 15, 12, 30, tzinfo=UTC))
ZONE = "Europe/Berlin"
# Where counting stops in these tests.
BOUND = 20
# In tests that compare all of them with SQL: a few hundred on each engine, and 10,000 with --long.
MAX_EXAMPLES = {"tests": 300, "long": 10_000}


class Archive(Struct, frozen=True):
    """The entries of a user in a database, and the same in memory."""

    database: Database
    user_id: int
    candidates: dict[int, Candidate]

    def __repr__(self) -> str:
        return "Archive"

    def filter(self, tree: Tree, **conditions: Any) -> EntryFilter:
        return EntryFilter(query=DatedQuery(tree, NOW, ZONE), **conditions)

    def found(self, tree: Tree, **conditions: Any) -> set[int]:
        """Return what a list with the query has, in any order and by its total as well, up to a bound or not."""
        request = PageRequest(order=Order.ID, direction=Direction.DESC, limit=1000)
        asked, first = self.filter(tree, **conditions), structs.replace(request, limit=1)
        with self.database.reading() as db:
            ids, _ = entry_lists.page_ids(db, self.user_id, asked, request)
            _, total = entry_lists.page_ids(db, self.user_id, asked, first)
            _, bounded = entry_lists.page_ids(db, self.user_id, asked, structs.replace(first, count_up_to=BOUND))
        assert ids == sorted(set(ids), reverse=True)
        assert total == Total(len(ids))
        # Where more are counted as fast, they may be.
        assert bounded == total or (bounded == Total(BOUND, is_exact=False) and len(ids) > BOUND)
        return set(ids)

    def matching(self, tree: Tree) -> set[int]:
        """Return what a matcher says."""
        matcher = Matcher(tree, now=NOW, zone=zone_info(ZONE))
        return {entry_id for entry_id, candidate in self.candidates.items() if matcher.matches(candidate)}


def stored(database: Database) -> Archive:
    """Store 150 random entries of a user, and one that matches much of another user."""
    chance = random.Random(34)
    own, stranger = FeedFixture.create(database), FeedFixture.create(database)
    candidates: dict[int, Candidate] = {}
    with database.writing() as db:
        below = {"title": "All / Tech news", "title_key": "all / tech news", "name": "Tech news"}
        second = categories.add(db, own.user_id, **below, parent_id=own.category_id, hide_globally=False)
        third = categories.add(db, own.user_id, title="Sports", title_key="sports", hide_globally=False)
        places = []
        for number, (title, site) in enumerate(
            (("The weather", "https://www.example.org/"), ("Linux Kernel", "https://sub.example.org/a"), ("News", ""))
        ):
            category = (own.category_id, second)[number % 2]
            url = f"https://feeds.example.net/{number}"
            feed_id = feeds.add(
                db, own.user_id, category_id=category, feed_url=url, site_url=site, title=title,
                created_at=NOW, checked_at=NOW, next_check_at=NOW,
            )  # fmt: skip
            ids: tuple[int, ...] = ((own.category_id,), (own.category_id, second))[number % 2]
            paths: tuple[str, ...] = (("All",), ("All / Tech news",))[number % 2]
            # The third is in the category of the second as well, and both are in one of their own.
            if number:
                further = [third, *([second] if number == 2 else [])]
                further_categories.set_all(db, own.user_id, {feed_id: further})
                ids, paths = (own.category_id, second, third), ("All / Tech news", "Sports", *paths)
            places.append((feed_id, title, (site, url), ids, paths))
        names = {name.title(): labels.add(db, own.user_id, name.title(), normalize_for_search(name)) for name in NAMES}
    for number in range(150):
        candidate = random_candidate(chance, number, places, names)
        with database.writing() as db:
            category_id = own.category_id if candidate.feed_id != places[1][0] else second
            (entry_id,) = entry_writes.add(
                db, own.user_id, candidate.feed_id, category_id, [entry_of(candidate)], now=candidate.added_at
            )
            changes: dict[str, Any] = {"changed_at": candidate.changed_at}
            changes |= {"share_code": f"code-{own.user_id}-{number}"} if candidate.is_shared else {}
            db.run(update(entries).where(entries.c.id == entry_id).values(**changes))
            labels.attach(db, own.user_id, candidate.label_ids, [entry_id])
        candidates[entry_id] = candidate
    stranger.add(ready("rain snow hail", "<p>rain</p>", tags=("linux kernel",), author="rain"))
    while SearchIndexer(database).work():
        pass
    return Archive(database, own.user_id, candidates)


def random_candidate(chance: random.Random, number: int, places: list[Any], names: dict[str, int]) -> Candidate:
    feed_id, feed_title, urls, category_ids, category_titles = chance.choice(places)
    chosen = chance.sample(sorted(names), chance.choice((0, 0, 1, 2)))
    attached = chance.choice(((), (), ("audio/mpeg",), ("video/mp4", "image/png"), ("text/html",)))

    def moment() -> Instant:
        return Instant(NOW - chance.choice((0, 1, 5, 20, 60, 90)) * DAY - chance.randint(-40, 40) * HOUR)

    return Candidate(
        title=" ".join(chance.choices(WORDS, k=chance.randint(0, 3))),
        text=" ".join(chance.choices(WORDS, k=chance.randint(0, 6))),
        url=f"https://{chance.choice(('example.org', 'Example.com'))}/{chance.choice('aBx')}/{number}?b=c",
        author=chance.choice(("", "Rain Man", "Jürgen Häuser", "snow, hail", "rains e-mail")),
        language=chance.choice(("", "en", "de", "de-AT", "pt-BR", "ja")),
        published_at=moment(),
        changed_at=moment(),
        added_at=moment(),
        is_read=chance.random() < 0.5,
        is_starred=chance.random() < 0.3,
        is_shared=chance.random() < 0.2,
        is_hidden=chance.random() < 0.2,
        minutes=chance.randint(0, 8),
        tags=tuple(chance.sample(NAMES, chance.choice((0, 0, 1, 2)))),
        labels=tuple(chosen),
        label_ids=tuple(names[name] for name in chosen),
        attachment_types=attached,
        feed_id=feed_id,
        feed_title=feed_title,
        feed_urls=urls,
        category_ids=category_ids,
        category_titles=category_titles,
    )


def entry_of(candidate: Candidate) -> Any:
    files = tuple(
        ParsedEnclosure(f"https://example.org/{number}", kind) for number, kind in enumerate(candidate.attachment_types)
    )
    entry = ready(
        candidate.title,
        f"<p>{candidate.text}</p>",
        url=candidate.url,
        author=candidate.author,
        language=candidate.language,
        published_at=candidate.published_at,
        reading_time=candidate.minutes,
        hidden=candidate.is_hidden,
        starred=candidate.is_starred,
        tags=candidate.tags,
        enclosures=files,
    )
    return structs.replace(entry, status=EntryStatus.READ if candidate.is_read else EntryStatus.UNREAD)


@pytest.fixture(scope="module")
def archive(databases: Databases) -> Iterator[Archive]:
    with databases.migrated() as url:
        database = Database(url)
        yield stored(database)
        database.close()


@pytest.mark.slow
@given(tree=trees(max_leaves=10))
@settings(
    max_examples=MAX_EXAMPLES.get(settings.get_current_profile_name(), 300),
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
def test_sql_and_matcher_agree(archive: Archive, tree: Tree) -> None:
    assert archive.found(tree) == archive.matching(tree), normal_form(tree)


LEAVES = (
    "rain", "-rain", '"rain snow"', "ra*", "häuser", "title:rain", "text:rain", "-title:rain", "title:rai*", "東京",
    "author:rain", "author:häuser", "url:/B/", "url:EXAMPLE.com", "site:example.org", "site:sub.example.org",
    "feed:weather", "feed:linux*", "category:tech", "category:sports", "c:3", "c:4", "-c:4", "c:3 c:4", "c:1 c:4",
    "label:weather", "label:*", "label:'odd \"name\"'", "tag:tech",
    "#linux+kernel", "tag:*", "tag:lin*", "lang:de", "lang:de-at", "lang:pt", "has:enclosure", "has:audio", "has:image",
    "is:unread", "is:read", "is:starred", "is:shared", "-is:shared", "words>5", "words<2", "words=0", "minutes>=4",
    "published:2026-01", "published:7d", "published:>1m", "changed:today", "added:..2026-01", "read:1m",
    "title:/^rain/", "title:/rain/i", "-title:/rain/i", "author:/^R/", r"url:/example\.(org|com)\/B/", "url:/^x/",
    "(rain OR is:starred) -has:video", "-(rain is:starred)", "rain OR -snow OR words>3", "title:rain text:snow",
    "rain title:/a/ is:unread", "title:/a/ url:/b/i",
)  # fmt: skip


@pytest.mark.parametrize("query", LEAVES)
def test_each_field_finds_what_a_matcher_finds(archive: Archive, query: str) -> None:
    tree = parse(query)
    found = archive.found(tree)

    assert found == archive.matching(tree)
    assert found or query == "url:/^x/"
    assert found != set(archive.candidates)


@pytest.mark.slow
@given(tree=trees(max_leaves=4), conditions=st.fixed_dictionaries(
    {}, optional={"search": st.sampled_from(("rain", "-snow", "hail OR rain")), "starred": st.booleans(),
                  "statuses": st.sampled_from(((EntryStatus.UNREAD,), (EntryStatus.READ,)))},
))  # fmt: skip
@settings(max_examples=100, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_a_query_and_other_filters_must_both_match(archive: Archive, tree: Tree, conditions: dict[str, Any]) -> None:
    with archive.database.reading() as db:
        others, _ = entry_lists.page_ids(db, archive.user_id, EntryFilter(**conditions), PageRequest(limit=1000))

    assert archive.found(tree, **conditions) == archive.matching(tree) & set(others)


@pytest.mark.slow
@pytest.mark.parametrize("order", Order)
@pytest.mark.parametrize("query", ["rain", "-rain", "rain OR is:starred", "has:audio is:unread", "title:/a/", ""])
def test_pages_of_a_query_have_the_order_of_the_list(archive: Archive, query: str, order: Order) -> None:
    tree = parse(query)
    matching = archive.matching(tree)
    with archive.database.reading() as db:
        everything = entry_lists.rows(db, archive.user_id, EntryFilter(), PageRequest(order=order, limit=1000))
        expected = [entry.id for entry in everything if entry.id in matching]
        listed = []
        for offset in range(0, len(expected), 7):
            request = PageRequest(order=order, limit=7, offset=offset)
            listed += [entry.id for entry in entry_lists.rows(db, archive.user_id, archive.filter(tree), request)]

    assert listed == expected


@pytest.mark.parametrize("query", [*LEAVES, "rain OR is:starred", "has:audio OR label:* OR is:shared",
                                   "-(rain OR snow)", "-has:video is:unread", "-lang:de", "-label:*"])  # fmt: skip
def test_entries_that_are_not_few_are_found_as_well(
    archive: Archive, query: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(query_filter, "FEW", 2)

    assert archive.found(parse(query)) == archive.matching(parse(query))


@pytest.mark.parametrize("query", ["rain is:unread", '("rain snow" OR hail) is:read', "#tech", "has:enclosure",
                                   "words>2", "lang:de", "url:example", "added:2026",
                                   "(rain OR is:starred) -has:video"])  # fmt: skip
def test_counting_stops_where_a_list_has_more(archive: Archive, query: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(query_filter, "FEW", 2)
    tree = parse(query)
    number = len(archive.found(tree))

    def total(up_to: int) -> Total:
        page = PageRequest(limit=1, count_up_to=up_to)
        with archive.database.reading() as db:
            return entry_lists.page(db, archive.user_id, archive.filter(tree), page).total

    assert (total(number), total(number + 1)) == (Total(number), Total(number))
    assert total(number - 1) == Total(number - 1, is_exact=False)


def test_regular_expressions_have_a_budget(archive: Archive, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(query_filter, "MAX_PATTERN_S", 0.0)

    with pytest.raises(InvalidField, match="take too long"):
        archive.found(parse("title:/r/"))


def test_a_regular_expression_covers_the_newest_entries(archive: Archive, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(query_filter, "MAX_TESTED", 20)
    newest = set(sorted(archive.candidates)[-20:])

    for query in ("title:/r/", "-title:/r/"):
        assert archive.found(parse(query)) == archive.matching(parse(query)) & newest


def test_a_line_break_in_a_title_moves_no_match_to_another_entry(database: Database) -> None:
    feed = FeedFixture.create(database)
    feed.add(ready("one"), ready("two\nrain"), ready("three rain"))

    found = [feed.titles(query=DatedQuery(parse(query), NOW, ZONE)) for query in ("title:/rain$/", "title:/^rain/")]

    assert found == [["two\nrain", "three rain"], []]


@pytest.mark.parametrize("query", ["has:enclosure", "has:audio", "tag:tech", "tag:te*", "label:*", "words>0"])
def test_entries_that_are_counted_in_an_index_leave_out_removed_ones(
    database: Database, query: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(query_filter, "FEW", 0)
    feed, stranger = FeedFixture.create(database), FeedFixture.create(database)
    files = tuple(ParsedEnclosure(f"https://example.org/{number}", "audio/mpeg") for number in range(2))
    for one in (feed, stranger):
        ids = one.add(*(ready("rain", "<p>rain</p>", tags=("tech", "tea"), enclosures=files) for _ in range(3)))
        with database.writing() as db:
            labels.attach(db, one.user_id, [labels.add(db, one.user_id, name, name) for name in "ab"], ids)
            db.run(update(entries).where(entries.c.id == ids[0]).values(status=int(EntryStatus.REMOVED)))
    while SearchIndexer(database).work():
        pass

    assert feed.total(query=DatedQuery(parse(query), NOW, ZONE)) == 2


@pytest.mark.parametrize("collected", [0, 1_000_000])
@pytest.mark.parametrize("query", ["rain", "-rain", "ra*", "rain is:unread", "rain #tech", "rain feed:weather"])
def test_frequent_words_are_tested_or_collected(
    archive: Archive, query: str, collected: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(full_text, "_FREQUENT", 2)
    monkeypatch.setattr(entry_lists, "COLLECTED", collected)

    assert archive.found(parse(query)) == archive.matching(parse(query))


def test_a_saved_view_without_a_query_finds_nothing(archive: Archive) -> None:
    assert archive.found(parse("S:3")) == set()
    assert archive.found(parse("-S:3")) == set(archive.candidates)


@pytest.mark.slow
@given(st.text())
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_any_query_that_can_be_read_can_be_asked(archive: Archive, text: str) -> None:
    try:
        tree = parse(text)
    except QueryError:
        return
    assert archive.found(tree) == archive.matching(tree)
