"""A running service with an account, for load tests."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from typing import Any

import aiohttp

from loopback.processes import Usage, usage
from loopback.service import ADMIN, PASSWORD, Command, environment, wait_until_ready
from support.postgres import create_database, postgres_server


@contextmanager
def database(engine: str, home: Path) -> Iterator[str]:
    """Yield the URL of an empty database."""
    if engine == "sqlite":
        yield f"sqlite:///{home / 'tidings.db'}"
        return
    with postgres_server(is_durable=True) as server:
        yield create_database(server, "tidings")


class Service:
    """A `tidings serve` and an account with an API key."""

    def __init__(self, command: Command) -> None:
        self.command = command
        self.url = f"http://{command.environment['TIDINGS_LISTEN_ADDR']}"
        self.headers: dict[str, str] = {}

    def usage(self) -> Usage:
        port = int(self.url.rpartition(":")[2])
        return usage([process.pid for process in self.command.processes()], port=port)

    async def ask(self, method: str, path: str, body: object = None, **arguments: Any) -> Any:
        """Return the JSON of a response. Raises aiohttp.ClientResponseError unless its status is 2xx."""
        timeout = aiohttp.ClientTimeout(total=120)
        data = {"data": body} if isinstance(body, str) else {"json": body}
        async with (
            aiohttp.ClientSession(timeout=timeout, headers=self.headers, raise_for_status=True) as session,
            session.request(method, self.url + path, **data, **arguments) as answer,
        ):
            return await answer.json() if answer.content_type == "application/json" else None

    async def subscribe(self, urls: list[str]) -> None:
        """Subscribe by OPML import, which responds before anything is fetched."""
        outlines = "".join(f'<outline type="rss" text="{url}" xmlUrl="{url}"/>' for url in urls)
        await self.ask("POST", "/v1/import", f'<opml version="2.0"><body>{outlines}</body></opml>')


@asynccontextmanager
async def service(database_url: str, home: Path, **settings: str) -> AsyncIterator[Service]:
    command = Command("serve", environment(database_url, home, **settings), home)
    command.start()
    try:
        started = Service(command)
        await wait_until_ready(started.url)
        auth = aiohttp.BasicAuth(ADMIN, PASSWORD)
        key = await started.ask("POST", "/v1/api-keys", {"description": "soak"}, auth=auth)
        started.headers = {"X-Auth-Token": key["token"]}
        yield started
    finally:
        await asyncio.to_thread(command.stop)
