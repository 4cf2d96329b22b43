"""The native API beside the reference server, with eight connections: `make bench-api`.

Both have a user with 100,000 entries of 3 kB in 500 feeds and 20 categories, 30 % unread. Ours runs as `tidings serve`
starts by default, on each engine. Each answer is checked before it is timed. Then the servers take turns, so that
other work on the machine slows down both. Prints rates, and their ratio with its range, and writes them to
build/bench-api.json, with a plot beside it. Returns 1 if a ratio is below its minimum. Without the reference there are
rates only. What cannot be repeated on many connections, such as an import, is timed once a turn; then follow the time
of a start, the memory of all processes and the size of the database.

Our answers are checked again after each turn. An error, an empty list or an answer about other data ends the program
with an AssertionError, before anything is written.

Then all feed readers that are there are asked for what apps ask for (`app_race`): FreshRSS, given by --freshrss PATH,
and the library `reader`, of the interpreter --reader PYTHON. Their rates are in build/bench-api-apps.svg.
"""

from __future__ import annotations

import base64
import json
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, nullcontext
from hashlib import sha256
from pathlib import Path
from statistics import median
from typing import Any, Final

import msgspec
from msgspec import Struct
from sqlalchemy import text

from benchmarks import app_race, apps, freshrss, load, peers, reference
from benchmarks.app_race import Figures, HttpRacer, LibraryRacer, Racer
from benchmarks.freshrss import FRESHRSS
from benchmarks.library import RAN_AS, READER
from benchmarks.library import running as running_library
from benchmarks.lists import databases
from benchmarks.load import CONNECTIONS, Request
from benchmarks.memory import SETTLE_S, memory_mib, peak_of
from benchmarks.peers import OURS, Peers
from benchmarks.plots import Bars, write_bars
from benchmarks.reference import REFERENCE
from support.people import PASSWORD, Cast, Person, call
from support.running import RunningService, environment_for, running
from support.visitors import Visitor
from tidings.base.times import DAY, MINUTE, Instant
from tidings.content.model import ParsedEnclosure
from tidings.domain.entries.entries import EntryStatus, ReadyEntry
from tidings.services.clock import system_clock
from tidings.storage.feeds import feeds
from tidings.storage.polling import entry_writes
from tidings.wiring.services import AllServices

CATEGORIES, FEEDS, ENTRIES = 20, 500, 100_000
STARRED: Final = ENTRIES // 50
CHANGE_EVERY_S: Final = 0.05
INDEXING_LIMIT_S: Final = 300.0
RESULT: Final = Path("build/bench-api.json")
PLOT: Final = RESULT.with_suffix(".svg")
APPS_PLOT: Final = RESULT.with_name("bench-api-apps.svg")
ENGINES: Final = ("sqlite", "postgresql")
RATE: Final = "requests a second"
MARKED, IMPORTED = 10_000, 500
STARTS: Final = 3
UPDATE: Final = "/v1/entries"

Check = Callable[[Any], None]


class Server(Struct, frozen=True):
    """A server with the account that asks. feed_id, category_id, entry_ids: some of the user's.

    read_id: an entry that was read, so that showing it changes nothing. cookie: of a browser that is signed in.
    """

    name: str
    url: str
    token: str
    username: str
    password: str
    feed_id: int = 0
    category_id: int = 0
    entry_ids: tuple[int, ...] = ()
    read_id: int = 0
    cookie: str = ""


class Case(Struct, frozen=True):
    """A request, and how many times as fast as the reference it has to be at least, by engine; 0 for any.

    check: raises AssertionError for an answer, decoded from JSON, that is not right. status: of a right answer.
    changed: a feed whose title is changed all the time while this is measured; 0 for none. is_page: it is asked for
    with the session of a browser; pages of the reference are not measured. checks: how often it is asked when it is
    checked: a second time restores what it switches.
    """

    path: str
    check: Check
    minimum: tuple[float, float] = (0, 0)
    method: str = "GET"
    body: str = ""
    status: int = 200
    is_basic: bool = False
    is_page: bool = False
    changed: int = 0
    checks: int = 1


class Result(Struct, frozen=True):
    """rates: requests per second, by turn. ratio: median of the ratios of each turn, None without the reference."""

    engine: str
    case: str
    rates: list[float]
    reference_rates: list[float] = []
    ratio: float | None = None
    minimum: float = 0
    unit: str = RATE

    @property
    def is_too_slow(self) -> bool:
        return self.ratio is not None and self.ratio < self.minimum


