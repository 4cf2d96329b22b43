"""Nothing is lost on the way out: not to receivers at their worst, not to a worker that is killed again and again."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from sqlalchemy import func, select

from support.outbox import Hook, hook, is_signed, text_of
from support.ports import free_port
from support.publisher import Answer, Cut, Drop, Hang, Publisher, ReceivedRequest, Reply
from support.random_examples import in_long_run
from tidings.deliveries.tables import deliveries, receivers
from tidings.engine.database import Database

pytestmark = pytest.mark.slow

# Nine hooks share them; with half of them, the failures come twice as often.
EVENTS = in_long_run(900, otherwise=450)
KILLS = in_long_run(4, otherwise=2)
OK = Answer("ok")


def every_nth(failure: Reply, every: int, *, first: bool = False) -> Callable[[ReceivedRequest], Reply]:
    """first: the very first request gets it, too."""
    count = 0 if first else 1

    def reply(_seen: ReceivedRequest) -> Reply:
        nonlocal count
        count += 1
        return failure if count % every == 1 else OK

    return reply


FAILURES: dict[str, Callable[[ReceivedRequest], Reply]] = {
    "none": lambda _: OK,
    "500": every_nth(Answer("oh", status=500), 9, first=True),
    "503": every_nth(Answer(status=503), 23),
    "429": every_nth(Answer(status=429, headers={"Retry-After": "1"}), EVENTS // 10, first=True),
    "307": lambda _: Answer(status=307, headers={"Location": "/elsewhere"}),
    "cut": every_nth(Cut("half of it", after=4), 11),
    "drop": every_nth(Drop(), 13, first=True),
    "hang": every_nth(Hang(), EVENTS * 7 // 90),
    "down": lambda _: OK,
}


@contextmanager
def worker(database_url: str, folder: Path) -> Iterator[subprocess.Popen[bytes]]:
    """Killed at the end, as it comes."""
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    with (folder / "worker.log").open("ab") as log:
        process = subprocess.Popen(
            [sys.executable, "-m", "support.outbox", database_url], env=environment, stdout=log, stderr=log
        )
    try:
        yield process
    finally:
        process.send_signal(signal.SIGKILL)
        process.wait()


def wait_for(condition: Callable[[], bool], log: Path, within_s: float = 120) -> None:
    deadline = time.monotonic() + within_s
    while not condition():
        assert time.monotonic() < deadline, f"it did not happen in time:\n{log.read_text()[-5000:]}"
        time.sleep(0.05)


def still_pending(database: Database) -> int:
    with database.reading() as db:
        return int(db.scalar(select(func.count()).where(deliveries.c.state == "pending")))


def test_every_event_arrives_in_order_and_signed_whatever_happens(
    database_url: str, database: Database, site: Publisher, tmp_path: Path
) -> None:
    rng = random.Random(6)
    port = free_port()
    hooks: dict[str, Hook] = {}
    for name, reply in FAILURES.items():
        site.script(f"/{name}", reply)
        hooks[name] = hook(database, site.url(f"/{name}"))
    site.serve("/elsewhere")
    hooks["down"] = hook(database, f"http://127.0.0.1:{port}/down")
    for number in range(EVENTS // len(hooks)):
        for one in hooks.values():
            one.post(f"{number}")
    log = tmp_path / "worker.log"

    for _ in range(KILLS):
        with worker(database_url, tmp_path):
            wanted = len(site.requests) + 100
            wait_for(lambda wanted=wanted: len(site.requests) >= wanted, log)  # type: ignore[misc]
            time.sleep(rng.random() / 3)
    with Publisher(port=port) as back, worker(database_url, tmp_path):
        back.serve("/down")
        wait_for(lambda: still_pending(database) == 0, log)
        requests = [*site.requests, *back.requests]

    assert all(is_signed(seen) for seen in requests)
    assert {seen.path for seen in requests} == {"/elsewhere", *(f"/{name}" for name in FAILURES)}
    for name, one in hooks.items():
        came = [(text_of(seen), seen.headers["x-service-delivery"]) for seen in requests if seen.path == f"/{name}"]
        in_order = list(dict.fromkeys(came))
        posted = [(text, shown.delivery.delivery_id) for text, shown in zip(one.posted, one.all(), strict=True)]
        # Each at least once, each under one id, and none before those that were posted before it.
        assert in_order == posted, name
        assert set(one.states()) == {"delivered"}
    assert len(requests) > EVENTS, "what goes wrong is repeated"
    with database.reading() as db:
        left = db.tuples(select(receivers.c.pending, receivers.c.pending_bytes, receivers.c.next_attempt_at))
    assert set(left) == {(0, 0, None)}
