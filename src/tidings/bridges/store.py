"""The statements of bridges: those that users have set up, and turns at a service, which all processes take."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Collection
from typing import Protocol

from msgspec.structs import asdict
from sqlalchemy import ColumnElement, bindparam, delete, func, or_, select, update

from tidings.base.times import Instant
from tidings.bridges.tables import bridge_turns
from tidings.domain.feeds.own_bridges import OwnBridges
from tidings.engine.database import Read, Write
from tidings.engine.statements import in_list, upsert
from tidings.storage.schema import user_bridges

# Bridges of users

_put = upsert(user_bridges, ["user_id"], update=OwnBridges.__struct_fields__)
_of_user = user_bridges.c.user_id == bindparam("user")
_remove = delete(user_bridges).where(_of_user)
_count_with_browser = (
    select(func.count())
    .select_from(user_bridges)
    .where(in_list(user_bridges.c.user_id, "users"), user_bridges.c.flaresolverr_url != "")
)


def put(db: Write, user_id: int, bridges: OwnBridges) -> None:
    """Set the bridges of a user."""
    if bridges:
        db.run(_put.values(user_id=user_id, **asdict(bridges)))
    else:
        db.run(_remove, user=user_id)


def all_have_browser(db: Read, user_ids: Collection[int]) -> bool:
    """Return whether each of these users has a FlareSolverr."""
    return bool(user_ids) and db.scalar(_count_with_browser, users=sorted(user_ids)) == len(user_ids)


# Turns


class Turn(Protocol):
    """A turn at one service, as it is stored."""

    @abstractmethod
    def is_taken(self, db: Read, now: Instant) -> bool:
        """Return whether somebody has the turn. Takes no lock."""

    @abstractmethod
    def take(self, db: Write, taker: str, *, now: Instant, until: Instant) -> bool:
        """Take the turn. Returns False if somebody has it."""

    @abstractmethod
    def give_back(self, db: Write, taker: str) -> None:
        """Give the turn back; does nothing if another one has it by now."""


def _is_free(taken_until: ColumnElement[int]) -> ColumnElement[bool]:
    return or_(taken_until.is_(None), taken_until <= bindparam("now"))


_insert = upsert(bridge_turns, ["name"])
_is_named = bridge_turns.c.name == bindparam("service")
_select_taken = select(bridge_turns.c.name).where(_is_named, ~_is_free(bridge_turns.c.taken_until))
_take = (
    update(bridge_turns)
    .where(_is_named, _is_free(bridge_turns.c.taken_until))
    .values(taken_until=bindparam("until"), taken_by=bindparam("taker"))
)
_give_back = (
    update(bridge_turns)
    .where(_is_named, bridge_turns.c.taken_by == bindparam("taker"))
    .values(taken_until=None, taken_by="")
)


class ServiceTurn(Turn):
    """The turn at a service of the operator."""

    def __init__(self, service: str) -> None:
        self._service = service

    def is_taken(self, db: Read, now: Instant) -> bool:
        return db.scalar(_select_taken, service=self._service, now=now) is not None

    def take(self, db: Write, taker: str, *, now: Instant, until: Instant) -> bool:
        db.run(_insert.values(name=self._service))
        return db.run(_take, service=self._service, taker=taker, now=now, until=until) > 0

    def give_back(self, db: Write, taker: str) -> None:
        db.run(_give_back, service=self._service, taker=taker)


_select_taken_own = select(user_bridges.c.user_id).where(_of_user, ~_is_free(user_bridges.c.taken_until))
_take_own = (
    update(user_bridges)
    .where(_of_user, _is_free(user_bridges.c.taken_until))
    .values(taken_until=bindparam("until"), taken_by=bindparam("taker"))
)
_give_back_own = (
    update(user_bridges)
    .where(_of_user, user_bridges.c.taken_by == bindparam("taker"))
    .values(taken_until=None, taken_by="")
)


class OwnTurn(Turn):
    """The turn at the FlareSolverr of a user; nobody gets it once the user has no bridges any more."""

    def __init__(self, user_id: int) -> None:
        self._user_id = user_id

    def is_taken(self, db: Read, now: Instant) -> bool:
        return db.scalar(_select_taken_own, user=self._user_id, now=now) is not None

    def take(self, db: Write, taker: str, *, now: Instant, until: Instant) -> bool:
        return db.run(_take_own, user=self._user_id, taker=taker, now=now, until=until) > 0

    def give_back(self, db: Write, taker: str) -> None:
        db.run(_give_back_own, user=self._user_id, taker=taker)
