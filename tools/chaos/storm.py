"""One run on one engine: set up, cause faults, undo them, wait for recovery, compare.

publisher ─► service under faults ─► receiver
writers ────►        │
    └─► ledger ◄─ compare ─► losses
"""

from __future__ import annotations

import asyncio
import random
import re
import time
from collections import Counter
from collections.abc import Hashable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import aiohttp

from chaos import checks
from chaos.faults import LANES, keep_breaking, possible
from chaos.ledger import Change, Ledger, Loss, Value
from chaos.reading import reader
from chaos.testbed import Testbed, make_testbed
from chaos.writers import Api, Writer, make_session
from loopback.publisher import Publisher
from loopback.receiver import Receiver
from loopback.service import ADMIN, PASSWORD, Command, NotReady, wait_until_ready

POLLED, MISBEHAVING, FIRST_ENTRIES = 12, 4, 3
WRITERS = 6
# Feeds that writers subscribe to and unsubscribe from, numbered from here; each writer has its own.
SCRATCH = 1000
PER_WRITER = 200
RECOVERY_S = 150
SETTINGS = {"web_workers": "2", "worker_processes": "2"}
KINDS = (
    "star", "status", "imported entry", "content", "published entry", "announced entry", "saved entry", "category",
    "category title", "feed", "feed address", "API key", "API key name",
)  # fmt: skip


@dataclass
class Plan:
    """faults: names; empty for all. recovery_s: time after the last fault within which the service must recover.

    is_short: each fault is made once, publishers and receiver behave, and at the end users refresh each feed by
    itself, which may be done at any time.
    """

    engine: str
    seconds: float
    seed: int
    folder: Path
    faults: frozenset[str] = frozenset()
    recovery_s: float = RECOVERY_S
    is_short: bool = False


@dataclass
class Outcome:
    """losses: each makes the run fail. notes: counts of observations that are no losses."""

    plan: Plan
    ledger: Ledger
    tried: Counter[str] = field(default_factory=Counter)
    not_possible: dict[str, str] = field(default_factory=dict)
    losses: list[Loss] = field(default_factory=list)
    statuses: Counter[str] = field(default_factory=Counter)
    notes: Counter[str] = field(default_factory=Counter)
    published: int = 0
    delivered: int = 0
    repeats: int = 0
    recovered_after_s: float | None = None


@dataclass
class _StormState:
    testbed: Testbed
    publisher: Publisher
    receiver: Receiver
    apis: list[Api]
    polled: dict[int, tuple[int, str]]
    ledger: Ledger
    rng: random.Random


async def storm(plan: Plan) -> Outcome:
    rng = random.Random(plan.seed)
    testbed = await asyncio.to_thread(
        make_testbed, plan.engine, plan.folder, random.Random(rng.random()), plan.faults, **SETTINGS
    )
    ledger = Ledger(plan.folder / "ledger.jsonl")
    publisher, receiver = Publisher(random.Random(rng.random())), Receiver(random.Random(rng.random()))
    outcome = Outcome(plan, ledger, testbed.tried)
    try:
        await publisher.start(("127.0.0.1", "127.0.0.2"))
        await receiver.start()
        for command in testbed.commands:
            command.start()
            await wait_until_ready(testbed.url)
        async with make_session() as session:
            state = _StormState(testbed, publisher, receiver, [], {}, ledger, rng)
            await _prepare(state, session)
            await _break(state, plan, outcome)
            await _recover(state, plan, outcome)
            await _compare(state, outcome)
    finally:
        await asyncio.to_thread(testbed.close)
        await publisher.stop()
        await receiver.stop()
    return outcome


async def _prepare(state: _StormState, session: aiohttp.ClientSession) -> None:
    """Create two accounts with API keys and webhooks, and feeds to poll, some of them in both accounts."""
    basic = aiohttp.BasicAuth(ADMIN, PASSWORD)
    people = {ADMIN: basic, "bob": aiohttp.BasicAuth("bob", PASSWORD)}
    await _ask(session, state.testbed.url, "POST", "/v1/users", {"username": "bob", "password": PASSWORD}, basic)
    for number in range(POLLED):
        state.publisher.publish(number, FIRST_ENTRIES)
    for number, auth in enumerate(people.values()):
        key = await _ask(session, state.testbed.url, "POST", "/v1/api-keys", {"description": "chaos"}, auth)
        api = Api(state.testbed.url, key["user_id"], key["token"], state.ledger, session)
        state.apis.append(api)
        state.ledger.acknowledge(Change("API key", key["token"], "chaos"))
        await _must(api, "PUT", "/v1/integrations", {"webhook": {"enabled": True, "url": state.receiver.url}})
        for feed in range(number * 4, POLLED):
            host = "127.0.0.2" if feed >= POLLED - MISBEHAVING else "127.0.0.1"
            url = state.publisher.feed_url(feed, host)
            created = await _must(api, "POST", "/v1/feeds", {"feed_url": url})
            state.polled[created["feed_id"]] = key["user_id"], url


