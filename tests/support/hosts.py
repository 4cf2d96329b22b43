"""Tidings on several hosts over one PostgreSQL server, and what clients that write see while its standby takes over.

Each host is a process with a data folder of its own.
"""

from __future__ import annotations

import http.client
import itertools
import json
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import urlsplit

import psycopg

from support.people import Cast, Person
from support.replication import Pair
from support.running import RunningService, environment_for, running

WEB_HOSTS, WORKER_HOSTS, WRITERS = 2, 3, 8
# Writes that have to be acknowledged before the server fails, and after another one has taken over.
BEFORE, AFTER = 200, 100
WAIT_S = 120


@dataclass
class Hosts:
    pair: Pair
    web: list[RunningService]
    workers: list[RunningService]


@contextmanager
def several_hosts(folder: Path) -> Iterator[Hosts]:
    """Yield hosts whose writes are acknowledged when the standby has them."""
    with ExitStack() as stack:
        pair = Pair(stack)
        with psycopg.connect(pair.primary.url, autocommit=True) as connection:
            connection.execute("ALTER DATABASE tidings SET synchronous_commit = on")
            connection.execute("ALTER SYSTEM SET synchronous_standby_names = '*'")
            connection.execute("SELECT pg_reload_conf()")
        hosts = Hosts(pair, [], [])
        for number in range(WEB_HOSTS + WORKER_HOSTS):
            command, started = ("web", hosts.web) if number < WEB_HOSTS else ("worker", hosts.workers)
            own = folder / f"{command}{number}"
            own.mkdir()
            environment = environment_for(pair.url, own)
            started.append(stack.enter_context(running(command, environment, own)))
        for service in hosts.web:
            service.wait_until_ready()
        yield hosts


@dataclass
class Writers:
    """Clients that create categories on all web hosts by turns, again and again also after errors.

    acknowledged: titles, with the time of the answer in seconds.
    """

    hosts: Hosts
    person: Person
    acknowledged: dict[str, float] = field(default_factory=dict)
    refused: int = 0

    @contextmanager
    def writing(self) -> Iterator[None]:
        is_over = threading.Event()
        with ThreadPoolExecutor(WRITERS) as threads:
            each = [threads.submit(self._write, number, is_over) for number in range(WRITERS)]
            try:
                yield
            finally:
                is_over.set()
        for one in each:
            one.result()

    def wait_for(self, count: int) -> None:
        """Wait until so many more writes are acknowledged. Raises AssertionError after WAIT_S."""
        wanted, deadline = len(self.acknowledged) + count, time.monotonic() + WAIT_S
        while len(self.acknowledged) < wanted:
            assert time.monotonic() < deadline, f"{wanted - len(self.acknowledged)} of {count} writes are missing"
            time.sleep(0.02)

    def _write(self, number: int, is_over: threading.Event) -> None:
        services = itertools.cycle(self.hosts.web[number % WEB_HOSTS :] + self.hosts.web[: number % WEB_HOSTS])
        for count in itertools.count():
            if is_over.is_set():
                return
            title = f"{number}-{count}"
            if self._is_created(next(services), title):
                self.acknowledged[title] = time.monotonic()
            else:
                self.refused += 1

    def _is_created(self, service: RunningService, title: str) -> bool:
        connection = http.client.HTTPConnection(urlsplit(service.url).netloc, timeout=WAIT_S)
        try:
            headers = {"X-Auth-Token": self.person.token, "Content-Type": "application/json"}
            connection.request("POST", "/v1/categories", json.dumps({"title": title}), headers)
            answer = connection.getresponse()
            answer.read()
        finally:
            connection.close()
        assert answer.status in (201, 503), answer.status
        return answer.status == 201


@dataclass(frozen=True)
class Failover:
    """lost: titles that were acknowledged and are not there. refused: how many writes were answered with 503.

    pause_s: the longest time without an acknowledged write. promotion_s: of the crash and the promotion by pg_ctl.
    """

    acknowledged: int
    lost: set[str]
    refused: int
    pause_s: float
    promotion_s: float


def fail_over(hosts: Hosts, person: Person) -> Failover:
    """Let the server crash while clients write, and promote its standby."""
    writers = Writers(hosts, person)
    with writers.writing():
        writers.wait_for(BEFORE)
        crashed = time.monotonic()
        hosts.pair.primary.stop()
        hosts.pair.standby.promote()
        promoted = time.monotonic()
        writers.wait_for(AFTER)
    moments = sorted(writers.acknowledged.values())
    pause_s = max(later - earlier for earlier, later in itertools.pairwise(moments))
    stored = {category["title"] for category in person.get("/v1/categories")}
    lost = set(writers.acknowledged) - stored
    return Failover(len(writers.acknowledged), lost, writers.refused, pause_s, promoted - crashed)


def person_on(hosts: Hosts) -> list[Person]:
    """Return one user as each web host sees them."""
    person = Cast(hosts.web[0]).person("alice", is_admin=True)
    return [person, *(Person(service, person.user, person.token) for service in hosts.web[1:])]
