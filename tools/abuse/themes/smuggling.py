"""Sends requests whose end two servers may see at different places (request smuggling).

An attempt succeeds if the service treats the bytes after an ambiguous end as another request, or accepts a request that
RFC 9112 requires it to refuse (sections 3.2, 5.1, 6.1 and 6.3).
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from abuse import client
from abuse.attempts import Attempt, Result
from abuse.testbed import Testbed

_HIDDEN = b"GET /v1/version HTTP/1.1\r\nHost: h\r\nX-Smuggled: 1\r\nConnection: close\r\n\r\n"
_REFUSED = "the service answers with a success, or answers twice"


@dataclass(frozen=True)
class Message:
    """sent: the bytes, %H for the host. answers: how many responses a conforming server may send."""

    name: str
    tries: str
    sent: bytes
    # Further responses belong to a smuggled request.
    answers: int = 1
    # Whether 2xx or 3xx conforms to the RFC.
    may_succeed: bool = False


def _post(*headers: bytes, body: bytes = b"") -> bytes:
    head = b"\r\n".join([b"POST /v1/discover HTTP/1.1", b"Host: %H", b"Content-Type: application/json", *headers])
    return head + b"\r\n\r\n" + body


def _get(*headers: bytes, line: bytes = b"GET /healthcheck HTTP/1.1", end: bytes = b"\r\n") -> bytes:
    return end.join([line, *headers, b"Connection: close"]) + end + end


_ZERO = b"0\r\n\r\n"

MESSAGES = (
    Message("two lengths", "two different Content-Length", _post(b"Content-Length: 0", b"Content-Length: 80", body=_HIDDEN)),
    Message("two lengths in one", "Content-Length: 0, 80", _post(b"Content-Length: 0, 80", body=_HIDDEN)),
    Message("length and chunks", "Content-Length beside Transfer-Encoding: chunked", _post(b"Content-Length: 5", b"Transfer-Encoding: chunked", body=_ZERO + _HIDDEN)),
    Message("chunks and length", "Transfer-Encoding: chunked before Content-Length", _post(b"Transfer-Encoding: chunked", b"Content-Length: 120", body=_ZERO + _HIDDEN)),
    Message("unknown encoding", "Transfer-Encoding: xchunked with a length", _post(b"Transfer-Encoding: xchunked", b"Content-Length: 5", body=_ZERO + _HIDDEN)),
    Message("identity after chunked", "Transfer-Encoding: chunked, identity", _post(b"Transfer-Encoding: chunked, identity", body=_ZERO + _HIDDEN)),
    Message("two encodings", "chunked, then a second Transfer-Encoding: cow", _post(b"Transfer-Encoding: chunked", b"Transfer-Encoding: cow", body=_ZERO + _HIDDEN)),
    Message("blank before the colon", "Transfer-Encoding : chunked", _post(b"Transfer-Encoding : chunked", b"Content-Length: 5", body=_ZERO + _HIDDEN)),
    Message("tab before the value", "vertical tab before chunked", _post(b"Transfer-Encoding:\x0bchunked", b"Content-Length: 5", body=_ZERO + _HIDDEN)),
    Message("line folding", "Transfer-Encoding on a folded line", _post(b"Transfer-Encoding:\r\n chunked", b"Content-Length: 5", body=_ZERO + _HIDDEN)),
    Message("length with a sign", "Content-Length: +0", _post(b"Content-Length: +0", body=_HIDDEN)),
    Message("negative length", "Content-Length: -1", _post(b"Content-Length: -1", body=_HIDDEN)),
    Message("length in hex", "Content-Length: 0x0", _post(b"Content-Length: 0x0", body=_HIDDEN)),
    Message("length with an underscore", "Content-Length: 1_0", _post(b"Content-Length: 1_0", body=_HIDDEN)),
    Message("huge length", "Content-Length beyond 64 bits", _post(b"Content-Length: 18446744073709551616", body=_HIDDEN)),
    Message("chunk size with a sign", "+0 as the size of a chunk", _post(b"Transfer-Encoding: chunked", body=b"+0\r\n\r\n" + _HIDDEN)),
    Message("chunk size in 0x", "0x0 as the size of a chunk", _post(b"Transfer-Encoding: chunked", body=b"0x0\r\n\r\n" + _HIDDEN)),
    Message("huge chunk size", "a chunk size beyond 64 bits", _post(b"Transfer-Encoding: chunked", body=b"10000000000000000\r\n\r\n" + _HIDDEN)),
    Message("chunk without its end", "a chunk longer than it says", _post(b"Transfer-Encoding: chunked", body=b"1\r\n{}0\r\n\r\n" + _HIDDEN)),
    Message("bare LF after a chunk size", "LF instead of CRLF between chunks", _post(b"Transfer-Encoding: chunked", body=b"0\n\n" + _HIDDEN)),
    Message("bare LF", "LF instead of CRLF between headers", _get(b"Host: %H", end=b"\n")),
    Message("bare CR", "CR alone inside a header", _get(b"Host: %H", b"X: a\rTransfer-Encoding: chunked")),
    Message("NUL in a header", "a NUL in a value", _get(b"Host: %H", b"X: a\0b")),
    Message("NUL in a name", "a NUL in the name of a header", _get(b"Host: %H", b"X\0Y: a")),
    Message("header without a colon", "a line that is no header", _get(b"Host: %H", b"just words")),
    Message("blank in front", "a blank before the first header", _get(b" Host: %H", b"Host: %H")),
    Message("no Host", "HTTP/1.1 without Host", _get()),
    Message("two Hosts", "two Host headers", _get(b"Host: %H", b"Host: evil.example")),
    Message("Host of nonsense", "Host: a b/@c", _get(b"Host: a b/@c")),
    Message("version of nonsense", "HTTP/1.9x", _get(b"Host: %H", line=b"GET /healthcheck HTTP/1.9x")),
    Message("blanks in the target", "GET /health check", _get(b"Host: %H", line=b"GET /health check HTTP/1.1")),
    Message("HTTP/0.9", "GET / without a version", b"GET /healthcheck\r\n\r\n"),
    Message("body of a GET", "a GET with a body that is a request", _get(b"Host: %H", b"Content-Length: %d" % len(_HIDDEN)) + _HIDDEN, may_succeed=True),
    Message("body of a HEAD", "a HEAD with a body that is a request", _get(b"Host: %H", b"Content-Length: %d" % len(_HIDDEN), line=b"HEAD /healthcheck HTTP/1.1") + _HIDDEN, may_succeed=True),
    Message("upgrade with a request behind it", "Upgrade: h2c, then another request", _get(b"Host: %H", b"Upgrade: h2c", b"HTTP2-Settings: AAMAAABkAAQAAP__") + _HIDDEN, may_succeed=True),
    Message("Expect", "Expect: 100-continue with a body that is a request", _post(b"Expect: 100-continue", b"Connection: close", b"Content-Length: %d" % len(_HIDDEN), body=_HIDDEN), answers=2),
    Message("many headers", "5,000 headers", _get(b"Host: %H", *[b"X-%d: 1" % n for n in range(5000)])),
    Message("long header", "a header of 2 MB", _get(b"Host: %H", b"X: " + b"a" * 2_000_000)),
    Message("long target", "a path of 1 MB", _get(b"Host: %H", line=b"GET /" + b"a" * 1_000_000 + b" HTTP/1.1")),
)  # fmt: skip


def run(testbed: Testbed) -> Iterator[Result]:
    service = testbed.shared
    host = f"{service.host}:{service.port}".encode()
    for message in testbed.choose(MESSAGES, 12):
        received = client.raw(service, message.sent.replace(b"%H", host), timeout_s=2)
        yield Result(Attempt(message.name, message.tries, _REFUSED), _evidence(message, received))


def _evidence(message: Message, received: bytes) -> str:
    statuses = [int(status) for status in re.findall(rb"HTTP/1\.[01] (\d{3})", received)]
    if len(statuses) > message.answers:
        return f"{len(statuses)} answers: {statuses}"
    if not message.may_succeed and any(200 <= status < 400 for status in statuses):
        return f"answered {statuses}"
    return ""
