"""Secret links under which a user's lists can be followed as feeds."""

from __future__ import annotations

from sqlalchemy import bindparam, delete, select

from tidings.base.times import Instant
from tidings.engine.database import Read, Write
from tidings.engine.statements import upsert
from tidings.storage.schema import list_links

_is_owned = list_links.c.user_id == bindparam("user")
_select_token = select(list_links.c.token).where(_is_owned)
_select_owner = select(list_links.c.user_id).where(list_links.c.token == bindparam("token"))
_delete = delete(list_links).where(_is_owned)
_set_token = upsert(list_links, ["user_id"], update=["token", "created_at"])


def token(db: Read, user_id: int) -> str:
    """Return the token of the user's link, "" if there is none."""
    return db.scalar(_select_token, user=user_id) or ""


def owner(db: Read, token: str) -> int | None:
    """Return the id of the user whose link has this token."""
    user_id: int | None = db.scalar(_select_owner, token=token)
    return user_id


def set_token(db: Write, user_id: int, token: str, *, now: Instant) -> None:
    db.run(_set_token.values(user_id=user_id, token=token, created_at=now))


def remove(db: Write, user_id: int) -> None:
    db.run(_delete, user=user_id)
