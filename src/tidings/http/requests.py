"""A request as handlers need it, over ASGI's scope."""

from __future__ import annotations

import ipaddress
from collections.abc import Awaitable, Callable, MutableMapping, Sequence
from functools import cached_property
from typing import Any
from urllib.parse import parse_qsl

from tidings.domain.errors import InvalidInput, TidingsError

Receive = Callable[[], Awaitable[MutableMapping[str, Any]]]
Network = ipaddress.IPv4Network | ipaddress.IPv6Network

MOST_QUERY_FIELDS = 2_000


class RequestTooLarge(TidingsError):
    code = "request-too-large"


class Request:
    def __init__(self, scope: MutableMapping[str, Any], path: str) -> None:
        """path: below the base path."""
        self.method: str = scope["method"]
        self.path = path
        self._scope = scope
        self.headers: dict[str, str] = {
            name.decode("latin-1").lower(): value.decode("latin-1") for name, value in scope["headers"]
        }
        self.body = b""
        # What was wrong with the body, for surfaces that go on nevertheless and tell later.
        self.complaint: TidingsError | None = None
        # As declared, once it is found: what is counted of requests has as many names as there are endpoints.
        self.route = "none"

    @property
    def base_path(self) -> str:
        """Below which everything lies: "" or a path without a slash at its end."""
        base_path: str = self._scope.get("root_path", "")
        return base_path

    @property
    def query_string(self) -> str:
        """As it was sent."""
        raw: bytes = self._scope.get("query_string", b"")
        return raw.decode("latin-1")

    @property
    def query(self) -> list[tuple[str, str]]:
        """Names and values in the order sent. InvalidInput for bytes that are no UTF-8, or NUL."""
        try:
            pairs = parse_qsl(
                self.query_string,
                keep_blank_values=True,
                errors="strict",
                max_num_fields=MOST_QUERY_FIELDS,
            )
        except ValueError as error:
            raise InvalidInput("The query of this address cannot be read: it has to be UTF-8 text.") from error
        if bad := next((name for name, value in pairs if "\0" in name + value), None):
            raise InvalidInput(f"The query parameter {bad!r} holds a NUL character: remove it.", field=bad)
        return pairs

    @cached_property
    def cookies(self) -> dict[str, str]:
        """By name. Of a name that comes twice the first counts: browsers send that of the longest path first."""
        found: dict[str, str] = {}
        for part in self.headers.get("cookie", "").split(";"):
            name, equals, value = part.strip().partition("=")
            if equals:
                found.setdefault(name, value.strip('"'))
        return found

    async def read_body(self, receive: Receive, limit: int) -> None:
        """limit: bytes; RequestTooLarge beyond it."""
        chunks: list[bytes] = []
        size = 0
        while True:
            message = await receive()
            if message["type"] == "http.disconnect":
                raise InvalidInput("The request ended before its body was complete.")
            chunks.append(message.get("body", b""))
            size += len(chunks[-1])
            if size > limit:
                raise RequestTooLarge(f"This request is too large: {limit // 2**20} MiB at most.")
            if not message.get("more_body"):
                break
        self.body = b"".join(chunks)

    def address(self, trusted: Sequence[Network]) -> str:
        """Who is calling; a reverse proxy that is trusted may say so on somebody's behalf."""
        client = self._scope.get("client")
        peer = client[0] if client else ""
        forwarded = self.headers.get("x-forwarded-for", "")
        return forwarded.rpartition(",")[2].strip() if forwarded and is_within(peer, trusted) else peer


def is_within(address: str, networks: Sequence[Network]) -> bool:
    try:
        parsed = ipaddress.ip_address(address)
    except ValueError:
        return False
    return any(parsed in network for network in networks)
