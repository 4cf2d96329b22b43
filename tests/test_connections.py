"""Connections that are silent, stop in the middle or read slowly do not slow down other clients. Real sockets."""

from __future__ import annotations

import asyncio
import base64
import weakref
from collections.abc import Iterator, MutableMapping
from contextlib import ExitStack, closing, contextmanager, suppress
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from starlette.types import Receive, Scope, Send

from support.connections import connected, is_open_at_server, request, rest_of
from support.databases import SqliteDatabases
from support.hub import wait_for
from support.people import PASSWORD, call
from support.processes import children
from support.running import RunningService, environment_for, running, running_service
from tidings.http.front_door import FrontDoor
from tidings.http.requests import BodyPace, Request, RequestTooSlow
from tidings.runtime import file_limit

pytestmark = pytest.mark.slow

# More than the 1,024 that Granian takes unless it is told otherwise.
SILENT, HALF_SENT = 1_200, 100
# More than there are threads for API and pages together.
SLOW_READERS = 40
HALF_SENT_BODY = request("/sign-in", method="POST", Content_Length="100") + b"username="

_POST = {"type": "http", "method": "POST", "headers": []}


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningService]:
    folder = tmp_path_factory.mktemp("connections")
    with SqliteDatabases(folder).migrated() as url, running_service(url, folder) as service:
        service.services.accounts.users.create("alice", PASSWORD)
        yield service


@pytest.fixture
def stack() -> Iterator[ExitStack]:
    with ExitStack() as stack:
        yield stack


def is_served(service: RunningService) -> bool:
    return call(service.url, "GET", "/healthcheck").status == 200 and call(service.url, "GET", "/sign-in").status == 200


def test_silent_and_half_sent_connections_leave_room_for_others(service: RunningService, stack: ExitStack) -> None:
    for _ in range(SILENT):
        stack.enter_context(closing(connected(service.url)))
    for _ in range(HALF_SENT):
        stack.enter_context(closing(connected(service.url, b"GET /sign-in HTTP/1.1\r\nHost: loc")))
        stack.enter_context(closing(connected(service.url, HALF_SENT_BODY)))

    assert is_served(service)


def test_slow_readers_hold_no_thread(service: RunningService, stack: ExitStack) -> None:
    readers = [
        stack.enter_context(closing(connected(service.url, request("/v1/openapi.json"), reads_slowly=True)))
        for _ in range(SLOW_READERS)
    ]
    for reader in readers:
        assert reader.recv(12) == b"HTTP/1.1 200"  # each of them is being answered

    assert is_served(service)


def test_a_connection_whose_response_is_not_read_is_closed(service: RunningService, stack: ExitStack) -> None:
    # More than the buffers of the kernel hold, so that the service waits for room.
    requests = request("/v1/openapi.json") * 40
    unread = stack.enter_context(closing(connected(service.url, requests, reads_slowly=True)))
    assert is_open_at_server(unread)

    wait_for(lambda: not is_open_at_server(unread), "the connection is still open", within_s=90)


def test_headers_that_do_not_end_and_resting_connections_are_closed(service: RunningService, stack: ExitStack) -> None:
    open_ = partial(connected, service.url)
    silent, half_sent, rested = [
        stack.enter_context(closing(one))
        for one in (open_(), open_(b"GET /sign-in HTTP/1.1\r\nHost: loc"), open_(request("/healthcheck")))
    ]

    assert rest_of(silent) == b""
    assert rest_of(half_sent) == b""
    assert rest_of(rested).endswith(b"OK")


