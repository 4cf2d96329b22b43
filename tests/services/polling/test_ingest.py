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
from tidings.engine.database import Database
from tidings.services.polling.run import MAX_FEEDS
from tidings.storage.feeds import feeds
from tidings.storage.schema import sources
from tidings.websub import store as subscriptions
from tidings.websub.tables import websub_subscriptions

POISON = "Poison"
REFUSE = {
    "sqlite": f"""
        CREATE TRIGGER refuse BEFORE INSERT ON entries WHEN NEW.title = '{POISON}'
        BEGIN SELECT RAISE(ABORT, 'out of order'); END""",
    # A distributed one has no triggers.
    "postgresql": f"""ALTER TABLE entries ADD CONSTRAINT "out of order" CHECK (title <> '{POISON}')""",
}
UNDO = {"sqlite": "DROP TRIGGER refuse", "postgresql": 'ALTER TABLE entries DROP CONSTRAINT "out of order"'}


@pytest.fixture
def polling(database: Database, database_url: str, tmp_path: Path) -> PollingFixture:
    return PollingFixture(database, database_url, tmp_path)


def subscribed(polling: PollingFixture, site: Publisher, count: int) -> list[int]:
    """Feeds of one user, each with an entry named after it."""
    user = polling.user("alice")
    return [polling.subscribe(user, serve(site, number, f"Item {number}")) for number in range(count)]


def serve(site: Publisher, number: int, *titles: str) -> str:
    path = f"/{number}.xml"
    return site.serve(path, rss(list(titles), site.url(path)))


@contextmanager
def counted_commits(database: Database) -> Iterator[list[int]]:
    counted: list[int] = []

    def count(_: object) -> None:
        counted.append(1)

    event.listen(database.engine, "commit", count)
    try:
        yield counted
    finally:
        event.remove(database.engine, "commit", count)


@pytest.mark.slow
def test_many_documents_are_written_in_a_few_transactions(polling: PollingFixture, site: Publisher) -> None:
    feed_ids = subscribed(polling, site, 40)

    with counted_commits(polling.database) as counted:
        polling.poll()

    assert [polling.titles(feed_id) for feed_id in feed_ids] == [[f"Item {number}"] for number in range(40)]
    # The claim, the answers that came first, and the others by eights.
    assert len(counted) < 20


@pytest.mark.slow
def test_a_feed_that_the_database_refuses_does_not_affect_others(
    engine: str, polling: PollingFixture, site: Publisher
) -> None:
    with polling.database.writing() as db:
        db.connection.exec_driver_sql(REFUSE[engine])
    feed_ids = subscribed(polling, site, 20)
    serve(site, 7, "Item 7", POISON)

    checked = polling.poll()

    assert [polling.titles(feed_id) for feed_id in feed_ids] == [
        [] if number == 7 else [f"Item {number}"] for number in range(20)
    ]
    assert [number for number, feed_id in enumerate(feed_ids) if checked[feed_id].error] == [7]
    assert "out of order" not in str(checked[feed_ids[7]].error)

    with polling.database.writing() as db:
        db.connection.exec_driver_sql(UNDO[engine])
    polling.due_again()
    polling.poll()

    assert polling.titles(feed_ids[7]) == ["Item 7", POISON]


def test_a_feed_deleted_during_a_check_does_not_affect_others(polling: PollingFixture, site: Publisher) -> None:
    feed_ids = subscribed(polling, site, 10)
    (owner,) = polling.services.accounts.users.list_all()
    claims = polling.services.polling.claims.claim("worker", 100)
    polling.services.feeds.subscriptions.delete(owner.id, feed_ids[3])

    async def check_all() -> None:
        await asyncio.gather(*(polling.services.polling.claims.check(one) for one in claims))
        await polling.services.disconnect()

    asyncio.run(check_all())

    assert [len(polling.titles(feed_id)) for feed_id in feed_ids] == [0 if number == 3 else 1 for number in range(10)]


@pytest.mark.slow
def test_a_feed_that_is_refreshed_many_times_at_once_gets_each_entry_once(
    polling: PollingFixture, site: Publisher
) -> None:
    user = polling.user("alice")
    feed_id = polling.subscribe(user, serve(site, 0, "Rain", "Wind"))

    async def refresh_concurrently() -> None:
        refresh = polling.services.polling.claims.refresh_now
        await asyncio.gather(*(refresh(user.id, feed_id) for _ in range(12)))
        await polling.services.disconnect()

    asyncio.run(refresh_concurrently())

    assert polling.titles(feed_id) == ["Rain", "Wind"]


@pytest.mark.slow
def test_more_subscribers_than_fit_into_one_transaction_are_all_served(
    polling: PollingFixture, site: Publisher
) -> None:
    url = serve(site, 0, "Rain", "Wind")
    feed_ids = [polling.subscribe(polling.user(f"user{number}"), url) for number in range(MAX_FEEDS + 5)]

    polling.poll()

    assert {tuple(polling.titles(feed_id)) for feed_id in feed_ids} == {("Rain", "Wind")}
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


