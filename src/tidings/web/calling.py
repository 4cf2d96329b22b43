"""From a visit to the arguments of a handler, by the handler's own signature.

visit: Visit         the visit as a whole: request, device, cookies, sidebar
caller: User         who is signed in
services: Services   the use cases
<name>_id: int       from the path; 404 unless a whole number above zero
<name>: str          from the path
query: Query         from the query string; what cannot be read counts as not sent
form: Form           from the body, in the same way
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from functools import cache
from typing import Any, get_type_hints

from tidings.domain.errors import InvalidInput, NotFound
from tidings.domain.users import User
from tidings.http import forms, queries
from tidings.http.queries import Query
from tidings.http.routes import path_id
from tidings.services import Services
from tidings.web.visits import Visit


class Form(Query, frozen=True):
    """Fields of a form: `str`, `int | None`, `bool | None` (a box to tick has the value 1), `tuple[str, ...]`."""


Getter = Callable[[Visit, dict[str, str]], Any]


def arguments(handler: Callable[..., Any], visit: Visit, path: dict[str, str]) -> dict[str, Any]:
    return {name: get(visit, path) for name, get in _getters(handler)}


@cache
def _getters(handler: Callable[..., Any]) -> list[tuple[str, Getter]]:
    hints = get_type_hints(handler)
    return [(name, _getter(name, hints[name])) for name in inspect.signature(handler).parameters]


def _getter(name: str, hint: Any) -> Getter:
    if hint is Visit:
        return lambda visit, _: visit
    if hint is User:
        return lambda visit, _: visit.caller
    if hint is Services:
        return lambda visit, _: visit.services
    if hint is int:
        return lambda _, path: _id(name, path[name])
    if hint is str:
        return lambda _, path: path[name]
    if issubclass(hint, Form):
        return lambda visit, _: queries.read(hint, forms.fields(visit.request))
    if issubclass(hint, Query):
        return lambda visit, _: queries.read(hint, visit.request.query)
    raise TypeError(f"a page has no use for a parameter {name}: {hint}")


def _id(name: str, text: str) -> int:
    try:
        return path_id(name, text)
    except InvalidInput as error:
        raise NotFound(error.message) from error