def run(arguments: Sequence[str]) -> int:
    options = peers.parse(arguments, program="benchmarks.api", has_turns=True)
    there = peers.found(options)
    sys.stdout.write(
        f"native API, {CONNECTIONS} connections, requests by {load.sender()}\n{peers.missing_lines(there)}"
    )
    results: list[Result] = []
    figures: list[Figures] = []
    with ExitStack() as stack:
        other = stack.enter_context(_reference()) if there.reference else None
        racers = _racers(stack, there, other)
        for engine in options.engines:
            with tempfile.TemporaryDirectory() as folder, _service(engine, Path(folder)) as (service, ours):
                peak_mib = 0.0
                if not options.is_apps_only:
                    with peak_of(service) as peak:
                        results += _compare(ENGINES.index(engine), ours, other, options.turns)
                    peak_mib = peak.mib
                figures += app_race.race([_racer(_app_account(ours)), *racers], options.turns)
                if not options.is_apps_only:
                    results += _footprint(service, ours, peak_mib, other)
    _write(results, figures)
    return int(any(result.is_too_slow for result in results))


def _racers(stack: ExitStack, there: Peers, other: Server | None) -> list[Racer]:
    """Return the other feed readers that apps are compared with, started and filled."""
    racers: list[Racer] = []
    if other is not None:
        racers.append(_racer(apps.Server(REFERENCE, other.url, other.username, other.password, ())))
    if there.freshrss is not None:
        racers.append(_racer(stack.enter_context(_freshrss(there.freshrss))))
    if there.reader is not None:
        library = stack.enter_context(running_library(there.reader))
        library.fill(CATEGORIES, FEEDS, _entries())
        sys.stdout.write(f"{READER} {library.do('version')}, {RAN_AS}\n")
        racers.append(LibraryRacer(library))
    return racers


@contextmanager
def _freshrss(snapshot: Path) -> Iterator[apps.Server]:
    with freshrss.installed(snapshot) as installation:
        installation.fill(CATEGORIES, FEEDS, _entries())
        with freshrss.serving(installation) as url:
            sys.stdout.write(f"{FRESHRSS} {installation.version}, {freshrss.SERVED_BY}\n")
            yield apps.Server(FRESHRSS, url, freshrss.USERNAME, freshrss.PASSWORD, ())


def _app_account(ours: Server) -> apps.Server:
    """Return our server as an app sees it, with an app password."""
    body = json.dumps({"name": "benchmark"})
    created = _ask(
        ours, "/v1/api-passwords", Case("/v1/api-passwords", _has("password"), method="POST", body=body, status=201)
    )
    return apps.Server(OURS[ours.name], ours.url, ours.username, created["password"], ())


