"""`tidings serve`, `web` and `worker`: commands that run until they are stopped."""

from __future__ import annotations

import gc
import os
import signal
import threading
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, Annotated, Final

import structlog
from cyclopts import Parameter

from tidings.commands.application import LoadedSettings, open_application, prepare
from tidings.commands.terminal import say
from tidings.domain.errors import TidingsError
from tidings.runtime import hangup, parent_watch, preflight
from tidings.settings import Settings

if TYPE_CHECKING:
    from tidings.wiring import Application

log = structlog.get_logger()

NICENESS: Final = 5
# Allocations before a collection of the youngest generation: an entry makes thousands of objects, few in cycles.
GC_THRESHOLD: Final = 20_000


def serve(*, loaded: LoadedSettings) -> int:
    """Run everything: web pages, API and workers. This is the command to start with.

    First the database is created or upgraded. If it has no users, an administrator is created; unless
    TIDINGS_ADMIN_PASSWORD is set, the password is random and shown only this time. Ctrl-C stops the service.
    """
    settings = loaded.settings
    prepare(settings)
    preflight.check_url(settings.listen_addr)
    with open_application(settings) as application:
        _wait_for_database(application, settings)
        application.migrate()
        password = application.services.users.ensure_admin(settings.admin_username, settings.admin_password)
    if password:
        say(f"The administrator is {settings.admin_username!r} with the password {password}")
        say("It is not shown again; `tidings user passwd` sets another.")
    return _serve(settings, with_worker=True)


def web(*, loaded: LoadedSettings) -> int:
    """Run web pages and API only, for several machines that share a PostgreSQL database.

    The database must be up to date: run `tidings migrate` first. Run `tidings worker` on at least one machine.
    """
    settings = loaded.settings
    prepare(settings)
    preflight.check_url(settings.listen_addr)
    with open_application(settings) as application:
        _wait_for_database(application, settings)
        application.check()
    return _serve(settings, with_worker=False)


def worker(
    *,
    stop_with: Annotated[int | None, Parameter(name="--stop-with", show=False)] = None,
    name: Annotated[str, Parameter(name="--name", show=False)] = "",
    loaded: LoadedSettings,
) -> int:
    """Run one worker only: it checks due feeds, sends deliveries, and removes old data.

    Any number of workers, on any number of machines, may share a PostgreSQL database.

    Parameters
    ----------
    stop_with
        Process id of the parent; the worker stops when that process has ended.
    name
        The name under which the worker holds leases.
    """
    settings = loaded.settings
    prepare(settings)
    stop = threading.Event()
    for number in (signal.SIGTERM, signal.SIGINT, *([signal.SIGHUP] if hangup.stops_process() else [])):
        signal.signal(number, lambda *_: stop.set())
    if not hangup.stops_process():
        signal.signal(signal.SIGHUP, signal.SIG_IGN)
    _lower_priority()
    with open_application(settings) as application:
        if stop_with is not None:
            # Only now: earlier, the imports would use up the time that the worker has to stop.
            parent_watch.follow(stop_with)
        _wait_for_database(application, settings, stop)
        if not stop.is_set():
            application.check()
            application.run_worker(stop, name)
    return 0


def _wait_for_database(application: Application, settings: Settings, stop: threading.Event | None = None) -> None:
    """Wait until a PostgreSQL server answers: Compose starts it at the same moment as Tidings."""
    if settings.database_file is None:
        preflight.wait_for_database(application.ping, settings.database_wait.total_seconds(), stop or threading.Event())


def _release_leases(settings: Settings, worker: str) -> None:
    """Release the leases of a worker that crashed, so that other workers do not wait until they expire."""
    try:
        with open_application(settings) as application:
            released = application.release_leases(worker)
    except TidingsError as error:
        log.warning("leases of an ended worker not released; they expire", worker=worker, reason=error.message)
    else:
        log.info("leases of an ended worker released", worker=worker, leases=released)


def _lower_priority() -> None:
    """Give requests precedence over background work, and make garbage collection cheaper."""
    with suppress(OSError):
        os.nice(NICENESS)
    # Imported modules stay for good: the collector need not examine them with every feed.
    gc.freeze()
    gc.set_threshold(GC_THRESHOLD, 20, 50)


def _serve(settings: Settings, *, with_worker: bool) -> int:
    from tidings.runtime import supervisor

    return supervisor.serve(
        settings,
        worker=supervisor.worker_command() if with_worker else None,
        on_crash=partial(_release_leases, settings),
        on_ready=lambda: say(f"Tidings is ready at {settings.base_url} (Ctrl-C stops it)"),
    )
