"""Reads the responses of servers that write HTTP carelessly, as browsers do.

bytes ── head: invalid lines are dropped or mended ── aiohttp's parser
      └─ body, and what follows it

aiohttp refuses a whole response for one invalid line. Where the length of the body is clear, the response is read.
Source: RFC 9112, sections 2.2, 5.1 and 6.3; what browsers do beyond it.
"""

from __future__ import annotations

import asyncio
import re
from functools import partial
from typing import Any, Final

import aiohttp
from aiohttp.client_proto import ResponseHandler
from aiohttp.http_exceptions import HttpProcessingError

# Bytes. What is longer goes to aiohttp's parser as it came, which has limits of its own.
_MAX_HEAD: Final = 256 * 1024

_PROTOCOL: Final = b"HTTP/"
_END_OF_HEAD: Final = re.compile(rb"\n\r?\n")
_TOKEN: Final = rb"[!#$%&'*+.^_`|~0-9A-Za-z-]+"
_NAME: Final = re.compile(_TOKEN)
# A head in which nothing has to be mended. Possessive, so that a long one takes no more time than its length.
_CLEAN: Final = re.compile(rb"[^\r\n]*\r\n(?:" + _TOKEN + rb":[^\r\n]*\r\n)*+\r\n")
_FRAMING: Final = re.compile(rb"\n(?:content-length|transfer-encoding):[ \t]*([^\r\n]*)", re.IGNORECASE)
_INTERIM: Final = re.compile(rb"HTTP/1\.[01] +1(?!01)\d\d")


def mend_head(head: bytes) -> bytes:
    """Return the head of a response without what aiohttp refuses; the same object if nothing had to be mended.

    head: from the status line to the empty line, inclusive.
    Lines without a valid name are dropped. One of several equal lengths stays, and none next to `chunked`, which has
    precedence. Lengths that differ stay: then it is not clear where the body ends.
    """
    framing = _FRAMING.findall(head)
    if _CLEAN.fullmatch(head) and len(framing) <= 1 and b"," not in b"".join(framing):
        return head
    status, *lines = re.split(rb"\r?\n", head.rstrip(b"\r\n"))
    fields = _settle_framing(_read_fields(lines))
    return b"\r\n".join([status, *(name + b": " + value for name, value in fields), b"", b""])


def _read_fields(lines: list[bytes]) -> list[tuple[bytes, bytes]]:
    """Return names and values. A line that begins with a blank continues the one before it."""
    fields: list[tuple[bytes, bytes]] = []
    is_kept = False
    for line in lines:
        if line[:1] in (b" ", b"\t"):
            if is_kept:
                name, value = fields[-1]
                fields[-1] = (name, value + b" " + line.strip())
            continue
        name, colon, value = line.partition(b":")
        name = name.rstrip(b" \t")
        is_kept = bool(colon and _NAME.fullmatch(name))
        if is_kept:
            fields.append((name, value.strip(b" \t")))
    return fields


def _settle_framing(fields: list[tuple[bytes, bytes]]) -> list[tuple[bytes, bytes]]:
    """Return the fields with one statement about the length of the body, if they agree on it."""
    codings = _list_of(fields, b"transfer-encoding")
    lengths = _list_of(fields, b"content-length")
    unused: set[bytes] = set()
    settled: list[tuple[bytes, bytes]] = []
    if b"chunked" in codings:
        unused = {b"content-length", b"transfer-encoding"}
        settled = [(b"Transfer-Encoding", b"chunked")]
    elif len(set(lengths)) == 1:
        unused = {b"content-length"}
        settled = [(b"Content-Length", lengths[0])]
    return [(name, value) for name, value in fields if name.lower() not in unused] + settled


def _list_of(fields: list[tuple[bytes, bytes]], name: bytes) -> list[bytes]:
    values = b",".join(value for each, value in fields if each.lower() == name).lower().split(b",")
    return [value.strip() for value in values if value.strip()]


class InvalidBody(aiohttp.ClientPayloadError):
    """A body that breaks its own framing, for example by the size of a chunk."""


class LenientResponseHandler(ResponseHandler):
    """aiohttp's protocol of a connection, which gets each head mended and separately from the body.

    Separately, because bytes that follow the end of the body are an error only after the body has been read: a head
    that arrives in one packet with them would be lost together with them.
    """

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        super().__init__(loop)
        self._awaits_head = False
        self._head = bytearray()

    def set_response_params(self, **options: Any) -> None:
        """Begin to read the response to the next request."""
        self._awaits_head, self._head = True, bytearray()
        super().set_response_params(**options)

    def data_received(self, data: bytes) -> None:
        """Pass received bytes on to the parser."""
        while self._awaits_head and data:
            searched = max(0, len(self._head) - 2)
            # Some servers send an empty line after a body, which arrives before the next head.
            self._head += data if self._head else data.lstrip(b"\r\n")
            if not _PROTOCOL.startswith(self._head[: len(_PROTOCOL)]):
                data = self._take_head()
                break
            end = _END_OF_HEAD.search(self._head, searched)
            if end is None and len(self._head) <= _MAX_HEAD:
                return
            head, data = self._take_head(), b""
            if end is not None:
                head, data = head[: end.end()], head[end.end() :]
                # The response itself follows, for example after "103 Early Hints".
                self._awaits_head = bool(_INTERIM.match(head))
                head = self._mend(head)
            super().data_received(head)
            if not data or self.exception() is not None:
                return
        super().data_received(data)

    def set_exception(self, exc: BaseException, *cause: BaseException) -> None:
        """End the response with an error. aiohttp leaves a body that is being read without it, until the time is up."""
        super().set_exception(exc, *cause)
        body = self._payload
        if isinstance(exc, HttpProcessingError) and body is not None and not body.is_eof():
            body.set_exception(InvalidBody(), exc)

    def connection_lost(self, exc: BaseException | None) -> None:
        """Pass on a head that was cut off."""
        if self._head:
            super().data_received(self._take_head())
        super().connection_lost(exc)

    def _take_head(self) -> bytes:
        head, self._head, self._awaits_head = bytes(self._head), bytearray(), False
        return head

    def _mend(self, head: bytes) -> bytes:
        mended = mend_head(head)
        if mended is not head:
            # The server and a proxy before it may disagree on where this response ends.
            self.force_close()
        return mended


def read_leniently(connector: aiohttp.BaseConnector) -> None:
    """Make all connections of the connector read responses leniently.

    aiohttp offers no other way to choose the protocol of its connections.
    """
    create: Any = partial(LenientResponseHandler, loop=asyncio.get_running_loop())
    connector._factory = create
