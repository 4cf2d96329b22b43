"""The secret of this installation, made at its first use and read once by each process."""

from __future__ import annotations

import secrets

from tidings.engine.database import Database
from tidings.storage.accounts import server_secrets

SECRET_BYTES = 32


class ServerSecret:
    def __init__(self, database: Database) -> None:
        self._database = database
        self._secret: bytes | None = None

    def get(self) -> bytes:
        """Return the secret, which all processes share and which never changes. Raises StoreUnavailable."""
        if self._secret is None:
            self._secret = self._read() or self._make()
        return self._secret

    def _read(self) -> bytes | None:
        with self._database.reading() as db:
            return server_secrets.get(db, server_secrets.APP_LOGINS)

    def _make(self) -> bytes:
        with self._database.writing() as db:
            server_secrets.add(db, server_secrets.APP_LOGINS, secrets.token_bytes(SECRET_BYTES))
            # Another process may have been first.
            stored = server_secrets.get(db, server_secrets.APP_LOGINS)
        assert stored is not None
        return stored
