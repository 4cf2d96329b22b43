"""The bridges that users have set up for themselves, as far as the sources of feeds depend on them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from sqlalchemy import bindparam, select

from tidings.domain.feeds.own_bridges import OwnBridges, may_be_bridged
from tidings.engine.database import Read, columns
from tidings.storage.schema import user_bridges

_select = select(*columns(user_bridges, OwnBridges)).where(user_bridges.c.user_id == bindparam("user"))


def of_user(db: Read, user_id: int) -> OwnBridges:
    """Return the bridges of a user; without addresses if the user has none."""
    return db.one(OwnBridges, _select, user=user_id) or OwnBridges()


def are_fetched(db: Read, user_id: int, feeds: Sequence[Mapping[str, Any]]) -> list[bool]:
    """Return which feeds of a user their own bridges fetch, in the order of `feeds`. feeds: columns."""
    bridged = [may_be_bridged(feed) for feed in feeds]
    own = of_user(db, user_id) if any(bridged) else OwnBridges()
    return [is_bridged and own.fetch(feed) for is_bridged, feed in zip(bridged, feeds, strict=True)]
