"""The OpenAPI document of this service. It is made once and needs no credentials."""

from __future__ import annotations

import json
from functools import cache
from importlib.resources import files
from typing import Any

import msgspec
from starlette.responses import Response

from tidings.api.openapi import document
from tidings.http.endpoints import Endpoint, Routes
from tidings.http.requests import Request
from tidings.http.responses import JSON
from tidings.maintenance import health_endpoints

routes = Routes("Version")


@routes.get("/v1/openapi.json", is_public=True, responses={200: dict[str, Any]})
def get_openapi(request: Request) -> Response:
    """Get this document."""
    base_path = request.scope["root_path"].removesuffix("/v1")
    return Response(_encoded(base_path or "/"), media_type=JSON)


def documented_endpoints() -> list[Endpoint]:
    """Returns the endpoints that the document describes."""
    from tidings.api.routes import API_ROUTES

    return [*API_ROUTES, *health_endpoints.routes.all]


@cache
def openapi(server: str = "/") -> dict[str, Any]:
    """Returns the document. server: the URL below which the paths lie."""
    # Recorded from a running service by `make contracts`.
    examples = json.loads(files("tidings.api").joinpath("examples.json").read_bytes())
    return document(documented_endpoints(), server=server, examples=examples)


@cache
def _encoded(server: str) -> bytes:
    return msgspec.json.encode(openapi(server))
