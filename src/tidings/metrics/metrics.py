"""The metrics themselves: names, help and buckets."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from prometheus_client import CollectorRegistry, generate_latest
from prometheus_client.exposition import CONTENT_TYPE_LATEST
from prometheus_client.metrics_core import GaugeMetricFamily, Metric
from prometheus_client.multiprocess import MultiProcessCollector
from prometheus_client.registry import Collector

from tidings.metrics.multiprocess import MetricFiles
from tidings.metrics.values import Counter, Histogram, LabelledMetric

REQUEST_BUCKETS_S = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10)
DATABASE_BUCKETS_S = (0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 5)
NETWORK_BUCKETS_S = (0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 20, 60)

KNOWN_METHODS = frozenset({"GET", "HEAD", "POST", "PUT", "DELETE", "OPTIONS", "PATCH"})


class ProcessMetrics:
    """OSError when the folder cannot be used."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._files = MetricFiles(folder)
        self._polls = self._counters("tidings_polls", "Checks of feeds, by what came of them.", "outcome")
        self._poll_seconds = self._timings("tidings_poll_seconds", "How long a check took.", NETWORK_BUCKETS_S)[()]
        self._entries = self._counters("tidings_entries_stored", "New entries stored.")[()]
        self._deliveries = self._counters("tidings_deliveries", "Attempts to deliver, by what came of them.", "outcome")
        delivering = self._timings("tidings_delivery_seconds", "How long an attempt took.", NETWORK_BUCKETS_S)
        self._delivery_seconds = delivering[()]
        self._requests = self._counters("tidings_http_requests", "Requests answered.", "method", "route", "status")
        self._request_seconds = self._timings(
            "tidings_http_request_seconds", "How long an answer took.", REQUEST_BUCKETS_S, "method", "route"
        )
        database = self._timings(
            "tidings_database_seconds",
            "How long the database was used at a stretch: read, write, or wait (for a turn to write).",
            DATABASE_BUCKETS_S,
            "use",
        )
        self._reading, self._writing, self._waiting = (database[use,] for use in ("read", "write", "wait"))
        self._tidied = self._counters("tidings_tidied", "Rows removed because they were old or unused.", "what")
        self._known: dict[tuple[str, str, int], tuple[Counter, Histogram]] = {}

    def close(self) -> None:
        self._files.close()

    def record_poll(self, outcome: str, seconds: float, new_entries: int) -> None:
        self._polls[outcome,].add()
        self._poll_seconds.add(seconds)
        if new_entries:
            self._entries.add(new_entries)

    def record_delivery(self, outcome: str, seconds: float) -> None:
        self._deliveries[outcome,].add()
        self._delivery_seconds.add(seconds)

    def record_request(self, route: str, method: str, status: int, seconds: float) -> None:
        known = self._known.get((route, method, status))
        if known is None:
            # A client may make up as many as it likes.
            told = method if method in KNOWN_METHODS else "other"
            count, timing = self._requests[told, route, str(status)], self._request_seconds[told, route]
            known = (count, timing)
            if told == method:
                self._known[route, method, status] = known
        known[0].add()
        known[1].add(seconds)

    def record_database_read(self, seconds: float) -> None:
        self._reading.add(seconds)

    def record_database_write(self, seconds: float, waited: float) -> None:
        self._waiting.add(waited)
        self._writing.add(seconds)

    def record_cleanup(self, what: str, count: int) -> None:
        self._tidied[what,].add(count)

    def _counters(self, name: str, told: str, *labels: str) -> LabelledMetric[Counter]:
        return LabelledMetric(lambda given: Counter(self._files, name, told, given), *labels)

    def _timings(self, name: str, told: str, bounds: Sequence[float], *labels: str) -> LabelledMetric[Histogram]:
        return LabelledMetric(lambda given: Histogram(self._files, name, told, bounds, given), *labels)

    def exposition(self, gauges: dict[str, tuple[str, float]]) -> tuple[bytes, str]:
        registry = CollectorRegistry()
        MultiProcessCollector(registry, str(self._folder))  # type: ignore[no-untyped-call]
        registry.register(_Now(gauges))
        return generate_latest(registry), CONTENT_TYPE_LATEST


class _Now(Collector):
    """How things stand: the same whichever process is asked, and so in none of their files."""

    def __init__(self, gauges: dict[str, tuple[str, float]]) -> None:
        self._gauges = gauges

    def collect(self) -> Iterator[Metric]:
        for name, (help_text, value) in self._gauges.items():
            yield GaugeMetricFamily(name, help_text, value)
