"""`tidings serve`, `web` and `worker`: the processes that keep running."""

from __future__ import annotations

import gc
import os
import signal
import threading
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, Annotated

import structlog
from cyclopts import Parameter

from tidings.commands.application import open_application, prepare
from tidings.commands.terminal import say
from tidings.domain.errors import TidingsError
from tidings.runtime import hangup, parent_watch, preflight
from tidings.settings import Loaded, Settings

if TYPE_CHECKING:
    from tidings.wiring import Application

log = structlog.get_logger()

NICENESS = 5
# New objects before the collector looks among them: an entry makes some thousands, nearly none in circles.
GARBAGE = 20_000

Here = Annotated[Loaded, Parameter(parse=False)]


def serve(*, loaded: Here) -> int:
    """Run everything: web pages, API and workers. This is the command to start with.

    The database is made or brought up to date first. On an empty one an administrator is made, too; unless
    TIDINGS_ADMIN_PASSWORD is set, its password is made up and shown this one time. Ctrl-C stops the service.
    """
    settings = loaded.settings
    prepare(settings)
    preflight.check_address(settings.listen_addr)
    with open_application(settings) as application:
        _wait_for_database(application, settings)
        application.migrate()
        made_up = application.services.users.ensure_admin(settings.admin_username, settings.admin_password)
    if made_up:
        say(f"The administrator is {settings.admin_username!r} with the password {made_up}")
        say("It is not shown again; `tidings user passwd` sets another.")
    return _serve(settings, with_poller=True)


def web(*, loaded: Here) -> int:
    """Run web pages and API only, for several machines on one PostgreSQL.

    The database has to be up to date: run `tidings migrate` first, and `tidings worker` somewhere.
    """
    settings = loaded.settings
    prepare(settings)
    preflight.check_address(settings.listen_addr)
    with open_application(settings) as application:
        _wait_for_database(application, settings)
        application.check()
    return _serve(settings, with_poller=False)


def worker(
    *,
    stop_with: Annotated[int | None, Parameter(name="--stop-with", show=False)] = None,
    name: Annotated[str, Parameter(name="--name", show=False)] = "",
    loaded: Here,
) -> int:
    """Run one worker only: it checks feeds when they are due, delivers what is to be sent, and tidies.

    Any number of them, on any number of machines, may share a PostgreSQL database.

    Parameters
    ----------
    stop_with
        The process that started this one; when it is gone, this one stops.
    name
        The name under which it holds leases.
    """
    settings = loaded.settings
    prepare(settings)
    stop = threading.Event()
    for how in (signal.SIGTERM, signal.SIGINT, *([signal.SIGHUP] if hangup.stops_us() else [])):
        signal.signal(how, lambda *_: stop.set())
    if not hangup.stops_us():
        signal.signal(signal.SIGHUP, signal.SIG_IGN)
    _stand_back()
    with open_application(settings) as application:
        if stop_with is not None:
            # From here on: what has only just been imported would use up the time that there is to stop.
            parent_watch.follow(stop_with)
        _wait_for_database(application, settings, stop)
        if not stop.is_set():
            application.check()
            application.run_worker(stop, name)
    return 0


def _wait_for_database(application: Application, settings: Settings, stop: threading.Event | None = None) -> None:
    """The database and Tidings may have been started at the same moment, as by Compose. A file needs no waiting."""
    if settings.database_file is None:
        preflight.wait_for_database(application.ping, settings.database_wait.total_seconds(), stop or threading.Event())


def _release_leases(settings: Settings, worker: str) -> None:
    """Of a worker that was killed: they would be nobody's until they run out."""
    try:
        with open_application(settings) as application:
            released = application.release_leases(worker)
    except TidingsError as error:
        log.warning("leases of an ended worker run out by themselves", worker=worker, reason=error.message)
    else:
        log.info("leases of an ended worker released", worker=worker, leases=released)


def _stand_back() -> None:
    """Whoever waits for a page comes before what is done in the background."""
    with suppress(OSError):
        os.nice(NICENESS)
    # What was loaded stays: the collector need not walk through it again with every feed.
    gc.freeze()
    gc.set_threshold(GARBAGE, 20, 50)


def _serve(settings: Settings, *, with_poller: bool) -> int:
    from tidings.runtime import supervisor

    return supervisor.serve(
        settings,
        poller=supervisor.poller_command() if with_poller else None,
        on_crash=partial(_release_leases, settings),
        on_ready=lambda: say(f"Tidings is ready at {settings.base_url} (Ctrl-C stops it)"),
    )
