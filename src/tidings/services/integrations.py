"""What users set for the services that they have connected."""

from __future__ import annotations

import secrets
from collections.abc import Mapping
from typing import Any

import msgspec
import structlog

from tidings.domain.errors import InvalidInput
from tidings.domain.feed_changes import web_address
from tidings.domain.integrations import REGISTRY, Leaf, changes
from tidings.domain.integrations.changes import Chosen
from tidings.domain.wording import Words
from tidings.net.guard import AddressGuard
from tidings.net.targets import parse_target
from tidings.services.clock import Clock
from tidings.services.notifications import Notifications
from tidings.storage import integrations
from tidings.storage.database import Database
from tidings.storage.integrations import Standing

log = structlog.get_logger()

SECRET_BYTES = 32


class Integrations:
    """guard: of what integrations may reach."""

    def __init__(self, database: Database, clock: Clock, *, guard: AddressGuard, notifications: Notifications) -> None:
        self._database = database
        self._clock = clock
        self._guard = guard
        self._notifications = notifications

    def shown(self, user_id: int) -> dict[str, dict[str, Any]]:
        """Every integration that there is, by name, as its owner may see it."""
        with self._database.reading() as db:
            return _shown(integrations.listed(db, user_id))

    def update(self, user_id: int, given: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
        """given: any part of what `shown` gives. All of it is taken, or nothing; then the whole as it is now.

        InvalidInput names integration and field.
        """
        wanted = {name: members for name, members in given.items() if members is not None}
        leaves = {name: changes.leaf_named(name) for name in wanted}
        self._check_service_urls(wanted)
        with self._database.writing() as db:
            before = {standing.name: standing for standing in integrations.held(db, user_id)}
            for name, leaf in leaves.items():
                self._put(db, user_id, leaf, before.get(name), wanted[name])
            return _shown(integrations.listed(db, user_id))

    def check_feed(self, values: Mapping[str, Any]) -> None:
        """What a feed has of its own: where its events go. InvalidInput for what could never be sent to."""
        if address := values.get("webhook_url"):
            web_address(address, field="webhook_url")
            if refusal := self._refusal(address):
                raise InvalidInput(f"webhook_url: {refusal}", field="webhook_url")
        if urls := values.get("apprise_service_urls"):
            self._notifications.check(urls, field="apprise_service_urls")

    def _put(self, db: Any, user_id: int, leaf: Leaf, before: Standing | None, given: Any) -> None:
        chosen = changes.merged(leaf, _chosen(leaf, before), given, refusal=self._refusal, make_secret=_make_secret)
        settings = msgspec.json.encode(chosen.settings).decode()
        integrations.put(db, user_id, leaf.name, enabled=chosen.enabled, settings=settings, now=self._clock())
        log.info("integration changed", user=user_id, integration=leaf.name, enabled=chosen.enabled)

    def _refusal(self, address: str) -> Words:
        """What can be said without looking a name up; the rest is said when something is sent."""
        try:
            host = parse_target(address).host
        except InvalidInput as error:
            return error.message
        return "" if self._guard.may_ask_proxy_for(host) else self._guard.refusal(host).message

    def _check_service_urls(self, wanted: Mapping[str, Any]) -> None:
        """Outside of the transaction: another process is asked."""
        members = wanted.get("apprise")
        urls = members.get("urls") if isinstance(members, Mapping) else None
        if isinstance(urls, str):
            self._notifications.check(urls, field="apprise.urls")


def _shown(found: list[Standing]) -> dict[str, dict[str, Any]]:
    by_name = {standing.name: standing for standing in found}
    return {name: _members(leaf, by_name.get(name)) for name, leaf in REGISTRY.items()}


def _members(leaf: Leaf, standing: Standing | None) -> dict[str, Any]:
    last_error = standing.last_error if standing else ""
    return changes.shown(leaf, _chosen(leaf, standing)) | {changes.LAST_ERROR: last_error}


def _chosen(leaf: Leaf, standing: Standing | None) -> Chosen:
    if standing is None:
        return Chosen(enabled=False, settings=leaf.settings())
    return Chosen(standing.enabled, leaf.read(standing.settings))


def _make_secret() -> str:
    return secrets.token_hex(SECRET_BYTES)
