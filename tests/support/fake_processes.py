"""Fakes of what the supervisor runs: a web application and a worker that misbehave on request.

They run below a supervisor of their own: `python -m support.fake_processes app [MANNER FOLDER]`.
"""

from __future__ import annotations

import asyncio
import os
import signal
import sys
import time
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

from tidings import settings
from tidings.base.errors import StartError
from tidings.http.load import process_load
from tidings.runtime import logs, supervisor, web_child, web_group
from tidings.runtime.demand import WorkerLifetime
from tidings.settings import Settings

Send = Callable[[dict[str, Any]], Awaitable[None]]
Receive = Callable[[], Awaitable[dict[str, Any]]]


def app(loaded: Settings) -> Any:
    """An ASGI application. /pid: the process id; /slow: a response after an hour; /user: a value of the settings.

    /work: the process id, after a moment in which the request waits for a thread.
    """

    async def respond(scope: dict[str, Any], receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            return
        if scope["path"] == "/slow":
            os.write(sys.stderr.fileno(), b"fake application got /slow\n")
            await asyncio.sleep(3600)
        if scope["path"] == "/work":
            await wait_for_a_thread()
        body = loaded.admin_username if scope["path"] == "/user" else str(os.getpid())
        await send({"type": "http.response.start", "status": 200, "headers": []})
        await send({"type": "http.response.body", "body": body.encode()})

    return respond


async def wait_for_a_thread() -> None:
    process_load.begin()
    try:
        await asyncio.sleep(0.05)
    finally:
        process_load.end()


def app_on_demand(loaded: Settings) -> Any:
    """Like `app`, in web workers that are started while requests wait."""
    return app(loaded)


def app_that_rests_soon(loaded: Settings) -> Any:
    """Like `app_on_demand`. Web workers that are not needed end after a second."""
    return app(loaded)


def app_that_cannot_start(_loaded: Settings) -> Any:
    raise StartError("the database is from a newer version")


APPLICATIONS = {
    "app": app,
    "app_on_demand": app_on_demand,
    "app_that_rests_soon": app_that_rests_soon,
    "app_that_cannot_start": app_that_cannot_start,
}


def serve(application: str, *worker: str) -> int:
    """Run the supervisor as `tidings serve` does, with another application and another worker."""
    loaded = settings.load_process().settings
    logs.configure(loaded.log_level, loaded.log_format)
    if application == "app_that_rests_soon":
        vars(web_group).update(QUIET_S=1.0, LOOK_EVERY_S=0.2)
        vars(web_child).update(DRAIN_S=2.0)
    try:
        return supervisor.serve(
            loaded,
            application=APPLICATIONS[application],
            worker=(lambda _name, lifetime: poll(lifetime, *worker)) if worker else None,
            workers_on_demand=worker[:1] == ("asking",),
            web_on_demand=application in ("app_on_demand", "app_that_rests_soon"),
            on_ready=lambda: print("ready", flush=True),  # noqa: T201
        )
    except StartError as error:
        sys.stderr.write(f"{error}\n")
        return 1


def poll(lifetime: WorkerLifetime, manner: str, folder: str) -> int:
    """Create a file named after the process id, then run until SIGTERM, which it logs.

    manner: `obedient`; `crashing` to end at once; `stubborn` to ignore SIGTERM; `asking` for more workers when there is
    a file `ask` in the folder, and to end, if it was started on demand, when there is a file `rest`.
    """
    (Path(folder) / str(os.getpid())).touch()
    if manner == "crashing":
        return 3

    def stop(*_: object) -> None:
        os.write(sys.stderr.fileno(), b"fake worker got SIGTERM\n")
        if manner != "stubborn":
            sys.exit(0)

    signal.signal(signal.SIGTERM, stop)
    while True:
        time.sleep(0.1)
        if manner == "asking" and (Path(folder) / "ask").exists():
            lifetime.ask_for_more()
        if lifetime.ends_when_idle and (Path(folder) / "rest").exists():
            return 0


if __name__ == "__main__":
    sys.exit(serve(*sys.argv[1:]))
