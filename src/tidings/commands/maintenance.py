"""`tidings migrate`, `refresh` and `tidy`: work on the database that has an end."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated

from cyclopts import Parameter

from tidings.commands.application import open_application, prepare
from tidings.commands.running import Here
from tidings.commands.terminal import progress_bar, say


def migrate(*, loaded: Here) -> int:
    """Bring the database to the form that this version needs.

    `tidings serve` does it by itself. Running it again does no harm.
    """
    prepare(loaded.settings)
    with open_application(loaded.settings) as application:
        steps = application.migrate()
    say(f"The database is up to date now, after: {', '.join(steps)}" if steps else "The database was up to date.")
    return 0


def refresh(*, user: Annotated[str | None, Parameter(name="--user")] = None, loaded: Here) -> int:
    """Check all feeds now, whether they are due or not.

    The exit code is 1 if no feed could be read at all.

    Parameters
    ----------
    user
        Only the feeds of the user with this name.
    """
    with progress_bar("Checking feeds") as progress:
        prepare(loaded.settings)
        with open_application(loaded.settings) as application:
            application.check()
            done = application.refresh(user, progress)
    say(f"Feeds checked: {done.feeds}, failed: {done.failed}, new entries: {done.new_entries}")
    return 1 if done.feeds and done.failed == done.feeds else 0


def tidy(*, compact: Annotated[bool, Parameter(name="--compact", negative="")] = False, loaded: Here) -> int:
    """Remove now what is old: entries beyond their age, and what nothing needs any more.

    Workers do it by themselves. Starred and shared entries stay.

    Parameters
    ----------
    compact
        Also write the SQLite file anew, so that it gets as small as it can be. Takes as much room again meanwhile,
        and lets nobody else write: best done while Tidings is stopped.
    """
    with progress_bar("Removing what is old") as progress:
        prepare(loaded.settings)
        with open_application(loaded.settings) as application:
            application.check()
            removed = application.clean_up(progress)
            if compact:
                application.compact()
    if removed is None:
        say("A worker is tidying at this moment: nothing was left to do here.")
        return 0
    say(f"Removed: {_listed(removed)}")
    return 0


def _listed(removed: Mapping[str, int]) -> str:
    return ", ".join(f"{what} {removed.get(what, 0)}" for what in ("entries", "tombstones", "icons", "deliveries"))
