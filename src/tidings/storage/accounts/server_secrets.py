"""The random secret of this installation, shared by all processes: the key of digests and tokens.

A database gets it with its schema, so that no one who needs it has to write first.
"""

from __future__ import annotations

import secrets

from sqlalchemy import bindparam, select

from tidings.engine.database import Read, Write
from tidings.engine.statements import upsert
from tidings.storage.schema import server_secrets

# Name of the secret from which the digests of app logins are made.
APP_LOGINS = "app logins"
SECRET_BYTES = 32

_select_secret = select(server_secrets.c.secret).where(server_secrets.c.name == bindparam("secret_name"))
_insert_unless_exists = upsert(server_secrets, ["name"]).values(
    name=bindparam("secret_name"), secret=bindparam("secret_bytes")
)


def get(db: Read, name: str) -> bytes | None:
    secret = db.scalar(_select_secret, secret_name=name)
    return None if secret is None else bytes(secret)


def ensure(db: Write) -> None:
    """Store a new secret unless there is one."""
    db.run(_insert_unless_exists, secret_name=APP_LOGINS, secret_bytes=secrets.token_bytes(SECRET_BYTES))
