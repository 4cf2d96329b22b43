"""Webhooks with events in the outbox, and a deliverer with short waits.

`python -m support.outbox DATABASE_URL` delivers in a process of its own, until it is killed.
"""

from __future__ import annotations

import asyncio
import hashlib
import hmac
import itertools
import json
import sys
import time
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any

from support.publisher import ReceivedRequest
from tidings.base.times import Instant
from tidings.deliveries.attempts import EventSender
from tidings.deliveries.events import DeliveryState
from tidings.deliveries.queue import DeliveryQueue
from tidings.deliveries.retries import RetryPolicy
from tidings.deliveries.store import outbox
from tidings.deliveries.store.outbox import ListedDelivery
from tidings.deliveries.tables import webhooks
from tidings.deliveries.worker import Deliverer
from tidings.engine.database import Database
from tidings.net.post import Sender
from tidings.services.clock import Clock, system_clock
from tidings.storage.accounts import users

SECRET = "0123456789abcdef" * 4
SHORT_WAITS = RetryPolicy(
    first_wait=timedelta(seconds=0.05),
    max_wait=timedelta(seconds=0.4),
    min_failures=1,
    event_waits=(timedelta(seconds=0.05), timedelta(seconds=0.1), timedelta(seconds=0.2)),
)
_numbers = itertools.count(1)


@dataclass
class Hook:
    """The webhook of a new user."""

    database: Database
    url: str
    user_id: int
    posted: list[str] = field(default_factory=list)

    def post(self, *texts: str, receiver: str = "", now: Instant | None = None) -> list[int]:
        """Add an event for each text, in this order. Returns their ids."""
        with self.database.writing() as db:
            return [self._post(db, text, receiver or self.url, now) for text in texts]

    def _post(self, db: Any, text: str, receiver: str, now: Instant | None) -> int:
        self.posted.append(text)
        return outbox.add(
            db,
            self.user_id,
            delivery_id=str(uuid.uuid4()),
            integration="webhook",
            event_type="new_entries",
            receiver=receiver,
            feed_id=1,
            body=json.dumps({"event_type": "new_entries", "text": text}).encode(),
            now=now or system_clock(),
        )

    def all(self, state: DeliveryState | None = None) -> list[ListedDelivery]:
        """Return the deliveries of the user, oldest first."""
        with self.database.reading() as db:
            return outbox.list_deliveries(db, self.user_id, state=state, limit=100_000)[::-1]

    def states(self) -> list[str]:
        return [shown.delivery.state for shown in self.all()]

    def settings(self) -> dict[str, Any]:
        with self.database.reading() as db:
            row = db.row(webhooks.select().where(webhooks.c.user_id == self.user_id))
        assert row is not None
        return dict(row)


def hook(database: Database, url: str, **settings: Any) -> Hook:
    now = system_clock()
    with database.writing() as db:
        user_id = users.add(db, username=f"hooked-{next(_numbers)}", password_hash="", is_admin=False, now=now)
        settings_json = json.dumps({"url": url, "secret": SECRET} | settings)
        db.run(
            webhooks.insert().values(
                user_id=user_id, name="Webhook", is_main=True, enabled=True, settings=settings_json, changed_at=now
            )
        )
    return Hook(database, url, user_id)


def delivery_queue(
    database: Database,
    *,
    clock: Clock = system_clock,
    within_s: float = 30,
    allow_private_networks: bool = True,
    kind: type[DeliveryQueue] = DeliveryQueue,
    **more: Any,
) -> DeliveryQueue:
    sender = Sender(user_agent="Tidings/test", allow_private_networks=allow_private_networks)
    options: dict[str, Any] = {"retry_policy": SHORT_WAITS, "random_fraction": lambda: 0.5} | more
    return kind(database, EventSender(sender, clock, timeout_s=within_s), clock, **options)


def deliver(
    work: DeliveryQueue,
    until: Callable[[], bool],
    *,
    within_s: float = 180,
    max_concurrent: int = 16,
    max_concurrent_failing: int = 8,
) -> None:
    """Run a deliverer until the condition holds."""

    async def run() -> None:
        stop = asyncio.Event()
        deliverer = Deliverer(
            work, max_concurrent=max_concurrent, max_concurrent_failing=max_concurrent_failing, poll_interval_s=0.03
        )
        running = asyncio.create_task(deliverer.run(stop))
        try:
            deadline = time.monotonic() + within_s
            while not await asyncio.to_thread(until):
                assert not running.done(), "the deliverer ended"
                assert time.monotonic() < deadline, "it did not happen in time"
                await asyncio.sleep(0.02)
        finally:
            stop.set()
            await running
            await work.close()

    asyncio.run(run())


def is_signed(seen: ReceivedRequest, secret: str = SECRET) -> bool:
    expected = hmac.new(secret.encode(), seen.body, hashlib.sha256).hexdigest()
    signed = {seen.headers.get("x-service-signature"), seen.headers.get("x-miniflux-signature")}
    return signed == {expected}


def text_of(seen: ReceivedRequest) -> str:
    settings_json: str = seen.json()["text"]
    return settings_json


class MovableClock:
    """A clock that stands still until `move` is called."""

    def __init__(self) -> None:
        self.now = system_clock()

    def __call__(self) -> Instant:
        return self.now

    def move(self, duration: timedelta) -> None:
        self.now = Instant(self.now + duration // timedelta(microseconds=1))


@contextmanager
def opened(database_url: str) -> Iterator[Database]:
    database = Database(database_url)
    try:
        yield database
    finally:
        database.close()


def main(database_url: str) -> None:
    """Deliver until the process is killed. The lease is short, so that the claims of a killed process soon end."""
    with opened(database_url) as database:
        # A receiver that is only slow, on a busy machine, would be given up after two attempts.
        work = delivery_queue(database, within_s=3, lease=timedelta(seconds=1.2))
        asyncio.run(Deliverer(work, poll_interval_s=0.1).run(asyncio.Event()))


if __name__ == "__main__":
    main(sys.argv[1])
