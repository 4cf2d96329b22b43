"""What is set for services, and what follows from it."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from support.entry_fixtures import FeedFixture, ready
from support.outbox import deliver, delivery_queue
from support.provider_fixtures import says
from support.publisher import Publisher
from tidings.base.errors import InvalidInput
from tidings.base.messages import verbatim
from tidings.deliveries.apprise import AppriseSender
from tidings.deliveries.integrations import Integrations
from tidings.deliveries.outbox import Outbox
from tidings.deliveries.store import integrations, outbox
from tidings.domain.accounts.users import User
from tidings.engine.database import Database
from tidings.net.guard import AddressGuard
from tidings.services.clock import system_clock
from tidings.services.entries.entries import Entries
from tidings.services.listeners import Listeners
from tidings.storage.accounts import users

pytestmark = pytest.mark.one_engine

SETTING = "TIDINGS_INTEGRATION_ALLOW_PRIVATE_NETWORKS"


def saving() -> Listeners:
    return Listeners(savers=[Outbox(Listeners(), system_clock)])


class IntegrationsFixture:
    """allows: whether private networks may be reached."""

    def __init__(self, database: Database, *, allows: bool) -> None:
        guard = AddressGuard(allow_private_networks=allows, setting=SETTING)
        self.apprise_sender = AppriseSender(database, guard=guard)
        self.integrations = Integrations(database, system_clock, guard=guard, apprise_sender=self.apprise_sender)
        self.feed_fixture = FeedFixture.create(database)

    def put(self, **given: Any) -> dict[str, dict[str, Any]]:
        return self.integrations.update(self.feed_fixture.user_id, given)

    def shown(self, name: str) -> dict[str, Any]:
        return self.integrations.get_all(self.feed_fixture.user_id)[name]

    def user(self) -> User:
        with self.feed_fixture.database.reading() as db:
            found = users.get(db, self.feed_fixture.user_id)
        assert found is not None
        return found


@pytest.fixture
def guarded(database: Database) -> Iterator[IntegrationsFixture]:
    fixture = IntegrationsFixture(database, allows=False)
    yield fixture
    fixture.apprise_sender.close()


@pytest.fixture
def unguarded(database: Database) -> Iterator[IntegrationsFixture]:
    fixture = IntegrationsFixture(database, allows=True)
    yield fixture
    fixture.apprise_sender.close()


@pytest.mark.parametrize(
    "url", ["http://127.0.0.1/", "https://10.1.2.3:8443/x", "http://localhost/", "http://[::1]/", "http://192.168.0.1"]
)
@pytest.mark.parametrize("name", ["webhook", "linkding", "custom", "ntfy"])
def test_a_private_address_is_refused_when_it_is_set(name: str, url: str, guarded: IntegrationsFixture) -> None:
    with pytest.raises(InvalidInput) as refused:
        guarded.put(**{name: {"url": url}})

    assert refused.value.message.startswith(f"{name}.url: ")
    assert SETTING in refused.value.message
    assert refused.value.field == f"{name}.url"
    assert guarded.put(**{name: {"url": "https://reader.example.org/"}})


def test_a_private_address_is_accepted_if_the_operator_allows_it(unguarded: IntegrationsFixture) -> None:
    assert unguarded.put(linkding={"url": "http://192.168.0.1"})["linkding"]["url"] == "http://192.168.0.1"


def test_concurrent_changes_are_all_stored(guarded: IntegrationsFixture) -> None:
    names = ["linkding", "readeck", "espial", "karakeep", "shaarli"]
    with ThreadPoolExecutor(10) as threads:
        jobs = [threads.submit(guarded.put, **{name: {"tags": "rain"}}) for name in names]
        jobs += [threads.submit(guarded.put, linkding={"unread": True}) for _ in range(5)]
        for job in jobs:
            job.result()

    assert all(guarded.shown(name)["tags"] == "rain" for name in names)
    assert guarded.shown("linkding")["unread"] is True


@pytest.mark.slow
def test_a_saved_entry_waits_while_its_service_is_down(unguarded: IntegrationsFixture, site: Publisher) -> None:
    database, feed_fixture = unguarded.feed_fixture.database, unguarded.feed_fixture
    (entry_id,) = feed_fixture.add(ready("Rain tomorrow"))
    site.script("/api/bookmarks/", says({"detail": "Upgrading."}, 503), says({"id": 1}, 201))
    site.serve("/hook")
    unguarded.put(
        linkding={"enabled": True, "url": site.origin, "token": "8c1f"},
        webhook={"enabled": True, "url": site.url("/hook")},
    )
    Entries(database, system_clock, saving()).save(unguarded.user(), entry_id)
    errors = set()

    def all_delivered() -> bool:
        errors.add(unguarded.shown("linkding")["last_error"])
        with database.reading() as db:
            found = outbox.list_deliveries(db, feed_fixture.user_id, limit=10)
        return {shown.delivery.state for shown in found} == {"delivered"}

    deliver(delivery_queue(database), all_delivered, within_s=60)

    assert len(site.requests_for("/api/bookmarks/")) == 2
    assert len(site.requests_for("/hook")) == 1
    assert unguarded.shown("linkding")["last_error"] == ""
    assert errors <= {"", "Linkding is not available at the moment (503)."}


def test_an_entry_that_a_service_cannot_take_does_not_delay_the_next(
    unguarded: IntegrationsFixture, site: Publisher
) -> None:
    database, feed_fixture = unguarded.feed_fixture.database, unguarded.feed_fixture
    without, with_address = feed_fixture.add(
        ready("Nameless", url=""), ready("Rain tomorrow", url="https://a.example/rain")
    )
    site.script("/api/bookmarks/", says({"id": 1}, 201))
    unguarded.put(linkding={"enabled": True, "url": site.origin, "token": "8c1f"})
    for entry_id in (without, with_address):
        Entries(database, system_clock, saving()).save(unguarded.user(), entry_id)

    def states() -> list[str]:
        with database.reading() as db:
            return [shown.delivery.state for shown in outbox.list_deliveries(db, feed_fixture.user_id, limit=10)]

    deliver(delivery_queue(database), lambda: "pending" not in states(), within_s=60)

    assert states() == ["delivered", "failed"]
    assert [seen.json()["url"] for seen in site.requests] == ["https://a.example/rain"]


def test_the_error_of_a_service_is_cleared_when_its_settings_change(unguarded: IntegrationsFixture) -> None:
    unguarded.put(linkding={"tags": "a"})
    with unguarded.feed_fixture.database.writing() as db:
        integrations.set_last_error(db, unguarded.feed_fixture.user_id, "linkding", verbatim("no"))
    assert unguarded.shown("linkding")["last_error"] == "no"

    assert unguarded.put(linkding={"tags": "b"})["linkding"]["last_error"] == ""
