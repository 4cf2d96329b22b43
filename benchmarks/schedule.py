"""Simulates how long new entries wait and how many checks are made: 100,000 feeds over 30 days.

Each feed publishes at random at a rate that follows day, night and weekday; the schedule under test, the one of the
service, sees nothing of that rate, only what its checks bring. Fetching takes no time here, and nothing fails.

    for each feed: a life of news ─► what a new subscription knows ─► check, check, check … ─► delays, load
"""

from __future__ import annotations

import bisect
import math
import random
import sys
import time
from array import array
from collections.abc import Iterator, Sequence
from itertools import accumulate
from pathlib import Path

from msgspec import Struct

from benchmarks.plots import Axis, Curve, write_plot
from tidings.base.times import DAY, HOUR, MINUTE, SECOND, Instant
from tidings.domain.polling import check_times
from tidings.domain.polling.check_times import Schedule, Scheduler

FEEDS = 100_000
DAYS = 30
# In minutes. On the first day all feeds are new.
WARM_UP_MIN = 2 * 1440
SEED = 2026
# A Monday, midnight in UTC.
START = Instant(1_795_996_800_000_000 // DAY * DAY)
PLOT = Path(__file__).parents[1] / "docs" / "polling-load.svg"
# The number of entries in a document, with which a subscription begins.
DOCUMENT_ENTRIES = 15
HISTORY = 120 * DAY


class Kind(Struct, frozen=True):
    """share: of all feeds. per_day: updates, of the slowest and of the fastest feed."""

    name: str
    share: float
    per_day: tuple[float, float]


# Many are silent, few publish many times a day; within a kind, rates are spread evenly over their logarithm.
KINDS = (
    Kind("dead", 0.35, (0, 0)),
    Kind("monthly", 0.30, (1 / 60, 1 / 10)),
    Kind("weekly", 0.16, (1 / 10, 1 / 3)),
    Kind("daily", 0.12, (1 / 3, 3)),
    Kind("several a day", 0.055, (3, 20)),
    Kind("many a day", 0.015, (20, 120)),
)

# Weights of the hours for publishers who work by day, as half of all feeds.
_HOUR_WEIGHTS = (1, 1, 1, 1, 1, 2, 4, 7, 10, 12, 12, 11, 10, 11, 11, 11, 10, 8, 6, 5, 4, 3, 2, 1)
_WEEKDAY_WEIGHTS = (1.2, 1.2, 1.2, 1.2, 1.1, 0.6, 0.5)


class Outcome(Struct):
    """The outcome of a schedule. delays: seconds, by kind. load: checks by minute since START."""

    name: str
    delays: dict[str, array[int]]
    checks: dict[str, int]
    load: array[int]
    took_s: float = 0.0

    def by_hour(self) -> list[float]:
        """Return the checks per minute, by hour."""
        return [sum(self.load[minute : minute + 60]) / 60 for minute in range(0, DAYS * 1440, 60)]


class _SimulatedPublisher:
    """Draws the updates of a feed: random times, with a rate for each hour of the week."""

    def __init__(self, per_day: float, rng: random.Random) -> None:
        self._rng = rng
        self._per_day = per_day
        has_office_hours = rng.random() < 0.5
        zone = rng.choice((-8, -5, -5, 0, 1, 1, 1, 2, 5, 8, 9))
        mean = sum(_HOUR_WEIGHTS) / 24
        self._weights = [
            _WEEKDAY_WEIGHTS[day] * _HOUR_WEIGHTS[(hour + zone) % 24] / mean if has_office_hours else 1.0
            for day in range(7)
            for hour in range(24)
        ]
        self._cumulative_weights = list(accumulate(self._weights))

    def news(self, start: int, end: int) -> list[int]:
        """Return the times of updates in ascending order. Draws their number for each week, then their times."""
        found: list[int] = []
        for week in range(start // (7 * DAY) * 7 * DAY, end, 7 * DAY):
            for _ in range(_poisson(self._per_day * 7, self._rng)):
                position = bisect.bisect(self._cumulative_weights, self._rng.random() * self._cumulative_weights[-1])
                # The week of the epoch began on a Thursday.
                at = week + ((position + 4 * 24) % 168) * HOUR + int(self._rng.random() * HOUR)
                if start <= at < end:
                    found.append(at)
        found.sort()
        return found


def run() -> None:
    outcomes = [
        simulate("every hour", Schedule(scheduler=Scheduler.ROUND_ROBIN), is_hourly=True),
        simulate("adaptive", Schedule()),
    ]
    for outcome in outcomes:
        _print_report(outcome)
    write_plot(
        PLOT,
        title=f"Checks a minute, by hour, over {DAYS} days: {FEEDS:,} feeds",
        curves=[Curve(outcome.name, outcome.by_hour()) for outcome in outcomes],
        axis=Axis("days since the import", DAYS, 5),
    )


def simulate(name: str, schedule: Schedule, *, feeds: int = FEEDS, is_hourly: bool = False) -> Outcome:
    """Return the outcome of a schedule for a number of feeds of all kinds over DAYS."""
    began = time.process_time()
    outcome = Outcome(
        name,
        {kind.name: array("i") for kind in KINDS},
        {kind.name: 0 for kind in KINDS},
        array("i", bytes(4 * (DAYS + 2) * 1440)),
    )
    rng = random.Random(SEED)  # noqa: S311
    for kind in KINDS:
        for _ in range(round(feeds * kind.share)):
            _simulate_feed(kind, schedule, outcome, random.Random(rng.random()), is_hourly=is_hourly)  # noqa: S311
    outcome.took_s = time.process_time() - began
    return outcome


def _simulate_feed(kind: Kind, schedule: Schedule, outcome: Outcome, rng: random.Random, *, is_hourly: bool) -> None:
    """Simulate a feed from its subscription to the last day. All feeds are imported within the first hour."""
    lowest, highest = kind.per_day
    per_day = lowest * (highest / lowest) ** rng.random() if lowest else 0.0
    publisher = _SimulatedPublisher(per_day, rng)
    # The last update of a dead feed was up to five years ago.
    past_updates = publisher.news(START - HISTORY, START) if per_day else [START - int(rng.uniform(0.3, 5) * 365 * DAY)]
    updates, end = publisher.news(START, START + DAYS * DAY), START + DAYS * DAY
    at = START + int(rng.random() * HOUR)
    if is_hourly:
        _simulate_hourly(kind, at, updates, outcome)
        return
    delays, load, checks, position = outcome.delays[kind.name], outcome.load, 0, 0
    rate, since, is_first, first = check_times.PublishRate(), Instant(START), True, at
    while at < end:
        checks += 1
        load[(at - START) // MINUTE] += 1
        new_position = bisect.bisect_right(updates, at, lo=position)
        now, new = Instant(at), [Instant(update) for update in updates[position:new_position]]
        if is_first:
            rate = check_times.rate_of_document([*map(Instant, past_updates[-DOCUMENT_ENTRIES:]), *new], now)
        elif new:
            rate = check_times.update_rate(rate, new, since=since, now=now)
        delays.extend((at - published_at) // SECOND for published_at in new)
        is_new = now - first < check_times.NEW_FOR
        at = check_times.after_check(
            now, schedule, rate, random_fraction=rng.random(), is_first=is_first, is_new=is_new
        )
        position, since, is_first = new_position, now, False
    outcome.checks[kind.name] += checks


def _simulate_hourly(kind: Kind, first: int, updates: Sequence[int], outcome: Outcome) -> None:
    """Count the checks of a feed that is checked every hour, without simulating each."""
    outcome.delays[kind.name].extend((first - update) % HOUR // SECOND for update in updates)
    outcome.checks[kind.name] += DAYS * 24
    for minute in range((first - START) // MINUTE, DAYS * 1440, 60):
        outcome.load[minute] += 1


def _poisson(mean: float, rng: random.Random) -> int:
    """Draw from a Poisson distribution: Knuth's algorithm for small means, the normal distribution for large ones."""
    if mean > 50:
        return max(0, round(rng.gauss(mean, math.sqrt(mean))))
    limit, count, product = math.exp(-mean), 0, rng.random()
    while product > limit:
        count += 1
        product *= rng.random()
    return count


def _print_report(outcome: Outcome) -> None:
    all_delays = array("i")
    for delays in outcome.delays.values():
        all_delays.extend(delays)
    checks = sum(outcome.checks.values())
    sys.stdout.write(
        f"schedule: {outcome.name}, {FEEDS:,} feeds, {DAYS} days; {outcome.took_s:.0f} s of processor time\n"
    )
    sys.stdout.write(f"  {'':14} {'feeds':>7} {'checks a day':>13} {'news':>9} {'median':>8} {'p95':>8}\n")
    for kind in KINDS:
        feeds = round(FEEDS * kind.share)
        _print_line(kind.name, feeds, outcome.checks[kind.name] / DAYS, outcome.delays[kind.name])
    _print_line("all", FEEDS, checks / DAYS, all_delays)
    # The first day is that of the import.
    loads = sorted(outcome.load[WARM_UP_MIN : DAYS * 1440])
    hours = sorted(sum(outcome.load[m : m + 60]) for m in range(WARM_UP_MIN, DAYS * 1440, 60))
    mean, busiest = sum(loads) / len(loads), hours[-1] / (sum(hours) / len(hours))
    sys.stdout.write(
        f"  checks a minute from the third day: mean {mean:.0f}, p99 {loads[len(loads) * 99 // 100]},"
        f" most {loads[-1]}; busiest hour over mean hour {busiest:.2f}\n"
    )


def _print_line(name: str, feeds: int, checks: float, delays: Sequence[int]) -> None:
    median, p95 = (_format_duration(seconds) for seconds in _quantiles(delays)) if delays else ("-", "-")
    sys.stdout.write(f"  {name:14} {feeds:7,} {checks:13,.0f} {len(delays):9,} {median:>8} {p95:>8}\n")


def _quantiles(delays: Sequence[int]) -> Iterator[float]:
    ordered = sorted(delays)
    return (ordered[int(len(ordered) * part)] for part in (0.5, 0.95))


def _format_duration(seconds: float) -> str:
    return f"{seconds / 60:.0f} min" if seconds < 7200 else f"{seconds / 3600:.1f} h"
