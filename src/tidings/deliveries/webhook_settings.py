"""Creates, changes and deletes the webhooks of users."""

from __future__ import annotations

import secrets
from collections.abc import Mapping, Sequence
from typing import Any, Final

import msgspec
import structlog
from msgspec import Struct

from tidings.base.errors import InvalidField, InvalidInput, NotFound
from tidings.base.messages import Message, msg
from tidings.deliveries import integration_changes
from tidings.deliveries.integration_changes import IntegrationSettings, UrlCheck
from tidings.deliveries.registry import REGISTRY, WEBHOOK
from tidings.deliveries.store import integrations, outbox, webhooks
from tidings.deliveries.webhooks import MAX_WEBHOOKS, Webhook, WebhookFields
from tidings.engine.database import Database, Read, Write
from tidings.net.guard import may_share
from tidings.services.clock import Clock
from tidings.services.entries.kept_queries import KeptQueries
from tidings.services.listeners import KeptQuery, Listeners
from tidings.storage.feeds import categories, feeds

log = structlog.get_logger()

SECRET_BYTES: Final = 32
# Members of the address and the secret, which the settings of the integration have, too.
_SETTINGS: Final = frozenset({"url", "secret", integration_changes.ENABLED})


class ShownWebhook(Struct, frozen=True):
    """A webhook as its user sees it."""

    hook: Webhook
    url: str
    """"" if its settings cannot be read."""
    problem: Message | None = None
    """Why it gets nothing though it is switched on."""


