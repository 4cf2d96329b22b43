"""Which other services a user has connected."""

from __future__ import annotations

from collections.abc import Iterable

from msgspec import Struct
from sqlalchemy import bindparam, select

from tidings.storage.database import Read, columns
from tidings.storage.schema import integrations


class Integration(Struct, frozen=True):
    """settings: a JSON object."""

    name: str
    settings: str


_enabled = (
    select(*columns(integrations, Integration))
    .where(
        integrations.c.user_id == bindparam("user"),
        integrations.c.name.in_(bindparam("names", expanding=True)),
        integrations.c.enabled,
    )
    .order_by(integrations.c.name)
)


def enabled(db: Read, user_id: int, names: Iterable[str]) -> list[Integration]:
    """Those of the names that the user has switched on."""
    return db.all(Integration, _enabled, user=user_id, names=list(names))
