"""A publisher of many feeds on loopback that can be configured to misbehave.

Feed N is served at /feed/N with every entry that it ever had, newest first, with an ETag. It
writes HTTP itself, because an HTTP library would refuse to send invalid responses.
"""

from __future__ import annotations

import asyncio
import random
from collections import Counter
from contextlib import suppress
from datetime import UTC, datetime
from email.utils import format_datetime

PARAGRAPH = "Rain from the west, later clearing, with a fresh wind along the coast and some sun inland. "
FAULTS = ("hang", "drip", "reset", "cut", "garbage", "error", "busy", "silence")
# How long one faulty response keeps a connection.
MAX_FAULT_S = 30


class Publisher:
    """misbehaving: by feed number, the share of requests that get a faulty response."""

    def __init__(self, rng: random.Random, *, paragraphs: int = 6) -> None:
        self.misbehaving: dict[int, float] = {}
        self.faults: Counter[str] = Counter()
        self.requests: Counter[int] = Counter()
        self.last_seen_s: dict[int, float] = {}
        self._items: dict[int, int] = {}
        self._rng = rng
        self._paragraphs = paragraphs
        self._servers: list[asyncio.Server] = []
        self._port = 0
        self._open: set[asyncio.Task[None]] = set()

    async def start(self, hosts: tuple[str, ...] = ("127.0.0.1",)) -> None:
        for host in hosts:
            server = await asyncio.start_server(self._connection, host, self._port, backlog=1024)
            self._port = self._port or server.sockets[0].getsockname()[1]
            self._servers.append(server)

    async def stop(self) -> None:
        for server in self._servers:
            server.close()
        for task in list(self._open):
            task.cancel()

    def feed_url(self, number: int, host: str = "127.0.0.1") -> str:
        return f"http://{host}:{self._port}/feed/{number}"

    def entry_url(self, number: int, item: int) -> str:
        return f"http://127.0.0.1:{self._port}/entry/{number}/{item}"

    def publish(self, number: int, count: int = 1) -> list[str]:
        """Publish entries. Returns their URLs."""
        first = self._items.get(number, 0)
        self._items[number] = first + count
        return [self.entry_url(number, item) for item in range(first, first + count)]

    def count(self, number: int) -> int:
        """Return the number of entries of a feed."""
        return self._items.get(number, 0)

    async def _connection(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._open.add(task)
        try:
            with suppress(asyncio.IncompleteReadError, asyncio.LimitOverrunError, OSError, ValueError):
                while await self._answer(await reader.readuntil(b"\r\n\r\n"), writer):
                    pass
        finally:
            self._open.discard(task)
            writer.close()

    async def _answer(self, head: bytes, writer: asyncio.StreamWriter) -> bool:
        """Send the response. Returns whether the connection stays open."""
        target = head.split(b" ", 2)[1].decode()
        known = head.lower().partition(b"\r\nif-none-match:")[2].partition(b"\r\n")[0].strip().decode()
        kind, _, rest = target.strip("/").partition("/")
        if kind != "feed" or not rest.isdigit():
            await _send(writer, "404 Not Found", b"nothing here", "text/plain")
            return True
        number = int(rest)
        self.requests[number] += 1
        self.last_seen_s[number] = asyncio.get_running_loop().time()
        if self._rng.random() < self.misbehaving.get(number, 0):
            fault = self._rng.choice(FAULTS)
            self.faults[fault] += 1
            await self._misbehave(fault, number, writer)
            return False
        tag = f'"{number}-{self._items.get(number, 0)}"'
        if known == tag:
            await _send(writer, "304 Not Modified", b"", "", f"ETag: {tag}\r\n")
        else:
            await _send(writer, "200 OK", self.document(number), "application/rss+xml", f"ETag: {tag}\r\n")
        return True

    def document(self, number: int) -> bytes:
        items = "".join(self._item(number, item) for item in reversed(range(self._items.get(number, 0))))
        return (
            '<?xml version="1.0" encoding="utf-8"?><rss version="2.0"><channel>'
            f"<title>Feed {number}</title><link>http://127.0.0.1:{self._port}/site/{number}</link>"
            f"<description>Weather</description>{items}</channel></rss>"
        ).encode()

    def _item(self, number: int, item: int) -> str:
        url = self.entry_url(number, item)
        date = format_datetime(datetime.fromtimestamp(1_790_000_000 + item * 60, UTC))
        text = f"&lt;p&gt;{PARAGRAPH * self._paragraphs}&lt;/p&gt;"
        return (
            f"<item><title>Feed {number} entry {item}</title><link>{url}</link><guid>{url}</guid>"
            f"<pubDate>{date}</pubDate><category>weather</category><description>{text}</description></item>"
        )

    async def _misbehave(self, fault: str, number: int, writer: asyncio.StreamWriter) -> None:
        body = self.document(number)
        head = f"HTTP/1.1 200 OK\r\nContent-Type: application/rss+xml\r\nContent-Length: {len(body)}\r\n\r\n".encode()
        if fault in {"hang", "silence"}:
            writer.write(head if fault == "hang" else b"")
            await asyncio.sleep(MAX_FAULT_S)
        elif fault == "drip":
            writer.write(head)
            for place in range(MAX_FAULT_S):
                writer.write(body[place : place + 1])
                await writer.drain()
                await asyncio.sleep(1)
        elif fault in {"reset", "cut"}:
            writer.write(head + body[: len(body) // 2])
            await writer.drain()
            if fault == "reset":
                writer.transport.abort()
        elif fault == "garbage":
            await _send(writer, "200 OK", bytes(self._rng.randbytes(2000)), "application/rss+xml")
        elif fault == "error":
            await _send(writer, "500 Internal Server Error", b"broken", "text/plain")
        else:
            await _send(writer, "429 Too Many Requests", b"later", "text/plain", "Retry-After: 2\r\n")


async def _send(writer: asyncio.StreamWriter, status: str, body: bytes, media: str, headers: str = "") -> None:
    kind = f"Content-Type: {media}\r\n" if media else ""
    writer.write(f"HTTP/1.1 {status}\r\n{kind}{headers}Content-Length: {len(body)}\r\n\r\n".encode() + body)
    await writer.drain()