async def _ask(
    session: aiohttp.ClientSession, url: str, method: str, path: str, body: object, auth: aiohttp.BasicAuth
) -> Any:
    timeout = aiohttp.ClientTimeout(total=60)
    async with session.request(method, url + path, json=body, auth=auth, timeout=timeout) as answer:
        answer.raise_for_status()
        return await answer.json()


async def _must(api: Api, method: str, path: str, body: object) -> Any:
    """Return the response, which must be a success: there are no faults yet. A busy machine may need retries."""
    status, found = 0, None
    for _ in range(5):
        status, found = await api.call(method, path, body)
        if 200 <= status < 300:
            return found
    raise NotReady(f"{method} {path}: {status} {found}")


async def _make_writer(state: _StormState, number: int) -> Writer:
    api = state.apis[number % len(state.apis)]
    scratch = [SCRATCH + number * PER_WRITER + place for place in range(PER_WRITER)]
    for feed in scratch:
        state.publisher.publish(feed, 2)
    archive = await _must(api, "POST", "/v1/feeds", {"feed_url": state.publisher.feed_url(scratch.pop())})
    urls = [state.publisher.feed_url(feed) for feed in scratch]
    rng, polled = random.Random(state.rng.random()), frozenset(state.polled)
    return Writer(api, number, WRITERS, rng, polled, archive["feed_id"], urls)


async def _break(state: _StormState, plan: Plan, outcome: Outcome) -> None:
    writers = [await _make_writer(state, number) for number in range(WRITERS)]
    faults, outcome.not_possible = possible(state.testbed, plan.faults)
    over = asyncio.Event()
    if not plan.is_short:
        state.publisher.misbehaving = dict.fromkeys(range(POLLED - MISBEHAVING, POLLED), 0.7)
        state.receiver.misbehaving = 0.15
    state.testbed.keeper = asyncio.create_task(state.testbed.keep_commands_running())
    work = [asyncio.create_task(writer.run(over)) for writer in writers]
    work += [asyncio.create_task(_publish(state, over)), asyncio.create_task(_refresh(state, over))]
    if plan.is_short:
        work.append(asyncio.create_task(_each_once(state.testbed, faults, plan.seconds)))
    else:
        work += [asyncio.create_task(keep_breaking(state.testbed, faults, lane, over)) for lane in LANES]
    try:
        await _run_for(plan.seconds, work)
    finally:
        over.set()
        await asyncio.gather(*work)
    state.publisher.misbehaving.clear()
    state.receiver.misbehaving = 0


async def _run_for(seconds: float, work: list[asyncio.Task[None]]) -> None:
    """Raise the exception of a failed task: without writers the run proves nothing."""
    done, _ = await asyncio.wait(work, timeout=seconds, return_when=asyncio.FIRST_EXCEPTION)
    for task in done:
        task.result()


async def _each_once(testbed: Testbed, faults: list[Any], seconds: float) -> None:
    for fault in faults:
        await asyncio.sleep(seconds / (len(faults) + 1))
        testbed.tried[fault.name] += 1
        await fault.act(testbed)


async def _publish(state: _StormState, until: asyncio.Event) -> None:
    while not until.is_set():
        state.publisher.publish(state.rng.randrange(POLLED), state.rng.choice([1, 1, 1, 3]))
        await asyncio.sleep(state.rng.uniform(0.2, 1))


async def _refresh(state: _StormState, until: asyncio.Event) -> None:
    """Refresh feeds as users do, in addition to the scheduled checks."""
    while not until.is_set():
        for api in state.apis:
            await api.call("PUT", "/v1/feeds/refresh")
        await asyncio.sleep(3)


async def _recover(state: _StormState, plan: Plan, outcome: Outcome) -> None:
    """Undo the faults and refresh all feeds; then everything must be stored and delivered in time."""
    started = time.monotonic()
    await state.testbed.heal()
    try:
        await wait_until_ready(state.testbed.url, plan.recovery_s)
    except NotReady as error:
        outcome.losses.append(Loss("service does not come back", str(error)))
    _expect_published(state, outcome)
    while time.monotonic() - started < plan.recovery_s:
        for api in state.apis:
            await api.call("PUT", "/v1/feeds/refresh")
            await _try_waiting_deliveries(api)
        if plan.is_short:
            await _refresh_singly(state)
        if await asyncio.to_thread(_is_at_rest, state):
            outcome.recovered_after_s = time.monotonic() - started
            break
        await asyncio.sleep(3)
    await asyncio.sleep(1)


async def _refresh_singly(state: _StormState) -> None:
    for feed, (user, _) in state.polled.items():
        api = next(api for api in state.apis if api.user == user)
        await api.call("PUT", f"/v1/feeds/{feed}/refresh")


def _expect_published(state: _StormState, outcome: Outcome) -> None:
    """Claim that each account has each entry of its feeds once, and that entries published later are announced once."""
    for user, url in state.polled.values():
        number = int(url.rsplit("/", 1)[1])
        count = state.publisher.count(number)
        outcome.published += count
        for item in range(count):
            entry = state.publisher.entry_url(number, item)
            state.ledger.acknowledge(Change("published entry", f"{user} {url} {entry}", 1))
            if item >= FIRST_ENTRIES:
                state.ledger.acknowledge(Change("announced entry", f"{user} {entry}", 1))


