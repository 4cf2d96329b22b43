"""The random secret of this installation, shared by all processes: the key of digests and tokens."""

from __future__ import annotations

from sqlalchemy import bindparam, select

from tidings.engine.database import Read, Write
from tidings.engine.statements import upsert
from tidings.storage.schema import server_secrets

# Name of the secret from which the digests of app logins are made.
APP_LOGINS = "app logins"

_select_secret = select(server_secrets.c.secret).where(server_secrets.c.name == bindparam("secret_name"))
_insert_unless_exists = upsert(server_secrets, ["name"]).values(
    name=bindparam("secret_name"), secret=bindparam("secret_bytes")
)


def get(db: Read, name: str) -> bytes | None:
    secret = db.scalar(_select_secret, secret_name=name)
    return None if secret is None else bytes(secret)


def add(db: Write, name: str, secret: bytes) -> None:
    """Store a secret unless there is one: of several processes that start together, the first one counts."""
    db.run(_insert_unless_exists, secret_name=name, secret_bytes=secret)
