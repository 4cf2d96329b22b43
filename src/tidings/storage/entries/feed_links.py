"""Secret links by which lists are followed as feeds."""

from __future__ import annotations

from sqlalchemy import bindparam, delete, select

from tidings.domain.times import Instant
from tidings.storage.engine.database import Read, Write
from tidings.storage.engine.upsert import upsert
from tidings.storage.schema import list_links

_mine = list_links.c.user_id == bindparam("user")
_token = select(list_links.c.token).where(_mine)
_owner = select(list_links.c.user_id).where(list_links.c.token == bindparam("token"))
_remove = delete(list_links).where(_mine)
_set_token = upsert(list_links, ["user_id"], update=["token", "created_at"])


def token(db: Read, user_id: int) -> str:
    """ "" when there is none."""
    return db.scalar(_token, user=user_id) or ""


def owner(db: Read, token: str) -> int | None:
    """The id of the user."""
    found: int | None = db.scalar(_owner, token=token)
    return found


def set_token(db: Write, user_id: int, token: str, *, now: Instant) -> None:
    db.run(_set_token.values(user_id=user_id, token=token, created_at=now))


def remove(db: Write, user_id: int) -> None:
    db.run(_remove, user=user_id)
