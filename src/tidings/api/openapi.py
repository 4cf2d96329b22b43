"""The OpenAPI 3.1 document, derived from the table of routes and the signatures of the handlers.

route ─► path, statuses │ signature ─► parameters, bodies │ docstrings ─► descriptions │ recorded examples
"""

from __future__ import annotations

import inspect
import json
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from importlib.resources import files
from typing import Any, get_args, get_origin, get_type_hints

import msgspec
from msgspec import Struct
from starlette.responses import Response

from tidings.api.endpoints.version import API_LEVEL
from tidings.api.feed_style import FeedStyle
from tidings.api.fields import PARAMETER, Fields
from tidings.api.problems import PROBLEM_JSON, TITLES, Problem
from tidings.api.public_address import PublicAddress
from tidings.api.replies import CODE_HEADER, ErrorBody, status_of
from tidings.api.scopes import scope_of
from tidings.base.errors import StoreUnavailable, Unauthorized
from tidings.domain.accounts.rights import KeyScope, Rights
from tidings.domain.accounts.users import User
from tidings.domain.errors import SignInThrottled
from tidings.http.binding import LazyBody, Query
from tidings.http.endpoints import Endpoint, Media, Routes
from tidings.http.event_stream import EVENT_STREAM
from tidings.http.openapi_schemas import PATH_ID, Schema, Schemas, is_nothing, parameters
from tidings.http.requests import Request
from tidings.http.responses import JSON

routes = Routes("Version")

Examples = Mapping[str, Mapping[str, Any]]

DONE = {
    200: "Done.",
    201: "Created or changed. The response is the new state.",
    202: "Accepted.",
    204: "Done. The response has no body.",
    304: "Nothing has changed: what the client has is what it would get.",
    503: "Not ready.",
}
# By status: the name of the response in the document, and its description.
ERRORS = {
    400: ("Refused", "The request is invalid. The message names the field and says what is accepted."),
    401: ("Unauthorized", "Missing or wrong credentials. WWW-Authenticate is sent where a password is accepted."),
    403: ("Forbidden", "The user may not do this, or the API key lacks the scope that the message names."),
    404: ("NotFound", "The resource does not exist or belongs to another user."),
    409: ("Conflict", "Another import of this user runs. Repeat the request when it has ended."),
    410: ("CursorExpired", "What has changed since the cursor is not known any more. Begin again without one."),
    413: ("TooLarge", "The file, or the unpacked body, is larger than the service accepts."),
    415: ("UnsupportedCoding", "The Content-Encoding of the body is neither gzip nor zstd."),
    429: (
        "Throttled",
        "Too many wrong passwords for this name or network, requests with this key, or streams. Retry-After: seconds.",
    ),
    500: ("OutsideFailed", "The request to another site failed. The message says why."),
    503: ("Unavailable", "The database does not respond. Repeat the request later."),
    507: ("DiskFull", "The disk of the service has too little free space."),
}
IF_NONE_MATCH = {
    "name": "If-None-Match",
    "in": "header",
    "required": False,
    "schema": {"type": "string"},
    "description": "The ETag of what the client has.",
}
TAG = {"description": "Stands for what is sent.", "schema": {"type": "string"}}
NEXT = {
    "description": 'The address of the next page, as <…>; rel="next" (RFC 8288). The last page has none.',
    "schema": {"type": "string"},
}
# Parameters that say where a page begins.
PLACES_OF_PAGES = ("cursor", "before", "before_id")
ABOUT = (
    "For reader apps and scripts. Clients of Miniflux work unchanged.",
    "Sign in with username and password (Basic), or an API key as X-Auth-Token; if both are sent, the key is used.",
    "Bodies are JSON in UTF-8, regardless of Content-Type. A member that is null counts as not sent.",
    "Errors are problem details (RFC 9457) if Accept has application/problem+json, and else have one member.",
    "An invalid query parameter counts as not sent, too. Every GET endpoint accepts HEAD.",
    "/v1/feeds/{feed_id}/entries/import and /v1/integrations/status are also available without /v1.",
)
# Structs that handlers get from elsewhere.
NOT_BODIES = (User, Rights, FeedStyle, Fields, PublicAddress)
SECURITY = {
    "password": {"type": "http", "scheme": "basic", "description": "Username and password of an account."},
    "key": {
        "type": "apiKey",
        "in": "header",
        "name": "X-Auth-Token",
        "description": "An API key with the scope that the operation names, or one that includes it: read, write,"
        " manage, admin.",
    },
}


