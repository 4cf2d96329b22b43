"""A publisher for tests: a scriptable HTTP server on a loopback socket.

    with Publisher() as site:
        site.serve("/feed.xml", "<rss/>", etag='"1"')          # answers 304 to a matching If-None-Match
        site.redirect("/old.xml", to="/feed.xml", status=301)
        site.script("/shaky.xml", Answer(status=503), Answer("<rss/>"))   # in turn; the last one repeats
        site.script("/slow.xml", Drip("<rss/>", every_s=0.2))  # faults: Hang, Drip, Cut, Drop, Endless, Raw
        ...
        assert [seen.path for seen in site.requests] == ["/old.xml", "/feed.xml"]
        assert site.last.headers["if-none-match"] == '"1"'

It runs in its own thread, so tests can be plain functions. Every path can be changed at any time; an unknown path
returns 404. Connections are kept alive, and each request has the number of its connection.
It writes HTTP itself, because an HTTP library would refuse to send the invalid responses that tests need.
"""

from __future__ import annotations

import asyncio
import contextlib
import gzip
import json
import ssl
import threading
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import KW_ONLY, dataclass
from functools import cache
from http import HTTPStatus
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from support.ports import free_port

Headers = Mapping[str, str] | Iterable[tuple[str, str]]

# A self-signed certificate for localhost, 127.0.0.1, 127.0.0.2 and ::1, good until 2125.
CERTIFICATE = Path(__file__).with_name("localhost.pem")

MEDIA_TYPES = {
    ".xml": "application/xml",
    ".rss": "application/rss+xml",
    ".atom": "application/atom+xml",
    ".json": "application/feed+json",
    ".png": "image/png",
    ".ico": "image/x-icon",
    ".svg": "image/svg+xml",
}


@dataclass(frozen=True, kw_only=True)
class ReceivedRequest:
    """A received request.

    path: as sent, with its query. headers: lower-case names; of a repeated header, the last.
    at: `time.monotonic()` when its head was read. connection: counted from 1, per publisher.
    """

    method: str
    path: str
    headers: Mapping[str, str]
    body: bytes
    at: float
    connection: int

    def json(self) -> Any:
        return json.loads(self.body)


class Wire:
    """Sends a response, and counts the bytes that the network accepted."""

    def __init__(self, writer: asyncio.StreamWriter, count: Callable[[int], None]) -> None:
        self._writer = writer
        self._count = count

    async def send(self, data: bytes) -> None:
        """Return when the network has accepted the data: a client that stops reading blocks this call."""
        self._writer.write(data)
        await self._writer.drain()
        self._count(len(data))

    async def send_head(self, status: int, headers: Iterable[tuple[str, str]]) -> None:
        lines = [f"HTTP/1.1 {status} {_phrase(status)}", *(f"{name}: {value}" for name, value in headers)]
        await self.send("\r\n".join([*lines, "", ""]).encode("utf-8", "surrogateescape"))


class Reply:
    """A response of a path, or a failure."""

    async def send(self, wire: Wire, seen: ReceivedRequest) -> bool:
        """Send the response. Returns whether the connection stays open for another request."""
        raise NotImplementedError


@dataclass(frozen=True)
class Answer(Reply):
    """A valid response.

    headers: replace the default ones (Content-Type by the extension of the path, Content-Length, ETag, ...).
    etag, last_modified: as sent; a conditional request with one of them gets 304; the ETag is compared first.
    after_s: delay before the first byte. chunked: without Content-Length. close: no keep-alive.
    """

    body: bytes | str = b""
    _: KW_ONLY
    status: int = 200
    headers: Headers = ()
    etag: str = ""
    last_modified: str = ""
    after_s: float = 0
    chunked: bool = False
    close: bool = False

    async def send(self, wire: Wire, seen: ReceivedRequest) -> bool:
        if self.after_s:
            await asyncio.sleep(self.after_s)
        body = _bytes(self.body)
        status = 304 if self.is_known_to(seen) else self.status
        has_body = status not in {204, 304} and status >= 200 and seen.method != "HEAD"

        created = {"Connection": "close" if self.close else "keep-alive"}
        if self.etag:
            created["ETag"] = self.etag
        if self.last_modified:
            created["Last-Modified"] = self.last_modified
        if status not in {204, 304}:
            created["Content-Type"] = _media_type(seen.path)
            created |= {"Transfer-Encoding": "chunked"} if self.chunked else {"Content-Length": str(len(body))}

        await wire.send_head(status, _merged(created, self.headers))
        if has_body and body:
            await wire.send(b"%x\r\n%b\r\n" % (len(body), body) if self.chunked else body)
        if has_body and self.chunked:
            await wire.send(b"0\r\n\r\n")
        return not self.close

    def is_known_to(self, seen: ReceivedRequest) -> bool:
        if self.etag and "if-none-match" in seen.headers:
            return self.etag in [tag.strip() for tag in seen.headers["if-none-match"].split(",")]
        return bool(self.last_modified) and seen.headers.get("if-modified-since") == self.last_modified


