"""Counters and timings as this process keeps them; prometheus_client reads their files and adds them up.

Its own take half as long again to be added to, and each request does that three times.
"""

from __future__ import annotations

import threading
from bisect import bisect_left
from collections.abc import Callable, Mapping, Sequence
from typing import Generic, TypeVar

from prometheus_client.mmap_dict import mmap_key
from prometheus_client.utils import floatToGoString

from tidings.metrics.files import Number, Place

K = TypeVar("K")


class Counter:
    """name: without `_total`, which is shown behind it."""

    def __init__(self, place: Place, name: str, told: str, labels: Mapping[str, str]) -> None:
        self._lock = place.lock
        self._number = _number(place, "counter", name, f"{name}_total", told, labels)

    def add(self, amount: float = 1) -> None:
        with self._lock:
            self._number.add(amount)


class Timing:
    """How often, and how long in all; by how long it took at most. bounds: in seconds, ascending."""

    def __init__(self, place: Place, name: str, told: str, bounds: Sequence[float], labels: Mapping[str, str]) -> None:
        self._lock = place.lock
        self._bounds = tuple(bounds)
        self._sum = _number(place, "histogram", name, f"{name}_sum", told, labels)
        self._buckets = [
            _number(place, "histogram", name, f"{name}_bucket", told, {**labels, "le": bound})
            for bound in map(_shown, (*self._bounds, float("inf")))
        ]

    def add(self, seconds: float) -> None:
        bucket = self._buckets[bisect_left(self._bounds, seconds)]
        with self._lock:
            self._sum.add(seconds)
            bucket.add(1)


class Labelled(Generic[K]):
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


def _number(place: Place, kind: str, metric: str, name: str, told: str, labels: Mapping[str, str]) -> Number:
    return Number(place, kind, mmap_key(metric, name, list(labels), list(labels.values()), told))
