"""Reads and changes the settings of users' integrations."""

from __future__ import annotations

import secrets
from collections.abc import Mapping
from typing import Any

import msgspec
import structlog
from msgspec import Struct

from tidings.base.errors import InvalidField, InvalidInput
from tidings.base.messages import Message
from tidings.deliveries import integration_changes
from tidings.deliveries.apprise import AppriseSender
from tidings.deliveries.integration_changes import IntegrationSettings
from tidings.deliveries.provider import Provider
from tidings.deliveries.registry import REGISTRY
from tidings.deliveries.store import integrations, outbox
from tidings.deliveries.store.integrations import StoredIntegration
from tidings.domain.feeds.feed_changes import validate_web_url
from tidings.engine.database import Database
from tidings.net.guard import AddressGuard, may_share, parse_target
from tidings.services.clock import Clock

log = structlog.get_logger()

SECRET_BYTES = 32


class DeliveryProblems(Struct, frozen=True):
    """The last error of an integration, and how many of its deliveries were given up in the last seven days."""

    last_error: Message | None = None
    given_up: int = 0


class Integrations:
    """The integrations of users: lists, changes and tests them.

    guard: decides which addresses integrations may reach.
    """

    def __init__(self, database: Database, clock: Clock, *, guard: AddressGuard, apprise_sender: AppriseSender) -> None:
        self._database = database
        self._clock = clock
        self._guard = guard
        self._apprise_sender = apprise_sender

    @property
    def kinds(self) -> Mapping[str, Provider]:
        """Return the services that can be connected, by name."""
        return REGISTRY

    def get_all(self, user_id: int) -> dict[str, dict[str, Any]]:
        """Return the settings of all integrations by name, without secrets that even their owner may not read."""
        with self._database.reading() as db:
            return _shown(integrations.list_all(db, user_id))

    def for_archive(self, user_id: int, *, with_secrets: bool) -> dict[str, dict[str, Any]]:
        """Return the settings that the user has stored, by integration, in the form that `update` takes.

        Generated secrets are left out: they belong to this service.
        """
        with self._database.reading() as db:
            stored = {one.name: one for one in integrations.list_all(db, user_id) if one.name in REGISTRY}
        archived = {}
        for name, integration in stored.items():
            provider = REGISTRY[name]
            current = _current(provider, integration)
            names = [
                field.name
                for field in provider.fields
                if not field.is_generated and (with_secrets or not field.is_secret)
            ]
            archived[name] = {integration_changes.ENABLED: current.enabled} | {
                member: getattr(current.settings, member) for member in names
            }
        return archived

    def update(self, user_id: int, fields: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
        """Change all given settings, or none on an error, and return them as `get_all` does.

        fields: any part of what `get_all` returns. Raises InvalidInput with the integration and field.
        """
        changed = {name: members for name, members in fields.items() if members is not None}
        providers = {name: integration_changes.find_provider(name) for name in changed}
        self._check_service_urls(changed)
        with self._database.writing() as db:
            before = {stored.name: stored for stored in integrations.lock_all(db, user_id)}
            for name, provider in providers.items():
                self._save(db, user_id, provider, before.get(name), changed[name])
            return _shown(integrations.list_all(db, user_id))

    def get_all_with_problems(self, user_id: int) -> tuple[dict[str, dict[str, Any]], dict[str, DeliveryProblems]]:
        """Return the settings as `get_all` does, and the problems of the integrations that had some, by name."""
        with self._database.reading() as db:
            stored = integrations.list_all(db, user_id)
            given_up = outbox.failed_counts(db, user_id)
        errors = {integration.name: integration.error for integration in stored if integration.last_error}
        names = {*given_up, *errors}
        return _shown(stored), {name: DeliveryProblems(errors.get(name), given_up.get(name, 0)) for name in names}

    def check_feed(self, _user_id: int, values: Mapping[str, Any]) -> None:
        """Check the receivers among the fields of a feed. Raises InvalidInput for one that can never be reached."""
        if url := values.get("webhook_url"):
            validate_web_url(url, field="webhook_url")
            if refusal := self.url_refusal(url):
                raise InvalidField("webhook_url", refusal)
        if urls := values.get("apprise_service_urls"):
            self._apprise_sender.check_urls(urls, field="apprise_service_urls")

    def _save(self, db: Any, user_id: int, provider: Provider, before: StoredIntegration | None, fields: Any) -> None:
        merged = integration_changes.merge(
            provider,
            _current(provider, before),
            fields,
            check_url=self.url_refusal,
            may_share=may_share,
            make_secret=_make_secret,
        )
        settings = msgspec.json.encode(merged.settings).decode()
        integrations.save(db, user_id, provider.name, enabled=merged.enabled, settings=settings, now=self._clock())
        log.info("integration changed", user=user_id, integration=provider.name, enabled=merged.enabled)

    def url_refusal(self, url: str) -> Message | None:
        """Return why a URL is refused, if that is known without a DNS lookup. Sending checks the rest."""
        try:
            host = parse_target(url).host
        except InvalidInput as error:
            return error.text
        return None if self._guard.allows_through_proxy(host) else self._guard.refusal(host).text

    def _check_service_urls(self, changed: Mapping[str, Any]) -> None:
        """Check the service URLs of Apprise. Call it outside of a transaction: a child process checks them."""
        members = changed.get("apprise")
        urls = members.get("urls") if isinstance(members, Mapping) else None
        if isinstance(urls, str):
            self._apprise_sender.check_urls(urls, field="apprise.urls")


def _shown(integrations: list[StoredIntegration]) -> dict[str, dict[str, Any]]:
    by_name = {stored.name: stored for stored in integrations}
    return {name: _members(provider, by_name.get(name)) for name, provider in REGISTRY.items()}


def _members(provider: Provider, stored: StoredIntegration | None) -> dict[str, Any]:
    last_error = stored.last_error if stored else ""
    visible = integration_changes.visible_settings(provider, _current(provider, stored))
    return visible | {integration_changes.LAST_ERROR: last_error}


def _current(provider: Provider, stored: StoredIntegration | None) -> IntegrationSettings:
    """Return the stored settings, or the defaults if the integration was never set up."""
    if stored is None:
        return IntegrationSettings(enabled=False, settings=provider.settings())
    return IntegrationSettings(stored.enabled, provider.read_settings(stored.settings))


def _make_secret() -> str:
    return secrets.token_hex(SECRET_BYTES)
