"""Users and their passwords."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import Any, cast

from sqlalchemy import bindparam, delete, func, insert, select, update

from tidings.base.text import sort_key
from tidings.base.times import Instant
from tidings.domain.accounts.users import User, normalize_username
from tidings.engine import nodes
from tidings.engine.database import Read, Write, columns
from tidings.engine.statements import in_list, references_planned_once
from tidings.storage.accounts import change_log
from tidings.storage.accounts.change_log import Kind
from tidings.storage.schema import users

# Settings that decide what apps see of folded entries.
_SHOWING_FOLDED = ("duplicates", "duplicates_in_apps")

_select_all = select(*columns(users, User))
_select_by_id = _select_all.where(users.c.id == bindparam("id"))
_select_by_ids = _select_all.where(in_list(users.c.id, "ids"))
_select_by_name = _select_all.where(users.c.username == bindparam("name"))
_select_password_hash = select(users.c.password_hash).where(users.c.id == bindparam("id"))
_select_password_hashes = select(users.c.id, users.c.password_hash).where(in_list(users.c.id, "ids"))
# FOR NO KEY UPDATE: administrators can still add rows of their own.
_lock_admins = select(users.c.id).where(users.c.is_admin).order_by(users.c.id).with_for_update(key_share=True)
_lock = select(users.c.id).where(users.c.id == bindparam("id")).with_for_update(key_share=True)
_set_last_login = update(users).where(users.c.id == bindparam("user")).values(last_login_at=bindparam("moment"))


def get(db: Read, user_id: int) -> User | None:
    return db.one(User, _select_by_id, id=user_id)


def get_many(db: Read, user_ids: Iterable[int]) -> dict[int, User]:
    """Return the existing users among `user_ids`, by id."""
    return {user.id: user for user in db.all(User, _select_by_ids, ids=sorted(set(user_ids)))}


def by_name(db: Read, username: str) -> User | None:
    """Return the user with this name, in any case and Unicode form, with or without blanks around it."""
    # First as it is: names from other services may not be in NFKC.
    exact, normal = username.lower(), normalize_username(username)
    user = db.one(User, _select_by_name, name=exact)
    return user if user or normal == exact else db.one(User, _select_by_name, name=normal)


def list_all(db: Read) -> list[User]:
    """Return all users by name."""
    return sorted(db.all(User, _select_all), key=lambda user: (sort_key(user.username), user.username))


def password_hash(db: Read, user_id: int) -> str:
    return cast("str", db.scalar(_select_password_hash, id=user_id))


def password_hashes(db: Read, user_ids: Collection[int]) -> dict[int, str]:
    """Return the hashes of the passwords of users who exist, by id."""
    return dict(db.tuples(_select_password_hashes, ids=user_ids))


def id_by_foreign_id(db: Read, name: str, value: str) -> int | None:
    """Return the id of the user with this id at a sign-in provider. name: google_id or openid_connect_id."""
    user_id: int | None = db.scalar(select(users.c.id).where(users.c[name] == value))
    return user_id


def lock_admins(db: Write) -> list[int]:
    """Lock the rows of all administrators until the transaction ends. Returns their ids."""
    return db.scalars(_lock_admins)


def lock(db: Write, user_id: int) -> None:
    """Lock the row of a user until the transaction ends."""
    db.scalar(_lock, id=user_id)


def count(db: Read) -> int:
    return cast("int", db.scalar(select(func.count()).select_from(users)))


def add(db: Write, *, username: str, password_hash: str, is_admin: bool, now: Instant, **more: Any) -> int:
    """Add a user and return the id. more: further columns of the table."""
    values = {
        "username": username,
        "password_hash": password_hash,
        "is_admin": is_admin,
        "created_at": now,
        **more,
    }
    user_id = db.insert(insert(users).values(**values))
    change_log.begin(db, user_id)
    return user_id


def change(db: Write, user_id: int, **values: Any) -> None:
    """Change a user. values: columns of the table; `password_hash` among them replaces the password."""
    if values:
        db.run(update(users).where(users.c.id == user_id).values(**values))
        change_log.note(db, user_id, Kind.SETTINGS, [user_id])
        if not values.keys().isdisjoint(_SHOWING_FOLDED):
            change_log.note_folded(db, user_id)


def set_last_login(db: Write, user_id: int, moment: Instant) -> None:
    """Set the time of the last login, unless a server of a distributed database is down: users are copied to each."""
    if nodes.do_all_answer(db):
        db.run(_set_last_login, user=user_id, moment=moment)


def remove(db: Write, user_id: int) -> bool:
    """Delete a user with everything that belongs to the user. Returns False if there is no such user."""
    with references_planned_once(db):
        return db.run(delete(users).where(users.c.id == user_id)) > 0
