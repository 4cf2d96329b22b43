"""API keys: tokens by which clients act as a user."""

from __future__ import annotations

from collections.abc import Collection

from msgspec import Struct
from sqlalchemy import bindparam, delete, insert, or_, select, update

from tidings.base.text import sort_key
from tidings.base.times import Instant
from tidings.domain.accounts.api_keys import token_hash
from tidings.domain.accounts.rights import ALL_RIGHTS, KeyScope, Rights
from tidings.domain.accounts.users import User
from tidings.engine.database import Read, Write, columns
from tidings.engine.statements import in_list
from tidings.storage.schema import api_keys, users


class ApiKey(Struct, frozen=True):
    """An API key of a user."""

    id: int
    user_id: int
    description: str
    token: str | None
    """None if only its hash is kept."""
    scope: str
    created_at: Instant
    expires_at: Instant | None
    last_used_at: Instant | None
    last_address: str
    """From where it was last used; "" if it was not, or not since addresses are kept."""

    def __repr__(self) -> str:
        return f"ApiKey({self.id})"


_select_all = select(*columns(api_keys, ApiKey))
_select_caller = (
    select(
        *columns(users, User),
        api_keys.c.id.label("key_id"),
        api_keys.c.last_used_at.label("key_last_used_at"),
        api_keys.c.scope,
        api_keys.c.expires_at,
        api_keys.c.needs_icon_object,
    )
    .join_from(api_keys, users, users.c.id == api_keys.c.user_id)
    .where(api_keys.c.token_hash == bindparam("token_hash"))
)
_select_by_user = _select_all.where(api_keys.c.user_id == bindparam("user"))
_select_valid = select(api_keys.c.id).where(
    in_list(api_keys.c.user_id, "users"),
    in_list(api_keys.c.id, "keys"),
    or_(api_keys.c.expires_at.is_(None), api_keys.c.expires_at > bindparam("now")),
)
_delete = (
    delete(api_keys)
    .where(api_keys.c.user_id == bindparam("user"), api_keys.c.id == bindparam("key"))
    .returning(api_keys.c.description)
)
_set_last_used = (
    update(api_keys)
    .where(api_keys.c.user_id == bindparam("user"), api_keys.c.id == bindparam("key"))
    .values(last_used_at=bindparam("moment"), last_address=bindparam("address"))
)


class ApiKeyCaller(Struct, frozen=True):
    """A user with the API key of a request, which may have expired."""

    user: User
    id: int
    last_used_at: Instant | None
    rights: Rights
    needs_icon_object: bool
    """The app that the key was made for fails at a feed whose icon is null."""


def caller(db: Read, token: str) -> ApiKeyCaller | None:
    """Return the user who has the API key with this token; None if there is no such key."""
    found = db.joined(User, _select_caller, token_hash=token_hash(token))
    if not found:
        return None
    user, key = found[0]
    scope, expires_at = KeyScope(key["scope"]), key["expires_at"]
    rights = ALL_RIGHTS if scope is KeyScope.ADMIN and expires_at is None else Rights(scope, expires_at)
    return ApiKeyCaller(user, key["key_id"], key["key_last_used_at"], rights, bool(key["needs_icon_object"]))


def valid_ids(db: Read, user_ids: Collection[int], key_ids: Collection[int], now: Instant) -> set[int]:
    """Return which of these keys of these users exist and have not expired."""
    return set(db.scalars(_select_valid, users=user_ids, keys=sorted(set(key_ids)), now=now))


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
    rights: Rights = ALL_RIGHTS,
    is_token_kept: bool = True,
    needs_icon_object: bool = False,
) -> ApiKey:
    """Add a key. Returns it with its token, even if only the hash is kept.

    is_token_kept: lists show the token. needs_icon_object: see `ApiKeyCaller`.
    """
    key_id = db.insert(
        insert(api_keys).values(
            user_id=user_id,
            description=description,
            description_key=description_key,
            token=token if is_token_kept else None,
            token_hash=token_hash(token),
            scope=str(rights.scope),
            expires_at=rights.expires_at,
            created_at=now,
            needs_icon_object=needs_icon_object,
        )
    )
    return ApiKey(
        id=key_id,
        user_id=user_id,
        description=description,
        token=token,
        scope=str(rights.scope),
        created_at=now,
        expires_at=rights.expires_at,
        last_used_at=None,
        last_address="",
    )


def set_last_used(db: Write, user_id: int, key_id: int, moment: Instant, address: str) -> None:
    db.run(_set_last_used, user=user_id, key=key_id, moment=moment, address=address)


def remove(db: Write, user_id: int, key_id: int) -> str | None:
    """Delete a key. Returns its description; None if the user has no such key."""
    removed: str | None = db.scalar(_delete, user=user_id, key=key_id)
    return removed