def document(routes: Iterable[Endpoint], *, server: str = "/", examples: Examples | None = None) -> dict[str, Any]:
    """Return the OpenAPI document.

    server: the URL below which the paths lie. examples: by operation; examples of errors under "errors".
    """
    operations = operations_of(routes)
    schemas = Schemas([ErrorBody, Problem, *(hint for route in operations.values() for hint in _hints(route))])
    for route in operations.values():
        for media in _media(route):
            schemas.components.update(media.components)
    examples = examples or {}
    paths: dict[str, dict[str, Any]] = {}
    for name, route in operations.items():
        operation = _operation(route, name, schemas, examples.get(name, {}))
        paths.setdefault(route.path, {})[route.method.lower()] = operation
    return {
        "openapi": "3.1.0",
        "info": {"title": "Tidings API", "version": API_LEVEL, "description": "\n\n".join(ABOUT)},
        "servers": [{"url": server}],
        "security": [{scheme: []} for scheme in SECURITY],
        "tags": [{"name": tag} for tag in dict.fromkeys(route.tag for route in operations.values())],
        "paths": paths,
        "components": {
            "schemas": schemas.components,
            "responses": dict(_error(status, schemas, examples.get("errors", {})) for status in ERRORS),
            "securitySchemes": SECURITY,
        },
        "x-error-codes": TITLES,
    }


class ApiDocument:
    """The service's OpenAPI document, made when it is first asked for. endpoints: what it describes."""

    def __init__(self, endpoints: Sequence[Endpoint]) -> None:
        self._endpoints = endpoints
        self._by_server: dict[str, dict[str, Any]] = {}
        self._encoded: dict[str, bytes] = {}

    def at(self, server: str = "/") -> dict[str, Any]:
        """Return the document. server: the URL below which the paths lie."""
        if server not in self._by_server:
            # Recorded from a running service by `make contracts`.
            examples = json.loads(files("tidings.api").joinpath("examples.json").read_bytes())
            self._by_server[server] = document(self._endpoints, server=server, examples=examples)
        return self._by_server[server]

    def encoded(self, server: str = "/") -> bytes:
        """Return the document as JSON."""
        if server not in self._encoded:
            self._encoded[server] = msgspec.json.encode(self.at(server))
        return self._encoded[server]


def operations_of(routes: Iterable[Endpoint]) -> dict[str, Endpoint]:
    """Return endpoints by operationId: the name of the handler; later routes of a handler add how they differ."""
    names: dict[str, Endpoint] = {}
    for route in routes:
        name = route.handler.__name__
        if name in names:
            end = route.path.split("/")[-1].replace("-", "_")
            name += f"_{route.method.lower() if names[name].path == route.path else end}"
        assert name not in names, f"two operations of the name {name}"
        names[name] = route
    return names


def successes(route: Endpoint) -> dict[int, Any]:
    """Return the body of each success by status: the type of a JSON body, a Media, or None."""
    not_modified = {304: None} if route.conditional else {}
    if route.responses:
        return {**route.responses, **not_modified}
    answer = get_type_hints(route.handler)["return"]
    if _is(answer, Response):
        raise TypeError(f"{route.handler.__name__} returns a Response: declare them with responses={{status: type}}")
    return {route.status: None if is_nothing(answer) else answer, **not_modified}


def failures(route: Endpoint) -> list[int]:
    """Return the statuses of errors."""
    statuses = {status_of(error) for error in route.raises}
    if not route.is_public:
        statuses |= {status_of(Unauthorized), status_of(SignInThrottled), status_of(StoreUnavailable)}
    # A key may lack the scope, and a change with a password that a page of another site sent is refused.
    if not route.is_public and (route.method != "GET" or scope_of(route) is not KeyScope.READ):
        statuses.add(403)
    # Every body is read, even if the handler does not use it, and refused if it is too large.
    if (
        route.method != "GET"
        or route.lists
        or any(hint is int or _is(hint, Query) for hint in _signature(route.handler).values())
    ):
        statuses.add(400)
    # Bodies may be compressed.
    if route.method != "GET":
        statuses |= {413, 415}
    return sorted(statuses - route.responses.keys())


def _operation(route: Endpoint, name: str, schemas: Schemas, examples: Mapping[str, Any]) -> dict[str, Any]:
    summary, description = _summary(route.handler)
    created: dict[str, Any] = {"operationId": name, "tags": [route.tag], "summary": summary}
    if description:
        created["description"] = description
    conditional = (IF_NONE_MATCH,) if route.conditional else ()
    if given := [*_parameters(route.handler), *_fields_parameter(route), *conditional]:
        created["parameters"] = given
    if body := _request_body(route, schemas, examples.get("request")):
        created["requestBody"] = body
    created["responses"] = {
        str(status): _answer(status, hint, schemas, examples.get(str(status)))
        for status, hint in sorted(successes(route).items())
    } | {str(status): {"$ref": f"#/components/responses/{ERRORS[status][0]}"} for status in failures(route)}
    scope = scope_of(route)
    created["security"] = [{"password": []}, {"key": [str(scope)]}] if scope else []
    for status in (200, 304) if route.conditional else ():
        created["responses"][str(status)]["headers"] = {"ETag": TAG}
    if _links_pages(route, given):
        created["responses"]["200"].setdefault("headers", {})["Link"] = NEXT
    return created


def _signature(handler: Callable[..., Any]) -> dict[str, Any]:
    """Return the type hints of the parameters, which `binding` uses as well."""
    hints = get_type_hints(handler)
    return {name: hints[name] for name in inspect.signature(handler).parameters}


