"""Starlette's request with a body that is read in advance, within limits of size and time."""

from __future__ import annotations

import asyncio
import ipaddress
import re
import threading
from collections.abc import AsyncIterator, Callable, Sequence
from pathlib import Path
from typing import Final, TypeVar
from urllib.parse import parse_qsl

from msgspec import Struct
from starlette.datastructures import FormData
from starlette.requests import Request as StarletteRequest
from starlette.types import Receive, Scope

from tidings.base.errors import InvalidInput, TidingsError
from tidings.base.messages import msg
from tidings.http import content_coding

T = TypeVar("T")
# A character in a cookie with quotes: its number in octal, or itself.
_ESCAPED: Final = re.compile(r"\\(?:([0-3][0-7][0-7])|(.))", re.DOTALL)

Network = ipaddress.IPv4Network | ipaddress.IPv6Network

MAX_QUERY_FIELDS = 2_000


class RequestTooLarge(TidingsError):
    code = "request-too-large"


class RequestTooSlow(TidingsError):
    code = "request-too-slow"


class BodyPace(Struct, frozen=True):
    """How fast a body has to arrive: within limit_s, and after grace_s with bytes_per_s on average."""

    limit_s: float = 30.0
    grace_s: float = 5.0
    bytes_per_s: float = 1_000.0

    def time_s(self, size: int) -> float:
        """Return how many seconds after the start the chunk that follows `size` bytes may arrive."""
        return min(self.limit_s, self.grace_s + size / self.bytes_per_s)


BODY_PACE: Final = BodyPace()
# Bytes. A body that is not larger is received before anything is done for its request: ten thousand take 160 MB.
SMALL_BODY_SIZE: Final = 16 * 2**10


class Upload(Struct, frozen=True):
    """A file that was received."""

    path: Path
    name: str
    """As the browser sent it, "" if unknown."""
    size: int


class Request(StarletteRequest):
    """A request. content: the body, once read. body_error: why reading failed. form_data: the parsed form.

    has_arrived: whether the whole body was received. upload: the file of an endpoint that takes one.
    """

    def __init__(self, scope: Scope, receive: Receive) -> None:
        super().__init__(scope, receive)
        self.content = b""
        self.body_error: TidingsError | None = None
        self.form_data: FormData | None = None
        self.has_arrived = False
        self.upload: Upload | None = None
        # What `receive_small` received for `read`, or why it failed.
        self._received: bytes | TidingsError | None = None

    @property
    def path(self) -> str:
        """The path below the mount point of the surface."""
        path: str = self.scope["path"]
        return path.removeprefix(self.scope.get("root_path", ""))

    @property
    def user_agent(self) -> str:
        """The header User-Agent, "" without one."""
        return self.headers.get("user-agent", "")

    @property
    def query_string(self) -> str:
        """The query string as it was sent."""
        raw: bytes = self.scope.get("query_string", b"")
        return raw.decode("latin-1")

    @property
    def query(self) -> list[tuple[str, str]]:
        """Names and values in the order sent. Raises InvalidInput for bytes that are not UTF-8, and for NUL.

        Starlette's `query_params` would read such bytes as U+FFFD.
        """
        if not self.scope.get("query_string"):
            return []
        try:
            pairs = parse_pairs(self.scope["query_string"], MAX_QUERY_FIELDS)
        except UnicodeDecodeError as error:
            raise InvalidInput(msg("The query of this address cannot be read: it has to be UTF-8 text.")) from error
        if bad := next((name for name, value in pairs if "\0" in name + value), None):
            raise InvalidInput(
                msg("The query parameter {bad} holds a NUL character: remove it.", bad=repr(bad)), field=bad
            )
        return pairs

    @property
    def cookies(self) -> dict[str, str]:
        """Cookies by name. If a name is sent twice, the first counts: in browsers it has the longest path.

        Starlette uses the last, and takes quadratic time for backslashes before Python 3.11.10 and 3.12.6.
        """
        if not hasattr(self, "_first_cookies"):
            self._first_cookies: dict[str, str] = {}
            for header in self.headers.getlist("cookie"):
                for part in header.split(";"):
                    name, separator, value = part.partition("=")
                    if separator:
                        self._first_cookies.setdefault(name.strip(), _unquoted(value.strip()))
        return self._first_cookies

    async def receive_small(self, pace: BodyPace = BODY_PACE) -> None:
        """Receive the body if there is none, or a small one: `read` returns it later, or raises why it is missing."""
        size = self.headers.get("content-length", "0")
        if "transfer-encoding" in self.headers or not size.isdecimal() or int(size) > SMALL_BODY_SIZE:
            return
        try:
            self._received = await self._receive_body(SMALL_BODY_SIZE, pace)
        except TidingsError as error:
            self._received = error

    async def read(self, limit: int, pace: BodyPace = BODY_PACE) -> None:
        """Read the body into `content`.

        limit: bytes. Raises RequestTooLarge beyond it, RequestTooSlow for a body that arrives too slowly, and
        InvalidInput for a body that ends early.
        """
        if self._received is None:
            self._received = await self._receive_body(limit, pace)
        self.use_received(limit)

    def use_received(self, limit: int) -> None:
        """Put the body that was received into `content`. Raises as `read`, which waits for a body."""
        if isinstance(self._received, TidingsError):
            raise self._received
        content = self._received or b""
        if len(content) > limit:
            raise _too_large(limit)
        self.content = content

    @property
    def is_coded(self) -> bool:
        """Whether the body is compressed."""
        return "content-encoding" in self.headers and content_coding.is_coded(self.headers["content-encoding"])

    def unpack(self, limit: int) -> None:
        """Replace a compressed body by what it was before. Raises as `content_coding.unpack`."""
        if self.content and self.is_coded:
            self.content = content_coding.unpack(self.content, self.headers["content-encoding"], limit)

    async def chunks(self, pace: BodyPace = BODY_PACE) -> AsyncIterator[bytes]:
        """Yield the body in the pieces in which it arrives. Raises RequestTooSlow; InvalidInput if it ends early."""
        if isinstance(self._received, TidingsError):
            raise self._received
        if self._received is not None:
            yield self._received
            return
        try:
            async for chunk in _chunks(self.receive, pace):
                yield chunk
        except TimeoutError as error:
            raise _too_slow(pace) from error
        self.has_arrived = True

    async def _receive_body(self, limit: int, pace: BodyPace) -> bytes:
        try:
            body = await _read_body(self.receive, limit, pace)
        except TimeoutError as error:
            raise _too_slow(pace) from error
        self.has_arrived = True
        return body

    async def wait_for_disconnect(self) -> None:
        """Return when the client has left. Only for a request whose body was received."""
        while (await self.receive())["type"] != "http.disconnect":
            pass

    def address(self, trusted: Sequence[Network]) -> str:
        """Return the address of the client; a trusted reverse proxy forwards it in X-Forwarded-For."""
        client = self.scope.get("client")
        peer: str = client[0] if client else ""
        # The last header is the one that the proxy itself wrote or appended to.
        forwarded = self.headers.getlist("x-forwarded-for")
        return forwarded[-1].rpartition(",")[2].strip() if forwarded and is_within(peer, trusted) else peer