async def _try_waiting_deliveries(api: Api) -> None:
    """Send again what failed, as a user would: it waits for minutes, or was given up after its last attempt."""
    for state in ("pending", "failed"):
        status, found = await api.call("GET", f"/v1/webhooks/deliveries?state={state}&limit=1000")
        for delivery in found["deliveries"] if status == 200 else []:
            if delivery["last_error"]:
                await api.call("POST", f"/v1/webhooks/deliveries/{delivery['id']}/redeliver")


def _is_at_rest(state: _StormState) -> bool:
    try:
        with reader(state.testbed.database_url) as database:
            found = checks.facts(database)["published entry"]
            waiting = database.rows("SELECT id FROM deliveries WHERE state = 'pending'")
            unindexed = database.rows("SELECT entry_id FROM search_pending")
            stuck = list(checks.stuck_leases(database))
    except Exception:  # noqa: BLE001  (it may still recover: the comparison finds permanent errors)
        return False
    missing = [
        loss
        for loss in state.ledger.losses({**_nothing(), "published entry": found})
        if loss.check == "published entry"
    ]
    return not (missing or waiting or unindexed or stuck)


def _nothing() -> dict[str, dict[Hashable, Value]]:
    return {kind: {} for kind in KINDS}


async def _compare(state: _StormState, outcome: Outcome) -> None:
    contents = await _contents(state, outcome)
    if state.testbed.keeper:
        state.testbed.keeper.cancel()
        with suppress(asyncio.CancelledError):
            await state.testbed.keeper
    for command in state.testbed.commands:
        code = await asyncio.to_thread(command.stop)
        if code != 0:
            outcome.notes[f"`tidings {command.name}` did not stop in order at the end: exit code {code}"] += 1
    with reader(state.testbed.database_url) as database:
        found = checks.facts(database) | {"content": contents} | heard(state.receiver)
        outcome.losses += state.ledger.losses(found)
        outcome.losses += checks.inconsistencies(database)
        outcome.losses += _undelivered(
            database.rows("SELECT delivery_id FROM deliveries WHERE state = 'delivered'"), state
        )
    outcome.losses += [
        Loss("half-written", f"delivery {delivery} changed between two tries") for delivery in state.receiver.changed
    ]
    _note(state, outcome)


def _undelivered(rows: list[tuple[Any, ...]], state: _StormState) -> Iterator[Loss]:
    for (delivery,) in rows:
        if delivery not in state.receiver.accepted:
            yield Loss("delivery lost", f"{delivery} counts as delivered, and the receiver never accepted it")


async def _contents(state: _StormState, outcome: Outcome) -> dict[Hashable, Value]:
    """Return the texts of imported entries by URL, as the API returns them in pages of 1000."""
    texts: dict[Hashable, Value] = {}
    for api in state.apis:
        after = 0
        for _ in range(10_000):
            path = f"/v1/entries?order=id&limit=500&after_entry_id={after}"
            status, found = await api.call("GET", path)
            if status != 200:
                outcome.losses.append(Loss("service does not come back", f"GET {path}: {status} {found}"))
                return texts
            for entry in found["entries"]:
                texts[entry["url"]] = re.sub(r"<[^>]*>", "", entry["content"]).strip()
            if not found["entries"]:
                break
            after = found["entries"][-1]["id"]
    return texts


def heard(receiver: Receiver) -> dict[str, dict[Hashable, Value]]:
    """Return the number of different deliveries with each entry."""
    announced: Counter[Hashable] = Counter()
    saved: Counter[Hashable] = Counter()
    for event in receiver.seen.values():
        if event["event_type"] == "new_entries":
            announced.update(f"{event['feed']['user_id']} {entry['url']}" for entry in event["entries"])
        else:
            saved[event["entry"]["id"]] += 1
    return {"announced entry": dict(announced), "saved entry": dict(saved)}


def _note(state: _StormState, outcome: Outcome) -> None:
    for api in state.apis:
        outcome.statuses.update(api.statuses)
        outcome.notes.update({f"answer: {text}": count for text, count in api.failures.items()})
    outcome.notes.update(state.testbed.notes)
    outcome.notes.update(log_errors(state.testbed.commands))
    outcome.notes.update({f"publisher: {fault}": count for fault, count in state.publisher.faults.items()})
    outcome.notes.update({f"receiver: {fault}": count for fault, count in state.receiver.faults.items()})
    outcome.delivered, outcome.repeats = len(state.receiver.accepted), state.receiver.repeats


def log_errors(commands: list[Command]) -> Counter[str]:
    """Return the counts of log lines at level error, and of traces, by message."""
    found: Counter[str] = Counter()
    for command in commands:
        for line in command.log.read_text("utf-8", "replace").splitlines() if command.log.exists() else ():
            if '"level":"error"' in line.replace(" ", "") or line.startswith("Traceback"):
                event = re.search(r'"event": ?"([^"]*)"', line)
                found[f"log of `tidings {command.name}`: {event[1] if event else line[:80]}"] += 1
    return found
