"""Operations of users on deliveries: send one again, and test an integration."""

from __future__ import annotations

import asyncio
import uuid
from typing import Any

import structlog
from msgspec import MsgspecError

from tidings.base.errors import InvalidInput, NotFound
from tidings.base.messages import msg
from tidings.deliveries import sample_events
from tidings.deliveries.attempts import DeliveryOutcome, EventSender
from tidings.deliveries.events import EVENTS, Event
from tidings.deliveries.provider import Provider
from tidings.deliveries.registry import provider_of
from tidings.deliveries.store import integrations, outbox
from tidings.engine.database import Database
from tidings.services.clock import Clock, time_zone
from tidings.storage.accounts import users

log = structlog.get_logger()


class Deliveries:
    def __init__(self, database: Database, event_sender: EventSender, clock: Clock) -> None:
        self._database = database
        self._event_sender = event_sender
        self._clock = clock

    def redeliver(self, user_id: int, id_: int) -> None:
        """Send a delivery again under the same id; a pending one is attempted immediately.

        Raises NotFound, and InvalidInput if its body was not kept.
        """
        with self._database.writing() as db:
            if outbox.get(db, user_id, id_) is None:
                raise delivery_not_found(id_)
            if outbox.body(db, user_id, id_) is None:
                raise InvalidInput(msg("The body of delivery {id} was not kept: it cannot be sent again.", id=id_))
            outbox.redeliver(db, user_id, id_, now=self._clock())

    async def test(self, user_id: int, integration: str, event_type: str = "") -> DeliveryOutcome:
        """Send a sample event to an integration now, enabled or not, and return the outcome. Nothing is stored.

        integration: its name, or the key of a webhook. event_type: "" for the first that it can receive.
        Raises InvalidInput for an integration that the user has not set up.
        """
        provider = provider_of(integration)
        assert provider is not None
        event_type = event_type or next(name for name in EVENTS if name in provider.events)
        event, settings = await asyncio.to_thread(self._sample, user_id, provider, integration, event_type)
        outcome = await self._event_sender.send(provider, settings, event)
        log.info(
            "integration tested", user=user_id, integration=integration, status=outcome.status, error=outcome.error
        )
        return outcome

    def _sample(self, user_id: int, provider: Provider, integration: str, event_type: str) -> tuple[Event, str]:
        with self._database.reading() as db:
            user = users.get(db, user_id)
            stored = integrations.get(db, user_id, integration)
        if user is None or stored is None:
            raise InvalidInput(msg("{title} is not set up yet.", title=provider.title), field=provider.name)
        now = self._clock()
        receiver = provider.receiver(_read_settings(provider, stored.settings), sample_events.sample_feed(user_id, now))
        if not receiver:
            raise InvalidInput(msg("{title} has no address yet.", title=provider.title), field=provider.name)
        event = sample_events.sample_event(
            event_type,
            receiver,
            str(uuid.uuid4()),
            user_id=user_id,
            format_time=time_zone(user.timezone).format,
            now=now,
        )
        return event, stored.settings


def delivery_not_found(id_: int) -> NotFound:
    return NotFound(msg("There is no delivery {id}.", id=id_))


def _read_settings(provider: Provider, settings: str) -> Any:
    try:
        return provider.read_settings(settings)
    except MsgspecError as error:
        raise InvalidInput(
            msg("The settings of {title} cannot be read: set it up again.", title=provider.title), field=provider.name
        ) from error
