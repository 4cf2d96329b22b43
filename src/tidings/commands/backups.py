"""`tidings backup`, `restore` and `move`: copies of the whole database."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from tidings.base.errors import InvalidInput
from tidings.base.messages import verbatim
from tidings.commands.application import LoadedSettings, open_application, prepare
from tidings.commands.terminal import progress_bar, say
from tidings.settings import values

_URLS = "use sqlite:///path/to/file or postgresql://user@host/name"


def backup(path: Path, /, *, loaded: LoadedSettings) -> int:
    """Copy the database to a new file, which only its owner may read. Tidings may keep running.

    The file is an SQLite database, also if Tidings uses PostgreSQL; `tidings restore` reads it into either. It holds
    everything that was written before the command began, and gets its name when it is complete.

    Parameters
    ----------
    path
        The file to write. It must not exist.
    """
    with progress_bar("Copying the database") as progress:
        prepare(loaded.settings)
        with open_application(loaded.settings) as application:
            application.check()
            size = application.backup(path, progress)
    say(f"Copied to {path}: {size} bytes")
    return 0


def restore(
    path: Path, /, *, force: Annotated[bool, Parameter(name="--force", negative="")] = False, loaded: LoadedSettings
) -> int:
    """Replace the database with a backup that `tidings backup` wrote. Stop Tidings first.

    The backup is checked before, and brought to the schema of this version. If anything is wrong, the database stays
    as it is.

    Parameters
    ----------
    path
        The backup.
    force
        Replace a database that is not empty. All that it holds is lost.
    """
    with progress_bar("Restoring the database") as progress:
        prepare(loaded.settings)
        with open_application(loaded.settings) as application:
            users = application.restore(path, progress, overwrite=force)
    say(f"Restored from {path}: users {users}")
    say("`tidings check` checks it, `tidings serve` starts it.")
    return 0


def move(
    *,
    to: Annotated[str, Parameter(name="--to")],
    restart: Annotated[bool, Parameter(name="--restart", negative="")] = False,
    loaded: LoadedSettings,
) -> int:
    """Copy everything into another database, and compare the two. Stop Tidings first.

    The target must be empty. If the command is interrupted, run it again: it goes on where it stopped. At the end,
    set TIDINGS_DATABASE_URL to the new address. The old database is not changed.

    Parameters
    ----------
    to
        The new database: sqlite:///path/to/file or postgresql://user@host/name. Other users of this machine can see
        arguments: leave the password out, and give it in PGPASSWORD or in ~/.pgpass.
    restart
        Delete what an interrupted move has copied, and begin again.
    """
    with progress_bar("Copying and comparing") as progress:
        prepare(loaded.settings)
        with open_application(loaded.settings) as application:
            rows = application.move(_database_url(to), progress, restart=restart)
    say(f"Moved and compared: tables {len(rows)}, rows {sum(rows.values())}, entries {rows['entries']}")
    say("Now set TIDINGS_DATABASE_URL to the new address. Search finds everything once the workers have indexed it.")
    return 0


def _database_url(url: str) -> str:
    try:
        return values.database_url(url)
    except values.InvalidValue as error:
        raise InvalidInput(verbatim(f"--to is not a database: {error}; {_URLS}")) from error
