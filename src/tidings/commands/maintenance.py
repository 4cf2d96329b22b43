"""`tidings migrate`, `refresh` and `cleanup`: maintenance commands, each of which runs once and exits."""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import Annotated, Final

from cyclopts import Parameter
from cyclopts.validators import Number

from tidings.base.errors import InvalidInput
from tidings.base.messages import verbatim
from tidings.commands.application import LoadedSettings, open_application, prepare
from tidings.commands.terminal import progress_bar, say
from tidings.settings import Settings

# Enough for 32 servers; each part costs time in the statements that serve all users.
DEFAULT_SHARDS: Final = 32


def migrate(
    *,
    distribute: Annotated[bool, Parameter(name="--distribute", negative="")] = False,
    shards: Annotated[int | None, Parameter(name="--shards", validator=Number(gte=2, lte=1024))] = None,
    partitions: Annotated[str | None, Parameter(name="--partitions", show=False)] = None,
    loaded: LoadedSettings,
) -> int:
    """Upgrade the database schema to the one that this version needs.

    `tidings serve` does this at its start. Running it again changes nothing.

    Parameters
    ----------
    distribute
        Instead distribute what users read over several servers of PostgreSQL with the extension Citus, permanently.
        The schema must be current. Stop Tidings before: all rows are copied in one transaction, which needs the same
        disk space again.
    shards
        With --distribute: into how many parts, 32 if not given. Each server gets some of them; there can never be more
        servers than parts.
    """
    if partitions is not None:
        raise InvalidInput(
            verbatim(
                "--partitions has been removed: what does not fit one server of PostgreSQL is distributed over several"
                " with --distribute; a database that is divided into partitions continues to work"
            )
        )
    if shards is not None and not distribute:
        raise InvalidInput(verbatim("--shards goes with --distribute"))
    prepare(loaded.settings)
    if distribute:
        return _distribute(loaded.settings, shards or DEFAULT_SHARDS)
    with open_application(loaded.settings) as application:
        steps = application.migrate()
    say(f"Migrations applied: {', '.join(steps)}" if steps else "The database was up to date.")
    return 0


def _distribute(settings: Settings, shards: int) -> int:
    started = time.monotonic()
    with open_application(settings) as application:
        done = application.distribute(shards)
    took_s = round(time.monotonic() - started)
    nodes = "1 server" if done.nodes == 1 else f"{done.nodes} servers"
    say(
        f"Distributed {done.by_user} tables by user over {done.shards} shards on {nodes}, and copied {done.copied} to"
        f" each server, in {took_s} s."
    )
    return 0


def refresh(*, user: Annotated[str | None, Parameter(name="--user")] = None, loaded: LoadedSettings) -> int:
    """Check all enabled feeds now, whether or not they are due.

    The exit code is 1 if every check failed.

    Parameters
    ----------
    user
        Check only the feeds of the user with this name.
    """
    with progress_bar("Checking feeds") as progress:
        prepare(loaded.settings)
        with open_application(loaded.settings) as application:
            application.check()
            result = application.refresh(user, progress)
    say(f"Feeds checked: {result.feeds}, failed: {result.failed}, new entries: {result.new_entries}")
    return 1 if result.feeds and result.failed == result.feeds else 0


def cleanup(
    *, compact: Annotated[bool, Parameter(name="--compact", negative="")] = False, loaded: LoadedSettings
) -> int:
    """Remove expired entries and data that is no longer used.

    Workers do this regularly. Starred, shared and labelled entries are kept.

    Parameters
    ----------
    compact
        Also rewrite the SQLite file, which makes it as small as possible. Needs the same disk space again while it
        runs, and blocks all other writers: stop Tidings before.
    """
    with progress_bar("Removing old data") as progress:
        prepare(loaded.settings)
        with open_application(loaded.settings) as application:
            application.check()
            removed = application.clean_up(progress)
            if compact:
                application.compact()
    if removed is None:
        say("A worker is removing old data at this moment; this command did nothing.")
        return 0
    say(f"Removed: {_format_counts(removed)}")
    return 0


def _format_counts(removed: Mapping[str, int]) -> str:
    return ", ".join(f"{what} {removed.get(what, 0)}" for what in ("entries", "tombstones", "icons", "deliveries"))