def test_a_body_that_stops_arriving_is_answered_with_408(service: RunningService, stack: ExitStack) -> None:
    token = base64.b64encode(f"alice:{PASSWORD}".encode()).decode()
    head = request("/v1/categories", method="POST", Content_Length="100", Authorization=f"Basic {token}")
    of_api = stack.enter_context(closing(connected(service.url, head + b'{"title":')))
    of_page = stack.enter_context(closing(connected(service.url, HALF_SENT_BODY)))

    answer = rest_of(of_api)

    assert answer.startswith(b"HTTP/1.1 408 ")
    assert b'{"error_message":"This request arrived too slowly: ' in answer
    assert rest_of(of_page).startswith(b"HTTP/1.1 408 ")


@pytest.mark.parametrize(
    ("pace", "why"),
    [
        (BodyPace(limit_s=0.05, grace_s=60), "all of it within the limit"),
        (BodyPace(limit_s=60, grace_s=0.05, bytes_per_s=1e9), "so many bytes a second after the grace"),
    ],
)
def test_a_body_that_drips_is_given_up(pace: BodyPace, why: str) -> None:
    async def drip() -> dict[str, object]:
        await asyncio.sleep(0.01)
        return {"type": "http.request", "body": b"x", "more_body": True}

    with pytest.raises(RequestTooSlow):
        asyncio.run(Request(_POST, drip).read(10**9, pace))


def test_the_connection_is_not_kept_by_an_error_about_its_request() -> None:
    """Granian closes it when nothing refers to it; garbage collection might come much later."""
    kept: list[Receive] = []

    async def fail(_scope: Scope, receive: Receive, _send: Send) -> None:
        kept.append(receive)
        raise ValueError

    async def served() -> weakref.ref[_Connection]:
        connection = _Connection()
        with suppress(ValueError):
            await FrontDoor(fail, trusted=(), access_log=True)(
                {**_POST, "path": "/", "http_version": "1"}, connection.receive, connection.send
            )
        return weakref.ref(connection)

    async def is_closed() -> bool:
        return (await served())() is None

    assert asyncio.run(is_closed())


class _Connection:
    """What the server lends to a request."""

    async def receive(self) -> MutableMapping[str, Any]:
        return {"type": "http.disconnect"}

    async def send(self, message: MutableMapping[str, Any]) -> None:
        pass


def test_a_body_that_keeps_the_pace_is_read_whole() -> None:
    chunks = iter([b"on", b"e"])

    async def arrive() -> dict[str, object]:
        chunk = next(chunks)
        return {"type": "http.request", "body": chunk, "more_body": chunk == b"on"}

    incoming = Request(_POST, arrive)
    asyncio.run(incoming.read(3))

    assert incoming.content == b"one"


def test_the_limit_on_open_files_is_raised_for_all_processes(tmp_path: Path) -> None:
    with SqliteDatabases(tmp_path).migrated() as url, _limited(tmp_path, url, soft=300, hard=20_000) as service:
        [worker] = children(service.process.pid)
        limits = Path(f"/proc/{worker}/limits").read_text(encoding="ascii")

    (line,) = [line for line in limits.splitlines() if line.startswith("Max open files")]
    assert line.split()[3:5] == ["20000", "20000"]
    assert "limit on open files" not in service.log


def test_a_limit_that_cannot_be_raised_enough_is_named_and_kept_to(tmp_path: Path, stack: ExitStack) -> None:
    with SqliteDatabases(tmp_path).migrated() as url, _limited(tmp_path, url, soft=300, hard=400) as service:
        for _ in range(400):
            stack.enter_context(closing(connected(service.url)))
        # Beyond those that are open, others wait until the silent ones are closed.
        assert is_served(service)

    assert "limit on open files is low" in service.log
    assert f"connections_per_process={400 - file_limit.RESERVED_FILES}" in service.log
    assert "Too many open files" not in service.log


@contextmanager
def _limited(folder: Path, database_url: str, *, soft: int, hard: int) -> Iterator[RunningService]:
    """A service that was started with this limit on open files."""
    environment = environment_for(database_url, folder)
    with running("web", environment, folder, prefix=["prlimit", f"--nofile={soft}:{hard}"]) as service:
        service.wait_until_ready()
        yield service
