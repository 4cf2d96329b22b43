"""What archives need of webhooks; `wiring` passes it on."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from tidings.deliveries.store import webhooks
from tidings.deliveries.webhook_settings import Webhooks
from tidings.deliveries.webhooks import Webhook, WebhookFields
from tidings.engine.database import Read, Write


class OwnWebhookArchiver:
    """Reads, adds and changes webhooks inside of the transactions of archives."""

    def __init__(self, services: Webhooks) -> None:
        self._services = services

    def list_all(self, db: Read, user_id: int) -> Sequence[dict[str, Any]]:
        """Return the webhooks of a user with the ids of this database, without secrets: they belong to this service."""
        return [
            msgspec.structs.asdict(WebhookFields.of(hook))
            | {"id": hook.id, "is_main": hook.is_main, "enabled": hook.enabled, "url": _url(hook)}
            for hook in webhooks.list_all(db, user_id)
        ]

    def add(self, db: Write, user_id: int, values: Mapping[str, Any]) -> None:
        """Add a webhook, which gets a new secret. Raises InvalidInput."""
        self._services.add(db, user_id, values)

    def change(self, db: Write, user_id: int, webhook_id: int, values: Mapping[str, Any]) -> None:
        """Change members of a webhook. Raises InvalidInput."""
        self._services.change(db, user_id, webhook_id, values)


def _url(hook: Webhook) -> str:
    """Return "" if its settings cannot be read."""
    try:
        return hook.own.url
    except msgspec.MsgspecError:
        return ""
