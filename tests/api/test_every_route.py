"""What holds for every route, asked of every route in the table."""

from __future__ import annotations

import re
from typing import get_type_hints

import pytest

from support.people import Person, basic, call
from tidings.api.openapi import operations_of
from tidings.http.binding import Query
from tidings.wiring.routes import API_ROUTES

pytestmark = pytest.mark.slow

OPERATIONS = operations_of(API_ROUTES)
WITH_ID = {name: route for name, route in OPERATIONS.items() if "_id}" in route.path}
WITH_QUERY = [
    name
    for name, route in OPERATIONS.items()
    if any(isinstance(hint, type) and issubclass(hint, Query) for hint in get_type_hints(route.handler).values())
]


@pytest.mark.parametrize("operation", [name for name, route in OPERATIONS.items() if not route.is_public])
def test_requests_without_credentials_are_refused(operation: str, alice: Person) -> None:
    route = OPERATIONS[operation]

    answer = call(alice.service.url, route.method, re.sub(r"\{\w+\}", "1", route.path))

    assert answer.status == 401
    assert answer.error
    assert answer.headers["www-authenticate"].startswith("Basic ")


FORGED = [
    {"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate", "Content-Type": "text/plain"},
    {"Sec-Fetch-Site": "same-site", "Sec-Fetch-Mode": "no-cors"},
    {"Origin": "https://evil.example", "Content-Type": "text/plain;charset=UTF-8"},
    {"Origin": "null", "Content-Type": "application/x-www-form-urlencoded"},
    {"Origin": "http://[", "Content-Type": "multipart/form-data; boundary=x"},
]


@pytest.mark.parametrize("headers", FORGED, ids=str)
@pytest.mark.parametrize(
    "operation", [name for name, route in OPERATIONS.items() if route.method != "GET" and not route.is_public]
)
def test_a_page_of_another_site_cannot_use_the_password_that_a_browser_remembers(
    operation: str, headers: dict[str, str], charlie: Person
) -> None:
    route = OPERATIONS[operation]
    path = re.sub(r"\{\w+\}", "1", route.path)

    answer = call(charlie.service.url, route.method, path, b"{}", {**basic(charlie.user.username), **headers})

    assert answer.status == 403
    assert "another site" in answer.error


@pytest.mark.parametrize("operation", [name for name, route in OPERATIONS.items() if route.admin])
def test_routes_of_administrators_refuse_other_users_before_reading_the_body(operation: str, alice: Person) -> None:
    route = OPERATIONS[operation]

    answer = alice.call(route.method, re.sub(r"\{\w+\}", "nonsense", route.path), raw=b"{")

    assert answer.status == 403
    assert answer.error


@pytest.mark.parametrize("operation", [name for name in WITH_ID if name != "get_user"])
@pytest.mark.parametrize("text", ["0", "-1", "1.5", "abc", "9223372036854775808", "%00"])
def test_an_invalid_id_is_refused(operation: str, text: str, charlie: Person) -> None:
    route = WITH_ID[operation]

    answer = charlie.call(route.method, re.sub(r"\{\w+\}", text, route.path), {})

    assert answer.status == 400
    assert answer.error


# Uploads have a limit of their own: tests/archives/test_endpoints_import.py.
@pytest.mark.parametrize(
    "operation",
    [name for name, route in OPERATIONS.items() if route.method != "GET" and not route.accepts_upload],
)
def test_every_route_refuses_a_body_that_is_too_large(operation: str, alice: Person, charlie: Person) -> None:
    route = OPERATIONS[operation]
    person = charlie if route.admin else alice

    answer = person.call(route.method, re.sub(r"\{\w+\}", "1", route.path), raw=b" " * (32 * 2**20 + 1))

    assert answer.status == 400
    assert "too large" in answer.error


@pytest.mark.parametrize("operation", WITH_QUERY)
@pytest.mark.parametrize("query", ["search=%00", "%00=1", "search=%ff"])
def test_a_query_that_is_not_utf8_is_refused(operation: str, query: str, alice: Person) -> None:
    route = OPERATIONS[operation]
    raw = None if route.method == "GET" else b"A body."

    answer = alice.call(route.method, re.sub(r"\{\w+\}", "1", route.path) + f"?{query}", raw=raw)

    assert answer.status == 400
    assert answer.error
