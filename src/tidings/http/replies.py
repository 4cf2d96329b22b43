"""What goes back, and sending it."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, MutableMapping
from typing import Any

from msgspec import Struct

Send = Callable[[MutableMapping[str, Any]], Awaitable[None]]

JSON = "application/json"


class Reply(Struct, frozen=True):
    """headers: beyond those that every answer gets."""

    status: int
    body: bytes = b""
    content_type: str = JSON
    headers: tuple[tuple[str, str], ...] = ()


def text(value: str, status: int = 200) -> Reply:
    return Reply(status, value.encode(), "text/plain; charset=utf-8")


async def respond(send: Send, reply: Reply, headers: Iterable[tuple[str, str]] = (), *, head: bool = False) -> None:
    """head: the headers that GET would have, and no body."""
    sent = [*headers, *reply.headers]
    if reply.status not in (204, 304):
        sent += [("Content-Type", reply.content_type), ("Content-Length", str(len(reply.body)))]
    if reply.body:
        sent.append(("Vary", "Accept-Encoding"))
    encoded = [(name.lower().encode("latin-1"), value.encode("latin-1")) for name, value in sent]
    await send({"type": "http.response.start", "status": reply.status, "headers": encoded})
    await send({"type": "http.response.body", "body": b"" if head else reply.body})
