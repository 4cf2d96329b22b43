"""The statements of second factors and recovery codes."""

from __future__ import annotations

from collections.abc import Iterable

from msgspec import Struct
from sqlalchemy import bindparam, delete, func, insert, select, update

from tidings.engine.database import Read, Write, columns
from tidings.engine.statements import upsert
from tidings.sign_in.tables import recovery_codes, second_factors


class SecondFactor(Struct, frozen=True):
    """What follows the password of a user."""

    secret: str = ""
    """Of the authenticator app; empty without an app."""
    last_step: int = 0
    """The step whose code was used last."""
    asks_for_passkey: bool = False

    def __repr__(self) -> str:
        return f"SecondFactor(has_app={bool(self.secret)}, asks_for_passkey={self.asks_for_passkey})"

    @property
    def is_on(self) -> bool:
        return bool(self.secret) or self.asks_for_passkey


_is_owned = second_factors.c.user_id == bindparam("user")
_select = select(*columns(second_factors, SecondFactor)).where(_is_owned)
_set_app = upsert(second_factors, ["user_id"], update=["secret", "last_step"]).values(
    user_id=bindparam("user"), secret=bindparam("app_secret"), last_step=bindparam("step")
)
_set_asks = upsert(second_factors, ["user_id"], update=["asks_for_passkey"]).values(
    user_id=bindparam("user"), asks_for_passkey=bindparam("asks")
)
_use_step = (
    update(second_factors)
    .where(
        _is_owned, second_factors.c.secret == bindparam("app_secret"), second_factors.c.last_step < bindparam("step")
    )
    .values(last_step=bindparam("step"))
)
_delete = delete(second_factors).where(_is_owned)
_owned_codes = recovery_codes.c.user_id == bindparam("user")
_count_codes = select(func.count()).select_from(recovery_codes).where(_owned_codes)
_delete_code = delete(recovery_codes).where(_owned_codes, recovery_codes.c.digest == bindparam("code_digest"))
_delete_codes = delete(recovery_codes).where(_owned_codes)


def get(db: Read, user_id: int) -> SecondFactor:
    """Return the second factor of a user; one that asks for nothing if there is none."""
    return db.one(SecondFactor, _select, user=user_id) or SecondFactor()


def set_app(db: Write, user_id: int, secret: str, *, step: int) -> None:
    """Store the secret of an authenticator app, "" for none. step: of the code with which it was confirmed."""
    db.run(_set_app, user=user_id, app_secret=secret, step=step)


def set_asks_for_passkey(db: Write, user_id: int, asks: bool) -> None:
    db.run(_set_asks, user=user_id, asks=asks)


def use_step(db: Write, user_id: int, secret: str, step: int) -> bool:
    """Record that the code of a step is used. False if it, or a later one, was used before."""
    return db.run(_use_step, user=user_id, app_secret=secret, step=step) > 0


def remove(db: Write, user_id: int) -> bool:
    """Remove the second factor of a user with all recovery codes. False if there was none."""
    db.run(_delete_codes, user=user_id)
    return db.run(_delete, user=user_id) > 0


def count_codes(db: Read, user_id: int) -> int:
    """Return how many recovery codes are left."""
    return int(db.scalar(_count_codes, user=user_id))


def replace_codes(db: Write, user_id: int, digests: Iterable[bytes]) -> None:
    """Replace all recovery codes of a user."""
    db.run(_delete_codes, user=user_id)
    db.run_many(insert(recovery_codes), [{"user_id": user_id, "digest": one} for one in digests])


def use_code(db: Write, user_id: int, digest: bytes) -> bool:
    """Remove a recovery code. False if there is no such code, or if it was used before."""
    return db.run(_delete_code, user=user_id, code_digest=digest) > 0