def claimed(polling: PollingFixture) -> list[int]:
    with polling.database.reading() as db:
        return db.scalars(select(sources.c.id).where(sources.c.claimed_by != ""))


def current_state(polling: PollingFixture, feed_id: int) -> Feed:
    (owner, *_) = polling.services.accounts.users.list_all()
    with polling.database.reading() as db:
        found = feeds.get(db, owner.id, feed_id)
    assert found is not None
    return found


def test_a_hub_that_cannot_be_stored_does_not_affect_the_feed(
    engine: str, polling: PollingFixture, site: Publisher
) -> None:
    with polling.database.writing() as db:
        db.connection.exec_driver_sql(NO_HUB[engine])
    alice = polling.user("alice")
    feed_ids = []
    for number in range(6):
        hub = BAD_HUB if number == 2 else f"https://hub.example/{number}"
        links = [("Link", f'<{hub}>; rel="hub", <{site.url(f"/{number}.xml")}>; rel="self"')]
        url = site.serve(f"/{number}.xml", rss([f"Item {number}"], site.url()), headers=links)
        feed_ids.append(polling.subscribe(alice, url))
    # Whatever comes after the hubs is still to be written for it: it has two feeds.
    polling.subscribe(polling.user("bob"), site.url("/2.xml"))
    unread = polling.subscribe(alice, site.serve("/unread.xml", "this is no feed"))

    checked = polling.poll()

    assert [polling.titles(feed_id) for feed_id in feed_ids] == [[f"Item {number}"] for number in range(6)]
    assert [feed_id for feed_id, one in checked.items() if one.error] == [unread]
    assert claimed(polling) == []
    with polling.database.reading() as db:
        assert len(db.tuples(select(websub_subscriptions.c.id))) == 5


def test_a_hub_that_a_document_no_longer_names_is_removed(polling: PollingFixture, site: Publisher) -> None:
    (feed_id,) = subscribed(polling, site, 1)
    named = '<link xmlns="http://www.w3.org/2005/Atom" rel="hub" href="https://hub.example/"/>'
    plain = rss(["Item 0"], site.url("/0.xml"))
    site.serve("/0.xml", plain.replace("<channel>", f"<channel>{named}"))

    def hubs() -> int:
        polling.due_again()
        polling.poll()
        with polling.database.reading() as db:
            return len(subscriptions.offered_for(db, feed_id))

    assert hubs() == 1
    site.serve("/0.xml", plain)
    assert hubs() == 0


@pytest.mark.slow
def test_a_failed_lookup_sets_the_error_and_next_check_of_each_feed(polling: PollingFixture, site: Publisher) -> None:
    feed_ids = subscribed(polling, site, 5)
    feed_ids.append(polling.subscribe(polling.user("bob"), site.url("/4.xml")))
    with polling.database.writing() as db:
        db.connection.exec_driver_sql("ALTER TABLE tombstones RENAME TO elsewhere")

    checked = polling.poll()

    assert [checked[feed_id].error is not None for feed_id in feed_ids] == [True] * 6
    assert current_state(polling, feed_ids[0]).next_check_at > 0
    assert claimed(polling) == []

    with polling.database.writing() as db:
        db.connection.exec_driver_sql("ALTER TABLE elsewhere RENAME TO tombstones")
    polling.due_again()
    polling.poll()

    assert [polling.titles(feed_id) for feed_id in feed_ids] == [[f"Item {n}"] for n in (0, 1, 2, 3, 4, 4)]


def test_a_source_is_released_even_if_its_feed_changed_during_the_check(
    polling: PollingFixture, site: Publisher
) -> None:
    changed, moved = subscribed(polling, site, 2)
    (owner,) = polling.services.accounts.users.list_all()
    claims = polling.services.polling.claims.claim("worker", 100)
    polling.services.feeds.subscriptions.update(owner.id, changed, {"match_entries_by_url": True})
    polling.services.feeds.subscriptions.update(owner.id, moved, {"feed_url": serve(site, 7, "Item 7")})

    async def check_all() -> None:
        await asyncio.gather(*(polling.services.polling.claims.check(one) for one in claims))
        await polling.services.disconnect()

    asyncio.run(check_all())

    assert claimed(polling) == []
    polling.poll()
    assert [polling.titles(feed_id) for feed_id in (changed, moved)] == [["Item 0"], ["Item 7"]]


@pytest.mark.slow
def test_documents_with_thousands_of_entries_are_written_one_at_a_time(
    polling: PollingFixture, site: Publisher
) -> None:
    user, titles = polling.user("alice"), [f"Item {number}" for number in range(1_500)]
    documents = ["".join(f"<item><guid>{title}</guid></item>" for title in titles)] * 4
    feed_ids = [
        polling.subscribe(
            user, site.serve(f"/{n}.xml", f'<rss version="2.0"><channel><title>{n}</title>{each}</channel></rss>')
        )
        for n, each in enumerate(documents)
    ]

    with counted_commits(polling.database) as counted:
        polling.poll()

    assert [len(polling.titles(feed_id)) for feed_id in feed_ids] == [1_500] * 4
    # The claim, and one for each two at the most.
    assert len(counted) >= 3
