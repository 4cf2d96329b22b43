"""What users set for the services that they have connected."""

from __future__ import annotations

import secrets
from collections.abc import Mapping
from typing import Any

import msgspec
import structlog

from tidings.domain.errors import InvalidField, InvalidInput
from tidings.domain.feeds.feed_changes import validate_web_url
from tidings.domain.integrations import REGISTRY, Provider, changes
from tidings.domain.integrations.changes import IntegrationSettings
from tidings.domain.messages import Message
from tidings.net.guard import AddressGuard
from tidings.net.targets import parse_target
from tidings.services.clock import Clock
from tidings.services.deliveries.apprise import AppriseSender
from tidings.storage.deliveries import integrations
from tidings.storage.deliveries.integrations import StoredIntegration
from tidings.storage.engine.database import Database

log = structlog.get_logger()

SECRET_BYTES = 32


class Integrations:
    """guard: of what integrations may reach."""

    def __init__(self, database: Database, clock: Clock, *, guard: AddressGuard, apprise_sender: AppriseSender) -> None:
        self._database = database
        self._clock = clock
        self._guard = guard
        self._apprise_sender = apprise_sender

    def get_all(self, user_id: int) -> dict[str, dict[str, Any]]:
        """Every integration that there is, by name, as its owner may see it."""
        with self._database.reading() as db:
            return _shown(integrations.list_all(db, user_id))

    def update(self, user_id: int, given: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
        """given: any part of what `shown` gives. All of it is taken, or nothing; then the whole as it is now.

        InvalidInput names integration and field.
        """
        wanted = {name: members for name, members in given.items() if members is not None}
        providers = {name: changes.find_provider(name) for name in wanted}
        self._check_service_urls(wanted)
        with self._database.writing() as db:
            before = {standing.name: standing for standing in integrations.lock_all(db, user_id)}
            for name, provider in providers.items():
                self._put(db, user_id, provider, before.get(name), wanted[name])
            return _shown(integrations.list_all(db, user_id))

    def last_errors(self, user_id: int) -> dict[str, Message]:
        """What went wrong last, by the name of the integration; those that are well are left out."""
        with self._database.reading() as db:
            return {one.name: one.error for one in integrations.list_all(db, user_id) if one.last_error}

    def check_feed(self, values: Mapping[str, Any]) -> None:
        """What a feed has of its own: where its events go. InvalidInput for what could never be sent to."""
        if address := values.get("webhook_url"):
            validate_web_url(address, field="webhook_url")
            if refusal := self._refusal(address):
                raise InvalidField("webhook_url", refusal)
        if urls := values.get("apprise_service_urls"):
            self._apprise_sender.check_urls(urls, field="apprise_service_urls")

    def _put(self, db: Any, user_id: int, provider: Provider, before: StoredIntegration | None, given: Any) -> None:
        chosen = changes.merge(
            provider, _chosen(provider, before), given, check_address=self._refusal, make_secret=_make_secret
        )
        settings = msgspec.json.encode(chosen.settings).decode()
        integrations.save(db, user_id, provider.name, enabled=chosen.enabled, settings=settings, now=self._clock())
        log.info("integration changed", user=user_id, integration=provider.name, enabled=chosen.enabled)

    def _refusal(self, address: str) -> Message | None:
        """What can be said without looking a name up; the rest is said when something is sent."""
        try:
            host = parse_target(address).host
        except InvalidInput as error:
            return error.text
        return None if self._guard.allows_through_proxy(host) else self._guard.refusal(host).text

    def _check_service_urls(self, wanted: Mapping[str, Any]) -> None:
        """Outside of the transaction: another process is asked."""
        members = wanted.get("apprise")
        urls = members.get("urls") if isinstance(members, Mapping) else None
        if isinstance(urls, str):
            self._apprise_sender.check_urls(urls, field="apprise.urls")


def _shown(found: list[StoredIntegration]) -> dict[str, dict[str, Any]]:
    by_name = {standing.name: standing for standing in found}
    return {name: _members(provider, by_name.get(name)) for name, provider in REGISTRY.items()}


def _members(provider: Provider, standing: StoredIntegration | None) -> dict[str, Any]:
    last_error = standing.last_error if standing else ""
    return changes.visible_settings(provider, _chosen(provider, standing)) | {changes.LAST_ERROR: last_error}


def _chosen(provider: Provider, standing: StoredIntegration | None) -> IntegrationSettings:
    if standing is None:
        return IntegrationSettings(enabled=False, settings=provider.settings())
    return IntegrationSettings(standing.enabled, provider.read_settings(standing.settings))


def _make_secret() -> str:
    return secrets.token_hex(SECRET_BYTES)
