"""Streams of server-sent events: what is sent, and when they end."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import Any

from tidings.http.event_stream import MAX_WAITING_BYTES, EventStream, OpenStreams, Stream, event

Source = Callable[[Stream], AbstractAsyncContextManager[None]]


class Client:
    """Receives a response until it leaves."""

    def __init__(self, method: str = "GET") -> None:
        self.scope = {"type": "http", "method": method}
        self.sent: list[dict[str, Any]] = []
        self.left = asyncio.Event()
        self._requested = False
        self.received = asyncio.Event()

    async def receive(self) -> dict[str, Any]:
        if not self._requested:
            self._requested = True
            return {"type": "http.request", "body": b"", "more_body": False}
        await self.left.wait()
        return {"type": "http.disconnect"}

    async def send(self, message: Any) -> None:
        self.sent.append(message)
        self.received.set()

    @property
    def body(self) -> bytes:
        return b"".join(message.get("body", b"") for message in self.sent)

    async def until(self, is_reached: Callable[[bytes], bool]) -> None:
        while not is_reached(self.body):
            self.received.clear()
            await self.received.wait()


def run(work: Awaitable[None]) -> None:
    async def limited() -> None:
        await asyncio.wait_for(work, 180)

    asyncio.run(limited())


def source_of(*chunks: bytes, ends: bool = False) -> Source:
    @asynccontextmanager
    async def source(stream: Stream) -> AsyncIterator[None]:
        for chunk in chunks:
            stream.push(chunk)
        if ends:
            stream.end()
        yield

    return source


def test_events_are_sent_with_a_time_to_wait_before_coming_back() -> None:
    async def work() -> None:
        client = Client()
        sent = event("changes", b'{"a":1}', "7")
        await EventStream(source_of(sent, ends=True))(client.scope, client.receive, client.send)

        head, *_, last = client.sent
        assert dict(head["headers"])[b"content-type"].startswith(b"text/event-stream")
        assert dict(head["headers"])[b"x-accel-buffering"] == b"no"
        assert b"content-length" not in dict(head["headers"])
        assert client.body.startswith(b"retry: ")
        assert client.body.endswith(b'\n\nid: 7\nevent: changes\ndata: {"a":1}\n\n')
        assert not last["more_body"]

    run(work())


def test_a_silent_stream_sends_comments() -> None:
    async def work() -> None:
        client = Client()
        stream = EventStream(source_of(), comment_after_s=0.01)
        running = asyncio.create_task(stream(client.scope, client.receive, client.send))
        await client.until(lambda body: body.endswith(b"\n\n:\n\n:\n\n"))
        client.left.set()
        await running

    run(work())


def test_a_stream_ends_when_the_client_leaves_and_its_source_learns_of_it() -> None:
    ended = []

    @asynccontextmanager
    async def source(_stream: Stream) -> AsyncIterator[None]:
        try:
            yield
        finally:
            ended.append(True)

    async def work() -> None:
        client = Client()
        running = asyncio.create_task(EventStream(source)(client.scope, client.receive, client.send))
        await client.until(bool)
        client.left.set()
        await running

    run(work())
    assert ended == [True]


def test_a_client_that_does_not_read_is_let_go() -> None:
    async def work() -> None:
        full, overfull = Stream(), Stream()
        full.push(b"x" * MAX_WAITING_BYTES)
        overfull.push(b"x" * MAX_WAITING_BYTES)
        overfull.push(b"x")

        assert (full.has_ended, overfull.has_ended) == (False, True)
        assert await overfull.take(1) == b""

    run(work())


def test_all_streams_end_when_the_server_stops_and_no_other_one_stays_open() -> None:
    async def work() -> None:
        streams, first, second = OpenStreams(), Stream(), Stream()
        with streams.containing(first):
            streams.end_all()
            assert first.has_ended
        with streams.containing(second):
            assert second.has_ended

    run(work())


def test_head_gets_no_events() -> None:
    async def work() -> None:
        client = Client("HEAD")
        await EventStream(source_of(b"x"))(client.scope, client.receive, client.send)

        assert client.body == b""
        assert not client.sent[-1]["more_body"]

    run(work())