async def run_while_connected(request: Request, function: Callable[[Callable[[], bool]], T]) -> T:
    """Run a long function in a thread and return its result.

    function: takes a function that tells whether the client has left, so that the result is not needed any more.
    """
    has_left = threading.Event()

    async def watch() -> None:
        await request.wait_for_disconnect()
        has_left.set()

    watching = asyncio.create_task(watch())
    try:
        return await asyncio.to_thread(function, has_left.is_set)
    finally:
        watching.cancel()


def _unquoted(value: str) -> str:
    """Return the value of a cookie without quotes and backslashes, as `http.cookies` writes it."""
    if len(value) < 2 or value[0] != '"' or value[-1] != '"':
        return value
    return _ESCAPED.sub(lambda found: chr(int(found[1], 8)) if found[1] else found[2], value[1:-1])


def parse_pairs(encoded: bytes, most: int) -> list[tuple[str, str]]:
    """Return names and values of a query or an URL-encoded form, in the order sent; blank values are kept.

    Bytes that are not percent-encoded, although they should be, are UTF-8 as well. Raises UnicodeDecodeError for any
    other encoding, and InvalidInput for more than `most` pairs.
    """
    if encoded.count(b"&") >= most:
        raise InvalidInput(msg("This request has too many fields: {max:,} at most.", max=most))
    return parse_qsl(encoded.decode(), keep_blank_values=True, errors="strict")


async def _read_body(receive: Receive, limit: int, pace: BodyPace) -> bytes:
    """Return the body. Raises TimeoutError if it arrives too slowly. Uses no thread while it waits."""
    chunks: list[bytes] = []
    size = 0
    async for chunk in _chunks(receive, pace):
        chunks.append(chunk)
        size += len(chunk)
        if size > limit:
            raise _too_large(limit)
    return b"".join(chunks)


async def _chunks(receive: Receive, pace: BodyPace) -> AsyncIterator[bytes]:
    """Yield the body in the pieces in which it arrives. Raises TimeoutError if it arrives too slowly."""
    size = 0
    started = asyncio.get_running_loop().time()
    is_complete = False
    while not is_complete:
        async with asyncio.timeout_at(started + pace.time_s(size)):
            message = await receive()
        if message["type"] == "http.disconnect":
            raise InvalidInput(msg("The request ended before its body was complete."))
        chunk = message.get("body", b"")
        size += len(chunk)
        is_complete = not message.get("more_body")
        yield chunk


def _too_slow(pace: BodyPace) -> RequestTooSlow:
    return RequestTooSlow(
        msg("This request arrived too slowly: send all of it within {limit} seconds.", limit=int(pace.limit_s))
    )


def _too_large(limit: int) -> RequestTooLarge:
    if limit < 2**20:
        return RequestTooLarge(msg("This request is too large: {limit} kB at most.", limit=limit // 1000))
    return RequestTooLarge(msg("This request is too large: {limit} MiB at most.", limit=limit // 2**20))


def is_within(address: str, networks: Sequence[Network]) -> bool:
    """Return whether an IP address belongs to one of the networks; False for any other text."""
    try:
        parsed = ipaddress.ip_address(address)
    except ValueError:
        return False
    return any(parsed in network for network in networks)
