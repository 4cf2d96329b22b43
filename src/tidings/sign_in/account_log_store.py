"""The log of what happens to accounts."""

from __future__ import annotations

from typing import Any

from msgspec import Struct
from sqlalchemy import and_, bindparam, case, delete, insert, or_, select

from tidings.base.times import Instant
from tidings.engine.database import Read, Write, columns
from tidings.engine.statements import upsert
from tidings.sign_in.tables import account_log

# Stands for the addresses that share a row.
SEVERAL = "*"


class LogEntry(Struct, frozen=True):
    """One row of the log: an event, or the same ones of a day."""

    id: int
    user_id: int | None
    kind: str
    username: str
    method: str
    second_method: str
    address: str
    user_agent: str
    actor: str
    detail: str
    times: int
    first_at: Instant
    last_at: Instant

    @property
    def has_several_addresses(self) -> bool:
        return self.address == SEVERAL


class LogPlace(Struct, frozen=True):
    """A place in the log, which is read from the newest entry on."""

    last_at: Instant
    id: int

    def __str__(self) -> str:
        return f"{self.last_at}.{self.id}"

    @classmethod
    def read(cls, text: str) -> LogPlace | None:
        """Return the place that a text describes, None for any other text."""
        moment, _, number = text.partition(".")
        is_valid = all(part.isascii() and part.isdigit() and len(part) < 19 for part in (moment, number))
        return cls(Instant(int(moment)), int(number)) if is_valid else None


class LogFilter(Struct, frozen=True):
    """Which entries of the log are wanted."""

    user_id: int | None = None
    """None for those of all users, which only administrators see."""
    kind: str = ""
    method: str = ""
    address: str = ""


def _merged(old: Any, new: Any) -> dict[str, Any]:
    return {
        "times": old.times + 1,
        "last_at": new.last_at,
        "address": case((old.address == new.address, old.address), else_=SEVERAL),
        "user_agent": new.user_agent,
    }


_fields = columns(account_log, LogEntry)
_values: dict[str, Any] = {
    name: bindparam(f"new_{name}") for name in LogEntry.__struct_fields__ if name not in ("id", "times")
}
_add = insert(account_log).values(**_values)
_add_or_count = upsert(account_log, ["merge_key"], update=_merged).values(**_values, merge_key=bindparam("digest"))
_select_expired = select(account_log.c.id).where(account_log.c.last_at < bindparam("before")).limit(bindparam("limit"))
_delete_expired = delete(account_log).where(account_log.c.id.in_(_select_expired.scalar_subquery()))


def add(db: Write, entry: LogEntry, merge_key: bytes | None) -> None:
    """Add an entry. merge_key: if there is an entry with the same, it counts one more instead; None for a new one."""
    values = {f"new_{name}": getattr(entry, name) for name in _values}
    if merge_key is None:
        db.run(_add, **values)
    else:
        db.run(_add_or_count, **values, digest=merge_key)


def page(db: Read, wanted: LogFilter, *, before: LogPlace | None, limit: int) -> list[LogEntry]:
    """Return a page of the log, the newest entries first. before: the last entry of the page before."""
    table = account_log.c
    statement = select(*_fields).order_by(table.last_at.desc(), table.id.desc()).limit(limit)
    if wanted.user_id is not None:
        statement = statement.where(table.user_id == wanted.user_id)
    for name in ("kind", "method", "address"):
        if value := getattr(wanted, name):
            statement = statement.where(table[name] == value)
    if before is not None:
        is_earlier = or_(table.last_at < before.last_at, and_(table.last_at == before.last_at, table.id < before.id))
        # The first condition alone can be looked up in the index.
        statement = statement.where(table.last_at <= before.last_at, is_earlier)
    return db.all(LogEntry, statement)


def remove_expired(db: Write, *, before: Instant, limit: int) -> int:
    """Delete up to `limit` entries whose last event was before a moment. Returns how many."""
    return db.run(_delete_expired, before=before, limit=limit)