def _parameters(handler: Callable[..., Any]) -> Iterable[Schema]:
    for name, hint in _signature(handler).items():
        if hint in (int, str):
            what = name.removesuffix("_id").replace("_", " ")
            schema = PATH_ID if hint is int else {"type": "string", "minLength": 1}
            yield {"name": name, "in": "path", "required": True, "schema": schema, "description": f"The {what}."}
        elif _is(hint, Query):
            yield from parameters(hint)


def _fields_parameter(route: Endpoint) -> Iterable[Schema]:
    """Yield the parameter that chooses members of the items of a list."""
    if route.lists is not None:
        names = {"type": "string", "enum": [*route.lists.__struct_fields__]}
        yield {
            "name": PARAMETER,
            "in": "query",
            "required": False,
            "style": "form",
            "explode": False,
            "schema": {"type": "array", "items": names},
            "description": "Members of the items, separated by commas; the others are left out. Default: all.",
        }


def _links_pages(route: Endpoint, given: Iterable[Schema]) -> bool:
    """Return whether a header of the response links to the next page. Other lists have its cursor in their body."""
    has_cursor_in_body = "next_cursor" in getattr(successes(route).get(200), "__struct_fields__", ())
    has_place = any(one["name"] in PLACES_OF_PAGES for one in given)
    return route.lists is not None and not has_cursor_in_body and has_place


def _request_body(route: Endpoint, schemas: Schemas, example: Any) -> dict[str, Any] | None:
    for hint in _signature(route.handler).values():
        if (shape := _body(hint)) is not None:
            return {"required": True, "content": {JSON: _content(schemas.of(shape), example)}}
    if route.request_bodies:
        contents = {media.type: _content(media.schema, example) for media in route.request_bodies}
        return {"required": True, "content": contents}
    return None


def _body(hint: Any) -> Any:
    if get_origin(hint) is LazyBody:
        return get_args(hint)[0]
    return hint if _is(hint, Struct) and not _is(hint, Query) and hint not in NOT_BODIES else None


def _answer(status: int, hint: Any, schemas: Schemas, example: Any) -> dict[str, Any]:
    created: dict[str, Any] = {"description": DONE[status]}
    if isinstance(hint, Media):
        about: Schema = {}
        if hint.data is not None:
            about = {"contentMediaType": JSON, "contentSchema": schemas.of(hint.data)}
        schema = {**hint.schema, **about}
        created["content"] = {hint.type: _content(_event(schema) if hint.type == EVENT_STREAM else schema, example)}
    elif hint is not None:
        created["content"] = {JSON: _content(schemas.of(hint), example)}
    return created


def _event(data: Schema) -> Schema:
    """Return the schema of each event of a stream (HTML, section 9.2), which is what readers of OpenAPI 3.1 expect."""
    members = {"event": {"type": "string"}, "id": {"type": "string"}, "data": data}
    return {"type": "object", "properties": members, "required": ["data"]}


def _error(status: int, schemas: Schemas, examples: Mapping[str, Any]) -> tuple[str, dict[str, Any]]:
    name, meaning = ERRORS[status]
    content = {
        JSON: _content(schemas.of(ErrorBody), examples.get(str(status))),
        PROBLEM_JSON: {"schema": schemas.of(Problem)},
    }
    headers: dict[str, Any] = {CODE_HEADER: {"description": "What went wrong.", "schema": {"type": "string"}}}
    if status == 401:
        headers["WWW-Authenticate"] = {"schema": {"type": "string"}}
    if status == 429:
        headers["Retry-After"] = {"description": "Seconds to wait.", "schema": {"type": "integer"}}
    created: dict[str, Any] = {"description": meaning, "headers": headers, "content": content}
    return name, created


def _content(schema: Schema, example: Any) -> dict[str, Any]:
    return {"schema": schema} if example is None else {"schema": schema, "example": example}


def _hints(route: Endpoint) -> Iterable[Any]:
    """Yield the types of all JSON bodies."""
    for hint in successes(route).values():
        shape = hint.data if isinstance(hint, Media) else hint
        if shape is not None:
            yield shape
    yield from (shape for hint in _signature(route.handler).values() if (shape := _body(hint)) is not None)


def _media(route: Endpoint) -> Iterable[Media]:
    """Yield the bodies of requests and responses that are declared with a schema of their own."""
    yield from route.request_bodies
    yield from (hint for hint in successes(route).values() if isinstance(hint, Media))


def _summary(handler: Callable[..., Any]) -> tuple[str, str]:
    """Return the summary (the first sentence of the docstring) and the description (the rest)."""
    text = " ".join((handler.__doc__ or handler.__name__.replace("_", " ")).split())
    first, *rest = re.split(r"(?<=[.!?]) (?=[A-Z0-9])", text, maxsplit=1)
    return first.removesuffix("."), " ".join(rest)


def _is(hint: Any, kind: type) -> bool:
    return isinstance(hint, type) and issubclass(hint, kind)


@routes.get("/v1/openapi.json", is_public=True, responses={200: dict[str, Any]})
def get_openapi(request: Request, document: ApiDocument) -> Response:
    """Get this document."""
    base_path = request.scope["root_path"].removesuffix("/v1")
    return Response(document.encoded(base_path or "/"), media_type=JSON)
