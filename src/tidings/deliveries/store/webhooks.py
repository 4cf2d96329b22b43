"""The webhooks of users."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from sqlalchemy import Update, bindparam, delete, insert, or_, select, update

from tidings.base.messages import Message
from tidings.base.times import Instant
from tidings.deliveries.events import error_columns
from tidings.deliveries.tables import webhooks
from tidings.deliveries.webhooks import MAIN_NAME, Webhook, WebhookFields, encode, id_in
from tidings.engine.database import Read, Write, columns
from tidings.engine.statements import in_list
from tidings.storage.schema import feeds

_is_users = webhooks.c.user_id == bindparam("user")
_is_owned = (_is_users, webhooks.c.id == bindparam("hook"))
_is_main = (_is_users, webhooks.c.is_main.is_(True))
_select = select(*columns(webhooks, Webhook))
_select_by_user = _select.where(_is_users).order_by(webhooks.c.is_main.desc(), webhooks.c.id)
_select_by_id = _select.where(*_is_owned)
_select_main = _select.where(*_is_main)
_select_enabled = _select.where(in_list(webhooks.c.user_id, "users"), webhooks.c.enabled.is_(True)).order_by(
    webhooks.c.user_id, webhooks.c.is_main.desc(), webhooks.c.id
)
select_users_with_any = select(webhooks.c.user_id).where(in_list(webhooks.c.user_id, "users"), webhooks.c.enabled)
_select_some_feeds = (
    select(feeds.c.id, feeds.c.title)
    .where(feeds.c.user_id == bindparam("user"))
    .order_by(feeds.c.title_key, feeds.c.id)
    .limit(bindparam("limit"))
)
_delete = delete(webhooks).where(*_is_owned)


def list_all(db: Read, user_id: int) -> list[Webhook]:
    """Return the webhooks of a user, the main one first."""
    return db.all(Webhook, _select_by_user, user=user_id)


def list_enabled(db: Read, user_ids: Collection[int]) -> list[Webhook]:
    """Return the webhooks of these users that are switched on. For users without any this is one look-up."""
    return db.all(Webhook, _select_enabled, users=sorted(user_ids)) if user_ids else []


def get(db: Read, user_id: int, hook_id: int) -> Webhook | None:
    return db.one(Webhook, _select_by_id, user=user_id, hook=hook_id)


def of_key(db: Read, user_id: int, key: str) -> Webhook | None:
    """Return the webhook that deliveries call by this key."""
    hook_id = id_in(key)
    return db.one(Webhook, _select_main, user=user_id) if hook_id is None else get(db, user_id, hook_id)


def add(db: Write, user_id: int, fields: WebhookFields, *, enabled: bool, settings: str, now: Instant) -> int:
    """Add a webhook and return its id. The caller has locked the user."""
    row = {"user_id": user_id, "enabled": enabled, "settings": settings, "changed_at": now, **_columns(fields)}
    return db.insert(insert(webhooks).values(**row))


def change(
    db: Write, user_id: int, hook_id: int, fields: WebhookFields, *, enabled: bool, settings: str, now: Instant
) -> None:
    """Replace what the user decides, and clear the last error, which was about what was before."""
    values = {"enabled": enabled, "settings": settings, "changed_at": now, **_columns(fields), **error_columns(None)}
    db.run(update(webhooks).where(*_is_owned).values(**values), user=user_id, hook=hook_id)


def save_main(db: Write, user_id: int, *, enabled: bool, settings: str, now: Instant) -> None:
    """Store the address and the secret of the main webhook. The caller has locked the user."""
    values = {"enabled": enabled, "settings": settings, "changed_at": now, **error_columns(None)}
    if not db.run(update(webhooks).where(*_is_main).values(**values), user=user_id):
        fields = _columns(WebhookFields(name=MAIN_NAME))
        db.run(insert(webhooks).values(user_id=user_id, is_main=True, **fields, **values))


def remove(db: Write, user_id: int, hook_id: int) -> None:
    db.run(_delete, user=user_id, hook=hook_id)


def set_last_error(db: Write, user_id: int, key: str, error: Message | None) -> None:
    """Set or clear the last error. Writes nothing if it is unchanged."""
    values = error_columns(error)
    is_changed = or_(*(webhooks.c[name] != value for name, value in values.items()))
    statement, parameters = _of_key(update(webhooks), user_id, key)
    db.run(statement.where(is_changed).values(**values), **parameters)


def disable(db: Write, user_id: int, key: str, expected_settings: str, reason: Message) -> None:
    """Switch a webhook off unless its settings have changed from `expected_settings`."""
    statement, parameters = _of_key(update(webhooks), user_id, key)
    is_same = webhooks.c.settings == bindparam("expected")
    values = {"enabled": False, **error_columns(reason)}
    db.run(statement.where(is_same).values(**values), expected=expected_settings, **parameters)


def _of_key(statement: Update, user_id: int, key: str) -> tuple[Update, dict[str, Any]]:
    hook_id = id_in(key)
    if hook_id is None:
        return statement.where(*_is_main), {"user": user_id}
    return statement.where(*_is_owned), {"user": user_id, "hook": hook_id}


def _columns(fields: WebhookFields) -> dict[str, Any]:
    return {
        "name": fields.name,
        "events": encode(fields.events),
        "feed_ids": encode(fields.feed_ids),
        "category_ids": encode(fields.category_ids),
        "query": fields.query,
    }


def feeds_to_choose(db: Read, user_id: int, *, limit: int) -> list[tuple[int, str]]:
    """Return ids and titles of the first feeds by title."""
    return [(id_, title) for id_, title in db.tuples(_select_some_feeds, user=user_id, limit=limit)]
