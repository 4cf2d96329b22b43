"""API keys: tokens by which clients act as a user."""

from __future__ import annotations

from msgspec import Struct
from sqlalchemy import bindparam, delete, insert, select, update

from tidings.base.text import sort_key
from tidings.base.times import Instant
from tidings.domain.accounts.users import User
from tidings.engine.database import Read, Write, columns
from tidings.storage.schema import api_keys, users


class ApiKey(Struct, frozen=True):
    id: int
    user_id: int
    description: str
    token: str
    created_at: Instant
    last_used_at: Instant | None


_select_all = select(*columns(api_keys, ApiKey))
_select_caller = (
    select(
        *columns(users, User),
        api_keys.c.id.label("key_id"),
        api_keys.c.last_used_at.label("key_last_used_at"),
        api_keys.c.needs_icon_object,
    )
    .join_from(api_keys, users, users.c.id == api_keys.c.user_id)
    .where(api_keys.c.token == bindparam("token"))
)
_select_by_user = _select_all.where(api_keys.c.user_id == bindparam("user"))
_delete = (
    delete(api_keys)
    .where(api_keys.c.user_id == bindparam("user"), api_keys.c.id == bindparam("key"))
    .returning(api_keys.c.description)
)
_set_last_used = (
    update(api_keys)
    .where(api_keys.c.user_id == bindparam("user"), api_keys.c.id == bindparam("key"))
    .values(last_used_at=bindparam("moment"))
)


class ApiKeyCaller(Struct, frozen=True):
    """A user with the id and the last use of the API key of a request.

    needs_icon_object: the app that the key was made for fails at a feed whose icon is null.
    """

    user: User
    id: int
    last_used_at: Instant | None
    needs_icon_object: bool


def caller(db: Read, token: str) -> ApiKeyCaller | None:
    """Return the user who has the API key with this token; None if there is no such key."""
    found = db.joined(User, _select_caller, token=token)
    if not found:
        return None
    user, key = found[0]
    return ApiKeyCaller(user, key.key_id, key.key_last_used_at, bool(key.needs_icon_object))


def list_all(db: Read, user_id: int) -> list[ApiKey]:
    """Return the user's keys, ordered by description."""
    return sorted(db.all(ApiKey, _select_by_user, user=user_id), key=lambda key: (sort_key(key.description), key.id))


def description_taken(db: Read, user_id: int, description_key: str) -> bool:
    """Return whether the user has a key with this description. description_key: case-folded."""
    statement = select(api_keys.c.id).where(
        api_keys.c.user_id == user_id, api_keys.c.description_key == description_key
    )
    return db.scalar(statement) is not None


def add(
    db: Write,
    user_id: int,
    *,
    description: str,
    description_key: str,
    token: str,
    now: Instant,
    needs_icon_object: bool = False,
) -> ApiKey:
    key_id = db.insert(
        insert(api_keys).values(
            user_id=user_id,
            description=description,
            description_key=description_key,
            token=token,
            created_at=now,
            needs_icon_object=needs_icon_object,
        )
    )
    return ApiKey(key_id, user_id, description, token, now, None)


def set_last_used(db: Write, user_id: int, key_id: int, moment: Instant) -> None:
    db.run(_set_last_used, user=user_id, key=key_id, moment=moment)


def remove(db: Write, user_id: int, key_id: int) -> str | None:
    """Delete a key. Returns its description; None if the user has no such key."""
    removed: str | None = db.scalar(_delete, user=user_id, key=key_id)
    return removed
