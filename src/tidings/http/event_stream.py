"""Server-sent events: responses that stay open until the client leaves, their source ends them, or the server stops.

An idle stream costs two tasks and one timer, and no thread.
Source: HTML Living Standard, section 9.2, "Server-sent events".
"""

from __future__ import annotations

import asyncio
import random
from collections.abc import Callable, Iterator
from contextlib import AbstractAsyncContextManager, contextmanager
from typing import Final

from starlette.responses import StreamingResponse
from starlette.types import Message, Receive, Scope, Send

from tidings.base.errors import TidingsError
from tidings.http.requests import Request

EVENT_STREAM: Final = "text/event-stream"
# Proxies commonly end a response that has sent nothing for 60 s, and some for 30 s.
COMMENT_INTERVAL_S: Final = 15.0
_COMMENT: Final = b":\n\n"
# What waits for a client that does not read. A stream with more is ended, and the client resumes where it was.
MAX_WAITING_BYTES: Final = 2**18
# Clients wait for a random time from this range before they come back, or all of them would come in the same moment
# after a restart.
RETRY_MS: Final = (1_000, 5_000)


class TooManyStreams(TidingsError):
    """There are as many streams as are possible."""

    code = "too-many-streams"
    is_retryable = True


class Stream:
    """The open body of a response, in the event loop that serves it."""

    def __init__(self) -> None:
        self._waiting: list[bytes] = []
        self._size_bytes = 0
        self._wakeup = asyncio.Event()
        self.has_ended = False

    def push(self, chunk: bytes) -> None:
        """Send bytes as soon as the client takes them."""
        if self.has_ended:
            return
        self._waiting.append(chunk)
        self._size_bytes += len(chunk)
        if self._size_bytes > MAX_WAITING_BYTES:
            self._waiting.clear()
            self.has_ended = True
        self._wakeup.set()

    def end(self) -> None:
        """End the response after what was pushed."""
        self.has_ended = True
        self._wakeup.set()

    async def take(self, comment_after_s: float) -> bytes:
        """Return what was pushed; a comment if that is nothing for so long, and b"" at the end."""
        if not self._waiting and not self.has_ended:
            timer = asyncio.get_running_loop().call_later(comment_after_s, self._wakeup.set)
            try:
                await self._wakeup.wait()
            finally:
                timer.cancel()
        self._wakeup.clear()
        chunk = b"".join(self._waiting)
        self._waiting.clear()
        self._size_bytes = 0
        return chunk or (b"" if self.has_ended else _COMMENT)


class OpenStreams:
    """The streams of this process. Used in the event loop that serves them."""

    def __init__(self) -> None:
        self._streams: set[Stream] = set()
        self._is_stopping = False

    @contextmanager
    def containing(self, stream: Stream) -> Iterator[None]:
        """Let `end_all` end the stream as well."""
        if self._is_stopping:
            stream.end()
        self._streams.add(stream)
        try:
            yield
        finally:
            self._streams.discard(stream)

    def end_all(self) -> None:
        """End all streams, now and in future: a server that stops waits for its responses."""
        self._is_stopping = True
        for stream in self._streams:
            stream.end()


open_streams: Final = OpenStreams()


class EventStream(StreamingResponse):
    """A response with server-sent events.

    source: called before the response begins. Its context lasts as long as the response: in that time the source
    pushes events into the stream, in the event loop, and it may end the stream.
    comment_after_s: how long nothing is sent before a comment is, for proxies that end silent responses.
    """

    def __init__(
        self,
        source: Callable[[Stream], AbstractAsyncContextManager[None]],
        *,
        comment_after_s: float = COMMENT_INTERVAL_S,
    ) -> None:
        # X-Accel-Buffering is for nginx, which would keep events until it has some kilobytes of them.
        headers = {"Cache-Control": "no-store", "X-Accel-Buffering": "no"}
        super().__init__((), headers=headers, media_type=EVENT_STREAM)
        self._source = source
        self._comment_after_s = comment_after_s

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        head = {"type": "http.response.start", "status": self.status_code, "headers": self.raw_headers}
        if scope["method"] == "HEAD":
            await send(head)
        else:
            await self._stream(receive, send, head)
        await send({"type": "http.response.body", "body": b"", "more_body": False})

    async def _stream(self, receive: Receive, send: Send, head: Message) -> None:
        stream = Stream()
        stream.push(b"retry: %d\n\n" % random.randint(*RETRY_MS))  # noqa: S311
        watching = asyncio.create_task(_end_after(receive, stream))
        try:
            with open_streams.containing(stream):
                async with self._source(stream):
                    # A client that has the head misses nothing from then on.
                    await send(head)
                    while chunk := await stream.take(self._comment_after_s):
                        await send({"type": "http.response.body", "body": chunk, "more_body": True})
        finally:
            watching.cancel()


def last_event_id(request: Request) -> str:
    """Return the id of the last event that a client has received, with which it resumes; "" without one."""
    return request.headers.get("last-event-id", "").strip()


def event(name: str, data: bytes, id_: str = "") -> bytes:
    """Return an event as it is sent. data: one line. id_: with which a client resumes after this event."""
    identity = f"id: {id_}\n" if id_ else ""
    return f"{identity}event: {name}\ndata: ".encode() + data + b"\n\n"


async def _end_after(receive: Receive, stream: Stream) -> None:
    """End the stream when the client leaves."""
    while (await receive())["type"] != "http.disconnect":
        pass
    stream.end()
