"""The metrics: names, help texts and buckets."""

from __future__ import annotations

import threading
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import accumulate
from pathlib import Path
from typing import Generic, TypeVar

from msgspec import structs
from prometheus_client import CONTENT_TYPE_LATEST, CollectorRegistry, generate_latest
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, HistogramMetricFamily, Metric
from prometheus_client.registry import Collector

from tidings.metrics.multiprocess import MetricFiles, SampleKey, sum_of_all

REQUEST_BUCKETS_S = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10)
DATABASE_BUCKETS_S = (0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 5)
NETWORK_BUCKETS_S = (0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 20, 60)

# An alert on the increase of a counter misses the first event if the counter appears with it.
GIVEN_UP_REASONS = ("expired", "refused", "overflow")
BACKUP_OUTCOMES = ("written", "failed")

KNOWN_METHODS = frozenset({"GET", "HEAD", "POST", "PUT", "DELETE", "OPTIONS", "PATCH"})


class ProcessMetrics:
    """The metrics of this process. Raises OSError if the folder cannot be used."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._files = MetricFiles(folder)
        self._polls = self._counters("tidings_polls", "Checks of feeds, by outcome.", "outcome")
        self._poll_seconds = self._histograms("tidings_poll_seconds", "Duration of a check.", NETWORK_BUCKETS_S)[()]
        self._entries = self._counters("tidings_entries_stored", "New entries stored.")[()]
        self._deliveries = self._counters("tidings_deliveries", "Attempts to deliver, by outcome.", "outcome")
        self._given_up = self._counters("tidings_deliveries_given_up", "Deliveries given up, by reason.", "reason")
        delivery_seconds = self._histograms("tidings_delivery_seconds", "Duration of an attempt.", NETWORK_BUCKETS_S)
        self._delivery_seconds = delivery_seconds[()]
        self._requests = self._counters("tidings_http_requests", "HTTP requests.", "method", "route", "status")
        self._request_seconds = self._histograms(
            "tidings_http_request_seconds", "Duration of a request.", REQUEST_BUCKETS_S, "method", "route"
        )
        database = self._histograms(
            "tidings_database_seconds",
            "Duration of a transaction: read, write, or wait (until a write transaction could begin).",
            DATABASE_BUCKETS_S,
            "use",
        )
        self._reading, self._writing, self._waiting = (database[use,] for use in ("read", "write", "wait"))
        self._deleted = self._counters(
            "tidings_cleanup_deleted", "Rows deleted because they were old or unused.", "what"
        )
        self._letters = self._counters("tidings_letters", "Letters of newsletters, by outcome.", "outcome")
        self._backups = self._counters("tidings_backups", "Scheduled backups, by outcome.", "outcome")
        for counters, values in ((self._given_up, GIVEN_UP_REASONS), (self._backups, BACKUP_OUTCOMES)):
            for value in values:
                counters[value,].add(0)
        # Looking a metric up by its labels takes longer than adding to it.
        self._request_metrics: dict[tuple[str, str, int], tuple[Counter, Histogram]] = {}

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

    def record_deliveries_given_up(self, reason: str, count: int) -> None:
        self._given_up[reason,].add(count)

    def record_request(self, route: str, method: str, status: int, seconds: float) -> None:
        metrics = self._request_metrics.get((route, method, status))
        if metrics is None:
            # A client may send any number of invented methods.
            label = method if method in KNOWN_METHODS else "other"
            metrics = (self._requests[label, route, str(status)], self._request_seconds[label, route])
            if label == method:
                self._request_metrics[route, method, status] = metrics
        metrics[0].add()
        metrics[1].add(seconds)

    def record_database_read(self, seconds: float) -> None:
        self._reading.add(seconds)

    def record_database_write(self, seconds: float, waited: float) -> None:
        self._waiting.add(waited)
        self._writing.add(seconds)

    def record_cleanup(self, what: str, count: int) -> None:
        self._deleted[what,].add(count)

    def record_letter(self, outcome: str) -> None:
        self._letters[outcome,].add()

    def record_backup(self, outcome: str) -> None:
        self._backups[outcome,].add()

    def _counters(self, name: str, help_text: str, *labels: str) -> LabelledMetric[Counter]:
        return LabelledMetric(lambda values: Counter(self._files, name, help_text, values), *labels)

    def _histograms(
        self, name: str, help_text: str, bounds: Sequence[float], *labels: str
    ) -> LabelledMetric[Histogram]:
        return LabelledMetric(lambda values: Histogram(self._files, name, help_text, bounds, values), *labels)

    def exposition(self, gauges: dict[str, tuple[str, float]]) -> tuple[bytes, str]:
        registry = CollectorRegistry()
        registry.register(_FileCollector(self._folder))
        registry.register(_GaugeCollector(gauges))
        return generate_latest(registry), CONTENT_TYPE_LATEST


class _FileCollector(Collector):
    """Counters and histograms, summed over all processes."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def collect(self) -> Iterator[Metric]:
        counters: dict[str, CounterMetricFamily] = {}
        histograms: dict[str, HistogramMetricFamily] = {}
        parts: defaultdict[SampleKey, dict[str, float]] = defaultdict(dict)
        for key, value in sum_of_all(self._folder).items():
            if key.kind == "histogram":
                parts[structs.replace(key, part="")][key.part] = value
                continue
            names, labels = [name for name, _ in key.labels], [text for _, text in key.labels]
            counter = counters.setdefault(key.metric, CounterMetricFamily(key.metric, key.help_text, labels=names))
            counter.add_metric(labels, value)
        for key, counts in parts.items():
            names, labels = [name for name, _ in key.labels], [text for _, text in key.labels]
            empty = HistogramMetricFamily(key.metric, key.help_text, labels=names)
            histogram = histograms.setdefault(key.metric, empty)
            total = counts.pop(SUM, 0.0)
            # In the files each bucket has its own durations only.
            histogram.add_metric(labels, list(zip(counts, accumulate(counts.values()), strict=True)), total)
        yield from counters.values()
        yield from histograms.values()


