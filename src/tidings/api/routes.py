"""Endpoints as declarations, and finding the one that a request means.

    @routes.put("/v1/categories/{category_id}", status=201)
    def update_category(caller: User, services: Services, category_id: int, body: CategoryUpdate) -> CategoryOut: ...

The signature is the contract: `calling` reads from it where each argument comes from.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, TypeVar

from msgspec import Struct

from tidings.domain.errors import TidingsError

Handler = TypeVar("Handler", bound=Callable[..., Any])


class Media(Struct, frozen=True):
    """A body that is not JSON. schema: what the OpenAPI document says of it."""

    type: str
    schema: dict[str, Any] = {}


class Route(Struct, frozen=True):
    """status: of success. raises: what can go wrong beyond what goes wrong everywhere. admin: 403 for others.

    is_open: needs no credentials. answers: what a handler that returns a Reply answers, by status: the type of a JSON
    body, a Media, or None. takes: the bodies that a handler reads by itself.
    """

    method: str
    path: str
    handler: Callable[..., Any]
    status: int = 200
    admin: bool = False
    raises: tuple[type[TidingsError], ...] = ()
    tag: str = ""
    is_open: bool = False
    answers: dict[int, Any] = {}
    takes: tuple[Media, ...] = ()

    @property
    def segments(self) -> tuple[str, ...]:
        return tuple(self.path.split("/"))


class Routes:
    """The endpoints of one module. tag: the heading under which the reference lists them."""

    def __init__(self, tag: str) -> None:
        self.tag = tag
        self.all: list[Route] = []

    def get(self, path: str, **more: Any) -> Callable[[Handler], Handler]:
        return self._add("GET", path, more)

    def post(self, path: str, **more: Any) -> Callable[[Handler], Handler]:
        return self._add("POST", path, more)

    def put(self, path: str, **more: Any) -> Callable[[Handler], Handler]:
        return self._add("PUT", path, more)

    def delete(self, path: str, **more: Any) -> Callable[[Handler], Handler]:
        return self._add("DELETE", path, more)

    def _add(self, method: str, path: str, more: dict[str, Any]) -> Callable[[Handler], Handler]:
        def declare(handler: Handler) -> Handler:
            self.all.append(Route(method, path, handler, tag=self.tag, **more))
            return handler

        return declare


class Match(Struct, frozen=True):
    """route: None when the path exists, but not with this method; allowed: the methods it has."""

    route: Route | None
    arguments: dict[str, str]
    allowed: tuple[str, ...] = ()


class Table:
    """Fixed names win over ids; with a method that they lack they are read as an id (and refused as one)."""

    def __init__(self, routes: Iterable[Route]) -> None:
        self.routes = list(routes)
        self._fixed: dict[str, dict[str, Route]] = {}
        self._patterns: dict[int, list[tuple[tuple[str, ...], dict[str, Route]]]] = {}
        for route in self.routes:
            self._place(route)

    def find(self, method: str, path: str) -> Match | None:
        """None when there is no such path. HEAD is served by GET."""
        method = "GET" if method == "HEAD" else method
        allowed: set[str] = set()
        for arguments, by_method in self._candidates(path):
            if route := by_method.get(method):
                return Match(route, arguments)
            allowed.update(by_method)
        return Match(None, {}, _with_head(allowed)) if allowed else None

    def _candidates(self, path: str) -> Iterable[tuple[dict[str, str], dict[str, Route]]]:
        if path in self._fixed:
            yield {}, self._fixed[path]
        segments = path.split("/")
        for pattern, by_method in self._patterns.get(len(segments), ()):
            arguments = _arguments(pattern, segments)
            if arguments is not None:
                yield arguments, by_method

    def _place(self, route: Route) -> None:
        if "{" not in route.path:
            self._fixed.setdefault(route.path, {})[route.method] = route
            return
        same_length = self._patterns.setdefault(len(route.segments), [])
        for pattern, by_method in same_length:
            if _blank(pattern) == _blank(route.segments):
                by_method[route.method] = route
                return
        same_length.append((route.segments, {route.method: route}))


def _arguments(pattern: tuple[str, ...], segments: list[str]) -> dict[str, str] | None:
    arguments: dict[str, str] = {}
    for expected, found in zip(pattern, segments, strict=True):
        if expected.startswith("{"):
            if not found:
                return None
            arguments[expected[1:-1]] = found
        elif expected != found:
            return None
    return arguments


def _blank(pattern: tuple[str, ...]) -> tuple[str, ...]:
    return tuple("{}" if part.startswith("{") else part for part in pattern)


def _with_head(methods: set[str]) -> tuple[str, ...]:
    return tuple(sorted(methods | ({"HEAD"} if "GET" in methods else set())))
