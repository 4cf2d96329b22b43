"""API passwords: digests of passwords that apps sign in with."""

from __future__ import annotations

from msgspec import Struct
from sqlalchemy import bindparam, delete, func, insert, select, update

from tidings.base.text import sort_key
from tidings.base.times import Instant
from tidings.engine.database import Read, Write, columns
from tidings.storage.schema import api_passwords


class ApiPassword(Struct, frozen=True):
    """A password of a user for apps."""

    id: int
    user_id: int
    name: str
    password_digest: bytes
    """See `domain.accounts.api_passwords`."""
    created_at: Instant
    last_used_at: Instant | None


_select_api_passwords = select(*columns(api_passwords, ApiPassword))
_is_owned = api_passwords.c.user_id == bindparam("user")
_select_owned = _select_api_passwords.where(_is_owned)
_select_by_fever_key = _select_api_passwords.where(api_passwords.c.fever_key_digest == bindparam("digest"))
_select_id_by_name_key = select(api_passwords.c.id).where(_is_owned, api_passwords.c.name_key == bindparam("name_key"))
_count = select(func.count()).select_from(api_passwords).where(_is_owned)
_update_last_used = (
    update(api_passwords)
    .where(_is_owned, api_passwords.c.id == bindparam("number"))
    .values(last_used_at=bindparam("moment"))
)
_select_marked_read_at = select(api_passwords.c.marked_read_at).where(
    _is_owned, api_passwords.c.id == bindparam("number")
)
_update_marked_read_at = (
    update(api_passwords)
    .where(_is_owned, api_passwords.c.id == bindparam("number"))
    .values(marked_read_at=bindparam("moment"))
)
_delete_api_password = (
    delete(api_passwords).where(_is_owned, api_passwords.c.id == bindparam("number")).returning(api_passwords.c.name)
)


def list_all(db: Read, user_id: int) -> list[ApiPassword]:
    owned = db.all(ApiPassword, _select_owned, user=user_id)
    return sorted(owned, key=lambda password: (sort_key(password.name), password.id))


def by_fever_key(db: Read, digest: bytes) -> ApiPassword | None:
    """Return None if there is none. digest: `fever_key_digest` of the key that a client sent."""
    return db.one(ApiPassword, _select_by_fever_key, digest=digest)


def name_taken(db: Read, user_id: int, name_key: str) -> bool:
    return db.scalar(_select_id_by_name_key, user=user_id, name_key=name_key) is not None


def count(db: Read, user_id: int) -> int:
    return int(db.scalar(_count, user=user_id))


def add(
    db: Write,
    user_id: int,
    *,
    name: str,
    name_key: str,
    password_digest: bytes,
    fever_key_digest: bytes,
    now: Instant,
) -> ApiPassword:
    number = db.insert(
        insert(api_passwords).values(
            user_id=user_id,
            name=name,
            name_key=name_key,
            password_digest=password_digest,
            fever_key_digest=fever_key_digest,
            created_at=now,
        )
    )
    return ApiPassword(number, user_id, name, password_digest, now, None)


def set_last_used(db: Write, user_id: int, password_id: int, moment: Instant) -> None:
    db.run(_update_last_used, user=user_id, number=password_id, moment=moment)


def marked_read_at(db: Read, user_id: int, password_id: int) -> Instant | None:
    """Return when the app last marked entries read; None if that is undone, or never happened."""
    moment: Instant | None = db.scalar(_select_marked_read_at, user=user_id, number=password_id)
    return moment


def set_marked_read(db: Write, user_id: int, password_id: int, moment: Instant | None) -> None:
    """Record when the app last marked entries read. None: the marks are undone."""
    db.run(_update_marked_read_at, user=user_id, number=password_id, moment=moment)


def remove(db: Write, user_id: int, password_id: int) -> str | None:
    """Delete an API password. Returns its name; None if the user has no such password."""
    removed: str | None = db.scalar(_delete_api_password, user=user_id, number=password_id)
    return removed