class _GaugeCollector(Collector):
    """Gauges read from the database. They are the same in every process, and so not in the metric files."""

    def __init__(self, gauges: dict[str, tuple[str, float]]) -> None:
        self._gauges = gauges

    def collect(self) -> Iterator[Metric]:
        for name, (help_text, value) in self._gauges.items():
            yield GaugeMetricFamily(name, help_text, value)


K = TypeVar("K")

SUM = "sum"


# Adding to prometheus_client's own counters takes five times as long, and each request adds three times.
class Counter:
    """A metric that only rises.

    name: without `_total`, which is appended.
    """

    def __init__(self, files: MetricFiles, name: str, help_text: str, labels: Mapping[str, str]) -> None:
        self._lock, self._values = files.lock, files.values
        self._index = files.index(SampleKey("counter", name, help_text, tuple(labels.items())))

    def add(self, amount: float = 1) -> None:
        with self._lock:
            self._values[self._index] += amount


class Histogram:
    """Counts durations by bucket, and sums them. bounds: upper bounds of the buckets in seconds, ascending."""

    def __init__(
        self, files: MetricFiles, name: str, help_text: str, bounds: Sequence[float], labels: Mapping[str, str]
    ) -> None:
        self._lock, self._values = files.lock, files.values
        self._bounds = tuple(bounds)
        parts = [*map(format_bound, self._bounds), "+Inf", SUM]
        keys = [SampleKey("histogram", name, help_text, tuple(labels.items()), part) for part in parts]
        *self._buckets, self._sum = [files.index(key) for key in keys]

    def add(self, seconds: float) -> None:
        bucket, values = self._buckets[bisect_left(self._bounds, seconds)], self._values
        with self._lock:
            values[self._sum] += seconds
            values[bucket] += 1


class LabelledMetric(Generic[K]):
    """A metric for each combination of label values, created on first use. make: creates one from its labels."""

    def __init__(self, make: Callable[[Mapping[str, str]], K], *names: str) -> None:
        self._make = make
        self._names = names
        self._metrics: dict[tuple[str, ...], K] = {}
        self._creating = threading.Lock()

    def __getitem__(self, labels: tuple[str, ...]) -> K:
        metric = self._metrics.get(labels)
        if metric is None:
            with self._creating:
                # Another thread may have created it in the meantime.
                metric = self._metrics.get(labels)
                if metric is None:
                    metric = self._metrics[labels] = self._make(dict(zip(self._names, labels, strict=True)))
        return metric


def format_bound(bound: float) -> str:
    """Return a bound as the text format writes it: 1.0, 0.0025."""
    return repr(float(bound))
