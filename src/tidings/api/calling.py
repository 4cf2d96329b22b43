"""From a request to the arguments of a handler, by the handler's own signature.

caller: User          who is calling
services: Services    the use cases
request: Request      the request itself, for the few that need its raw form
<name>_id: int        from the path; 400 unless a whole number of 1 to 2^63 - 1
<name>: str           from the path
query: Query          from the query string
body: Struct          from the JSON body
body: Later[Struct]   the same, read by the handler when it is time: after it has looked whether the thing exists
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from functools import cache
from typing import Any, Generic, TypeVar, get_args, get_origin, get_type_hints

from msgspec import Struct

from tidings.api import bodies
from tidings.domain.users import User
from tidings.http import queries
from tidings.http.queries import Query
from tidings.http.requests import Request
from tidings.http.routes import path_id
from tidings.services import Services

T = TypeVar("T", bound=Struct)


class Later(Generic[T]):
    """A body that is decoded when asked for."""

    def __init__(self, raw: bytes, shape: type[T]) -> None:
        self._raw, self._shape = raw, shape

    def read(self) -> T:
        return bodies.decode(self._raw, self._shape)


class Context(Struct, frozen=True):
    """caller: None where no credentials are needed; a handler of such a route asks for none."""

    request: Request
    path: dict[str, str]
    caller: User | None
    services: Services


Getter = Callable[[Context], Any]


def arguments(handler: Callable[..., Any], context: Context) -> dict[str, Any]:
    """In the order of the contract: ids of the path before the body, whatever the order of the parameters."""
    return {name: get(context) for name, get in _getters(handler)}


@cache
def _getters(handler: Callable[..., Any]) -> list[tuple[str, Getter]]:
    hints = get_type_hints(handler)
    found = [(name, *_getter(name, hints[name])) for name in inspect.signature(handler).parameters]
    return [(name, get) for name, rank, get in sorted(found, key=lambda one: one[1])]


def _getter(name: str, hint: Any) -> tuple[int, Getter]:
    """And when its turn is: the rank."""
    if hint is User:
        return 0, lambda context: context.caller
    if hint is Services:
        return 0, lambda context: context.services
    if hint is Request:
        return 0, lambda context: context.request
    if hint is int:
        return 1, lambda context: path_id(name, context.path[name])
    if hint is str:
        return 1, lambda context: context.path[name]
    if get_origin(hint) is Later:
        shape = get_args(hint)[0]
        return 2, lambda context: Later(context.request.body, shape)
    if issubclass(hint, Query):
        return 2, lambda context: queries.read(hint, context.request.query)
    if issubclass(hint, Struct):
        return 3, lambda context: bodies.decode(context.request.body, hint)
    raise TypeError(f"an endpoint has no use for a parameter {name}: {hint}")
