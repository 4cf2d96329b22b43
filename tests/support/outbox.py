"""Webhooks with events in the outbox, and a deliverer that does not take its time.

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

from support.publisher import Seen
from tidings.domain.deliveries import State
from tidings.domain.retries import Patience
from tidings.domain.times import Instant
from tidings.net.sending import Sender
from tidings.services.attempts import Attempts
from tidings.services.clock import Clock, system_clock
from tidings.services.delivering import Delivering
from tidings.storage import deliveries, users
from tidings.storage.database import Database
from tidings.storage.deliveries import Shown
from tidings.storage.schema import integrations
from tidings.worker.deliverer import Deliverer

SECRET = "0123456789abcdef" * 4
HASTE = Patience(first=timedelta(seconds=0.05), longest=timedelta(seconds=0.4))
_numbers = itertools.count(1)


@dataclass
class Hook:
    """The webhook of a user of its own."""

    database: Database
    url: str
    user_id: int
    posted: list[str] = field(default_factory=list)

    def post(self, *texts: str, receiver: str = "", now: Instant | None = None) -> list[int]:
        """An event for each text, in this order; their ids."""
        with self.database.writing() as db:
            return [self._post(db, text, receiver or self.url, now) for text in texts]

    def _post(self, db: Any, text: str, receiver: str, now: Instant | None) -> int:
        self.posted.append(text)
        return deliveries.add(
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

    def all(self, state: State | None = None) -> list[Shown]:
        """The oldest first."""
        with self.database.reading() as db:
            return deliveries.listed(db, self.user_id, state=state, limit=100_000)[::-1]

    def states(self) -> list[str]:
        return [shown.delivery.state for shown in self.all()]

    def settings(self) -> dict[str, Any]:
        with self.database.reading() as db:
            row = db.row(integrations.select().where(integrations.c.user_id == self.user_id))
        assert row is not None
        return dict(row)


def hook(database: Database, url: str, **settings: Any) -> Hook:
    now = system_clock()
    with database.writing() as db:
        user_id = users.add(db, username=f"hooked-{next(_numbers)}", password_hash="", is_admin=False, now=now)
        told = json.dumps({"url": url, "secret": SECRET} | settings)
        db.run(
            integrations.insert().values(user_id=user_id, name="webhook", enabled=True, settings=told, changed_at=now)
        )
    return Hook(database, url, user_id)


def delivering(
    database: Database,
    *,
    clock: Clock = system_clock,
    within_s: float = 5,
    allow_private_networks: bool = True,
    **more: Any,
) -> Delivering:
    sender = Sender(user_agent="Tidings/test", allow_private_networks=allow_private_networks)
    how: dict[str, Any] = {"patience": HASTE, "chance": lambda: 0.5} | more
    return Delivering(database, Attempts(sender, clock, within_s=within_s), clock, **how)


def deliver(
    work: Delivering, until: Callable[[], bool], *, within_s: float = 30, places: int = 16, failing_places: int = 8
) -> None:
    """Let a deliverer run until it is so."""

    async def run() -> None:
        stop = asyncio.Event()
        deliverer = Deliverer(work, places=places, failing_places=failing_places, look_again_s=0.03)
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


def is_signed(seen: Seen, secret: str = SECRET) -> bool:
    expected = hmac.new(secret.encode(), seen.body, hashlib.sha256).hexdigest()
    signed = {seen.headers.get("x-service-signature"), seen.headers.get("x-miniflux-signature")}
    return signed == {expected}


def text_of(seen: Seen) -> str:
    told: str = seen.json()["text"]
    return told


class MovableClock:
    """Stands still until it is moved."""

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
    """A claim lasts hardly longer than a try: what a killed one held is soon free."""
    with opened(database_url) as database:
        work = delivering(database, within_s=0.6, lease=timedelta(seconds=1.2))
        asyncio.run(Deliverer(work, look_again_s=0.1).run(asyncio.Event()))


if __name__ == "__main__":
    main(sys.argv[1])
