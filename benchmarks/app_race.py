"""What apps ask for, from all feed readers that are there: a part of `make bench-api`.

Servers are asked by the Google Reader API with eight connections, the library `reader` by calls in its process. All
have the same entries. A case that one does not have is left out for it. The reference has no streams: its apps ask
for ids and then for these items, which counts as one request here. Each response is checked before it is timed.
"""

from __future__ import annotations

import http.client
import json
import sys
import time
from collections.abc import Callable, Sequence
from statistics import median
from typing import Any, Final, Protocol
from urllib.parse import quote, urlencode

from msgspec import Struct

from benchmarks import apps, load
from benchmarks.apps import FORM, READING_LIST, Server
from benchmarks.first_sync import READ, STARRED, ReaderApp
from benchmarks.library import READER, Library
from benchmarks.load import TURN_S, Request
from benchmarks.plots import Bars
from benchmarks.reference import REFERENCE

FEEDS_CASE, COUNTS, IDS, ITEMS = "feeds", "unread counts", "ids, 10,000", "items by id, 100"
UNREAD, STARS, FEED, CATEGORY = "unread, 100", "starred, 100", "feed, 100", "category, 100"
STAR, MARK = "star", "mark 3"
CASES: Final = (FEEDS_CASE, COUNTS, UNREAD, STARS, FEED, CATEGORY, IDS, ITEMS, STAR, MARK)
# What a reader's process measures (`reader_commands.py`).
CASES_OF_READER: Final = (FEEDS_CASE, UNREAD, STARS, FEED, CATEGORY, STAR, MARK)
FIRST_SYNC: Final = "first sync"
ITEMS_PER_REQUEST: Final = 150
# As FreshRSS and ours say it; the reference has neither streams nor counters.
_NOT_OF_REFERENCE: Final = (COUNTS, CATEGORY)

Check = Callable[[Any], None]


class Figures(Struct, frozen=True):
    """What was measured of one feed reader. rates: per second, by case and turn. sync_s: of a first synchronisation."""

    name: str
    rates: dict[str, list[float]]
    sync_s: float


class Racer(Protocol):
    """A feed reader with the archive of the benchmark."""

    name: str
    cases: Sequence[str]

    def sync(self) -> float:
        """Return the seconds that it takes to get everything."""

    def rate(self, case: str) -> float:
        """Return how many times a second a case is carried out, in one turn."""

    def restore(self) -> None:
        """Set back what cases change."""


class Sent(Struct, frozen=True):
    """A request with the check of its response, which is JSON or else text."""

    request: Request
    check: Check


class HttpRacer:
    """A server, asked by the Google Reader API. entries, unread: how many it has."""

    def __init__(self, server: Server, *, entries: int, unread: int) -> None:
        self.name = server.name
        self._server, self._entries, self._unread = server, entries, unread
        self._requests = Requests(server).by_case(entries)
        self.cases: Sequence[str] = tuple(self._requests)
        self.restore()
        for sent in self._requests.values():
            for one in sent:
                one.check(_response(one.request, one.request.bodies[-1]))

    def rate(self, case: str) -> float:
        """Of two requests that follow each other: of both together."""
        return 1 / sum(1 / load.rate(one.request) for one in self._requests[case])

    def sync(self) -> float:
        app, connection = ReaderApp(self._server, ITEMS_PER_REQUEST, unread=self._unread), self._server.connect()
        started = time.perf_counter()
        received = app.sync(connection)
        took_s = time.perf_counter() - started
        connection.close()
        assert received == self._entries, (self.name, received)
        return took_s

    def restore(self) -> None:
        for case in (STAR, MARK):
            for one in self._requests[case]:
                _response(one.request, one.request.bodies[-1])


class LibraryRacer:
    """The library `reader`, filled."""

    name: str = READER
    cases: Sequence[str] = CASES_OF_READER

    def __init__(self, library: Library) -> None:
        self._library = library

    def rate(self, case: str) -> float:
        return float(self._library.do("measure", case=case, seconds=TURN_S))

    def sync(self) -> float:
        """Read all entries."""
        return float(self._library.do("once", case=FIRST_SYNC))

    def restore(self) -> None:
        """Nothing depends on what its cases change."""