class Webhooks:
    """The webhooks of users. check_url: returns why an address is refused."""

    def __init__(self, database: Database, clock: Clock, listeners: Listeners, check_url: UrlCheck) -> None:
        self._database = database
        self._clock = clock
        self._listeners = listeners
        self._check_url = check_url

    def list_all(self, user_id: int) -> list[ShownWebhook]:
        """Return the webhooks of a user, the main one first."""
        with self._database.reading() as db:
            return [self._shown(db, hook) for hook in webhooks.list_all(db, user_id)]

    def get(self, user_id: int, hook_id: int) -> ShownWebhook:
        """Return a webhook of the user. Raises NotFound."""
        with self._database.reading() as db:
            return self._shown(db, owned_webhook(db, user_id, hook_id))

    def create(self, user_id: int, values: Mapping[str, Any]) -> ShownWebhook:
        """Add a webhook, which gets a secret, and return it.

        values: fields of WebhookFields, `url` and `enabled`. Raises InvalidInput with the field, for a query QueryError
        with the position.
        """
        with self._database.writing() as db:
            return self._shown(db, owned_webhook(db, user_id, self.add(db, user_id, values)))

    def add(self, db: Write, user_id: int, values: Mapping[str, Any]) -> int:
        """Add a webhook as `create` does, and return its id."""
        integrations.lock_all(db, user_id)
        if len(webhooks.list_all(db, user_id)) >= MAX_WEBHOOKS:
            raise InvalidField("name", msg("you have {max} webhooks, the most that are possible.", max=MAX_WEBHOOKS))
        fields = self._checked(db, user_id, WebhookFields(), values)
        merged = self._merged(IntegrationSettings(enabled=True, settings=REGISTRY[WEBHOOK].settings()), values)
        if not merged.settings.url:
            raise InvalidField("url", msg("a webhook needs an address."))
        log.info("webhook created", user=user_id, enabled=merged.enabled)
        return webhooks.add(db, user_id, fields, enabled=merged.enabled, settings=_encoded(merged), now=self._clock())

    def update(self, user_id: int, hook_id: int, values: Mapping[str, Any]) -> ShownWebhook:
        """Change a webhook and return it. values: as of `create`; what is missing stays.

        Raises NotFound, and InvalidInput as `create`.
        """
        with self._database.writing() as db:
            self.change(db, user_id, hook_id, values)
            return self._shown(db, owned_webhook(db, user_id, hook_id))

    def change(self, db: Write, user_id: int, hook_id: int, values: Mapping[str, Any]) -> None:
        """Change a webhook as `update` does."""
        integrations.lock_all(db, user_id)
        known = owned_webhook(db, user_id, hook_id)
        fields = self._checked(db, user_id, WebhookFields.of(known), values)
        merged = self._merged(_settings_of(known), values)
        if not merged.settings.url and not known.is_main:
            raise InvalidField("url", msg("a webhook needs an address."))
        webhooks.change(
            db, user_id, hook_id, fields, enabled=merged.enabled, settings=_encoded(merged), now=self._clock()
        )
        log.info("webhook changed", user=user_id, webhook=hook_id, enabled=merged.enabled)

    def renew_secret(self, user_id: int, hook_id: int) -> ShownWebhook:
        """Give a webhook another secret, which is used from the next attempt on, and return it. Raises NotFound."""
        return self.update(user_id, hook_id, {"secret": ""})

    def delete(self, user_id: int, hook_id: int) -> None:
        """Delete a webhook with what waits for it. Raises NotFound."""
        with self._database.writing() as db:
            integrations.lock_all(db, user_id)
            hook = owned_webhook(db, user_id, hook_id)
            webhooks.remove(db, user_id, hook_id)
            dropped = outbox.remove_waiting(db, user_id, hook.key)
            log.info("webhook deleted", user=user_id, webhook=hook_id, dropped=dropped)

    def _shown(self, db: Read, hook: Webhook) -> ShownWebhook:
        try:
            url = hook.own.url
        except msgspec.MsgspecError:
            problem = msg("Its settings cannot be read: give its address again.")
            return ShownWebhook(hook, "", problem)
        return ShownWebhook(hook, url, self._problem(db, hook))

    def _problem(self, db: Read, hook: Webhook) -> Message | None:
        if hook.has_places:
            left = bool(feeds.get_many(db, hook.user_id, hook.feeds)) or any(
                one.id in hook.categories for one in categories.list_all(db, hook.user_id)
            )
            if not left:
                return msg("Its feeds and categories were deleted: choose others, or delete the webhook.")
        try:
            KeptQueries(db, hook.user_id, self._listeners).tree(hook.query)
        except InvalidInput as error:
            return error.text
        return None

    def _checked(self, db: Read, user_id: int, known: WebhookFields, values: Mapping[str, Any]) -> WebhookFields:
        """Return the fields with new values. Raises InvalidField, also for what is not the user's."""
        changes = {name: value for name, value in values.items() if name in WebhookFields.__struct_fields__}
        fields = msgspec.structs.replace(known, **changes)
        if not fields.name and "name" not in values:
            fields = msgspec.structs.replace(fields, name=str(REGISTRY[WEBHOOK].title.english()))
        fields = fields.checked()
        if "feed_ids" in changes:
            owned = {feed.id for feed in feeds.get_many(db, user_id, fields.feed_ids)}
            _ensure_owned("feed_ids", fields.feed_ids, {*owned, *known.feed_ids}, msg("There is no feed {id}."))
        if "category_ids" in changes:
            owned = {one.id for one in categories.list_all(db, user_id)}
            missing = msg("There is no category {id}.")
            _ensure_owned("category_ids", fields.category_ids, {*owned, *known.category_ids}, missing)
        if "query" in changes:
            KeptQueries(db, user_id, self._listeners).tree(fields.query)
        return fields

    def _merged(self, known: IntegrationSettings, values: Mapping[str, Any]) -> IntegrationSettings:
        """Return the settings with another address, a new secret, on or off. Raises InvalidField."""
        try:
            return integration_changes.merge(
                REGISTRY[WEBHOOK],
                known,
                {name: value for name, value in values.items() if name in _SETTINGS},
                check_url=self._check_url,
                may_share=may_share,
                make_secret=lambda: secrets.token_hex(SECRET_BYTES),
            )
        except InvalidInput as error:
            raise error.with_field(error.field.removeprefix(f"{WEBHOOK}.")) from error


def owned_webhook(db: Read, user_id: int, hook_id: int) -> Webhook:
    """Return a webhook of the user. Raises NotFound."""
    hook = webhooks.get(db, user_id, hook_id)
    if hook is None:
        raise NotFound(msg("There is no webhook {id}.", id=hook_id))
    return hook


def kept_queries(db: Read, user_id: int) -> list[KeptQuery]:
    """Return the queries of the user's webhooks, which may refer to saved views."""
    return [
        KeptQuery(msg("the webhook {name}", name=hook.name), hook.query)
        for hook in webhooks.list_all(db, user_id)
        if hook.query
    ]


def _settings_of(hook: Webhook) -> IntegrationSettings:
    try:
        return IntegrationSettings(hook.enabled, hook.own)
    except msgspec.MsgspecError:
        return IntegrationSettings(hook.enabled, REGISTRY[WEBHOOK].settings())


def _encoded(merged: IntegrationSettings) -> str:
    return msgspec.json.encode(merged.settings).decode()


def _ensure_owned(field: str, ids: Sequence[int], owned: set[int], problem: Message) -> None:
    for one in ids:
        if one not in owned:
            raise InvalidField(field, problem.with_values(id=one))
