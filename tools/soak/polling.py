"""Polls for a long time while a third of the publishers misbehaves: feeds of the others must stay on time."""

from __future__ import annotations

import asyncio
import random
import time
from pathlib import Path

from loopback.processes import Usage
from loopback.publisher import Publisher
from loopback.readings import percentile
from loopback.running import Service, service
from soak.breaches import WORKERS, Report

# Feeds are due once a minute here; a check may be late by jitter, batches and a busy machine.
MAX_GAP_S = 150.0
PUBLISH_EVERY_S = 1.0
GOOD_HOST, BAD_HOST = "127.0.0.1", "127.0.0.2"


async def soak(database_url: str, home: Path, feeds: int, seconds: float) -> Report:
    publisher = Publisher(random.Random(1))
    await publisher.start((GOOD_HOST, BAD_HOST))
    bad = [number for number in range(feeds) if number % 3 == 0]
    good = [number for number in range(feeds) if number % 3]
    for number in range(feeds):
        publisher.publish(number, 10)
    publisher.misbehaving = dict.fromkeys(bad, 0.9)
    urls = [publisher.feed_url(number, BAD_HOST if number in set(bad) else GOOD_HOST) for number in range(feeds)]
    try:
        async with service(database_url, home, worker_processes=WORKERS) as running:
            await running.subscribe(urls)
            measured = Measured(publisher, good)
            samples = await measured.run(running, seconds)
            return measured.report(await measured.missing(running), samples)
    finally:
        await publisher.stop()


class Measured:
    """gaps: seconds between two requests for a working feed. delays: seconds from publishing to the next request."""

    def __init__(self, publisher: Publisher, good: list[int]) -> None:
        self._publisher = publisher
        self._good = good
        self._published = 0
        self.gaps: list[float] = []

    async def run(self, running: Service, seconds: float) -> list[Usage]:
        rng, started = random.Random(2), time.monotonic()
        seen: dict[int, float] = {}
        samples: list[Usage] = []
        while time.monotonic() - started < seconds:
            self._publisher.publish(rng.choice(self._good))
            self._published += 1
            self._note_gaps(seen)
            if self._published % max(1, int(seconds / 60)) == 0:
                samples.append(await asyncio.to_thread(running.usage))
            await asyncio.sleep(PUBLISH_EVERY_S)
        now = asyncio.get_running_loop().time()
        self.gaps += [now - at for at in seen.values()]
        return samples

    def _note_gaps(self, seen: dict[int, float]) -> None:
        for number in self._good:
            last = self._publisher.last_seen_s.get(number)
            if last is not None and last != seen.get(number):
                if number in seen:
                    self.gaps.append(last - seen[number])
                seen[number] = last

    def report(self, missing: int, samples: list[Usage]) -> Report:
        """Return the report. missing: the number of published entries that are not stored."""
        report = Report()
        never = [number for number in self._good if number not in self._publisher.requests]
        report.tell("feeds, of which good", f"{len(self._publisher.misbehaving) + len(self._good)}, {len(self._good)}")
        report.tell("requests to publishers", sum(self._publisher.requests.values()))
        report.tell("of these misbehaved", ", ".join(f"{k} {n}" for k, n in self._publisher.faults.most_common()))
        report.tell("good feeds: seconds between checks, median", f"{percentile(self.gaps, 0.5):.0f}")
        report.tell("good feeds: the same, 99th percentile", f"{percentile(self.gaps, 0.99):.0f}")
        report.bound("good feeds: longest time without a check", max(self.gaps, default=0), MAX_GAP_S, " s")
        report.bound("good feeds never checked", len(never), 0)
        report.bound("entries published and not there", missing, 0)
        report.usage(samples)
        return report

    async def missing(self, running: Service) -> int:
        """Return the number of entries of working feeds that are missing after one more check of each."""
        deadline = time.monotonic() + MAX_GAP_S
        wanted = sum(self._publisher.count(number) for number in self._good)
        missing = wanted
        while missing and time.monotonic() < deadline:
            counters = await running.ask("GET", "/v1/feeds/counters")
            feeds = {feed["id"]: feed["feed_url"] for feed in await running.ask("GET", "/v1/feeds")}
            urls = {self._publisher.feed_url(number, GOOD_HOST) for number in self._good}
            unread = {feed: count for feed, count in counters["unreads"].items() if feeds[int(feed)] in urls}
            missing = wanted - sum(unread.values())
            await asyncio.sleep(2)
        return missing
