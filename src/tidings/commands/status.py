"""`tidings status`: the state of the service, for people and for scripts."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import msgspec
from cyclopts import Parameter

from tidings.commands.application import LoadedSettings, open_application, prepare
from tidings.commands.terminal import say

if TYPE_CHECKING:
    from tidings.services.maintenance.status import ServiceStatus

# Exit code when the command works, but feeds are overdue.
EXIT_BEHIND = 3


def status(*, as_json: Annotated[bool, Parameter(name="--json", negative="")] = False, loaded: LoadedSettings) -> int:
    """Show the state of the service: due feeds, errors, deliveries, and the database.

    The exit code is 3 if feeds have been due for more than five minutes: no worker runs, or too few do.

    Parameters
    ----------
    as_json
        Print one JSON object, for scripts.
    """
    prepare(loaded.settings)
    with open_application(loaded.settings) as application:
        application.check()
        current = application.services.status.read()
    if as_json:
        say(msgspec.json.encode(current).decode())
    else:
        for title, text in _lines(current).items():
            say(f"{title:12}{text}")
    return EXIT_BEHIND if current.is_behind else 0


def _lines(seen: ServiceStatus) -> dict[str, str]:
    engine = {"sqlite": "SQLite", "postgresql": "PostgreSQL"}[seen.database_engine]
    waiting = f", the oldest for {_span(seen.oldest_overdue_s)}" if seen.due else ""
    late = f", the oldest for {_span(seen.oldest_delivery_s)}" if seen.deliveries_pending else ""
    tidied = "not yet" if seen.last_tidied_s is None else f"{_span(seen.last_tidied_s)} ago"
    at_work = f"{seen.claimed} at work (workers: {seen.workers})"
    return {
        "Database": f"{engine}, {_size(seen.database_bytes)}",
        "Users": f"{seen.users}",
        "Feeds": f"{seen.feeds}, of which {seen.feeds_failing} failing and {seen.feeds_disabled} switched off",
        "Entries": f"{seen.entries_unread} unread, {seen.entries_read} read",
        "Due": f"{seen.due}{waiting}; {seen.overdue} of them for more than five minutes",
        "Polling": f"{seen.polls_last_hour} feeds checked within the hour; {at_work}",
        "Deliveries": f"{seen.deliveries_pending} pending{late}, {seen.deliveries_failed} failed",
        "Tidied": tidied,
    }


def _size(count: float) -> str:
    for unit in ("bytes", "kB", "MB"):
        if count < 1000:
            return f"{count:.0f} {unit}"
        count /= 1000
    return f"{count:.1f} GB"


def _span(seconds: int) -> str:
    for unit, length in (("days", 86_400), ("hours", 3600), ("minutes", 60)):
        if seconds >= 2 * length:
            return f"{seconds // length} {unit}"
    return f"{seconds} seconds"