@dataclass(frozen=True)
class Hang(Reply):
    """Reads the request and never answers; with `after_head`, sends headers and then nothing."""

    after_head: bool = False

    async def send(self, wire: Wire, seen: ReceivedRequest) -> bool:
        if self.after_head:
            await wire.send_head(200, [("Content-Length", "1000"), ("Content-Type", _media_type(seen.path))])
        await asyncio.Event().wait()
        return False


@dataclass(frozen=True)
class Drip(Reply):
    """Sends the body a few bytes at a time, with pauses shorter than a read timeout."""

    body: bytes | str
    every_s: float = 0.05
    chunk: int = 1
    status: int = 200
    headers: Headers = ()

    async def send(self, wire: Wire, seen: ReceivedRequest) -> bool:
        body = _bytes(self.body)
        created = {"Content-Type": _media_type(seen.path), "Content-Length": str(len(body))}
        await wire.send_head(self.status, _merged(created, self.headers))
        for start in range(0, len(body), self.chunk):
            await wire.send(body[start : start + self.chunk])
            await asyncio.sleep(self.every_s)
        return True


@dataclass(frozen=True)
class Cut(Reply):
    """Declares the length of the whole body, sends its first `after` bytes and closes the connection."""

    body: bytes | str
    after: int
    chunked: bool = False
    headers: Headers = ()

    async def send(self, wire: Wire, seen: ReceivedRequest) -> bool:
        body = _bytes(self.body)
        created = {"Content-Type": _media_type(seen.path)}
        created |= {"Transfer-Encoding": "chunked"} if self.chunked else {"Content-Length": str(len(body))}
        await wire.send_head(200, _merged(created, self.headers))
        await wire.send((b"%x\r\n" % len(body) if self.chunked else b"") + body[: self.after])
        return False


@dataclass(frozen=True)
class Endless(Reply):
    """Sends the same bytes until the client disconnects, or until `total` bytes were sent.

    announce: the Content-Length, if any; without it the body ends with the connection.
    """

    chunk: bytes = b"x" * 16384
    total: int | None = None
    announce: int | None = None
    headers: Headers = ()

    async def send(self, wire: Wire, seen: ReceivedRequest) -> bool:
        created = {"Content-Type": _media_type(seen.path), "Connection": "close"}
        if self.announce is not None:
            created["Content-Length"] = str(self.announce)
        await wire.send_head(200, _merged(created, self.headers))
        sent = 0
        while self.total is None or sent < self.total:
            await wire.send(self.chunk)
            sent += len(self.chunk)
        return False


@dataclass(frozen=True)
class Raw(Reply):
    """Sends exactly these bytes, head included, and closes the connection after `stay_s`."""

    data: bytes
    stay_s: float = 0

    async def send(self, wire: Wire, seen: ReceivedRequest) -> bool:  # noqa: ARG002 - all requests are the same to it
        await wire.send(self.data)
        await asyncio.sleep(self.stay_s)
        return False


@dataclass(frozen=True)
class Drop(Raw):
    """Closes the connection without a response."""

    data: bytes = b""


@cache
def gzip_bomb(size: int) -> Answer:
    """Return a small response that decompresses to `size` bytes of zeros."""
    return Answer(gzip.compress(b"0" * size, compresslevel=9), headers={"Content-Encoding": "gzip"})


Script = Reply | Callable[[ReceivedRequest], Reply]

# Ports of all publishers of this process.
_used_ports: set[int] = set()


