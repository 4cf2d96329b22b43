"""`tidings serve`, `web` and `worker`: commands that run until they are stopped."""

from __future__ import annotations

import gc
import os
import signal
import threading
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, Final

import structlog

from tidings.base.errors import TidingsError
from tidings.commands.application import LoadedSettings, open_application, prepare
from tidings.commands.outcomes import DONE, exit_code_of
from tidings.commands.terminal import say
from tidings.runtime import hangup, preflight
from tidings.runtime.demand import WorkerLifetime
from tidings.settings import Settings

if TYPE_CHECKING:
    from tidings.wiring.application import Application

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
    preflight.check_listening(settings)
    preflight.check_lmtp(settings)
    return _serve(loaded, prepare_database=_upgrade_database, with_worker=True)


def web(*, loaded: LoadedSettings) -> int:
    """Run web pages and API only, for several machines that share a PostgreSQL database.

    The database must be up to date: run `tidings migrate` first. Run `tidings worker` on at least one machine.
    """
    settings = loaded.settings
    prepare(settings)
    preflight.check_listening(settings)
    return _serve(loaded, prepare_database=_check_database, with_worker=False)


def worker(*, loaded: LoadedSettings) -> int:
    """Run one worker only: it checks due feeds, sends deliveries, and removes old data.

    Any number of workers, on any number of machines, may share a PostgreSQL database.
    """
    prepare(loaded.settings)
    return _run_worker(loaded.settings)


def _run_worker(settings: Settings, name: str = "", lifetime: WorkerLifetime | None = None) -> int:
    """Run a worker until a signal. name: holds the leases; "" to generate one. lifetime: below a supervisor."""
    stop = threading.Event()
    for number in (signal.SIGTERM, signal.SIGINT, *([signal.SIGHUP] if hangup.stops_process() else [])):
        signal.signal(number, lambda *_: stop.set())
    if not hangup.stops_process():
        signal.signal(signal.SIGHUP, signal.SIG_IGN)
    _lower_priority()
    with open_application(settings) as application:
        _wait_for_database(application, settings, stop)
        if not stop.is_set():
            application.check()
            application.run_worker(stop, name, lifetime or WorkerLifetime())
    return DONE


def _upgrade_database(settings: Settings) -> int:
    with open_application(settings) as application:
        _wait_for_database(application, settings)
        application.migrate()
        password = application.services.accounts.users.ensure_admin(settings.admin_username, settings.admin_password)
    if password:
        say(f"The administrator is {settings.admin_username!r} with the password {password}")
        say("It is not shown again; `tidings user passwd` sets another.")
    return DONE


def _check_database(settings: Settings) -> int:
    with open_application(settings) as application:
        _wait_for_database(application, settings)
        application.check()
    return DONE


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
    # Imported modules stay: the garbage collector need not examine them with every feed.
    gc.freeze()
    gc.set_threshold(GC_THRESHOLD, 20, 50)


def _serve(loaded: LoadedSettings, *, prepare_database: Callable[[Settings], int], with_worker: bool) -> int:
    # Everything that web workers and workers need is imported once, here, and shared by them.
    from tidings.runtime import children, supervisor
    from tidings.wiring import surfaces

    settings = loaded.settings
    if exit_code := children.run_once(lambda: exit_code_of(partial(prepare_database, settings))):
        return exit_code
    return supervisor.serve(
        settings,
        application=partial(surfaces.asgi_app, quotas=surfaces.build_quotas(settings)),
        worker=(lambda name, lifetime: exit_code_of(partial(_run_worker, settings, name, lifetime)))
        if with_worker
        else None,
        workers_on_demand=loaded.is_default("worker_processes"),
        web_on_demand=loaded.is_default("web_workers"),
        on_crash=partial(_release_leases, settings),
        on_ready=partial(_announce, settings),
    )


def _announce(settings: Settings) -> None:
    with suppress(OSError):
        place = settings.listen_socket or settings.base_url
        say(f"Tidings is ready at {place} (Ctrl-C stops it)")
