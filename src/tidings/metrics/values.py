"""Counters and timings as this process keeps them; prometheus_client reads their files and adds them up.

Its own take five times as long to be added to, and each request does that three times.
"""

from __future__ import annotations

import threading
from bisect import bisect_left
from collections.abc import Callable, Mapping, Sequence
from typing import Generic, TypeVar

from prometheus_client.mmap_dict import mmap_key
from prometheus_client.utils import floatToGoString

from tidings.metrics.multiprocess import MetricFiles

K = TypeVar("K")


class Counter:
    """name: without `_total`, which is shown behind it."""

    def __init__(self, place: MetricFiles, name: str, help_text: str, labels: Mapping[str, str]) -> None:
        self._lock = place.lock
        self._cells, self._at = place.cell("counter", _key(name, f"{name}_total", help_text, labels))

    def add(self, amount: float = 1) -> None:
        with self._lock:
            self._cells[self._at] += amount


class Histogram:
    """How often, and how long in all; by how long it took at most. bounds: in seconds, ascending."""

    def __init__(
        self, place: MetricFiles, name: str, help_text: str, bounds: Sequence[float], labels: Mapping[str, str]
    ) -> None:
        self._lock = place.lock
        self._bounds = tuple(bounds)
        buckets = [
            place.cell("histogram", _key(name, f"{name}_bucket", help_text, {**labels, "le": bound}))
            for bound in map(_shown, (*self._bounds, float("inf")))
        ]
        self._buckets = [at for _, at in buckets]
        # Made last: its view reaches all of them.
        self._cells, self._sum = place.cell("histogram", _key(name, f"{name}_sum", help_text, labels))

    def add(self, seconds: float) -> None:
        bucket, cells = self._buckets[bisect_left(self._bounds, seconds)], self._cells
        with self._lock:
            cells[self._sum] += seconds
            cells[bucket] += 1


class LabelledMetric(Generic[K]):
    """One of them for each combination of labels that was met. make: from the labels."""

    def __init__(self, make: Callable[[Mapping[str, str]], K], *names: str) -> None:
        self._make = make
        self._names = names
        self._known: dict[tuple[str, ...], K] = {}
        self._making = threading.Lock()

    def __getitem__(self, labels: tuple[str, ...]) -> K:
        known = self._known.get(labels)
        if known is None:
            with self._making:
                # Two of the same would each write what it counted itself.
                known = self._known.get(labels)
                if known is None:
                    known = self._known[labels] = self._make(dict(zip(self._names, labels, strict=True)))
        return known


def _shown(bound: float) -> str:
    return str(floatToGoString(bound))  # type: ignore[no-untyped-call]


def _key(metric: str, name: str, help_text: str, labels: Mapping[str, str]) -> str:
    return mmap_key(metric, name, list(labels), list(labels.values()), help_text)
