"""`tidings serve`, `web` and `worker`: the processes that keep running."""

from __future__ import annotations

import gc
import os
import signal
import threading
from contextlib import suppress
from typing import Annotated

from cyclopts import Parameter

from tidings import lifeline, preflight
from tidings.commands.application import open_application, prepare
from tidings.commands.terminal import say
from tidings.settings import Loaded, Settings

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
        application.check()
    return _serve(settings, with_poller=False)


def worker(*, stop_with: Annotated[int | None, Parameter(name="--stop-with", show=False)] = None, loaded: Here) -> int:
    """Run one worker only: it checks feeds when they are due, delivers what is to be sent, and tidies.

    Any number of them, on any number of machines, may share a PostgreSQL database.

    Parameters
    ----------
    stop_with
        The process that started this one; when it is gone, this one stops.
    """
    settings = loaded.settings
    prepare(settings)
    stop = threading.Event()
    for how in (signal.SIGTERM, signal.SIGINT):
        signal.signal(how, lambda *_: stop.set())
    if stop_with is not None:
        lifeline.follow(stop_with)
    _stand_back()
    with open_application(settings) as application:
        application.check()
        application.run_worker(stop)
    return 0


def _stand_back() -> None:
    """Whoever waits for a page comes before what is done in the background."""
    with suppress(OSError):
        os.nice(NICENESS)
    # What was loaded stays: the collector need not walk through it again with every feed.
    gc.freeze()
    gc.set_threshold(GARBAGE, 20, 50)


def _serve(settings: Settings, *, with_poller: bool) -> int:
    from tidings import supervisor

    return supervisor.serve(
        settings,
        poller=supervisor.poller_command() if with_poller else None,
        on_ready=lambda: say(f"Tidings is ready at {settings.base_url} (Ctrl-C stops it)"),
    )