class Publisher:
    """The server. See the module.

    host: any loopback address; port: 0 for any that is free; tls: HTTPS with `CERTIFICATE`.
    """

    def __init__(self, host: str = "127.0.0.1", *, port: int = 0, tls: bool = False) -> None:
        self.host = host
        self.port = port
        self._has_own_port = port != 0
        self.tls = tls
        self.connections = 0
        self._replies: dict[str, list[Script]] = {}
        self._requests: list[ReceivedRequest] = []
        self._sent: dict[str, int] = {}
        self._changed = threading.Condition()
        self._started = threading.Event()
        self._failure: BaseException | None = None
        self._loop: asyncio.AbstractEventLoop | None = None
        self._stop = asyncio.Event()
        self._serving: set[asyncio.Task[None]] = set()
        self._thread = threading.Thread(target=self._run, name="publisher", daemon=True)

    # Responses

    def serve(
        self,
        path: str,
        body: bytes | str = b"",
        *,
        status: int = 200,
        headers: Headers = (),
        etag: str = "",
        last_modified: str = "",
        after_s: float = 0,
        chunked: bool = False,
        close: bool = False,
    ) -> str:
        """Set the response of `path`. Returns its URL."""
        return self.script(
            path,
            Answer(
                body,
                status=status,
                headers=headers,
                etag=etag,
                last_modified=last_modified,
                after_s=after_s,
                chunked=chunked,
                close=close,
            ),
        )

    def script(self, path: str, *replies: Script) -> str:
        """Set the responses of `path`: these in turn, then the last one again and again. Returns its URL.

        path: with a query, for that query only; without one, for any.
        A reply may be a function of the request, called in the publisher's thread.
        """
        if not replies:
            raise ValueError("a script needs at least one reply")
        with self._changed:
            self._replies[path] = list(replies)
        return self.url(path)

    def redirect(self, path: str, *, to: str, status: int = 302, headers: Headers = ()) -> str:
        """Redirect `path`. to: the Location header, exactly as it is sent."""
        return self.serve(path, status=status, headers=[("Location", to), *_pairs(headers)])

    def forget(self, path: str) -> None:
        """Remove the responses of `path`, which then returns 404."""
        with self._changed:
            self._replies.pop(path, None)

    # Requests

    @property
    def requests(self) -> list[ReceivedRequest]:
        """All requests so far, oldest first."""
        with self._changed:
            return list(self._requests)

    @property
    def last(self) -> ReceivedRequest:
        return self.requests[-1]

    def requests_for(self, path: str) -> list[ReceivedRequest]:
        """Return the requests of a path. path: without a query, requests with any query."""
        return [seen for seen in self.requests if path in {seen.path, seen.path.partition("?")[0]}]

    def wait_for(self, count: int, path: str | None = None, *, timeout_s: float = 180) -> list[ReceivedRequest]:
        """Wait for this many requests (of `path`), and return them. Raises AssertionError after `timeout_s`."""
        deadline = time.monotonic() + timeout_s
        with self._changed:
            while True:
                found = self.requests_for(path) if path else list(self._requests)
                if len(found) >= count:
                    return found
                if not self._changed.wait(max(0, deadline - time.monotonic())):
                    raise AssertionError(f"{len(found)} of {count} requests came in {timeout_s} s: {found}")

    def forget_requests(self) -> None:
        with self._changed:
            self._requests.clear()

    def bytes_sent(self, path: str) -> int:
        """Return the bytes of heads and bodies that the network accepted (its buffers hold up to a few MB unread)."""
        with self._changed:
            return self._sent.get(path, 0)

    # URLs, start and stop

    @property
    def origin(self) -> str:
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"{'https' if self.tls else 'http'}://{host}:{self.port}"

    def url(self, path: str = "/", *, host: str | None = None) -> str:
        """Return the URL of a path. host: another name of this machine, such as localhost."""
        origin = self.origin if host is None else f"{self.origin.partition('//')[0]}//{host}:{self.port}"
        return origin + path

    def start(self) -> Self:
        self._thread.start()
        self._started.wait()
        if self._failure is not None:
            raise self._failure
        return self

    def stop(self) -> None:
        """Close every connection, even in the middle of a response. May be called twice."""
        if self._loop is not None:
            with contextlib.suppress(RuntimeError):  # the loop ended already
                self._loop.call_soon_threadsafe(self._stop.set)
        if self._thread.is_alive():
            self._thread.join()

    def __enter__(self) -> Self:
        return self.start()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()

    # Server

    def _run(self) -> None:
        try:
            asyncio.run(self._main())
        except BaseException as error:  # noqa: BLE001 - start() raises it where it can be seen
            self._failure = error
        finally:
            self._started.set()

    async def _main(self) -> None:
        self._loop = asyncio.get_running_loop()
        # Handshakes that fail on purpose would print traces.
        self._loop.set_exception_handler(lambda _loop, _context: None)
        context = None
        if self.tls:
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            context.load_cert_chain(CERTIFICATE)
        # The service may still wait for an earlier publisher at the same port, which had asked it to.
        while not self.port or (not self._has_own_port and self.port in _used_ports):
            self.port = free_port(self.host)
        _used_ports.add(self.port)
        server = await asyncio.start_server(self._accept, self.host, self.port, ssl=context)
        self._started.set()
        await self._stop.wait()
        server.close()
        for task in self._serving:
            task.cancel()
        await asyncio.gather(*self._serving, return_exceptions=True)
        await server.wait_closed()

    def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.connections += 1
        task = asyncio.ensure_future(self._serve(reader, writer, self.connections))
        self._serving.add(task)
        task.add_done_callback(self._serving.discard)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, number: int) -> None:
        try:
            with contextlib.suppress(ConnectionError, ssl.SSLError, asyncio.IncompleteReadError, TimeoutError):
                while seen := await _read_request(reader, number):
                    if not await self._reply(seen, writer):
                        break
        except asyncio.CancelledError:
            writer.transport.abort()
        finally:
            writer.close()
            # Cancelled in the middle of this, the end of TLS would be waited for in vain: the loop ends before.
            with contextlib.suppress(OSError, asyncio.CancelledError):
                await asyncio.wait_for(writer.wait_closed(), 1)
            writer.transport.abort()

    async def _reply(self, seen: ReceivedRequest, writer: asyncio.StreamWriter) -> bool:
        path = seen.path.partition("?")[0]
        with self._changed:
            self._requests.append(seen)
            replies = self._replies.get(seen.path) or self._replies.get(path)
            reply = (replies.pop(0) if len(replies) > 1 else replies[0]) if replies else None
            self._changed.notify_all()
        if reply is None:
            reply = Answer("Nothing is published here.", status=404, headers={"Content-Type": "text/plain"})
        elif not isinstance(reply, Reply):
            reply = reply(seen)

        def count(sent: int) -> None:
            with self._changed:
                self._sent[path] = self._sent.get(path, 0) + sent

        may_stay = await reply.send(Wire(writer, count), seen)
        return may_stay and seen.headers.get("connection", "").lower() != "close"


