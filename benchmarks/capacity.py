"""Estimates what a number of users and sources needs: checks, rows, bytes, processors, memory, connections, cost.

The checks come from a simulation of the service's own scheduler, the costs of each from measurements (`Costs`); what
users do is assumed (`Users`). docs/scaling.md says where the estimate ends.

    sources of all kinds ─► checks and updates of each ─► subscribers of each ─► work per second ─► machines

Then a hundredth of the second size is stored for a day, and what that takes is compared with the estimate.
"""

from __future__ import annotations

import math
import random
import sys
from collections.abc import Sequence

from msgspec import Struct

from benchmarks import capacity_point
from benchmarks.schedule import DAYS, KINDS, Outcome, simulate
from tidings.domain.polling.check_times import Schedule

SEED = 2026
# Sources that are simulated; they stand for all.
SAMPLE = 4_000
DAY_S = 86_400
MONTH_DAYS = 30
# The busiest hour of a day against its mean, of checks (docs/polling-load.svg) and of requests (assumed).
PEAK_CHECKS, PEAK_REQUESTS = 1.4, 3.0
# Processors are not planned to be busier than this.
MAX_LOAD = 0.6
# By how much the estimate may differ from what is measured.
TOLERANCE = 0.2


class Costs(Struct, frozen=True):
    """Measured on two cores with PostgreSQL; processor times include the share of the server.

    Seconds of one core: check_s of a source without news, update_s more with new entries, subscriber_s for each
    subscriber with ten new entries, search index included, text_s for each text of these entries, idle_subscriber_s of
    a subscriber without any, request_s of an API request or page.
    Bytes: of a check on the network, with and without news; in the database of a subscription, of an entry of a
    subscriber, and of its text with its part of the search index, which all subscribers share.
    """

    check_s: float = 0.25 * 2 / 500
    update_s: float = (0.97 - 0.25) * 2 / 500
    subscriber_s: float = 0.0024
    text_s: float = 0.003
    idle_subscriber_s: float = 0.00006
    request_s: float = 0.004
    check_bytes: int = 500
    update_bytes: int = 23_000
    subscription_bytes: int = 620
    entry_bytes: int = 2_200
    text_bytes: int = 4_800
    # A process with its connections; a backend of PostgreSQL.
    process_mib: int = 50
    backend_mib: int = 10
    connections_per_process: int = 10


# There each entry has its own part of the search index.
ON_SEVERAL_SERVERS = Costs(subscriber_s=0.0036, entry_bytes=5_500, text_bytes=1_500)


class Users(Struct, frozen=True):
    """Assumptions: subscriptions, requests a day, and days for which an entry is kept."""

    users: int
    sources: int
    subscriptions: int = 50
    requests_a_day: int = 150
    kept_days: int = 60


# A hundredth of 10,000 users with 200,000 sources.
MEASURED = Users(100, 2_000, kept_days=1)


class Prices(Struct, frozen=True):
    """Per month: of a core with 4 GiB, of 1 GB on fast disks, of 1 TB of traffic. In one currency, of a large host."""

    core: float = 12.0
    disk_gb: float = 0.10
    traffic_tb: float = 1.0


class Load(Struct):
    """Means per second, and totals. entries: rows that are stored, one for each subscriber. updates: new texts."""

    checks: float
    updates: float
    entries: float
    entries_kept: float
    texts_kept: float
    requests: float
    busiest_source: int


def run() -> int:
    outcome = simulate("adaptive", Schedule(), feeds=SAMPLE)
    for users, costs in (
        (Users(100, 3_000), Costs()),
        (Users(10_000, 200_000), Costs()),
        (Users(1_000_000, 20_000_000), ON_SEVERAL_SERVERS),
    ):
        _print_report(users, load_of(users, outcome), costs, Prices())
    return int(not _is_right(MEASURED, outcome, Costs()))


def _is_right(users: Users, outcome: Outcome, costs: Costs) -> bool:
    """Store what so many users get in a day. Prints how that differs, and returns whether the estimate is close."""
    rates = _rates(outcome)
    counts = _subscribers(rates, users.users * users.subscriptions * SAMPLE / users.sources, most=users.users)
    every = SAMPLE // users.sources
    point = capacity_point.measure(users.users, rates[::every], [round(count) for count in counts[::every]])
    estimates = {
        "bytes": (point.stored_bytes, stored_bytes(costs, point.subscriptions, point.entries, point.texts)),
        "seconds of a processor": (point.processor_s, _storing_s(costs, point.entries, point.texts)),
    }
    sys.stdout.write(
        f"{users.users:,} users, {users.sources:,} sources, a day: {point.entries:,} entries of {point.texts:,} texts\n"
    )
    for name, (measured, estimate) in estimates.items():
        sys.stdout.write(f"  {name:54} {measured:>16,.0f} measured, estimate {estimate:,.0f}\n")
    return all(abs(estimate / measured - 1) <= TOLERANCE for measured, estimate in estimates.values())


