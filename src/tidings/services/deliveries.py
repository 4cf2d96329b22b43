"""What users do with deliveries: send one once more, and try out a service."""

from __future__ import annotations

import asyncio
import uuid
from typing import Any

import structlog
from msgspec import MsgspecError

from tidings.domain import samples
from tidings.domain.errors import InvalidInput, NotFound
from tidings.domain.events import NEW_ENTRIES, SAVE_ENTRY, Event
from tidings.domain.integrations import REGISTRY, Leaf
from tidings.services.attempts import Attempts, Outcome
from tidings.services.clock import Clock
from tidings.services.moments import zone
from tidings.storage import deliveries, integrations, users
from tidings.storage.database import Database

log = structlog.get_logger()


class Deliveries:
    def __init__(self, database: Database, attempts: Attempts, clock: Clock) -> None:
        self._database = database
        self._attempts = attempts
        self._clock = clock

    def redeliver(self, user_id: int, id_: int) -> None:
        """Once more, under the same id; one that still waits is tried at once.

        NotFound; InvalidInput for one whose body was not kept.
        """
        with self._database.writing() as db:
            if deliveries.get(db, user_id, id_) is None:
                raise unknown(id_)
            if deliveries.body(db, id_) is None:
                raise InvalidInput(f"The body of delivery {id_} was not kept: it cannot be sent again.")
            deliveries.redeliver(db, user_id, id_, now=self._clock())

    async def test(self, user_id: int, integration: str) -> Outcome:
        """Hand a made-up event to a service at once, switched on or not; nothing of it is kept.

        InvalidInput for an integration that the user has not set up.
        """
        leaf = REGISTRY[integration]
        event, settings = await asyncio.to_thread(self._sample, user_id, leaf)
        outcome = await self._attempts.make(leaf, settings, event)
        log.info(
            "integration tested", user=user_id, integration=integration, status=outcome.status, error=outcome.error
        )
        return outcome

    def _sample(self, user_id: int, leaf: Leaf) -> tuple[Event, str]:
        with self._database.reading() as db:
            user = users.get(db, user_id)
            known = integrations.get(db, user_id, leaf.name)
        if user is None or known is None:
            raise InvalidInput(f"{leaf.title} is not set up yet.", field=leaf.name)
        now = self._clock()
        receiver = leaf.receiver(_readable(leaf, known.settings), samples.feed(user_id, now))
        if not receiver:
            raise InvalidInput(f"{leaf.title} has no address yet.", field=leaf.name)
        event = samples.event(
            SAVE_ENTRY if leaf.saves else NEW_ENTRIES,
            receiver,
            str(uuid.uuid4()),
            user_id=user_id,
            show=zone(user.timezone).show,
            now=now,
        )
        return event, known.settings


def unknown(id_: int) -> NotFound:
    return NotFound(f"There is no delivery {id_}.")


def _readable(leaf: Leaf, settings: str) -> Any:
    try:
        return leaf.read(settings)
    except MsgspecError as error:
        raise InvalidInput(f"What is set for {leaf.title} cannot be read: set it up anew.", field=leaf.name) from error
