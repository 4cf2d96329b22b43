"""Changes that were acknowledged are there after all processes of the service were killed under load."""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

import pytest

import tidings_client
from support.entry_fixtures import ready
from support.people import Cast, Person
from support.random_examples import in_long_run
from support.running import environment_for, running
from tidings.base.times import DAY
from tidings.storage.feeds import feeds
from tidings.storage.polling import entry_writes
from tidings_client import Unreachable

pytestmark = pytest.mark.slow

CLIENTS, KILLS, ACKNOWLEDGED_BEFORE_KILL = 8, in_long_run(3, otherwise=2), in_long_run(400, otherwise=200)
WAIT_S = 120

State = tuple[bool, Literal["unread", "read", "removed"]]


@dataclass
class Client:
    """Changes an own entry, one request after the other. acknowledged, sent: the state after the last such request."""

    person: Person
    entry_id: int
    acknowledged: State = (False, "unread")
    sent: State = (False, "unread")
    count: int = 0
    enough: threading.Semaphore = field(default_factory=lambda: threading.Semaphore(0))

    def change_until_it_fails(self) -> None:
        with suppress(Unreachable), self.person.client(timeout_s=WAIT_S) as client:
            while True:
                self._change(client)

    def _change(self, client: tidings_client.Client) -> None:
        starred, status = self.acknowledged
        if self.count % 2 == 0:
            self.sent = not starred, status
            client.toggle_star(self.entry_id)
        else:
            self.sent = starred, "read" if status == "unread" else "unread"
            client.update_entries(entry_ids=[self.entry_id], status=self.sent[1])
        self.acknowledged = self.sent
        self.count += 1
        self.enough.release()

    def stored(self, person: Person) -> State:
        entry = person.get(f"/v1/entries/{self.entry_id}")
        return entry["starred"], entry["status"]


def test_every_acknowledged_change_outlives_a_kill(database_url: str, tmp_path: Path) -> None:
    environment = environment_for(database_url, tmp_path)
    clients: list[Client] = []
    for _ in range(KILLS):
        with running("web", environment, tmp_path) as service:
            service.wait_until_ready()
            people = [Cast(service).person(name) for name in ("alice", "bob")]
            clients = [client for person in people for client in clients_of(person)]
            with ThreadPoolExecutor(CLIENTS) as threads:
                running_clients = [threads.submit(client.change_until_it_fails) for client in clients]
                for client in clients:
                    for _ in range(ACKNOWLEDGED_BEFORE_KILL // CLIENTS):
                        assert client.enough.acquire(timeout=WAIT_S)
                os.killpg(service.process.pid, signal.SIGKILL)
                for each in running_clients:
                    each.result(WAIT_S)
            service.process.wait()
        with running("web", environment, tmp_path) as service:
            service.wait_until_ready()
            for client in clients:
                restarted = Person(service, client.person.user, client.person.token)
                assert client.stored(restarted) in (client.acknowledged, client.sent), client
            for person in people:
                counters = Person(service, person.user, person.token).get("/v1/feeds/counters")
                unread = sum(
                    client.stored(Person(service, person.user, person.token))[1] == "unread"
                    for client in clients
                    if client.person is person
                )
                assert sum(counters["unreads"].values()) == unread


def clients_of(person: Person) -> Iterator[Client]:
    """Yield half of the clients, each with an entry of this user."""
    services = person.service.services
    now = services.clock()
    category_id = services.feeds.categories.create(person.id, "Feeds").id
    with services.database.writing() as db:
        feed_id = feeds.add(
            db, person.id, category_id=category_id, feed_url="http://127.0.0.1:1/feed", title="Feed",
            created_at=now, checked_at=now, next_check_at=now + DAY,
        )  # fmt: skip
        ids = entry_writes.add(
            db, person.id, feed_id, category_id, [ready(f"{n}") for n in range(CLIENTS // 2)], now=now
        )
    for entry_id in ids:
        yield Client(person, entry_id)
