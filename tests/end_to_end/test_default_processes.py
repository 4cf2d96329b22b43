"""The service as it starts by default, with clients that read and write at the same time: no request fails."""

from __future__ import annotations

import http.client
import os
import threading
from pathlib import Path

import pytest

from support.databases import Databases
from support.people import Cast
from support.running import environment_for, running
from test_supervisor import eventually

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(len(os.sched_getaffinity(0)) < 2, reason="one web process is all that one core gets"),
]

STARTS = "another web worker starts"
CLIENTS = 8
READS = ("/v1/me", "/v1/feeds/counters", "/v1/entries?limit=10")


class Client(threading.Thread):
    """Sends reads and a write on one connection, in turn, and keeps what was not answered as it should be."""

    def __init__(self, address: str, token: str, category_id: int) -> None:
        super().__init__(daemon=True)
        self._address, self._headers, self._category_id = address, {"X-Auth-Token": token}, category_id
        self.failures: list[str] = []
        self.rounds = 0
        self.is_done = threading.Event()

    def run(self) -> None:
        connection = http.client.HTTPConnection(self._address, timeout=60)
        while not self.is_done.is_set():
            for path in READS:
                self._send(connection, "GET", path)
            rename = f'{{"title": "Round {self.rounds} of {self.name}"}}'
            self._send(connection, "PUT", f"/v1/categories/{self._category_id}", rename, expected=(200, 201))
            self.rounds += 1
        connection.close()

    def _send(
        self,
        connection: http.client.HTTPConnection,
        method: str,
        path: str,
        body: str | None = None,
        expected: tuple[int, ...] = (200,),
    ) -> None:
        try:
            connection.request(method, path, body, self._headers)
            response = connection.getresponse()
            answer = response.read()
            if response.status not in expected:
                self.failures.append(f"{method} {path}: {response.status} {answer[:200]!r}")
        except Exception as error:  # noqa: BLE001  (each one is a lost request)
            self.failures.append(f"{method} {path}: {error!r}")
            connection.close()


def test_no_request_fails_while_a_second_web_process_starts(databases: Databases, tmp_path: Path) -> None:
    with databases.migrated() as url:
        environment = environment_for(url, tmp_path)
        del environment["TIDINGS_WEB_WORKERS"]
        with running("web", environment, tmp_path) as service:
            service.wait_until_ready()
            person = Cast(service).person("alice")
            categories = [person.has_category()["id"] for _ in range(CLIENTS)]
            address = environment["TIDINGS_LISTEN_ADDR"]
            clients = [Client(address, person.token, category_id) for category_id in categories]
            for client in clients:
                client.start()

            assert eventually(lambda: STARTS in service.log, within_s=120)
            since = [client.rounds for client in clients]
            assert eventually(
                lambda: all(one.rounds > before + 10 for one, before in zip(clients, since, strict=True)),
                within_s=120,
            )
            for client in clients:
                client.is_done.set()
            for client in clients:
                client.join()

            titles = {category["title"] for category in person.get("/v1/categories")}
            assert [failure for client in clients for failure in client.failures] == []
            assert {f"Round {client.rounds - 1} of {client.name}" for client in clients} <= titles
