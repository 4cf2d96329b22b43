"""Declarations of endpoints, for all surfaces.

    @routes.put("/v1/categories/{category_id}", status=201)
    def update_category(caller: User, services: Services, category_id: int, body: CategoryUpdate) -> CategoryOut: ...

The signature is the contract: `binding` derives from it where each argument comes from.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from enum import Enum
from typing import Any, TypeVar

from msgspec import Struct

from tidings.base.errors import TidingsError

Handler = TypeVar("Handler", bound=Callable[..., Any])


class Media(Struct, frozen=True):
    """A body that is not JSON."""

    type: str
    schema: dict[str, Any] = {}
    """Its JSON Schema in the OpenAPI document."""
    components: dict[str, dict[str, Any]] = {}
    """Schemas by name, to which `schema` refers."""
    data: Any = None
    """The type of the JSON in the data of its events."""


class Conditional(Enum):
    """How exact the answer 304 is: what a client has may be shown in its place."""

    EXACT = "exact"
    """It is the same."""
    EXCEPT_CHECKS = "except checks"
    """It is the same, except when feeds were checked: these times may be up to an hour old."""


class Endpoint(Struct, frozen=True):
    """A route with its handler."""

    method: str
    path: str
    handler: Callable[..., Any]
    status: int = 200
    """The status of a success."""
    scope: str = ""
    """The right that the credentials need, by the name that the surface gives it; "" for the surface's default."""
    admin: bool = False
    """Whether only administrators may call it; other users get 403."""
    raises: tuple[type[TidingsError], ...] = ()
    """Errors in addition to the errors that every endpoint can return."""
    lists: type[Struct] | None = None
    """The type of the items of the list that it returns, of which a client may choose members."""
    tag: str = ""
    conditional: Conditional | None = None
    """Whether a client that sends If-None-Match is told that nothing has changed."""
    is_public: bool = False
    """Whether it needs no credentials."""
    responses: dict[int, Any] = {}
    """For a handler that returns a Response, its bodies by status: the type of a JSON body, a Media, or None."""
    request_bodies: tuple[Media, ...] = ()
    """Bodies that the handler parses itself."""
    body_limit: int | None = None
    """Bytes; None for the surface's limit."""
    accepts_files: bool = False
    """Whether the form may be multipart/form-data."""
    accepts_upload: bool = False
    """Whether the body may be as large as the folder of uploads allows; its file is written to that folder."""


class Routes:
    """The endpoints of one module.

    tag: their heading in the API reference. after: the heading that a new one follows; "" for the end.
    """

    def __init__(self, tag: str = "", *, after: str = "") -> None:
        self.tag = tag
        self.after = after
        self.all: list[Endpoint] = []

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
            self.all.append(Endpoint(method, path, handler, tag=self.tag, **more))
            return handler

        return declare


def placed(endpoints: Iterable[Endpoint], more: Iterable[Routes]) -> list[Endpoint]:
    """Return endpoints with those of other modules at their places.

    They follow the endpoints with the same tag, or those with the tag `after`. Raises ValueError if there is none.
    """
    result = list(endpoints)
    for routes in more:
        tags = [endpoint.tag for endpoint in result]
        before = routes.tag if routes.tag in tags else routes.after
        if before and before not in tags:
            raise ValueError(f"no endpoints have the tag {before}")
        place = len(tags) - tags[::-1].index(before) if before else len(tags)
        result[place:place] = routes.all
    return result
