"""Makes and sends responses, which are Starlette's, in the same way for all surfaces."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import chain
from typing import Any

import msgspec
from starlette.concurrency import iterate_in_threadpool
from starlette.responses import Response, StreamingResponse
from starlette.types import Receive, Scope, Send

from tidings.base.errors import ImportRunning, InsufficientStorage, LocalShortage, StoreUnavailable, TidingsError
from tidings.http.requests import RequestTooSlow

JSON = "application/json"

# Sent with every 503: a restart of the database takes about this long.
RETRY_AFTER_S = 10

# The status of errors that mean the same on every surface; a surface puts its own before them. The first match wins.
COMMON_STATUSES: tuple[tuple[type[TidingsError], int], ...] = (
    (RequestTooSlow, 408),
    (ImportRunning, 409),
    (InsufficientStorage, 507),
    (StoreUnavailable, 503),
    (LocalShortage, 503),
    (TidingsError, 400),
)

RawHeaders = Sequence[tuple[bytes, bytes]]


def json(value: Any, status: int = 200, headers: dict[str, str] | None = None) -> Response:
    """Returns a JSON response."""
    return Response(msgspec.json.encode(value), status, headers, JSON)


class ChunkedJson(StreamingResponse):
    """A JSON response that is made and sent in chunks, for what is too large to be in memory as a whole.

    chunks: made in a thread, one after the other. What they raise ends the connection: the status was sent before.
    """

    def __init__(self, chunks: Iterator[bytes]) -> None:
        super().__init__(chunks, media_type=JSON)
        self.chunks = chunks

    def encode_with(self, chunks: Iterator[bytes], coding: str) -> None:
        """Replace the chunks by encoded ones. coding: the value of Content-Encoding."""
        super().__init__(chunks, headers={"content-encoding": coding}, media_type=JSON)
        self.chunks = chunks


class Download(StreamingResponse):
    """A file that is made and sent in pieces. filename: ASCII, without quotes. pieces: made in a thread.

    The first piece is made before the response begins, so that an error until then has its own status.
    """

    def __init__(
        self, pieces: Iterator[bytes], filename: str, media_type: str, headers: Mapping[str, str] | None = None
    ) -> None:
        first = next(pieces, b"")
        own = {"Content-Disposition": f'attachment; filename="{filename}"', "Cache-Control": "no-store"}
        super().__init__(chain((first,), pieces), headers={**(headers or {}), **own}, media_type=media_type)


def empty(status: int, headers: dict[str, str] | None = None) -> Response:
    """Returns a response without a body. 204 and 304 have no Content-Type (RFC 9110, section 8.3)."""
    return Response(b"", status, headers, None if status in (204, 304) else JSON)


def raw(headers: dict[str, str]) -> RawHeaders:
    """Returns headers in the form of ASGI, for headers that every response of a surface has."""
    return [(name.lower().encode("latin-1"), value.encode("latin-1")) for name, value in headers.items()]


async def send_response(
    response: Response, scope: Scope, receive: Receive, send: Send, headers: RawHeaders = ()
) -> None:
    """Send a response. headers: added to its own. HEAD gets the headers of GET and no body."""
    response.raw_headers[:0] = headers
    if response.status_code == 503:
        response.headers.setdefault("retry-after", str(RETRY_AFTER_S))
    if not isinstance(response, StreamingResponse):
        if response.body:
            response.raw_headers.append((b"vary", b"Accept-Encoding"))
        if scope["method"] == "HEAD":
            response.body = b""
    elif scope["method"] == "HEAD":
        response.body_iterator = iterate_in_threadpool(())
    await response(scope, receive, send)
