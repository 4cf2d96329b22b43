"""Settings of integrations, per user. Those of the webhook are in the table of webhooks, whose main one it is."""

from __future__ import annotations

from collections.abc import Iterable

from msgspec import Struct
from sqlalchemy import bindparam, or_, select, union, update

from tidings.base.messages import Message, decode_message
from tidings.base.times import Instant
from tidings.deliveries.events import error_columns
from tidings.deliveries.store import webhooks
from tidings.deliveries.tables import integrations
from tidings.deliveries.webhooks import WEBHOOK, Webhook, is_webhook
from tidings.engine.database import Read, Write, columns
from tidings.engine.statements import in_list, upsert
from tidings.storage.schema import users


class EnabledIntegration(Struct, frozen=True):
    """An integration that is switched on."""

    name: str
    settings: str
    """A JSON object."""


class StoredIntegration(Struct, frozen=True):
    """An integration that a user has configured."""

    name: str
    enabled: bool
    settings: str
    last_error: str
    """Empty when there is none."""
    last_error_form: str = ""

    @property
    def error(self) -> Message:
        """`last_error` as a message that can be rendered in any language."""
        return decode_message(self.last_error, self.last_error_form)


_select_all = (
    select(*columns(integrations, StoredIntegration))
    .where(integrations.c.user_id == bindparam("user"))
    .order_by(integrations.c.name)
)
_select_one = _select_all.where(integrations.c.name == bindparam("name"))
_lock_user = select(users.c.id).where(users.c.id == bindparam("user")).with_for_update()
_select_enabled = (
    select(*columns(integrations, EnabledIntegration))
    .where(
        integrations.c.user_id == bindparam("user"),
        in_list(integrations.c.name, "names"),
        integrations.c.enabled,
    )
    .order_by(integrations.c.name)
)
_select_users_with = union(
    select(integrations.c.user_id).where(
        in_list(integrations.c.user_id, "users"),
        in_list(integrations.c.name, "names"),
        integrations.c.enabled,
    ),
    webhooks.select_users_with_any,
)


def users_with_any(db: Read, user_ids: Iterable[int], names: Iterable[str]) -> set[int]:
    """Return the given users who have enabled any of the integrations, or any webhook, whatever events it gets."""
    users = sorted(user_ids)
    return set(db.scalars(_select_users_with, users=users, names=list(names))) if users else set()


def list_enabled(db: Read, user_id: int, names: Iterable[str]) -> list[EnabledIntegration]:
    """Return the given integrations that the user has enabled, without webhooks."""
    return db.all(EnabledIntegration, _select_enabled, user=user_id, names=list(names))


def list_all(db: Read, user_id: int) -> list[StoredIntegration]:
    """Return all configured integrations of the user, enabled or not; of the webhooks only the main one."""
    main = webhooks.of_key(db, user_id, WEBHOOK)
    return [*db.all(StoredIntegration, _select_all, user=user_id), *([_as_integration(main)] if main else [])]


def get(db: Read, user_id: int, name: str) -> StoredIntegration | None:
    """Return an integration or a webhook of the user; None if it was never configured, or deleted."""
    if is_webhook(name):
        hook = webhooks.of_key(db, user_id, name)
        return _as_integration(hook) if hook else None
    return db.one(StoredIntegration, _select_one, user=user_id, name=name)


def lock_all(db: Write, user_id: int) -> list[StoredIntegration]:
    """Lock the user's integrations until the transaction ends, and return them."""
    db.scalar(_lock_user, user=user_id)
    return list_all(db, user_id)


def save(db: Write, user_id: int, name: str, *, enabled: bool, settings: str, now: Instant) -> None:
    """Store an integration and clear its last error, which was about other settings.

    The caller has called `lock_all`.
    """
    if name == WEBHOOK:
        webhooks.save_main(db, user_id, enabled=enabled, settings=settings, now=now)
        return
    values = {"enabled": enabled, "settings": settings, "changed_at": now, **error_columns(None)}
    db.run(upsert(integrations, ["user_id", "name"], update=list(values)).values(user_id=user_id, name=name, **values))


_is_owned = (integrations.c.user_id == bindparam("user"), integrations.c.name == bindparam("name_"))
_set_last_error = (
    update(integrations)
    .where(
        *_is_owned,
        or_(
            integrations.c.last_error != bindparam("last_error_"),
            integrations.c.last_error_form != bindparam("last_error_form_"),
        ),
    )
    .values(last_error=bindparam("last_error_"), last_error_form=bindparam("last_error_form_"))
)
_disable = (
    update(integrations)
    .where(*_is_owned, integrations.c.settings == bindparam("expected_settings"))
    .values(enabled=False, last_error=bindparam("last_error_"), last_error_form=bindparam("last_error_form_"))
)


def set_last_error(db: Write, user_id: int, name: str, error: Message | None) -> None:
    """Set or clear the last error of an integration or a webhook. Writes nothing if it is unchanged."""
    if is_webhook(name):
        webhooks.set_last_error(db, user_id, name, error)
        return
    db.run(_set_last_error, user=user_id, name_=name, **_parameters(error))


def disable(db: Write, user_id: int, name: str, expected_settings: str, reason: Message) -> None:
    """Switch an integration or a webhook off unless its settings have changed from `expected_settings`."""
    if is_webhook(name):
        webhooks.disable(db, user_id, name, expected_settings, reason)
        return
    db.run(_disable, user=user_id, name_=name, expected_settings=expected_settings, **_parameters(reason))


def _as_integration(hook: Webhook) -> StoredIntegration:
    return StoredIntegration(hook.key, hook.enabled, hook.settings, hook.last_error, hook.last_error_form)


def _parameters(error: Message | None) -> dict[str, str]:
    return {f"{name}_": value for name, value in error_columns(error).items()}
