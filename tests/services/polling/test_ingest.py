"""Answers that are taken in together: what goes wrong with one feed is its own, and nothing is stored twice."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from sqlalchemy import event, select

from support.people import rss
from support.polling_fixtures import PollingFixture
from support.publisher import Publisher
from tidings.domain.feeds.feeds import Feed
from tidings.services.polling import ingest
from tidings.storage.engine.database import Database
from tidings.storage.feeds import feeds
from tidings.storage.schema import sources, websub_subscriptions
from tidings.storage.websub import subscriptions

POISON = "Poison"
TRIGGERS = {
    "sqlite": f"""
        CREATE TRIGGER refuse BEFORE INSERT ON entries WHEN NEW.title = '{POISON}'
        BEGIN SELECT RAISE(ABORT, 'out of order'); END""",
    "postgresql": f"""
        CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS
        $$ BEGIN IF NEW.title = '{POISON}' THEN RAISE 'out of order'; END IF; RETURN NEW; END $$;
        CREATE TRIGGER refuse BEFORE INSERT ON entries FOR EACH ROW EXECUTE FUNCTION refuse()""",
}


@pytest.fixture
def house(database: Database, database_url: str, tmp_path: Path) -> PollingFixture:
    return PollingFixture(database, database_url, tmp_path)


def subscribed(house: PollingFixture, site: Publisher, count: int) -> list[int]:
    """Feeds of one user, each with an entry named after it."""
    user = house.user("alice")
    return [house.subscribe(user, serve(site, number, f"Item {number}")) for number in range(count)]


def serve(site: Publisher, number: int, *titles: str) -> str:
    path = f"/{number}.xml"
    return site.serve(path, rss(list(titles), site.url(path)))


@contextmanager
def commits(database: Database) -> Iterator[list[int]]:
    counted: list[int] = []

    def count(_: object) -> None:
        counted.append(1)

    event.listen(database.engine, "commit", count)
    try:
        yield counted
    finally:
        event.remove(database.engine, "commit", count)


def test_many_answers_are_written_in_a_few_transactions(house: PollingFixture, site: Publisher) -> None:
    feed_ids = subscribed(house, site, 40)

    with commits(house.database) as counted:
        house.poll()

    assert [house.titles(feed_id) for feed_id in feed_ids] == [[f"Item {number}"] for number in range(40)]
    # The claim, the answers that came first, and the others by eights.
    assert len(counted) < 20


def test_a_feed_that_the_database_refuses_leaves_those_beside_it_alone(
    engine: str, house: PollingFixture, site: Publisher
) -> None:
    with house.database.writing() as db:
        db.connection.exec_driver_sql(TRIGGERS[engine])
    feed_ids = subscribed(house, site, 20)
    serve(site, 7, "Item 7", POISON)

    checked = house.poll()

    assert [house.titles(feed_id) for feed_id in feed_ids] == [
        [] if number == 7 else [f"Item {number}"] for number in range(20)
    ]
    assert [number for number, feed_id in enumerate(feed_ids) if checked[feed_id].error] == [7]
    assert "out of order" not in str(checked[feed_ids[7]].error)

    with house.database.writing() as db:
        db.connection.exec_driver_sql("DROP TRIGGER refuse" + (" ON entries" if engine == "postgresql" else ""))
    house.due_again()
    house.poll()

    assert house.titles(feed_ids[7]) == ["Item 7", POISON]


def test_a_feed_that_was_deleted_meanwhile_leaves_those_beside_it_alone(house: PollingFixture, site: Publisher) -> None:
    feed_ids = subscribed(house, site, 10)
    (owner,) = house.services.users.list_all()
    claims = house.services.polling.claim("worker", 100)
    house.services.feeds.delete(owner.id, feed_ids[3])

    async def check_all() -> None:
        await asyncio.gather(*(house.services.polling.check(one) for one in claims))
        await house.services.disconnect()

    asyncio.run(check_all())

    assert [len(house.titles(feed_id)) for feed_id in feed_ids] == [0 if number == 3 else 1 for number in range(10)]


def test_a_feed_that_is_refreshed_many_times_at_once_gets_each_entry_once(
    house: PollingFixture, site: Publisher
) -> None:
    user = house.user("alice")
    feed_id = house.subscribe(user, serve(site, 0, "Rain", "Wind"))

    async def refresh_at_once() -> None:
        refresh = house.services.polling.refresh_now
        await asyncio.gather(*(refresh(user.id, feed_id) for _ in range(12)))
        await house.services.disconnect()

    asyncio.run(refresh_at_once())

    assert house.titles(feed_id) == ["Rain", "Wind"]


def test_more_subscribers_than_fit_into_one_transaction_are_all_served(house: PollingFixture, site: Publisher) -> None:
    url = serve(site, 0, "Rain", "Wind")
    feed_ids = [house.subscribe(house.user(f"user{number}"), url) for number in range(ingest.MAX_FEEDS + 5)]

    house.poll()

    assert {tuple(house.titles(feed_id)) for feed_id in feed_ids} == {("Rain", "Wind")}
    assert len(site.requests_for("/0.xml")) == 1


BAD_HUB = "https://hub.example/bad"
NO_HUB = {
    "sqlite": f"""
        CREATE TRIGGER refuse BEFORE INSERT ON websub_subscriptions WHEN NEW.hub = '{BAD_HUB}'
        BEGIN SELECT RAISE(ABORT, 'out of order'); END""",
    "postgresql": f"""
        CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS
        $$ BEGIN IF NEW.hub = '{BAD_HUB}' THEN RAISE 'out of order'; END IF; RETURN NEW; END $$;
        CREATE TRIGGER refuse BEFORE INSERT ON websub_subscriptions FOR EACH ROW EXECUTE FUNCTION refuse()""",
}


def claimed(house: PollingFixture) -> list[int]:
    with house.database.reading() as db:
        return db.scalars(select(sources.c.id).where(sources.c.claimed_by != ""))


def as_it_is(house: PollingFixture, feed_id: int) -> Feed:
    (owner, *_) = house.services.users.list_all()
    with house.database.reading() as db:
        found = feeds.get(db, owner.id, feed_id)
    assert found is not None
    return found


def test_a_hub_that_cannot_be_noted_is_nobodys_trouble(engine: str, house: PollingFixture, site: Publisher) -> None:
    with house.database.writing() as db:
        db.connection.exec_driver_sql(NO_HUB[engine])
    alice = house.user("alice")
    feed_ids = []
    for number in range(6):
        hub = BAD_HUB if number == 2 else f"https://hub.example/{number}"
        links = [("Link", f'<{hub}>; rel="hub", <{site.url(f"/{number}.xml")}>; rel="self"')]
        url = site.serve(f"/{number}.xml", rss([f"Item {number}"], site.url()), headers=links)
        feed_ids.append(house.subscribe(alice, url))
    # Whatever comes after the hubs is still to be written for it: it has two feeds.
    house.subscribe(house.user("bob"), site.url("/2.xml"))
    unread = house.subscribe(alice, site.serve("/unread.xml", "this is no feed"))

    checked = house.poll()

    assert [house.titles(feed_id) for feed_id in feed_ids] == [[f"Item {number}"] for number in range(6)]
    assert [feed_id for feed_id, one in checked.items() if one.error] == [unread]
    assert claimed(house) == []
    with house.database.reading() as db:
        assert len(db.tuples(select(websub_subscriptions.c.id))) == 5


def test_a_hub_that_a_document_names_no_more_is_let_go_of(house: PollingFixture, site: Publisher) -> None:
    (feed_id,) = subscribed(house, site, 1)
    named = '<link xmlns="http://www.w3.org/2005/Atom" rel="hub" href="https://hub.example/"/>'
    plain = rss(["Item 0"], site.url("/0.xml"))
    site.serve("/0.xml", plain.replace("<channel>", f"<channel>{named}"))

    def hubs() -> int:
        house.due_again()
        house.poll()
        with house.database.reading() as db:
            return len(subscriptions.offered_for(db, feed_id))

    assert hubs() == 1
    site.serve("/0.xml", plain)
    assert hubs() == 0


def test_when_nothing_can_be_looked_up_each_feed_has_its_reason_and_its_next_check(
    house: PollingFixture, site: Publisher
) -> None:
    feed_ids = subscribed(house, site, 5)
    feed_ids.append(house.subscribe(house.user("bob"), site.url("/4.xml")))
    with house.database.writing() as db:
        db.connection.exec_driver_sql("ALTER TABLE tombstones RENAME TO elsewhere")

    checked = house.poll()

    assert [checked[feed_id].error is not None for feed_id in feed_ids] == [True] * 6
    assert as_it_is(house, feed_ids[0]).next_check_at > 0
    assert claimed(house) == []

    with house.database.writing() as db:
        db.connection.exec_driver_sql("ALTER TABLE elsewhere RENAME TO tombstones")
    house.due_again()
    house.poll()

    assert [house.titles(feed_id) for feed_id in feed_ids] == [[f"Item {n}"] for n in (0, 1, 2, 3, 4, 4)]


def test_a_source_is_given_back_whatever_was_done_to_its_feed_meanwhile(house: PollingFixture, site: Publisher) -> None:
    changed, moved = subscribed(house, site, 2)
    (owner,) = house.services.users.list_all()
    claims = house.services.polling.claim("worker", 100)
    house.services.feeds.update(owner.id, changed, {"match_entries_by_url": True})
    house.services.feeds.update(owner.id, moved, {"feed_url": serve(site, 7, "Item 7")})

    async def check_all() -> None:
        await asyncio.gather(*(house.services.polling.check(one) for one in claims))
        await house.services.disconnect()

    asyncio.run(check_all())

    assert claimed(house) == []
    house.poll()
    assert [house.titles(feed_id) for feed_id in (changed, moved)] == [["Item 0"], ["Item 7"]]


def test_documents_with_thousands_of_entries_are_written_one_at_a_time(house: PollingFixture, site: Publisher) -> None:
    user, titles = house.user("alice"), [f"Item {number}" for number in range(1_500)]
    documents = ["".join(f"<item><guid>{title}</guid></item>" for title in titles)] * 4
    feed_ids = [
        house.subscribe(
            user, site.serve(f"/{n}.xml", f'<rss version="2.0"><channel><title>{n}</title>{each}</channel></rss>')
        )
        for n, each in enumerate(documents)
    ]

    with commits(house.database) as counted:
        house.poll()

    assert [len(house.titles(feed_id)) for feed_id in feed_ids] == [1_500] * 4
    # The claim, and one for each two at the most.
    assert len(counted) >= 3
