"""The OpenAPI document of this service, made once and served to everybody: it tells nothing about anybody."""

from __future__ import annotations

import json
from functools import cache
from importlib.resources import files
from typing import Any

import msgspec

from tidings.api import health
from tidings.api.openapi import document
from tidings.api.routes import Route, Routes
from tidings.http.replies import Reply
from tidings.http.requests import Request

routes = Routes("Version")


@routes.get("/v1/openapi.json", is_open=True, answers={200: dict[str, Any]})
def get_openapi(request: Request) -> Reply:
    """This document."""
    return Reply(200, _encoded(request.base_path or "/"))


def described() -> list[Route]:
    """Everything that the document describes."""
    from tidings.api import ROUTES

    return [*ROUTES, *health.routes.all]


@cache
def openapi(server: str = "/") -> dict[str, Any]:
    """server: below which the paths lie."""
    # A part of the program that happens to be JSON: `make contracts` takes it from a running service.
    examples = json.loads(files("tidings.api").joinpath("examples.json").read_bytes())
    return document(described(), server=server, examples=examples)


@cache
def _encoded(server: str) -> bytes:
    return msgspec.json.encode(openapi(server))
