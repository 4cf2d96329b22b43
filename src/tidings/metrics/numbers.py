"""The metrics themselves: names, help and buckets, kept with prometheus_client."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

from prometheus_client import CollectorRegistry, Counter, Histogram, generate_latest, values
from prometheus_client.exposition import CONTENT_TYPE_LATEST
from prometheus_client.metrics_core import GaugeMetricFamily, Metric
from prometheus_client.multiprocess import MultiProcessCollector
from prometheus_client.registry import Collector

from tidings.metrics.files import Place, value_class

OF_REQUESTS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10)
OF_THE_DATABASE = (0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 5)
OF_THE_OUTSIDE = (0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 20, 60)

METHODS = frozenset({"GET", "HEAD", "POST", "PUT", "DELETE", "OPTIONS", "PATCH"})


class Numbers:
    """OSError when the folder cannot be used."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._place = Place(folder)
        # Chosen by prometheus_client when it is imported, from the environment. It is looked up for every new number.
        values.ValueClass = value_class(self._place)
        self._polls = _counter("tidings_polls", "Checks of feeds, by what came of them.", "outcome")
        self._poll_seconds = _timing("tidings_poll_seconds", "How long a check took.", OF_THE_OUTSIDE)
        self._entries = _counter("tidings_entries_stored", "New entries stored.")
        self._deliveries = _counter("tidings_deliveries", "Attempts to deliver, by what came of them.", "outcome")
        self._delivery_seconds = _timing("tidings_delivery_seconds", "How long an attempt took.", OF_THE_OUTSIDE)
        self._requests = _counter("tidings_http_requests", "Requests answered.", "method", "route", "status")
        self._request_seconds = _timing(
            "tidings_http_request_seconds", "How long an answer took.", OF_REQUESTS, "method", "route"
        )
        database = _timing(
            "tidings_database_seconds",
            "How long the database was used at a stretch: read, write, or wait (for a turn to write).",
            OF_THE_DATABASE,
            "use",
        )
        self._reading, self._writing, self._waiting = map(database.labels, ("read", "write", "wait"))
        self._tidied = _counter("tidings_tidied", "Rows removed because they were old or unused.", "what")
        # `labels` takes longer than counting does.
        self._known: dict[tuple[str, str, int], tuple[Counter, Histogram]] = {}

    def close(self) -> None:
        self._place.leave()

    def polled(self, outcome: str, seconds: float, new_entries: int) -> None:
        self._polls.labels(outcome).inc()
        self._poll_seconds.observe(seconds)
        if new_entries:
            self._entries.inc(new_entries)

    def delivered(self, outcome: str, seconds: float) -> None:
        self._deliveries.labels(outcome).inc()
        self._delivery_seconds.observe(seconds)

    def requested(self, route: str, method: str, status: int, seconds: float) -> None:
        known = self._known.get((route, method, status))
        if known is None:
            # A client may make up as many as it likes.
            method = method if method in METHODS else "other"
            count = self._requests.labels(method, route, status)
            known = self._known[route, method, status] = (count, self._request_seconds.labels(method, route))
        known[0].inc()
        known[1].observe(seconds)

    def read(self, seconds: float) -> None:
        self._reading.observe(seconds)

    def wrote(self, seconds: float, waited: float) -> None:
        self._waiting.observe(waited)
        self._writing.observe(seconds)

    def tidied(self, what: str, count: int) -> None:
        self._tidied.labels(what).inc(count)

    def exposition(self, gauges: dict[str, tuple[str, float]]) -> tuple[bytes, str]:
        registry = CollectorRegistry()
        MultiProcessCollector(registry, str(self._folder))  # type: ignore[no-untyped-call]
        registry.register(_Now(gauges))
        return generate_latest(registry), CONTENT_TYPE_LATEST


def _counter(name: str, help_text: str, *labels: str) -> Counter:
    return Counter(name, help_text, labels, registry=None)


def _timing(name: str, help_text: str, buckets: Iterable[float], *labels: str) -> Histogram:
    return Histogram(name, help_text, labels, registry=None, buckets=tuple(buckets))


class _Now(Collector):
    """How things stand: the same whichever process is asked, and so in none of their files."""

    def __init__(self, gauges: dict[str, tuple[str, float]]) -> None:
        self._gauges = gauges

    def collect(self) -> Iterator[Metric]:
        for name, (help_text, value) in self._gauges.items():
            yield GaugeMetricFamily(name, help_text, value)
