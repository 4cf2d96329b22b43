"""The secret of this installation, read once by each process."""

from __future__ import annotations

from tidings.engine.database import Database
from tidings.storage.accounts import server_secrets


class ServerSecret:
    def __init__(self, database: Database) -> None:
        self._database = database
        self._secret: bytes | None = None

    def get(self) -> bytes:
        """Return the secret, which all processes share and which never changes. Raises StoreUnavailable.

        Nothing is written, so that it may be called inside a write transaction.
        """
        if self._secret is None:
            with self._database.reading() as db:
                self._secret = server_secrets.get(db, server_secrets.APP_LOGINS)
        assert self._secret is not None, "a migrated database has it"
        return self._secret
