"""Requests that reader apps send, beside the reference server where it is installed: Google Reader API and Fever API.

Each server has a user with 100,000 unread entries of 2.7 kB in 100 feeds. Each answer is checked. Then the requests are
timed one after another on one connection, a moment on this server and a moment on the other, so that other work on the
machine slows down both. Neither compresses. Items of the Google Reader API hold the body once here and twice at the
reference (`content` and `summary`), whose answer is twice as long. Returns 1 if the rate of a request is below five
times that of the reference.
"""

from __future__ import annotations

import hashlib
import http.client
import json
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from pathlib import Path
from statistics import median
from typing import Any
from urllib.parse import urlencode, urlsplit

from msgspec import Struct

from benchmarks import lists, reference
from benchmarks.reference import REFERENCE
from support.people import Cast, Person
from support.running import running_service
from tidings.base.times import MINUTE, Instant
from tidings.domain.entries.entries import ReadyEntry

ENTRIES = lists.ENTRIES
ROUNDS = 25
# Of one server, before the next one has its turn.
TURN_S = 0.2
MIN_SPEEDUP = 5.0

FORM = {"Content-Type": "application/x-www-form-urlencoded"}
READING_LIST = "user/-/state/com.google/reading-list"
IDS, CONTENTS, UNREAD, ITEMS = (
    "Reader: ids, 10,000",
    "Reader: items, 100",
    "Fever: unread ids, 100,000",
    "Fever: items, 50",
)
# The reference does not have this request: its apps ask for the ids of a page, and then for these items.
STREAM = "Reader: stream, 100"


class Server(Struct, frozen=True):
    """One server with its account. entry_ids: of the user, ascending."""

    name: str
    url: str
    username: str
    password: str
    entry_ids: Sequence[int]

    def connect(self) -> http.client.HTTPConnection:
        return http.client.HTTPConnection(urlsplit(self.url).netloc)

    @property
    def fever_key(self) -> str:
        return hashlib.md5(f"{self.username}:{self.password}".encode(), usedforsecurity=False).hexdigest()


class AppRequest(Struct, frozen=True):
    """check: raises AssertionError for an answer that is not right."""

    method: str
    path: str
    body: str
    headers: dict[str, str]
    check: Callable[[Any], None]


class Exchange(Struct):
    """What an app sends to one server for one purpose, with its measurements. rates: exchanges per second, by round."""

    server: Server
    connection: http.client.HTTPConnection
    requests: Sequence[AppRequest]
    rates: list[float]
    size_bytes: int = 0

    def send(self) -> list[bytes]:
        return [self._body(request) for request in self.requests]

    def _body(self, sent: AppRequest) -> bytes:
        self.connection.request(sent.method, sent.path, sent.body or None, sent.headers)
        answer = self.connection.getresponse()
        body = answer.read()
        assert answer.status == 200, (self.server.name, sent.path, answer.status)
        return body

    def check(self) -> None:
        bodies = self.send()
        self.size_bytes = sum(map(len, bodies))
        for request, body in zip(self.requests, bodies, strict=True):
            request.check(json.loads(body))

    def take_turn(self) -> None:
        sent, started = 0, time.perf_counter()
        while (took_s := time.perf_counter() - started) < TURN_S:
            self.send()
            sent += 1
        self.rates.append(sent / took_s)


def run() -> int:
    is_too_slow = False
    with _reference() if reference.is_installed() else nullcontext() as other:
        for engine in ("sqlite", "postgresql"):
            with tempfile.TemporaryDirectory() as folder, _service(engine, Path(folder)) as ours:
                is_too_slow |= _compare([ours, *([other] if other else [])])
    return int(is_too_slow)


@contextmanager
def _service(engine: str, folder: Path) -> Iterator[Server]:
    with (
        lists.databases(engine, folder) as made,
        made.migrated() as url,
        running_service(url, folder) as service,
    ):
        yield server_of(engine, lists.seeded(Cast(service), unread_entry))


def server_of(engine: str, person: Person) -> Server:
    password = person.post("/v1/api-passwords", {"name": "benchmark"})["password"]
    ids = [one for offset in range(0, ENTRIES, 10_000) for one in _entry_ids(person, offset)]
    return Server(engine, person.service.url, person.user.username, password, sorted(ids))


def _entry_ids(person: Person, offset: int) -> list[int]:
    found: list[int] = person.get("/v1/entries/ids", limit=10_000, offset=offset)["entry_ids"]
    return found


def unread_entry(number: int, now: Instant) -> ReadyEntry:
    """Return an entry like those that the reference is filled with."""
    digest = hashlib.sha256(str(number).encode()).hexdigest()
    sentence = (
        f'Rain fell on <a href="https://example.org/{digest[:16]}">the valley</a> {digest[16:]} for the third day, '
    )
    return ReadyEntry(
        hash=number.to_bytes(32, "big"),
        fingerprint=number.to_bytes(16, "big"),
        title=f"Entry title number {number}",
        url=f"https://example.org/{number}",
        content=f'<p>{sentence * 18}</p><img src="https://example.org/{number}.png" loading="lazy">',
        author=f"Author {number % 100}",
        published_at=Instant(now - number * MINUTE),
        tags=(f"tag{number % 10}",),
        starred=number % 50 == 0,
    )


