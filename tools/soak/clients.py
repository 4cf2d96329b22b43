"""Runs many API clients for minutes while feeds are polled; measures responses, latency and resource usage."""

from __future__ import annotations

import asyncio
import random
import resource
import time
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

import aiohttp

from loopback.processes import Usage
from loopback.publisher import Publisher
from loopback.readings import percentile
from loopback.running import Service, service
from soak.breaches import WORKERS, Report

FEEDS, ENTRIES = 60, 30
# Between two requests of one client, as apps that sync in the foreground.
PAUSE_S = (2.0, 8.0)
TIMEOUT_S = 60
# An overloaded service must refuse at once instead of letting clients wait.
MAX_REFUSAL_S = 2.0
MAX_ANSWER_S = 5.0
SAMPLE_EVERY_S = 3.0


@dataclass
class ResponseCounts:
    """Counts responses. By kind of request: seconds until the whole response was received, if it was served."""

    times: dict[str, list[float]] = field(default_factory=dict)
    statuses: Counter[str] = field(default_factory=Counter)
    errors: Counter[str] = field(default_factory=Counter)
    refusals: list[float] = field(default_factory=list)
    without_retry_after: int = 0


async def soak(database_url: str, home: Path, count: int, seconds: float) -> Report:
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
    publisher = Publisher(random.Random(1))
    await publisher.start()
    for number in range(FEEDS):
        publisher.publish(number, ENTRIES)
    try:
        async with service(database_url, home, worker_processes=WORKERS) as running:
            await running.subscribe([publisher.feed_url(number) for number in range(FEEDS)])
            entries = await _entries(running)
            answers = ResponseCounts()
            samples = await _load(running, publisher, answers, entries, count, seconds)
            return report_on(answers, samples, count, seconds)
    finally:
        await publisher.stop()


async def _entries(running: Service) -> list[int]:
    """Return the ids of the polled entries when all of them are stored."""
    deadline = time.monotonic() + 180
    found: list[int] = []
    while len(found) < FEEDS * ENTRIES and time.monotonic() < deadline:
        await asyncio.sleep(2)
        found = (await running.ask("GET", "/v1/entries/ids?limit=10000"))["entry_ids"]
    return found


async def _load(
    running: Service, publisher: Publisher, answers: ResponseCounts, entries: list[int], count: int, seconds: float
) -> list[Usage]:
    until = time.monotonic() + seconds
    timeout, connector = aiohttp.ClientTimeout(total=TIMEOUT_S), aiohttp.TCPConnector(limit=0)
    samples: list[Usage] = []
    async with aiohttp.ClientSession(timeout=timeout, connector=connector, headers=running.headers) as session:
        tasks = [
            asyncio.create_task(_client(session, running.url, answers, entries, random.Random(number), until))
            for number in range(count)
        ]
        while time.monotonic() < until:
            publisher.publish(random.randrange(FEEDS))
            samples.append(await asyncio.to_thread(running.usage))
            await asyncio.sleep(SAMPLE_EVERY_S)
        await asyncio.gather(*tasks)
    return samples


async def _client(
    session: aiohttp.ClientSession,
    url: str,
    answers: ResponseCounts,
    entries: list[int],
    rng: random.Random,
    until: float,
) -> None:
    await asyncio.sleep(rng.uniform(0, PAUSE_S[1]))
    while time.monotonic() < until:
        wait_s = await _request(session, url, answers, entries, rng)
        await asyncio.sleep(wait_s + rng.uniform(*PAUSE_S))


async def _request(
    session: aiohttp.ClientSession, url: str, answers: ResponseCounts, entries: list[int], rng: random.Random
) -> float:
    """Send one request. Returns how many seconds the service asked to wait."""
    kind, method, path, body = _choice(entries, rng)
    started = time.monotonic()
    try:
        async with session.request(method, url + path, json=body) as answer:
            await answer.read()
    except (aiohttp.ClientError, TimeoutError) as error:
        answers.errors[type(error).__name__] += 1
        return 0
    took = time.monotonic() - started
    answers.statuses[str(answer.status)] += 1
    if answer.status != 503:
        answers.times.setdefault(kind, []).append(took)
        return 0
    answers.refusals.append(took)
    requested = answer.headers.get("Retry-After", "")
    answers.without_retry_after += not requested.isdigit()
    return float(requested) if requested.isdigit() else 0


def _choice(entries: list[int], rng: random.Random) -> tuple[str, str, str, object]:
    """Return kind, method, path and body of a random request: mostly reads, as apps send."""
    some = rng.sample(entries, min(5, len(entries)))
    status = rng.choice(["read", "unread"])
    choices: list[tuple[str, str, str, object]] = [
        ("list of 30", "GET", "/v1/entries?status=unread&limit=30&direction=desc", None),
        ("list of a feed", "GET", f"/v1/feeds/{rng.randint(1, FEEDS)}/entries?limit=30", None),
        ("entry", "GET", f"/v1/entries/{rng.choice(entries)}", None),
        ("counters", "GET", "/v1/feeds/counters", None),
        ("set status", "PUT", "/v1/entries", {"entry_ids": some, "status": status}),
        ("star", "PUT", f"/v1/entries/{rng.choice(entries)}/star", None),
    ]
    return rng.choices(choices, [4, 2, 3, 3, 2, 1])[0]


def report_on(answers: ResponseCounts, samples: list[Usage], count: int, seconds: float) -> Report:
    report = Report()
    total = sum(answers.statuses.values())
    report.tell("clients, seconds", f"{count}, {seconds:.0f}")
    report.tell("answers, of these a second", f"{total}, {total / seconds:.0f}")
    report.tell("by status", ", ".join(f"{status}: {n}" for status, n in sorted(answers.statuses.items())))
    report.lines.append(f"{'milliseconds':<24}{'median':>10}{'90 %':>10}{'99 %':>10}{'longest':>10}{'count':>10}")
    for kind, times in sorted(answers.times.items()):
        cells = [percentile(times, 0.5), percentile(times, 0.9), percentile(times, 0.99), max(times)]
        report.lines.append(f"{kind:<24}" + "".join(f"{1000 * cell:>10.0f}" for cell in cells) + f"{len(times):>10}")
    wrong = sum(n for status, n in answers.statuses.items() if status >= "500" and status != "503")
    report.tell("refused with 503", len(answers.refusals))
    served = [took for times in answers.times.values() for took in times]
    report.bound("99 % of what is served, within", percentile(served, 0.99), MAX_ANSWER_S, " s")
    report.bound("5xx other than 503", wrong, 0)
    report.bound("4xx", sum(n for status, n in answers.statuses.items() if status.startswith("4")), 0)
    report.bound("503 without Retry-After", answers.without_retry_after, 0)
    report.bound("slowest 503", max(answers.refusals, default=0), MAX_REFUSAL_S, " s")
    report.bound(f"no answer {dict(answers.errors) or ''}".strip(), sum(answers.errors.values()), 0)
    report.usage(samples)
    return report
