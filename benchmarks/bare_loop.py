"""The same SQL and the same JSON as a request, in a loop without a service: what bounds its rate.

The statements of a request are recorded where the application runs in this process. The loop then executes them with
the driver, fetches the rows as they are and encodes the decoded answer again: no SQLAlchemy, no decompression, no
HTTP, no threads.
"""

from __future__ import annotations

import asyncio
import os
import sqlite3
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from statistics import median
from typing import Any, Final
from unittest import mock
from urllib.parse import urlsplit

import msgspec
import psycopg
from sqlalchemy import Engine, event
from starlette.types import ASGIApp

from support.running import RunningService
from tidings.settings import load
from tidings.wiring.surfaces import asgi_app

WARM_UPS: Final = 20
REPETITIONS: Final = 100
_TRANSACTION: Final = ("BEGIN", "COMMIT", "ROLLBACK")

Statement = tuple[str, Any]


@contextmanager
def bare_loop(service: RunningService, token: str) -> Iterator[BareLoop]:
    """Yields the loop for a user of a service. token: an API key of theirs."""
    settings = load({name: value for name, value in service.environment.items() if name.startswith("TIDINGS_")}, None)
    with mock.patch.dict(os.environ, service.environment):
        application = asgi_app(settings)
    with closing(_connect(service.database_url)) as connection:
        yield BareLoop(application, connection, token)


class BareLoop:
    def __init__(self, application: ASGIApp, connection: Any, token: str) -> None:
        self._application = application
        self._connection = connection
        self._token = token

    def rate(self, path: str) -> float:
        """Returns how often a second the loop does what GET on this path does, by the median of REPETITIONS.

        Raises AssertionError for an answer that is not 200 or has no statements.
        """
        statements, body = asyncio.run(self._record(path))
        assert statements, path
        answer = msgspec.json.decode(body)
        return 1 / median(self._time(statements, answer) for _ in range(REPETITIONS))

    def _time(self, statements: list[Statement], answer: Any) -> float:
        started = time.perf_counter()
        self._execute(statements)
        msgspec.json.encode(answer)
        return time.perf_counter() - started

    def _execute(self, statements: list[Statement]) -> None:
        cursor = self._connection.cursor()
        for sql, parameters in statements:
            cursor.execute(sql, parameters)
            if cursor.description:
                cursor.fetchall()

    async def _record(self, path: str) -> tuple[list[Statement], bytes]:
        """Returns the statements of a request and its answer, when the caches are filled."""
        statements: list[Statement] = []

        def record(_connection: Any, _cursor: Any, sql: str, parameters: Any, *_: Any) -> None:
            if not sql.upper().startswith(_TRANSACTION):
                statements.append((sql, parameters))

        for _ in range(WARM_UPS):
            await self._request(path)
        event.listen(Engine, "before_cursor_execute", record)
        try:
            body = await self._request(path)
        finally:
            event.remove(Engine, "before_cursor_execute", record)
        return statements, body

    async def _request(self, path: str) -> bytes:
        url = urlsplit(path)
        scope = {
            "type": "http",
            "asgi": {"version": "3.0"},
            "http_version": "1.1",
            "method": "GET",
            "scheme": "http",
            "path": url.path,
            "raw_path": url.path.encode(),
            "query_string": url.query.encode(),
            "root_path": "",
            "headers": [(b"host", b"127.0.0.1"), (b"x-auth-token", self._token.encode())],
            "client": ("127.0.0.1", 1),
            "server": ("127.0.0.1", 80),
            "state": {},
        }
        messages: list[Any] = []
        requests = iter([{"type": "http.request", "body": b"", "more_body": False}])

        async def receive() -> Any:
            if (request := next(requests, None)) is None:
                await asyncio.Event().wait()
            return request

        async def send(message: Any) -> None:
            messages.append(message)

        await self._application(scope, receive, send)
        assert messages[0]["status"] == 200, (path, messages)
        return b"".join(message.get("body", b"") for message in messages[1:])


def _connect(database_url: str) -> Any:
    if database_url.startswith("sqlite"):
        return sqlite3.connect(urlsplit(database_url).path, isolation_level=None)
    return psycopg.connect(database_url, autocommit=True)
