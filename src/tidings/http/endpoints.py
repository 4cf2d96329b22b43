"""Declarations of endpoints, for all surfaces.

    @routes.put("/v1/categories/{category_id}", status=201)
    def update_category(caller: User, services: Services, category_id: int, body: CategoryUpdate) -> CategoryOut: ...

The signature is the contract: `binding` derives from it where each argument comes from.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from msgspec import Struct

from tidings.base.errors import TidingsError

Handler = TypeVar("Handler", bound=Callable[..., Any])


class Media(Struct, frozen=True):
    """A body that is not JSON. schema: its JSON Schema in the OpenAPI document."""

    type: str
    schema: dict[str, Any] = {}


class Endpoint(Struct, frozen=True):
    """A route with its handler.

    status: of success. raises: errors beyond those of every endpoint. admin: others get 403. is_public: needs no
    credentials. responses: for a handler that returns a Response, its bodies by status: the type of a JSON body, a
    Media, or None. request_bodies: those that the handler parses itself. body_limit: bytes; None for the limit of the
    surface. accepts_files: the form may be multipart/form-data. accepts_upload: the body may be as large as the folder
    of uploads allows, and its file is written to there.
    """

    method: str
    path: str
    handler: Callable[..., Any]
    status: int = 200
    admin: bool = False
    raises: tuple[type[TidingsError], ...] = ()
    tag: str = ""
    is_public: bool = False
    responses: dict[int, Any] = {}
    request_bodies: tuple[Media, ...] = ()
    body_limit: int | None = None
    accepts_files: bool = False
    accepts_upload: bool = False


class Routes:
    """The endpoints of one module. tag: their heading in the API reference."""

    def __init__(self, tag: str = "") -> None:
        self.tag = tag
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
