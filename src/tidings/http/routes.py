"""Finding the route that a request means."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Generic, Protocol, TypeVar

from msgspec import Struct

from tidings.domain.errors import InvalidInput
from tidings.http.queries import INT64


class Declared(Protocol):
    """path: with names in braces for what differs, `/feeds/{feed_id}`."""

    @property
    def method(self) -> str: ...
    @property
    def path(self) -> str: ...


R = TypeVar("R", bound=Declared)


class Match(Struct, Generic[R], frozen=True):
    """route: None when the path exists, but not with this method; allowed: the methods it has."""

    route: R | None
    arguments: dict[str, str]
    allowed: tuple[str, ...] = ()


class Table(Generic[R]):
    """Fixed names win over ids; with a method that they lack they are read as an id (and refused as one)."""

    def __init__(self, routes: Iterable[R]) -> None:
        self.routes = list(routes)
        self._fixed: dict[str, dict[str, R]] = {}
        self._patterns: dict[int, list[tuple[tuple[str, ...], dict[str, R]]]] = {}
        for route in self.routes:
            self._place(route)

    def find(self, method: str, path: str) -> Match[R] | None:
        """None when there is no such path. HEAD is served by GET."""
        method = "GET" if method == "HEAD" else method
        allowed: set[str] = set()
        for arguments, by_method in self._candidates(path):
            if route := by_method.get(method):
                return Match(route, arguments)
            allowed.update(by_method)
        return Match(None, {}, _with_head(allowed)) if allowed else None

    def _candidates(self, path: str) -> Iterable[tuple[dict[str, str], dict[str, R]]]:
        if path in self._fixed:
            yield {}, self._fixed[path]
        segments = path.split("/")
        for pattern, by_method in self._patterns.get(len(segments), ()):
            arguments = _arguments(pattern, segments)
            if arguments is not None:
                yield arguments, by_method

    def _place(self, route: R) -> None:
        if "{" not in route.path:
            self._fixed.setdefault(route.path, {})[route.method] = route
            return
        segments = tuple(route.path.split("/"))
        same_length = self._patterns.setdefault(len(segments), [])
        for pattern, by_method in same_length:
            if _blank(pattern) == _blank(segments):
                by_method[route.method] = route
                return
        same_length.append((segments, {route.method: route}))


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


def path_id(name: str, text: str) -> int:
    """An id out of a path. InvalidInput unless it is a whole number of 1 to 2^63 - 1."""
    if text.isascii() and text.isdigit() and len(text) < 20 and text[0] != "0" and int(text) < INT64:
        return int(text)
    what = name.removesuffix("_id")
    raise InvalidInput(f"{text[:40]!r} is no {what} id: it has to be a whole number above zero.", field=name)
