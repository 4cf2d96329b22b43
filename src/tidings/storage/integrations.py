"""Which other services a user has connected."""

from __future__ import annotations

from collections.abc import Iterable

from msgspec import Struct
from sqlalchemy import bindparam, insert, select, update

from tidings.domain.times import Instant
from tidings.storage.database import Read, Write, columns
from tidings.storage.lists import among
from tidings.storage.schema import integrations, users


class Integration(Struct, frozen=True):
    """settings: a JSON object."""

    name: str
    settings: str


class Standing(Struct, frozen=True):
    """Of an integration that a user has set something for. last_error: "" when all is well."""

    name: str
    enabled: bool
    settings: str
    last_error: str


_all = (
    select(*columns(integrations, Standing))
    .where(integrations.c.user_id == bindparam("user"))
    .order_by(integrations.c.name)
)
_one = _all.where(integrations.c.name == bindparam("name"))
_hold = select(users.c.id).where(users.c.id == bindparam("user")).with_for_update()
_enabled = (
    select(*columns(integrations, Integration))
    .where(
        integrations.c.user_id == bindparam("user"),
        among(integrations.c.name, "names"),
        integrations.c.enabled,
    )
    .order_by(integrations.c.name)
)
_users_with = (
    select(integrations.c.user_id)
    .where(
        among(integrations.c.user_id, "users"),
        among(integrations.c.name, "names"),
        integrations.c.enabled,
    )
    .distinct()
)


def users_with(db: Read, user_ids: Iterable[int], names: Iterable[str]) -> set[int]:
    """Those of the users who have switched on any of the names."""
    users = sorted(user_ids)
    return set(db.scalars(_users_with, users=users, names=list(names))) if users else set()


def enabled(db: Read, user_id: int, names: Iterable[str]) -> list[Integration]:
    """Those of the names that the user has switched on."""
    return db.all(Integration, _enabled, user=user_id, names=list(names))


def listed(db: Read, user_id: int) -> list[Standing]:
    """Switched on or not."""
    return db.all(Standing, _all, user=user_id)


def get(db: Read, user_id: int, name: str) -> Standing | None:
    """None when the user has never set anything for it."""
    return db.one(Standing, _one, user=user_id, name=name)


def held(db: Write, user_id: int) -> list[Standing]:
    """The same, and nobody else changes them until this transaction ends."""
    db.scalar(_hold, user=user_id)
    return listed(db, user_id)


def put(db: Write, user_id: int, name: str, *, enabled: bool, settings: str, now: Instant) -> None:
    """For whoever holds them. What a service complained about is forgotten: it was about other settings."""
    values = {"enabled": enabled, "settings": settings, "last_error": "", "changed_at": now}
    mine = (integrations.c.user_id == user_id, integrations.c.name == name)
    if not db.run(update(integrations).where(*mine).values(**values)):
        db.run(insert(integrations).values(user_id=user_id, name=name, **values))


_mine = (integrations.c.user_id == bindparam("user"), integrations.c.name == bindparam("name_"))
_complain = (
    update(integrations)
    .where(*_mine, integrations.c.last_error != bindparam("error"))
    .values(last_error=bindparam("error"))
)
_switch_off = (
    update(integrations)
    .where(*_mine, integrations.c.settings == bindparam("seen"))
    .values(enabled=False, last_error=bindparam("error"))
)


def set_last_error(db: Write, user_id: int, name: str, error: str) -> None:
    """ "" when all is well again. Nothing is written when it was so before."""
    db.run(_complain, user=user_id, name_=name, error=error)


def switch_off(db: Write, user_id: int, name: str, seen: str, reason: str) -> None:
    """Unless its settings are others by now than those that were seen."""
    db.run(_switch_off, user=user_id, name_=name, seen=seen, error=reason)
