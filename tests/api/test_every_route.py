"""What holds for every route, asked of every route in the table."""

from __future__ import annotations

import re
from typing import get_type_hints

import pytest

from support.people import Person, basic, call
from support.running import RunningService
from tidings.api.openapi import operations_of
from tidings.http.binding import Query
from tidings.http.endpoints import Endpoint
from tidings.wiring.routes import API_ROUTES

pytestmark = [pytest.mark.slow, pytest.mark.one_engine]

OPERATIONS = operations_of(API_ROUTES)
WITH_QUERY = [
    name
    for name, route in OPERATIONS.items()
    if any(isinstance(hint, type) and issubclass(hint, Query) for hint in get_type_hints(route.handler).values())
]


def test_requests_without_credentials_are_refused(service: RunningService) -> None:
    for name, route in OPERATIONS.items():
        if not route.is_public:
            answer = call(service.url, route.method, with_ids(route, "1"))

            assert answer.status == 401, name
            assert answer.error, name
            assert answer.headers["www-authenticate"].startswith("Basic "), name


@pytest.mark.parametrize(
    "headers",
    [
        {"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate", "Content-Type": "text/plain"},
        {"Sec-Fetch-Site": "same-site", "Sec-Fetch-Mode": "no-cors"},
        {"Origin": "https://evil.example", "Content-Type": "text/plain;charset=UTF-8"},
        {"Origin": "null", "Content-Type": "application/x-www-form-urlencoded"},
        {"Origin": "http://[", "Content-Type": "multipart/form-data; boundary=x"},
    ],
    ids=str,
)
def test_a_page_of_another_site_cannot_use_the_password_that_a_browser_remembers(
    headers: dict[str, str], charlie: Person
) -> None:
    sent = {**basic(charlie.user.username), **headers}
    for name, route in OPERATIONS.items():
        if route.method != "GET" and not route.is_public:
            answer = call(charlie.service.url, route.method, with_ids(route, "1"), b"{}", sent)

            assert answer.status == 403, name
            assert "another site" in answer.error, name


def test_routes_of_administrators_refuse_other_users_before_reading_the_body(alice: Person) -> None:
    for name, route in OPERATIONS.items():
        if route.admin:
            answer = alice.call(route.method, with_ids(route, "nonsense"), raw=b"{")

            assert answer.status == 403, name
            assert answer.error, name


@pytest.mark.parametrize("text", ["0", "-1", "1.5", "abc", "9223372036854775808", "%00"])
def test_an_invalid_id_is_refused(text: str, charlie: Person) -> None:
    for name, route in OPERATIONS.items():
        if "_id}" in route.path and name != "get_user":
            answer = charlie.call(route.method, with_ids(route, text), {})

            assert answer.status == 400, name
            assert answer.error, name


def test_every_route_refuses_a_body_that_is_too_large(alice: Person, charlie: Person) -> None:
    """Uploads have a limit of their own: tests/archives/test_endpoints_import.py."""
    body = b" " * (32 * 2**20 + 1)
    for name, route in OPERATIONS.items():
        if route.method != "GET" and not route.accepts_upload:
            answer = (charlie if route.admin else alice).call(route.method, with_ids(route, "1"), raw=body)

            assert answer.status == 400, name
            assert "too large" in answer.error, name


@pytest.mark.parametrize("query", ["search=%00", "%00=1", "search=%ff"])
def test_a_query_that_is_not_utf8_is_refused(query: str, alice: Person, charlie: Person) -> None:
    for name in WITH_QUERY:
        route = OPERATIONS[name]
        raw = None if route.method == "GET" else b"A body."

        caller = charlie if route.admin else alice
        answer = caller.call(route.method, f"{with_ids(route, '1')}?{query}", raw=raw)

        assert answer.status == 400, name
        assert answer.error, name


def with_ids(route: Endpoint, text: str) -> str:
    return re.sub(r"\{\w+\}", text, route.path)
