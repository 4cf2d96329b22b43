"""Settings of integrations, per user."""

from __future__ import annotations

from collections.abc import Iterable

from msgspec import Struct
from sqlalchemy import bindparam, or_, select, update

from tidings.domain.deliveries.deliveries import error_columns
from tidings.domain.messages import Message, decode_message
from tidings.domain.times import Instant
from tidings.storage.engine.database import Read, Write, columns
from tidings.storage.engine.id_list import in_list
from tidings.storage.engine.upsert import upsert
from tidings.storage.schema import integrations, users


class EnabledIntegration(Struct, frozen=True):
    """settings: a JSON object."""

    name: str
    settings: str


class StoredIntegration(Struct, frozen=True):
    """Of an integration that a user has set something for. last_error: "" when all is well."""

    name: str
    enabled: bool
    settings: str
    last_error: str
    last_error_form: str = ""

    @property
    def error(self) -> Message:
        """What `last_error` says, to be rendered in any language."""
        return decode_message(self.last_error, self.last_error_form)


_all = (
    select(*columns(integrations, StoredIntegration))
    .where(integrations.c.user_id == bindparam("user"))
    .order_by(integrations.c.name)
)
_one = _all.where(integrations.c.name == bindparam("name"))
_hold = select(users.c.id).where(users.c.id == bindparam("user")).with_for_update()
_enabled = (
    select(*columns(integrations, EnabledIntegration))
    .where(
        integrations.c.user_id == bindparam("user"),
        in_list(integrations.c.name, "names"),
        integrations.c.enabled,
    )
    .order_by(integrations.c.name)
)
_users_with = (
    select(integrations.c.user_id)
    .where(
        in_list(integrations.c.user_id, "users"),
        in_list(integrations.c.name, "names"),
        integrations.c.enabled,
    )
    .distinct()
)


def users_with_any(db: Read, user_ids: Iterable[int], names: Iterable[str]) -> set[int]:
    """Those of the users who have switched on any of the names."""
    users = sorted(user_ids)
    return set(db.scalars(_users_with, users=users, names=list(names))) if users else set()


def list_enabled(db: Read, user_id: int, names: Iterable[str]) -> list[EnabledIntegration]:
    """Those of the names that the user has switched on."""
    return db.all(EnabledIntegration, _enabled, user=user_id, names=list(names))


def list_all(db: Read, user_id: int) -> list[StoredIntegration]:
    """Switched on or not."""
    return db.all(StoredIntegration, _all, user=user_id)


def get(db: Read, user_id: int, name: str) -> StoredIntegration | None:
    """None when the user has never set anything for it."""
    return db.one(StoredIntegration, _one, user=user_id, name=name)


def lock_all(db: Write, user_id: int) -> list[StoredIntegration]:
    """Lock the user's integrations until the transaction ends, and return them."""
    db.scalar(_hold, user=user_id)
    return list_all(db, user_id)


def save(db: Write, user_id: int, name: str, *, enabled: bool, settings: str, now: Instant) -> None:
    """For whoever holds them. What a service complained about is forgotten: it was about other settings."""
    values = {"enabled": enabled, "settings": settings, "changed_at": now, **error_columns(None)}
    db.run(upsert(integrations, ["user_id", "name"], update=list(values)).values(user_id=user_id, name=name, **values))


_mine = (integrations.c.user_id == bindparam("user"), integrations.c.name == bindparam("name_"))
_complain = (
    update(integrations)
    .where(
        *_mine,
        or_(
            integrations.c.last_error != bindparam("last_error_"),
            integrations.c.last_error_form != bindparam("last_error_form_"),
        ),
    )
    .values(last_error=bindparam("last_error_"), last_error_form=bindparam("last_error_form_"))
)
_switch_off = (
    update(integrations)
    .where(*_mine, integrations.c.settings == bindparam("seen"))
    .values(enabled=False, last_error=bindparam("last_error_"), last_error_form=bindparam("last_error_form_"))
)


def set_last_error(db: Write, user_id: int, name: str, error: Message | None) -> None:
    """None when all is well again. Nothing is written when it was so before."""
    db.run(_complain, user=user_id, name_=name, **_parameters(error))


def disable(db: Write, user_id: int, name: str, seen: str, reason: Message) -> None:
    """Switch the integration off unless its settings have changed from `expected_settings`."""
    db.run(_switch_off, user=user_id, name_=name, seen=seen, **_parameters(reason))


def _parameters(error: Message | None) -> dict[str, str]:
    return {f"{name}_": value for name, value in error_columns(error).items()}
