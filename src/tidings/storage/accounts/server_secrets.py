"""The random secret of this installation, shared by all processes: the key of digests and tokens."""

from __future__ import annotations

from sqlalchemy import bindparam, select

from tidings.storage.engine.database import Read, Write
from tidings.storage.engine.upsert import upsert
from tidings.storage.schema import server_secrets

# What the one secret is for.
APP_LOGINS = "app logins"

_by_name = select(server_secrets.c.secret).where(server_secrets.c.name == bindparam("secret_name"))
_add = upsert(server_secrets, ["name"]).values(name=bindparam("secret_name"), secret=bindparam("secret_bytes"))


def get(db: Read, name: str) -> bytes | None:
    found = db.scalar(_by_name, secret_name=name)
    return None if found is None else bytes(found)


def add(db: Write, name: str, secret: bytes) -> None:
    """Store a secret unless there is one: of several processes that start at once the first one counts."""
    db.run(_add, secret_name=name, secret_bytes=secret)
