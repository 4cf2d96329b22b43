"""A server of a distributed database is emptied and removed while its users write, and is not needed afterwards."""

from __future__ import annotations

import itertools
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import psycopg
import pytest

from cli.commands import eventually
from end_to_end.test_node_down import LONG, make_due, people_on, titles
from support import distributed
from support.databases import Databases
from support.distributed import DistributedDatabases
from support.people import Cast, HttpResponse, Person, rss
from support.publisher import Publisher
from support.relay import Relay
from support.running import environment_for, running

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not distributed.server(), reason=f"{distributed.VARIABLE} is not set"),
]

# A shard with its 30 tables is moved in 10 to 40 s.
MOVED_WITHIN_S = 900
WRITES_EACH = 20
STATES = ({"status": "read"}, {"starred": True}, {"status": "unread"}, {"starred": False})


@pytest.fixture
def relayed(databases: Databases) -> Iterator[tuple[str, list[Relay]]]:
    if not isinstance(databases, DistributedDatabases):
        pytest.skip("SQLite is not distributed")
    with databases.with_relays() as (url, relays):
        if run(url, "SHOW wal_level") != "logical":
            pytest.skip("the server does not have wal_level = logical, which moves of shards need")
        yield url, relays


@dataclass
class Writer:
    """Changes entries and adds categories of a user, one request after the other."""

    person: Person
    entry_ids: list[int]
    acknowledged: dict[int, dict[str, Any]] = field(default_factory=dict)
    """The last values of each entry that a request was acknowledged for."""
    categories: set[str] = field(default_factory=set)
    """Titles of those whose creation was acknowledged."""
    count: int = 0

    def write_until(self, end: threading.Event) -> None:
        for number in itertools.count():
            if end.is_set():
                return
            entry_id = self.entry_ids[number % len(self.entry_ids)]
            values = STATES[number // len(self.entry_ids) % len(STATES)]
            state = self.acknowledged.setdefault(entry_id, {})
            # Until there is an answer either state is right.
            for name in values:
                state.pop(name, None)
            if is_acknowledged(self.person.call("PUT", "/v1/entries", {"entry_ids": [entry_id], **values})):
                state |= values
            title = f"category {number}"
            if is_acknowledged(self.person.call("POST", "/v1/categories", {"title": title})):
                self.categories.add(title)
            self.count += 1

    def lost(self) -> list[object]:
        """Return what was acknowledged, and is not stored."""
        stored = {id_: self.person.get(f"/v1/entries/{id_}") for id_ in self.acknowledged}
        changed = [
            (id_, values) for id_, values in self.acknowledged.items() if not values.items() <= stored[id_].items()
        ]
        return [*changed, *(self.categories - {one["title"] for one in self.person.get("/v1/categories")})]


def test_no_write_is_lost_while_a_server_is_removed(
    relayed: tuple[str, list[Relay]], site: Publisher, tmp_path: Path
) -> None:
    url, relays = relayed
    removed = relays[0]
    with running("serve", environment_for(url, tmp_path), tmp_path) as service:
        service.wait_until_ready()
        people = people_on(Cast(service), url, removed.port)
        address = site.serve("/shared.xml", rss([LONG, "before"], site.url("/shared.xml")))
        for person in people:
            person.post("/v1/feeds", {"feed_url": address})
        writers = [Writer(person, [entry["id"] for entry in person.entries()]) for person in people]

        with writing(writers) as errors:
            node = "'127.0.0.1', " + str(removed.port)
            run(url, f"SELECT citus_set_node_property({node}, 'shouldhaveshards', false)")
            run(url, "SELECT citus_rebalance_start()")
            site.serve("/shared.xml", rss([f"{LONG}, moved", LONG, "before"], address))
            make_due(url)
            assert eventually(lambda: errors() or is_rebalanced(url), within_s=MOVED_WITHIN_S)
            assert errors() == []
            run(url, f"SELECT citus_remove_node({node})")
            removed.cut()
            before = [writer.count for writer in writers]
            assert eventually(
                lambda: errors() or all(w.count > c + WRITES_EACH for w, c in zip(writers, before, strict=True))
            )
            assert errors() == []

        assert [writer.lost() for writer in writers] == [[], []]
        site.serve("/shared.xml", rss([f"{LONG}, removed", f"{LONG}, moved", LONG, "before"], address))
        make_due(url)
        assert eventually(lambda: all(f"{LONG}, removed" in titles(person) for person in people))
        for person in people:
            assert len(person.entries(limit=100)) == len(titles(person)) == 4


def is_acknowledged(answer: HttpResponse) -> bool:
    """Return whether a request succeeded. The database may give up one of two that wait for each other."""
    assert answer.status in (201, 204) or (answer.status == 503 and int(answer.headers["retry-after"]) > 0), answer
    return answer.status != 503


@contextmanager
def writing(writers: list[Writer]) -> Iterator[Any]:
    """Let all write until the end of the block. Yield a function that returns what failed."""
    end = threading.Event()
    with ThreadPoolExecutor(len(writers)) as threads:
        started = [threads.submit(writer.write_until, end) for writer in writers]
        try:
            yield lambda: [error for one in started if one.done() and (error := one.exception())]
        finally:
            end.set()
        for one in started:
            one.result(60)


def is_rebalanced(url: str) -> bool:
    state = run(url, "SELECT state FROM citus_rebalance_status()")
    assert state in ("scheduled", "running", "finished"), state
    return bool(state == "finished")


def run(url: str, statement: str) -> Any:
    with psycopg.connect(url, autocommit=True) as connection:
        row = connection.execute(statement).fetchone()
        assert row
        return row[0]