@contextmanager
def _reference() -> Iterator[Server]:
    with reference.started() as said:
        reference.sql("truncate feeds cascade")
        reference.run("seed", str(lists.FEEDS), str(ENTRIES))
        reference.enable_app_apis(said["USER"], said["PASSWORD"])
        reference.sql("update entries set status = 'unread'", "vacuum analyze")
        ids = [int(one) for one in reference.sql("select id from entries order by id").split()]
        yield Server(REFERENCE, said["URL"], said["USER"], said["PASSWORD"], ids)


def _compare(servers: Sequence[Server]) -> bool:
    """Measures servers in turn and prints the rates. Returns whether the first is too slow beside the second."""
    exchanges = {server.name: _exchanges(server) for server in servers}
    for by_name in exchanges.values():
        for exchange in by_name.values():
            exchange.check()
    for _ in range(ROUNDS):
        for name in exchanges[servers[0].name]:
            for by_name in exchanges.values():
                by_name[name].take_turn()
    ours, *others = exchanges.values()
    sys.stdout.write(f"apps on {servers[0].name}:        requests a second  median ms     bytes\n")
    found = [_show(name, ours[name], others[0][name] if others else None) for name in ours]
    if not others:
        sys.stdout.write("  (the reference is not installed: no minimum)\n")
    for by_name in exchanges.values():
        next(iter(by_name.values())).connection.close()
    return not all(found)


def _show(name: str, ours: Exchange, theirs: Exchange | None) -> bool:
    """Prints the figures of a request. Returns whether it is fast enough."""
    rate = median(ours.rates)
    line = f"  {name:<28} {rate:8.1f} {1000 / rate:9.2f} {ours.size_bytes:10}"
    if theirs is None:
        sys.stdout.write(f"{line}\n")
        return True
    speedup = median(one / other for one, other in zip(ours.rates, theirs.rates, strict=True))
    verdict = "" if speedup >= MIN_SPEEDUP else f"  too slow: at least {MIN_SPEEDUP:.0f} times"
    shown = (
        f"{speedup:5.1f} times {REFERENCE} ({median(theirs.rates):.1f} a second, {theirs.size_bytes} bytes){verdict}"
    )
    sys.stdout.write(f"{line}  {shown}\n")
    return speedup >= MIN_SPEEDUP


def _exchanges(server: Server) -> dict[str, Exchange]:
    connection = server.connect()
    return {name: Exchange(server, connection, sent, []) for name, sent in _requests(server).items()}


def _requests(server: Server) -> dict[str, Sequence[AppRequest]]:
    token = sign_in(server)
    header = {"Authorization": f"GoogleLogin auth={token}"}
    asked = server.entry_ids[-100:]
    body = urlencode({"T": token, "output": "json", "i": asked}, doseq=True)
    key = urlencode({"api_key": server.fever_key})
    middle = server.entry_ids[ENTRIES // 2]

    def ids(count: int) -> AppRequest:
        query = urlencode({"output": "json", "n": count, "s": READING_LIST})
        return AppRequest("GET", f"/reader/api/0/stream/items/ids?{query}", "", header, _is_list_of_ids(server, count))

    items = AppRequest("POST", "/reader/api/0/stream/items/contents", body, header | FORM, _is_items(asked))
    stream = AppRequest("GET", "/reader/api/0/stream/contents?n=100", "", header, _is_items(asked))
    unread = AppRequest("POST", "/fever/?api&unread_item_ids", key, FORM, _is_all_unread(server))
    page = AppRequest("POST", f"/fever/?api&items&since_id={middle}", key, FORM, _is_page_after(server, middle))
    return {
        IDS: [ids(10_000)],
        CONTENTS: [items],
        STREAM: [ids(100), items] if server.name == REFERENCE else [stream],
        UNREAD: [unread],
        ITEMS: [page],
    }


def sign_in(server: Server) -> str:
    connection = server.connect()
    body = urlencode({"Email": server.username, "Passwd": server.password})
    connection.request("POST", "/accounts/ClientLogin", body, FORM)
    answer = connection.getresponse().read().decode()
    connection.close()
    return answer.partition("Auth=")[2].strip()


def _is_list_of_ids(server: Server, count: int) -> Callable[[Any], None]:
    known = set(server.entry_ids)

    def check(answer: Any) -> None:
        ids = {int(one["id"]) for one in answer["itemRefs"]}
        assert len(ids) == len(answer["itemRefs"]) == count
        assert ids <= known
        assert answer["continuation"]

    return check


def _is_items(asked: Sequence[int]) -> Callable[[Any], None]:
    def check(answer: Any) -> None:
        items = answer["items"]
        assert sorted(int(one["id"].rpartition("/")[2], 16) for one in items) == list(asked)
        assert all(len(one["summary"]["content"]) > 2_000 and one["title"] for one in items)

    return check


def _is_all_unread(server: Server) -> Callable[[Any], None]:
    def check(answer: Any) -> None:
        assert answer["auth"] == 1
        assert sorted(map(int, answer["unread_item_ids"].split(","))) == server.entry_ids

    return check


def _is_page_after(server: Server, entry_id: int) -> Callable[[Any], None]:
    def check(answer: Any) -> None:
        items = answer["items"]
        assert [one["id"] for one in items] == [one for one in server.entry_ids if one > entry_id][:50]
        assert all(len(one["html"]) > 2_000 and one["title"] for one in items)

    return check
