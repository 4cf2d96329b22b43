"""The statements of passkeys and of challenges that were used."""

from __future__ import annotations

from msgspec import Struct, structs
from sqlalchemy import bindparam, delete, func, insert, or_, select, update

from tidings.base.times import Instant
from tidings.engine.database import Read, Write, columns
from tidings.engine.statements import upsert
from tidings.sign_in.tables import passkeys, spent_challenges


class NewPasskey(Struct, frozen=True, kw_only=True):
    """A passkey that a browser has just made."""

    name: str
    credential_id: bytes
    public_key: bytes
    sign_count: int
    transports: str
    host: str
    works_alone: bool
    is_syncable: bool
    is_synced: bool
    aaguid: str
    created_at: Instant


class Passkey(Struct, frozen=True):
    """A stored passkey; the columns have comments."""

    id: int
    user_id: int
    name: str
    credential_id: bytes
    public_key: bytes
    sign_count: int
    transports: str
    host: str
    works_alone: bool
    is_syncable: bool
    is_synced: bool
    created_at: Instant
    last_used_at: Instant | None


_select = select(*columns(passkeys, Passkey))
_is_owned = passkeys.c.user_id == bindparam("user")
_is_this = (_is_owned, passkeys.c.id == bindparam("number"))
_select_owned = _select.where(_is_owned).order_by(passkeys.c.created_at, passkeys.c.id)
_select_one = _select.where(*_is_this)
# Whoever sends the id of a credential proves afterwards that it is theirs: its owner is what is looked for.
_select_by_credential = _select.where(passkeys.c.credential_id == bindparam("credential"))
_count = select(func.count()).select_from(passkeys).where(_is_owned)
_rename = update(passkeys).where(*_is_this).values(name=bindparam("new_name"))
_delete = delete(passkeys).where(*_is_this)
_delete_all = delete(passkeys).where(_is_owned)
# Authenticators that do not count send 0 every time.
_record_use = (
    update(passkeys)
    .where(*_is_this, or_(passkeys.c.sign_count < bindparam("counted"), passkeys.c.sign_count == 0))
    .values(sign_count=bindparam("counted"), is_synced=bindparam("synced"), last_used_at=bindparam("moment"))
)
_spend = (
    upsert(spent_challenges, ["nonce"])
    .values(nonce=bindparam("spent"), expires_at=bindparam("until"))
    .returning(spent_challenges.c.nonce)
)
_expired = (
    select(spent_challenges.c.nonce)
    .where(spent_challenges.c.expires_at < bindparam("moment"))
    .limit(bindparam("count"))
    .scalar_subquery()
)
_remove_expired = delete(spent_challenges).where(spent_challenges.c.nonce.in_(_expired))


def list_all(db: Read, user_id: int) -> list[Passkey]:
    """Return the passkeys of a user, the oldest first."""
    return db.all(Passkey, _select_owned, user=user_id)


def get(db: Read, user_id: int, passkey_id: int) -> Passkey | None:
    return db.one(Passkey, _select_one, user=user_id, number=passkey_id)


def by_credential(db: Read, credential_id: bytes) -> Passkey | None:
    """Return the passkey with this id of a credential, of any user."""
    return db.one(Passkey, _select_by_credential, credential=credential_id)


def count(db: Read, user_id: int) -> int:
    return int(db.scalar(_count, user=user_id))


def add(db: Write, user_id: int, passkey: NewPasskey) -> int:
    """Add a passkey and return its id."""
    return db.insert(insert(passkeys).values(user_id=user_id, **structs.asdict(passkey)))


def rename(db: Write, user_id: int, passkey_id: int, name: str) -> bool:
    return db.run(_rename, user=user_id, number=passkey_id, new_name=name) > 0


def record_use(db: Write, passkey: Passkey, *, sign_count: int, is_synced: bool, now: Instant) -> bool:
    """Store what the authenticator said at a sign-in. False if a later signature was recorded in between."""
    return (
        db.run(_record_use, user=passkey.user_id, number=passkey.id, counted=sign_count, synced=is_synced, moment=now)
        > 0
    )


def remove(db: Write, user_id: int, passkey_id: int) -> bool:
    return db.run(_delete, user=user_id, number=passkey_id) > 0


def remove_all(db: Write, user_id: int) -> int:
    """Remove the passkeys of a user and return their number."""
    return db.run(_delete_all, user=user_id)


def spend(db: Write, nonce: bytes, expires_at: Instant) -> bool:
    """Record that a challenge was used. False if it was used before."""
    return db.scalar(_spend, spent=nonce, until=expires_at) is not None


def remove_expired(db: Write, now: Instant, limit: int) -> int:
    """Remove used challenges that are refused anyway by now. Returns their number."""
    return db.run(_remove_expired, moment=now, count=limit)