def _racer(server: apps.Server) -> Racer:
    return HttpRacer(server, entries=ENTRIES, unread=ENTRIES * 3 // 10)


def _entries() -> Iterator[ReadyEntry]:
    now = system_clock()
    return (_entry(number, now) for number in range(ENTRIES))


def _write(results: list[Result], figures: list[Figures]) -> None:
    """Write all figures, and plots. results: none if only the requests of apps were measured."""
    RESULT.parent.mkdir(exist_ok=True)
    measured = {"requests_by": load.sender(), "results": results, "apps": figures}
    RESULT.write_bytes(msgspec.json.format(msgspec.json.encode(measured)))
    readers, groups = app_race.bars(figures)
    write_bars(APPS_PLOT, title=f"what apps ask for: {RATE}", engines=readers, groups=groups)
    if results:
        _write_ratios(results)


def _write_ratios(results: list[Result]) -> None:
    is_compared = any(result.ratio is not None for result in results)
    shown = {
        (result.case, result.engine): result.ratio if is_compared else median(result.rates)
        for result in results
        if result.unit == RATE
    }
    names = list(dict.fromkeys(case for case, _ in shown))
    groups = [Bars(name, [shown.get((name, engine)) for engine in ENGINES]) for name in names]
    title = f"times as fast as {REFERENCE}" if is_compared else RATE
    write_bars(PLOT, title=title, engines=ENGINES, groups=[one for one in groups if any(one.values)])


@contextmanager
def _service(engine: str, folder: Path) -> Iterator[tuple[RunningService, Server]]:
    with databases(engine, folder, is_durable=True) as made, made.migrated() as url:
        environment = environment_for(url, folder)
        del environment["TIDINGS_WEB_WORKERS"]
        with running("serve", environment, folder) as service:
            service.wait_until_ready()
            yield service, _filled(service, engine)


def _filled(service: RunningService, engine: str) -> Server:
    """Return our server with an account like that of the reference."""
    person = Cast(service).person("alice")
    services = service.services
    category_ids = [services.feeds.categories.create(person.id, f"Category {n}").id for n in range(CATEGORIES)]
    for number in range(FEEDS):
        _add_feed(services, person.id, category_ids[number % CATEGORIES], number)
    if not services.database.is_sqlite:
        with services.database.engine.connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
            connection.exec_driver_sql("VACUUM ANALYZE")
    _wait_for_search_index(person)
    visitor = Visitor(service, person)
    assert visitor.sign_in().status == 303
    cookie = "; ".join(f"{name}={value}" for name, value in visitor.cookies.items())
    return _located(Server(engine, service.url, person.token, person.user.username, PASSWORD, cookie=cookie))


def _wait_for_search_index(person: Person) -> None:
    """Wait until the workers have indexed all entries. Raises TimeoutError."""
    started = time.monotonic()
    while person.get("/v1/entries", search="title", limit=1)["total"] < ENTRIES:
        if time.monotonic() - started > INDEXING_LIMIT_S:
            raise TimeoutError("the search index is not complete")
        time.sleep(1)


def _add_feed(services: AllServices, user_id: int, category_id: int, number: int) -> None:
    now = services.clock()
    with services.database.writing() as db:
        feed_id = feeds.add(
            db, user_id, category_id=category_id, feed_url=f"http://127.0.0.1:1/feed/{number}", title=f"Feed {number}",
            site_url=f"http://127.0.0.1:1/site/{number}", created_at=now, checked_at=now, icon_checked_at=now,
            # Not during the measurement.
            next_check_at=now + DAY,
        )  # fmt: skip
        ready = [_entry(one, now) for one in range(number, ENTRIES, FEEDS)]
        entry_writes.add(db, user_id, feed_id, category_id, ready, now=now)


def _entry(number: int, now: Instant) -> ReadyEntry:
    """Return an entry like those that the reference is filled with."""
    link = f'<a href="https://example.org/{number}" rel="noopener noreferrer" target="_blank">the valley</a>'
    sentence = f"Rain fell on {link} {sha256(str(number).encode()).hexdigest()[:32]} for the third day in a row. "
    audio = ParsedEnclosure(f"http://127.0.0.1:1/a{number}.mp3", "audio/mpeg", 12_345)
    return ReadyEntry(
        hash=number.to_bytes(32, "big"),
        fingerprint=number.to_bytes(16, "big"),
        title=f"Entry title number {number}",
        url=f"http://127.0.0.1:1/e/{number}",
        content=f'<p>{sentence * 16}</p><img src="https://example.org/{number}.png" loading="lazy">',
        author=f"Author {number % 100}",
        published_at=Instant(now - number * MINUTE),
        reading_time=3,
        tags=(f"tag{number % 10}",),
        enclosures=(audio,) if number % 5 == 0 else (),
        status=EntryStatus.READ if number % 10 < 7 else EntryStatus.UNREAD,
        starred=number % 50 == 0,
    )


@contextmanager
def _reference() -> Iterator[Server]:
    with reference.started() as said:
        reference.sql("truncate feeds cascade")
        reference.run("seed", str(FEEDS), str(ENTRIES))
        reference.enable_app_apis(said["USER"], said["PASSWORD"])
        reference.sql("vacuum analyze")
        server = _located(Server(REFERENCE, said["URL"], said["TOKEN"], said["USER"], said["PASSWORD"]))
        # Once: the measurements change the number of starred entries.
        _check(server)
        yield server


def _located(server: Server) -> Server:
    found = _ask(server, "/v1/entries?limit=3&status=unread&order=published_at&direction=desc")["entries"]
    feed = found[0]["feed"]
    ids = tuple(entry["id"] for entry in found)
    read = _ask(server, "/v1/entries?limit=1&status=read&order=published_at&direction=desc")["entries"][0]
    return msgspec.structs.replace(
        server, feed_id=feed["id"], category_id=feed["category"]["id"], entry_ids=ids, read_id=read["id"]
    )


def _cases(server: Server) -> dict[str, Case]:
    newest = "limit=100&order=published_at&direction=desc"
    category = f"/v1/categories/{server.category_id}"
    states = [json.dumps({"entry_ids": server.entry_ids, "status": status}) for status in ("unread", "read")]
    return {
        "me, by token": Case("/v1/me", _has("id"), (8, 5)),
        "me, by password": Case("/v1/me", _has("id"), (100, 70), is_basic=True),
        "unread, 100": Case(f"/v1/entries?status=unread&{newest}", _is_list(100, ENTRIES * 3 // 10), (25, 20)),
        "all, 20": Case("/v1/entries?limit=20&direction=desc", _is_list(20, ENTRIES), (150, 120)),
        "all, 100 at offset 20,000": Case(f"/v1/entries?offset=20000&{newest}", _is_list(100, ENTRIES), (60, 45)),
        "starred, 100": Case(f"/v1/entries?starred=true&{newest}", _is_list(100, STARRED), (12, 9)),
        "category, 100": Case(f"{category}/entries?{newest}", _is_list(100, ENTRIES // CATEGORIES), (15, 11)),
        "feed, 100": Case(f"/v1/feeds/{server.feed_id}/entries?{newest}", _is_list(100, ENTRIES // FEEDS), (10, 7)),
        "search, in all": Case("/v1/entries?search=title&limit=100", _is_list(100, ENTRIES), (40, 30)),
        "search, in one": Case("/v1/entries?search=4711&limit=100", _is_list(1, 1), (8, 5)),
        "one entry": Case(f"/v1/entries/{server.entry_ids[0]}", _has("content", "feed"), (10, 5)),
        "feeds": Case("/v1/feeds", _is_array(FEEDS), (8, 6)),
        "feeds, while one changes": Case("/v1/feeds", _is_array(FEEDS), changed=server.feed_id),
        "categories with counts": Case("/v1/categories?counts=true", _is_array(CATEGORIES), (15, 10)),
        "counters": Case("/v1/feeds/counters", _has("reads", "unreads"), (15, 12)),
        "ids, 10,000": Case("/v1/entries/ids?limit=10000", _is_ids, (12, 8)),
        "OPML export": Case("/v1/export", _is_opml, (6, 6)),
        "mark 3 as read": Case(UPDATE, _is_nothing, (4, 2), "PUT", states[1], 204),
        "mark 3 as unread": Case(UPDATE, _is_nothing, (4, 2), "PUT", states[0], 204),
        "star": Case(f"/v1/entries/{server.entry_ids[0]}/bookmark", _is_nothing, (4, 2), "PUT", "", 204, checks=2),
        "page of unread entries": Case("/unread", _is_page("Entry title number"), is_page=True),
        "page of an entry": Case(f"/history/{server.read_id}", _is_page("third day in a row"), is_page=True),
        "healthcheck": Case("/healthcheck", lambda answer: _expect(answer == b"OK", answer)),
    }  # fmt: skip


def _compare(engine: int, ours: Server, other: Server | None, turns_of_each: int) -> list[Result]:
    """engine: which of the minimums apply. Prints and returns the result of each case."""
    _check(ours)
    sys.stdout.write(f"{ours.name}: {RATE}\n")
    results = []
    for name, case in _cases(ours).items():
        servers = [ours, *([other] if other and not case.is_page else [])]
        turns = [[_rate_of_turn(server, name) for server in servers] for _ in range(turns_of_each)]
        results.append(_result(ours.name, name, case.minimum[engine], turns))
    for name, time_once in {"mark 10,000 as read": _mark_all, "import of 500 feeds": _import}.items():
        servers = [ours, *([other] if other else [])]
        turns = [[1 / time_once(server, f"{ours.name}-{turn}") for server in servers] for turn in range(turns_of_each)]
        results.append(_result(ours.name, name, 0, turns))
    return results


def _rate_of_turn(server: Server, name: str) -> float:
    """Return the requests per second of one turn. Our answer is right after it, too; starring changes lists."""
    case = _cases(server)[name]
    rate = _rate(server, case)
    if server.name != REFERENCE:
        _check_case(server, name, case)
    if name == "star":
        _restore_star(server)
    return rate


def _restore_star(server: Server) -> None:
    """Take the star from the entry if the requests were an odd number: what follows counts starred entries."""
    if _ask(server, "/v1/entries?starred=true&limit=1")["total"] != STARRED:
        star = _cases(server)["star"]
        _ask(server, star.path, star)
    _expect(_ask(server, "/v1/entries?starred=true&limit=1")["total"] == STARRED, "the star was not restored")


def _check(server: Server) -> None:
    """Raise AssertionError for an answer that is not right."""
    for name, case in _cases(server).items():
        if not case.is_page or server.cookie:
            _check_case(server, name, case)


def _check_case(server: Server, name: str, case: Case) -> None:
    try:
        for _ in range(case.checks):
            case.check(_ask(server, case.path, case))
    except AssertionError as error:
        error.add_note(f"{server.name}: {name}")
        raise


def _mark_all(server: Server, _name: str) -> float:
    """Return the seconds of marking the only unread entries, MARKED, as read. Restores the others."""
    mark = Case(f"/v1/users/{_ask(server, '/v1/me')['id']}/mark-all-as-read", _is_nothing, method="PUT", status=204)
    unread = _unread_ids(server)
    _ask(server, mark.path, mark)
    _set_unread(server, unread[:MARKED])
    _expect(_unread(server) == MARKED, "entries are not unread")
    started = time.perf_counter()
    _ask(server, mark.path, mark)
    took = time.perf_counter() - started
    _expect(_unread(server) == 0, "entries are still unread")
    _set_unread(server, unread)
    return took


def _set_unread(server: Server, ids: Sequence[int]) -> None:
    body = json.dumps({"entry_ids": ids, "status": "unread"})
    _ask(server, UPDATE, Case(UPDATE, _is_nothing, method="PUT", body=body, status=204))


def _unread_ids(server: Server) -> list[int]:
    query = "status=unread&limit=1000&order=id&direction=asc"
    ids: list[int] = []
    while page := _ask(server, f"/v1/entries?{query}&after_entry_id={ids[-1] if ids else 0}")["entries"]:
        ids += [entry["id"] for entry in page]
    _expect(len(ids) >= MARKED, len(ids))
    return ids


def _unread(server: Server) -> int:
    return int(_ask(server, "/v1/entries?status=unread&limit=1")["total"])


def _import(server: Server, turn: str) -> float:
    """Return the seconds of an import of IMPORTED new feeds, which are deleted afterwards."""
    title = f"Imported {turn}"
    lines = [f'<outline text="F{n}" xmlUrl="http://127.0.0.1:1/{turn}/{n}"/>' for n in range(IMPORTED)]
    opml = f'<opml version="2.0"><body><outline text="{title}">{"".join(lines)}</outline></body></opml>'
    started = time.perf_counter()
    _ask(server, "/v1/import", Case("/v1/import", _has("message"), method="POST", body=opml, status=201))
    took = time.perf_counter() - started
    _expect(len(_ask(server, "/v1/feeds")) == FEEDS + IMPORTED, "feeds are missing")
    (category_id,) = [one["id"] for one in _ask(server, "/v1/categories") if one["title"] == title]
    path = f"/v1/categories/{category_id}"
    _ask(server, path, Case(path, _is_nothing, method="DELETE", status=204))
    _expect(len(_ask(server, "/v1/feeds")) == FEEDS, "imported feeds are still there")
    return took


def _footprint(service: RunningService, ours: Server, peak_mib: float, other: Server | None) -> list[Result]:
    """Prints and returns start-up time, memory and size of the database. Stops the service."""
    bytes_per_entry = _database_bytes(service) / ENTRIES
    service.stop()
    starts, idle_mib = [], 0.0
    for _ in range(STARTS):
        started = time.perf_counter()
        with running("serve", service.environment, service.log_path.parent) as again:
            again.wait_until_ready()
            starts.append(time.perf_counter() - started)
            time.sleep(SETTLE_S)
            idle_mib = memory_mib(again)
    results = [
        Result(ours.name, "start until ready", starts, unit="s"),
        Result(ours.name, "memory, idle", [idle_mib], unit="MiB"),
        Result(ours.name, "memory, the most under load", [peak_mib], unit="MiB"),
        _size_result(ours.name, bytes_per_entry, other),
    ]
    for result in results:
        ratio = "" if result.ratio is None else f" {result.ratio:7.1f} times smaller than {REFERENCE}"
        sys.stdout.write(f"  {result.case:<28} {median(result.rates):9.1f} {result.unit}{ratio}\n")
    return results


def _size_result(engine: str, bytes_per_entry: float, other: Server | None) -> Result:
    name, unit = "database per entry", "bytes"
    if other is None:
        return Result(engine, name, [bytes_per_entry], unit=unit)
    theirs = int(reference.sql("select pg_database_size(current_database())")) / ENTRIES
    return Result(engine, name, [bytes_per_entry], [theirs], theirs / bytes_per_entry, minimum=1, unit=unit)


def _database_bytes(service: RunningService) -> int:
    with service.services.database.reading() as db:
        if service.services.database.is_sqlite:
            pages, size = db.scalar(text("PRAGMA page_count")), db.scalar(text("PRAGMA page_size"))
            return int(pages) * int(size)
        return int(db.scalar(text("SELECT pg_database_size(current_database())")))


def _result(engine: str, name: str, minimum: float, turns: Sequence[Sequence[float]]) -> Result:
    rates = [turn[0] for turn in turns]
    line = f"  {name:<28} {median(rates):9.1f}"
    if len(turns[0]) == 1:
        sys.stdout.write(f"{line}\n")
        return Result(engine, name, rates)
    ratios = sorted(turn[0] / turn[1] for turn in turns)
    result = Result(engine, name, rates, [turn[1] for turn in turns], median(ratios), minimum)
    verdict = f"  too slow: at least {minimum:g} times" if result.is_too_slow else ""
    sys.stdout.write(f"{line} {median(ratios):7.1f} times {REFERENCE} ({ratios[0]:.1f} to {ratios[-1]:.1f}){verdict}\n")
    sys.stdout.flush()
    return result


def _ask(server: Server, path: str, case: Case | None = None) -> Any:
    """Return the decoded answer; bytes if it is not JSON. Raises AssertionError for another status."""
    method, body = (case.method, case.body) if case else ("GET", "")
    answer = call(server.url, method, path, body.encode(), _headers(server, case))
    assert answer.status == (case.status if case else 200), (server.name, path, answer.status, answer.body[:200])
    is_json = answer.headers.get("content-type", "").startswith("application/json")
    return json.loads(answer.body) if is_json and answer.body else answer.body


def _headers(server: Server, case: Case | None) -> dict[str, str]:
    if case and case.is_page:
        return {"Cookie": server.cookie}
    if case is None or not case.is_basic:
        return {"X-Auth-Token": server.token}
    return {"Authorization": "Basic " + base64.b64encode(f"{server.username}:{server.password}".encode()).decode()}


def _rate(server: Server, case: Case) -> float:
    """Return the requests per second of one turn. Raises AssertionError for an answer with another status."""
    sent = Request(server.url + case.path, case.method, _headers(server, case), (case.body,), case.status)
    with _changing(server, case.changed) if case.changed else nullcontext():
        return load.rate(sent)


@contextmanager
def _changing(server: Server, feed_id: int) -> Iterator[None]:
    """Changes the title of a feed every CHANGE_EVERY_S, as a poller changes feeds."""
    is_over = threading.Event()

    def change_all_the_time() -> None:
        number = 0
        while not is_over.wait(CHANGE_EVERY_S):
            number += 1
            body = json.dumps({"title": f"Changed {number}"}).encode()
            answer = call(server.url, "PUT", f"/v1/feeds/{feed_id}", body, _headers(server, None))
            assert answer.status == 201, (server.name, answer.status)

    changing = threading.Thread(target=change_all_the_time)
    changing.start()
    try:
        yield
    finally:
        is_over.set()
        changing.join()


def _expect(is_right: bool, answer: Any) -> None:
    assert is_right, str(answer)[:300]


def _has(*names: str) -> Check:
    return lambda answer: _expect(all(answer.get(name) for name in names), answer)


def _is_array(length: int) -> Check:
    """At least: a new account of ours, and that of the reference, has a category of its own."""
    return lambda answer: _expect(length <= len(answer) <= length + 1, len(answer))


def _is_list(length: int, total: int) -> Check:
    def check(answer: Any) -> None:
        shown = answer["entries"]
        _expect(len(shown) == length and answer["total"] == total, (len(shown), answer["total"]))
        _expect(all(len(entry["content"]) > 2_000 and entry["feed"]["title"] for entry in shown), shown[0])

    return check


def _is_ids(answer: Any) -> None:
    _expect(answer["total"] == ENTRIES and len(set(answer["entry_ids"])) == 10_000, answer)


def _is_page(text_of_it: str) -> Check:
    """Of a page that is shown to the user who is signed in."""
    return lambda answer: _expect(text_of_it.encode() in answer and b"/sign-out" in answer, answer)


def _is_opml(answer: Any) -> None:
    _expect(answer.count(b"xmlUrl") == FEEDS, answer)


def _is_nothing(answer: Any) -> None:
    _expect(not answer, answer)


if __name__ == "__main__":
    peers.end_in_order()
    sys.exit(run(sys.argv[1:]))