def load_of(users: Users, outcome: Outcome) -> Load:
    """Return the load of a number of users. outcome: of the scheduler, for a sample of their sources."""
    scale = users.sources / SAMPLE
    checks = sum(outcome.checks.values()) / DAYS / DAY_S
    rates = _rates(outcome)
    subscribers = _subscribers(rates, users.users * users.subscriptions / scale, most=users.users)
    updates = sum(rates) / DAY_S
    entries = sum(rate * count for rate, count in zip(rates, subscribers, strict=True)) / DAY_S * scale
    return Load(
        checks=checks * scale,
        updates=updates * scale,
        entries=entries,
        entries_kept=entries * DAY_S * users.kept_days,
        texts_kept=updates * scale * DAY_S * users.kept_days,
        requests=users.users * users.requests_a_day / DAY_S,
        busiest_source=min(users.users, round(_largest_share(users.sources) * users.users * users.subscriptions)),
    )


def _rates(outcome: Outcome) -> list[float]:
    """Return the new entries of each source of the sample in a day."""
    return [
        len(outcome.delays[kind.name]) / DAYS / round(SAMPLE * kind.share)
        for kind in KINDS
        for _ in range(round(SAMPLE * kind.share))
    ]


def stored_bytes(costs: Costs, subscriptions: float, entries: float, texts: float) -> float:
    return subscriptions * costs.subscription_bytes + entries * costs.entry_bytes + texts * costs.text_bytes


def _storing_s(costs: Costs, entries: float, texts: float) -> float:
    return entries / 10 * costs.subscriber_s + texts * costs.text_s


def _subscribers(rates: Sequence[float], subscriptions: float, *, most: int) -> list[float]:
    """Return the number of subscribers of each source: by Zipf's law, and the more the more it publishes.

    Sources whose rates differ by less than ten times are in any order. most: subscribers that a source can have.
    """
    rng = random.Random(SEED)  # noqa: S311
    order = sorted(range(len(rates)), key=lambda source: -(math.log10(rates[source] + 1e-3) + rng.gauss(0, 1)))
    total = sum(1 / rank for rank in range(1, len(rates) + 1))
    counts = [0.0] * len(rates)
    missing = 0.0
    for rank, source in enumerate(order, start=1):
        wanted = subscriptions / rank / total + missing / 10
        counts[source] = min(wanted, most)
        missing += subscriptions / rank / total - counts[source]
    return counts


def _largest_share(sources: int) -> float:
    """Return the share of all subscriptions that the most popular of so many sources has, by Zipf's law."""
    return 1 / (math.log(sources) + 0.5772)


def _print_report(users: Users, load: Load, costs: Costs, prices: Prices) -> None:
    subscribers_per_update = load.entries / load.updates if load.updates else 0.0
    idle = load.checks * users.users * users.subscriptions / users.sources
    polling = (
        load.checks * costs.check_s
        + load.updates * costs.update_s
        + _storing_s(costs, load.entries, load.updates)
        + idle * costs.idle_subscriber_s
    )
    worker_cores = polling * PEAK_CHECKS / MAX_LOAD
    web_cores = load.requests * costs.request_s * PEAK_REQUESTS / MAX_LOAD
    processes = math.ceil(worker_cores) + math.ceil(web_cores)
    connections = processes * costs.connections_per_process
    disk_gb = stored_bytes(costs, users.users * users.subscriptions, load.entries_kept, load.texts_kept) / 1e9
    traffic_tb = (load.checks * costs.check_bytes + load.updates * costs.update_bytes) * DAY_S * MONTH_DAYS / 1e12
    memory_gib = (processes * costs.process_mib + connections * costs.backend_mib) / 1024
    cost = math.ceil(worker_cores + web_cores) * prices.core + disk_gb * prices.disk_gb + traffic_tb * prices.traffic_tb
    rows = (
        ("checks a second", f"{load.checks:,.1f}"),
        ("sources with news a second", f"{load.updates:,.2f}"),
        ("entries stored a second (one for each subscriber)", f"{load.entries:,.1f}"),
        ("subscribers of a source with news, mean", f"{subscribers_per_update:,.1f}"),
        ("subscribers of the most popular source", f"{load.busiest_source:,}"),
        ("requests a second, mean", f"{load.requests:,.1f}"),
        ("cores for polling, with its database, busiest hour", f"{worker_cores:,.1f}"),
        ("cores for requests, with their database, busiest hour", f"{web_cores:,.1f}"),
        ("processes of Tidings", f"{processes:,}"),
        ("connections to PostgreSQL at most", f"{connections:,}"),
        ("memory of processes and connections, GiB", f"{memory_gib:,.1f}"),
        (f"entries kept ({users.kept_days} days)", f"{load.entries_kept:,.0f}"),
        ("database, GB", f"{disk_gb:,.1f}"),
        ("traffic of checks a month, TB", f"{traffic_tb:,.2f}"),
        ("cost a month", f"{cost:,.0f}"),
    )
    sys.stdout.write(f"{users.users:,} users, {users.sources:,} sources, {users.subscriptions} feeds for each user\n")
    for name, value in rows:
        sys.stdout.write(f"  {name:54} {value:>16}\n")
