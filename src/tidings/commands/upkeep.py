"""`tidings migrate` and `refresh`: work on the database that has an end."""

from __future__ import annotations

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