class Requests:
    """The requests of a server's user, signed in."""

    def __init__(self, server: Server) -> None:
        self._url = f"{server.url}/reader/api/0"
        self._has_streams = server.name != REFERENCE
        self._headers = {"Authorization": f"GoogleLogin auth={apps.sign_in(server)}"}
        self._token = self._ask("token").strip()

    def by_case(self, entries: int) -> dict[str, list[Sent]]:
        """Return the requests of each case that the server has. entries: how many it has."""
        feeds = self._ask("subscription/list?output=json")["subscriptions"]
        newest = [one["id"] for one in self._ask(self._ids_path(READING_LIST, 100, xt=READ))["itemRefs"]]
        ids = self._get(self._ids_path(READING_LIST, 10_000), lambda answer: _expect_ids(answer, min(entries, 10_000)))
        found = {
            FEEDS_CASE: [self._get("subscription/list?output=json", lambda answer: _expect_feeds(answer, len(feeds)))],
            COUNTS: [self._get("unread-count?output=json", lambda answer: _expect_counts(answer, len(feeds)))],
            UNREAD: self._list(READING_LIST, xt=READ),
            STARS: self._list(STARRED),
            FEED: self._list(next(one["id"] for one in feeds if one["title"] == "Feed 17")),
            CATEGORY: [] if not self._has_streams else self._list("user/-/label/Category 3"),
            IDS: [ids],
            ITEMS: [self._items(newest)],
            STAR: [self._switch(newest[:1], STARRED)],
            MARK: [self._switch(newest[:3], READ)],
        }
        missing = () if self._has_streams else _NOT_OF_REFERENCE
        return {case: found[case] for case in CASES if case not in missing}

    def _ids_path(self, stream: str, count: int, **query: str) -> str:
        return "stream/items/ids?" + urlencode({"output": "json", "n": count, "s": stream, **query})

    def _list(self, stream: str, **query: str) -> list[Sent]:
        """Return what brings the 100 newest entries of a stream."""
        if self._has_streams:
            path = f"stream/contents/{quote(stream)}?" + urlencode({"output": "json", "n": 100, **query})
            return [self._get(path, _expect_items)]
        path = self._ids_path(stream, 100, **query)
        ids = [one["id"] for one in self._ask(path)["itemRefs"]]
        return [self._get(path, lambda answer: _expect_ids(answer, 100)), self._items(ids)]

    def _items(self, ids: Sequence[str]) -> Sent:
        body = urlencode({"T": self._token, "output": "json", "i": ids}, doseq=True)
        return Sent(self._request("stream/items/contents", body), _expect_items)

    def _switch(self, ids: Sequence[str], state: str) -> Sent:
        """Return a request that sets a state, then removes it."""
        bodies = [urlencode({"T": self._token, way: state, "i": ids}, doseq=True) for way in ("a", "r")]
        return Sent(self._request("edit-tag", *bodies), lambda answer: _expect(answer.strip() == "OK", answer))

    def _get(self, path: str, check: Check) -> Sent:
        return Sent(self._request(path), check)

    def _request(self, path: str, *bodies: str) -> Request:
        url = f"{self._url}/{path}"
        return Request(url, "POST", self._headers | FORM, bodies) if bodies else Request(url, headers=self._headers)

    def _ask(self, path: str) -> Any:
        return _response(self._request(path))


def _response(request: Request, body: str = "") -> Any:
    """Return the response, decoded if it is JSON. Raises AssertionError for another status."""
    address, _, path = request.url.removeprefix("http://").partition("/")
    connection = http.client.HTTPConnection(address)
    connection.request(request.method, f"/{path}", body or None, dict(request.headers))
    answer = connection.getresponse()
    text = answer.read().decode()
    connection.close()
    assert answer.status == request.status, (request.url, answer.status, text[:200])
    return json.loads(text) if text.startswith("{") else text


def race(racers: Sequence[Racer], turns: int) -> list[Figures]:
    """Measure all by turns, ours first, which has all cases, and print their rates."""
    found = [Figures(one.name, {}, one.sync()) for one in racers]
    sys.stdout.write(f"{racers[0].name}: what apps ask for, per second\n")
    for case in racers[0].cases:
        taking_part = [(one, figures) for one, figures in zip(racers, found, strict=True) if case in one.cases]
        for _ in range(turns):
            for one, figures in taking_part:
                figures.rates.setdefault(case, []).append(one.rate(case))
        sys.stdout.write(line(case, [figures for _, figures in taking_part]))
        sys.stdout.flush()
    for one in racers:
        one.restore()
    sys.stdout.write(sync_line(found))
    return found


def line(case: str, found: Sequence[Figures]) -> str:
    """Return the rates of a case, ours first, and how many times as fast ours is, with the range of the turns."""
    ours, *others = (figures.rates[case] for figures in found)
    shown = [f"  {case:<18} {median(ours):9.1f}"]
    for figures, theirs in zip(found[1:], others, strict=True):
        ratios = sorted(one / other for one, other in zip(ours, theirs, strict=True))
        times = f"{median(ratios):.1f} times, {ratios[0]:.1f} to {ratios[-1]:.1f}"
        shown.append(f"{figures.name} {median(theirs):.1f} ({times})")
    return "   ".join(shown) + "\n"


def sync_line(found: Sequence[Figures]) -> str:
    ours, *others = found
    shown = [f"  {FIRST_SYNC:<18} {ours.sync_s:7.1f} s", *(f"{one.name} {one.sync_s:.1f} s" for one in others)]
    return "   ".join(shown) + "\n"


def bars(found: Sequence[Figures]) -> tuple[list[str], list[Bars]]:
    """Return the names of all feed readers and their rates by case: of one that was measured twice, the median."""
    names = list(dict.fromkeys(figures.name for figures in found))
    return names, [Bars(case, [_median_rate(found, name, case) for name in names]) for case in CASES]


def _median_rate(found: Sequence[Figures], name: str, case: str) -> float | None:
    rates = [rate for figures in found if figures.name == name for rate in figures.rates.get(case, [])]
    return median(rates) if rates else None


def _expect(is_right: bool, answer: Any) -> None:
    assert is_right, str(answer)[:300]


def _expect_feeds(answer: Any, count: int) -> None:
    _expect(len(answer["subscriptions"]) == count and answer["subscriptions"][-1]["title"] != "", answer)


def _expect_counts(answer: Any, feeds: int) -> None:
    counts = [one["count"] for one in answer["unreadcounts"] if one["id"].startswith("feed/")]
    _expect(0 < len(counts) <= feeds and sum(map(int, counts)) > 0, answer)


def _expect_ids(answer: Any, count: int) -> None:
    _expect(len({one["id"] for one in answer["itemRefs"]}) == count, answer)


def _expect_items(answer: Any) -> None:
    items = answer["items"]
    is_complete = all(len(one["summary"]["content"]) > 2_000 and one["title"] for one in items)
    _expect(len(items) == 100 and is_complete, items[:1])
