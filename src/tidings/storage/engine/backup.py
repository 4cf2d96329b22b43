"""Copies an SQLite database while it is in use."""

from __future__ import annotations

import os
from pathlib import Path

from tidings.domain.errors import StartError, StoreUnavailable
from tidings.storage.engine.database import Database


def copy_to(database: Database, path: Path) -> int:
    """Write a consistent copy to a new file, which only its owner may read. Returns its size in bytes.

    Other processes go on reading and writing. Raises StartError if the file exists or cannot be written, and on
    PostgreSQL. Source: https://www.sqlite.org/lang_vacuum.html, "VACUUM with an INTO clause".
    """
    if not database.is_sqlite:
        raise StartError("PostgreSQL makes its own backups: use pg_dump")
    try:
        # VACUUM INTO accepts an empty file, and keeps its permissions: a database holds API keys and sessions.
        os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
    except OSError as error:
        raise StartError(f"The backup {path} cannot be written: {error.strerror}") from error
    try:
        with database.outside_transaction() as raw:
            raw.execute("VACUUM INTO ?", [str(path)])
    except BaseException as error:
        path.unlink(missing_ok=True)
        if isinstance(error, StoreUnavailable):
            raise StartError(f"The backup {path} cannot be written: {error.reason}") from error
        raise
    return path.stat().st_size
