"""`tidings status` and `tidings healthcheck`: the state of the service, for people and for scripts."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import msgspec
from cyclopts import Parameter

from tidings.base.errors import StartError
from tidings.commands.application import LoadedSettings, open_application, prepare
from tidings.commands.terminal import say

if TYPE_CHECKING:
    from tidings.maintenance.status import ServiceStatus

# Exit code when the command works, but feeds are overdue.
EXIT_BEHIND = 3


def status(*, as_json: Annotated[bool, Parameter(name="--json", negative="")] = False, loaded: LoadedSettings) -> int:
    """Show the state of the service: due feeds, errors, deliveries, and the database.

    The exit code is 3 if feeds have been due for more than five minutes: no worker runs, or too few do. It is 1 if
    the database cannot be used, or if one of several servers that it is distributed over does not answer.

    Parameters
    ----------
    as_json
        Print one JSON object, for scripts.
    """
    prepare(loaded.settings)
    with open_application(loaded.settings) as application:
        application.check()
        current = application.read_status()
    if as_json:
        say(msgspec.json.encode(current).decode())
    else:
        for title, text in _lines(current).items():
            say(f"{title:12}{text}")
    return EXIT_BEHIND if current.is_behind else 0


def healthcheck(*, loaded: LoadedSettings) -> int:
    """Ask the running service whether it can serve requests; the exit code is 1 if not.

    For containers and monitors: it takes the address from the settings, needs no database, and at most five seconds.
    """
    from tidings.net import own_health

    settings = loaded.settings
    listen = settings.listen_addr.reachable_locally()
    reason = own_health.ask(
        listen.host, listen.port, unix_socket=settings.listen_socket, is_tls=settings.tls_certificate is not None
    )
    if reason:
        raise StartError(f"Tidings at {settings.listen_socket or listen} is not ready: {reason}")
    say("OK")
    return 0


def _lines(current: ServiceStatus) -> dict[str, str]:
    engine = {"sqlite": "SQLite", "postgresql": "PostgreSQL"}[current.database_engine]
    oldest_due = f", the oldest for {_duration(current.oldest_overdue_s)}" if current.due else ""
    oldest_delivery = f", the oldest for {_duration(current.oldest_delivery_s)}" if current.deliveries_pending else ""
    last_cleanup = "not yet" if current.last_cleanup_s is None else f"{_duration(current.last_cleanup_s)} ago"
    last_backup = "none" if current.last_backup_s is None else f"{_duration(current.last_backup_s)} ago"
    claimed = f"{current.claimed} at work (workers: {current.workers})"
    return {
        "Database": f"{engine}, {_size(current.database_bytes)}",
        "Users": f"{current.users}",
        "Feeds": f"{current.feeds}, of which {current.feeds_failing} failing and {current.feeds_disabled} switched off",
        "Entries": f"{current.entries_unread} unread, {current.entries_read} read",
        "Due": f"{current.due}{oldest_due}; {current.overdue} of them for more than five minutes",
        "Polling": f"{current.polls_last_hour} feeds checked within the hour; {claimed}",
        "Deliveries": f"{current.deliveries_pending} pending{oldest_delivery}, {current.deliveries_failed} failed",
        "Cleanup": last_cleanup,
        "Backup": last_backup,
    }


def _size(count: float) -> str:
    for unit in ("bytes", "kB", "MB"):
        if count < 1000:
            return f"{count:.0f} {unit}"
        count /= 1000
    return f"{count:.1f} GB"


def _duration(seconds: int) -> str:
    for unit, length in (("days", 86_400), ("hours", 3600), ("minutes", 60)):
        if seconds >= 2 * length:
            return f"{seconds // length} {unit}"
    return f"{seconds} seconds"