_TLS_HANDSHAKE = b"\x16"


async def _read_request(reader: asyncio.StreamReader, connection: int) -> ReceivedRequest | None:
    try:
        head = await reader.readexactly(1)
        if head == _TLS_HANDSHAKE:
            return None  # as servers without TLS do, which do not wait for a line of it
        head += await reader.readuntil(b"\r\n\r\n")
    except (asyncio.IncompleteReadError, asyncio.LimitOverrunError):
        return None
    at = time.monotonic()
    first, *lines = head.decode("latin-1").split("\r\n")[:-2]
    method, path, _ = first.split(" ", 2)
    headers = {name.strip().lower(): value.strip() for name, _, value in (line.partition(":") for line in lines)}
    body = b""
    if headers.get("transfer-encoding", "").lower() == "chunked":
        body = await _read_chunks(reader)
    elif length := int(headers.get("content-length", "0")):
        body = await reader.readexactly(length)
    return ReceivedRequest(method=method, path=path, headers=headers, body=body, at=at, connection=connection)


async def _read_chunks(reader: asyncio.StreamReader) -> bytes:
    parts = []
    while size := int((await reader.readline()).split(b";")[0], 16):
        parts.append(await reader.readexactly(size))
        await reader.readexactly(2)
    await reader.readline()
    return b"".join(parts)


def _bytes(body: bytes | str) -> bytes:
    return body.encode() if isinstance(body, str) else body


def _pairs(headers: Headers) -> list[tuple[str, str]]:
    return list(headers.items()) if isinstance(headers, Mapping) else list(headers)


def _merged(defaults: Mapping[str, str], headers: Headers) -> list[tuple[str, str]]:
    """Return the headers unchanged, repeated ones too, after the defaults that they do not replace."""
    pairs = _pairs(headers)
    names = {name.lower() for name, _ in pairs}
    return [(name, value) for name, value in defaults.items() if name.lower() not in names] + pairs


def _media_type(path: str) -> str:
    return MEDIA_TYPES.get(Path(path.partition("?")[0]).suffix.lower(), "text/html; charset=utf-8")


def _phrase(status: int) -> str:
    try:
        return HTTPStatus(status).phrase
    except ValueError:
        return "Whatever"
