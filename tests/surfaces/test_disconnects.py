"""Long work ends when the client for whom it is done has left."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Callable
from typing import Any

from tidings.http.requests import Request, run_while_connected

SCOPE = {"type": "http", "method": "POST", "path": "/", "headers": []}


def test_a_function_learns_that_the_client_has_left() -> None:
    begun = threading.Event()

    async def receive() -> dict[str, Any]:
        await asyncio.to_thread(begun.wait)
        return {"type": "http.disconnect"}

    def work(has_left: Callable[[], bool]) -> str:
        begun.set()
        while not has_left():
            time.sleep(0.001)
        return "stopped"

    assert asyncio.run(asyncio.wait_for(run_while_connected(Request(SCOPE, receive), work), 180)) == "stopped"


def test_a_function_ends_as_usual_while_the_client_waits() -> None:
    async def receive() -> dict[str, Any]:
        await asyncio.Event().wait()
        raise AssertionError

    assert asyncio.run(run_while_connected(Request(SCOPE, receive), lambda has_left: has_left())) is False
