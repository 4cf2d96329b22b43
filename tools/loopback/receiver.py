"""A webhook receiver on loopback that records deliveries, and can be configured to misbehave."""

from __future__ import annotations

import asyncio
import json
import random
from collections import Counter
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

FAULTS = ("error", "hang", "reset", "late reset")


@dataclass
class Receiver:
    """misbehaving: the share of requests that get a faulty response.

    seen: complete requests by delivery id, whatever the response was. accepted: ids that got 200, in the order of
    their first arrival.
    """

    rng: random.Random
    misbehaving: float = 0.0
    seen: dict[str, dict[str, Any]] = field(default_factory=dict)
    accepted: dict[str, float] = field(default_factory=dict)
    repeats: int = 0
    changed: list[str] = field(default_factory=list)
    faults: Counter[str] = field(default_factory=Counter)
    port: int = 0
    _server: asyncio.Server | None = None
    _open: set[asyncio.Task[None]] = field(default_factory=set)

    async def start(self) -> None:
        self._server = await asyncio.start_server(self._connection, "127.0.0.1", 0)
        self.port = self._server.sockets[0].getsockname()[1]

    async def stop(self) -> None:
        if self._server:
            self._server.close()
        for task in list(self._open):
            task.cancel()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}/hook"

    async def _connection(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._open.add(task)
        try:
            with suppress(asyncio.IncompleteReadError, asyncio.LimitOverrunError, OSError, ValueError):
                while await self._request(reader, writer):
                    pass
        finally:
            self._open.discard(task)
            writer.close()

    async def _request(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bool:
        """Handle a request. Returns whether the connection stays open."""
        lines = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
        headers = {
            name.lower(): value.strip() for name, _, value in (line.partition(":") for line in lines[1:] if line)
        }
        body = await reader.readexactly(int(headers.get("content-length", 0)))
        fault = self.rng.choice(FAULTS) if self.rng.random() < self.misbehaving else ""
        if fault == "reset":
            self.faults[fault] += 1
            writer.transport.abort()
            return False
        delivery = headers.get("x-service-delivery", "")
        self._remember(delivery, json.loads(body))
        if fault:
            self.faults[fault] += 1
            return await _misbehave(fault, writer)
        self.accepted.setdefault(delivery, asyncio.get_running_loop().time())
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")
        await writer.drain()
        return True

    def _remember(self, delivery: str, event: dict[str, Any]) -> None:
        if delivery in self.seen:
            self.repeats += 1
            if self.seen[delivery] != event:
                self.changed.append(delivery)
        self.seen.setdefault(delivery, event)


async def _misbehave(fault: str, writer: asyncio.StreamWriter) -> bool:
    if fault == "error":
        writer.write(b"HTTP/1.1 500 Internal Server Error\r\nContent-Length: 0\r\n\r\n")
        await writer.drain()
        return True
    if fault == "hang":
        await asyncio.sleep(15)
    else:
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Le")
        await writer.drain()
        writer.transport.abort()
    return False
