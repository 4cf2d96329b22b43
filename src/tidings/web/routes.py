"""Pages as declarations.

    @routes.get("/feeds/{feed_id}")
    def show_feed(caller: User, services: Services, feed_id: int) -> Page: ...

The signature says what a handler needs: `calling` reads it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from msgspec import Struct

Handler = TypeVar("Handler", bound=Callable[..., Any])

# A form of ours; what takes files says so.
SMALL_BODY = 2**20


class Route(Struct, frozen=True):
    """is_open: for visitors who are not signed in, too. admin: 403 for others. body_limit: bytes."""

    method: str
    path: str
    handler: Callable[..., Any]
    is_open: bool = False
    admin: bool = False
    body_limit: int = SMALL_BODY


class Routes:
    """The pages of one module."""

    def __init__(self) -> None:
        self.all: list[Route] = []

    def get(self, path: str, **more: Any) -> Callable[[Handler], Handler]:
        return self._add("GET", path, more)

    def post(self, path: str, **more: Any) -> Callable[[Handler], Handler]:
        """Every form carries its token: whoever sends one without is refused before the handler hears of it."""
        return self._add("POST", path, more)

    def _add(self, method: str, path: str, more: dict[str, Any]) -> Callable[[Handler], Handler]:
        def declare(handler: Handler) -> Handler:
            self.all.append(Route(method, path, handler, **more))
            return handler

        return declare
