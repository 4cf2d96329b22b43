"""The first synchronisation of a reader app with 100,000 entries: seconds, and memory of the server above idle.

    Reader: sign in | folders | feeds | all ids by pages of 10,000 | unread ids | starred ids | items by their ids
    Fever:  groups | feeds | icons | items by pages of 50 | unread ids | starred ids

Apps of the Google Reader API differ in how many items they ask for at once: NetNewsWire for 150, RSS Guard for 9,999.
Returns 1 if an app takes longer than 20 s or the server needs more than 50 MB above idle.
"""

from __future__ import annotations

import http.client
import json
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

from benchmarks import apps, lists
from benchmarks.apps import FORM, READING_LIST, Server
from support.memory_growth import watch_growth
from support.people import Cast
from support.running import RunningService, running_service

READ, STARRED = "user/-/state/com.google/read", "user/-/state/com.google/starred"
MAX_TIME_S, MAX_GROWTH_BYTES = 20.0, 50_000_000
MB = 1_000_000
ITEMS_PER_REQUEST = (150, 9_999)


class ReaderApp:
    def __init__(self, server: Server, items_per_request: int, unread: int = apps.ENTRIES) -> None:
        self.name = f"Reader, {items_per_request} items per request"
        self._server = server
        self._items_per_request = items_per_request
        self._unread = unread

    def sync(self, connection: http.client.HTTPConnection) -> int:
        """Return the number of entries received."""
        token = apps.sign_in(self._server)
        headers = {"Authorization": f"GoogleLogin auth={token}"}
        for path in ("tag/list?output=json", "subscription/list?output=json"):
            assert self._get(connection, path, headers)
        ids = list(self._ids(connection, headers))
        assert len(list(self._ids(connection, headers, xt=READ))) == self._unread
        assert len(list(self._ids(connection, headers, s=STARRED))) == len(ids) // 50
        received = 0
        for some in _in_portions(ids, self._items_per_request):
            body = urlencode({"T": token, "output": "json", "i": some}, doseq=True)
            items = send(connection, "POST", "/reader/api/0/stream/items/contents", body, headers | FORM)["items"]
            received += sum(bool(one["summary"]["content"]) for one in items)
        return received

    def _ids(self, connection: http.client.HTTPConnection, headers: dict[str, str], **query: str) -> Iterator[str]:
        requested = {"output": "json", "n": "10000", "s": READING_LIST} | query
        while True:
            page = self._get(connection, f"stream/items/ids?{urlencode(requested)}", headers)
            yield from (one["id"] for one in page["itemRefs"])
            if "continuation" not in page:
                return
            requested["c"] = page["continuation"]

    def _get(self, connection: http.client.HTTPConnection, path: str, headers: dict[str, str]) -> Any:
        return send(connection, "GET", f"/reader/api/0/{path}", "", headers)


class FeverApp:
    name = "Fever, 50 items per request"

    def __init__(self, server: Server) -> None:
        self._key = urlencode({"api_key": server.fever_key})

    def sync(self, connection: http.client.HTTPConnection) -> int:
        """Return the number of entries received."""
        for query in ("groups", "feeds", "favicons"):
            assert self._ask(connection, query)["auth"] == 1
        received = last_id = 0
        while items := self._ask(connection, f"items&since_id={last_id}")["items"]:
            received += sum(bool(one["html"]) for one in items)
            last_id = max(one["id"] for one in items)
        assert len(self._ask(connection, "unread_item_ids")["unread_item_ids"].split(",")) == received
        assert len(self._ask(connection, "saved_item_ids")["saved_item_ids"].split(",")) == received // 50
        return received

    def _ask(self, connection: http.client.HTTPConnection, query: str) -> Any:
        return send(connection, "POST", f"/fever/?api&{query}", self._key, FORM)


def run() -> int:
    return max([_measure_engine(engine) for engine in ("sqlite", "postgresql")])


def _measure_engine(engine: str) -> int:
    with (
        tempfile.TemporaryDirectory() as folder,
        lists.databases(engine, Path(folder)) as created,
        created.migrated() as url,
        running_service(url, Path(folder)) as service,
    ):
        server = apps.server_of(engine, lists.seeded(Cast(service), apps.unread_entry))
        sys.stdout.write(f"first sync of {apps.ENTRIES} entries on {engine}:\n")
        readers = [ReaderApp(server, items_per_request) for items_per_request in ITEMS_PER_REQUEST]
        return max(*[_measure(service, server, app) for app in readers], _measure(service, server, FeverApp(server)))


def _measure(service: RunningService, server: Server, app: ReaderApp | FeverApp) -> int:
    """Prints the figures of an app. Returns 1 if they are above the limits."""
    connection = server.connect()
    growth, started = watch_growth(service.process.pid), time.perf_counter()
    received = app.sync(connection)
    took_s, grown = time.perf_counter() - started, growth()
    connection.close()
    assert received == apps.ENTRIES, (app.name, received)
    is_too_much = took_s > MAX_TIME_S or grown > MAX_GROWTH_BYTES
    verdict = f"  too much: at most {MAX_TIME_S:.0f} s, {MAX_GROWTH_BYTES / MB:.0f} MB" if is_too_much else ""
    sys.stdout.write(f"  {app.name:<28} {took_s:6.1f} s {grown / MB:6.1f} MB above idle{verdict}\n")
    return int(is_too_much)


def send(connection: http.client.HTTPConnection, method: str, path: str, body: str, headers: dict[str, str]) -> Any:
    """Return the JSON of an answer, which has to be 200."""
    connection.request(method, path, body or None, headers)
    answer = connection.getresponse()
    content = answer.read()
    assert answer.status == 200, (path, answer.status)
    return json.loads(content)


def _in_portions(ids: list[str], size: int) -> Iterator[list[str]]:
    return (ids[start : start + size] for start in range(0, len(ids), size))
