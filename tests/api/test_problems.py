"""Errors as problem details (RFC 9457), for clients that ask for them."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

import jsonschema_rs
import msgspec
import pytest

from support.handbook import HANDBOOK
from support.people import HttpResponse, Person, call
from support.publisher import Publisher
from tidings.api.problems import TITLES, Problem, title_of, wants_problem
from tidings.api.replies import ErrorBody, failure_of, in_form
from tidings.base.errors import InsufficientStorage, StoreUnavailable, TidingsError
from tidings.base.messages import msg
from tidings.domain.errors import SignInThrottled
from tidings.http.requests import RequestTooSlow
from tidings.http.uploads import UploadTooLarge
from tidings.services.accounts.key_quotas import KeyThrottled, Quota
from tidings.wiring.routes import API_DOCUMENT

pytestmark = pytest.mark.one_engine

PROBLEM = "application/problem+json"
TEXT = msg("It does not work.")


def ask(
    person: Person,
    method: str,
    path: str,
    body: bytes | None = None,
    *,
    token: str | None = None,
    accept: str = PROBLEM,
) -> HttpResponse:
    headers = {"X-Auth-Token": person.token if token is None else token, "Accept": accept}
    return call(person.service.url, method, path, body, headers)


def every_kind(person: Person, site: Publisher) -> Iterator[tuple[HttpResponse, int, str]]:
    """Yield responses with the status and the code that they should have."""
    yield ask(person, "GET", "/v1/feeds/999999"), 404, "not-found"
    yield ask(person, "GET", "/v1/nothing"), 404, "not-found"
    yield ask(person, "PATCH", "/v1/me"), 405, "method-not-allowed"
    yield ask(person, "GET", "/v1/users"), 403, "forbidden"
    yield ask(person, "GET", "/v1/me", token="wrong"), 401, "unknown-key"
    yield ask(person, "GET", "/v1/me", token=""), 401, "unauthorized"
    yield ask(person, "PUT", "/v1/entries", b"{"), 400, "invalid-input"
    yield ask(person, "GET", "/integrations/status", token="wrong"), 401, "unknown-key"
    missing = b'{"feed_url": "%s"}' % site.url("/missing.xml").encode()
    yield ask(person, "POST", "/v1/feeds", missing), 500, "http-error"


def test_every_error_is_a_problem_where_the_client_asks_for_it(alice: Person, site: Publisher) -> None:
    schema = API_DOCUMENT.at()["components"]["schemas"]["Problem"]
    for answer, status, code in every_kind(alice, site):
        assert (answer.status, answer.headers["content-type"]) == (status, PROBLEM), code
        problem = answer.json()
        jsonschema_rs.Draft202012Validator({**schema, "additionalProperties": False}).validate(problem)
        assert (problem["status"], problem["code"], answer.headers["x-error-code"]) == (status, code, code)
        assert (problem["type"], problem["title"]) == (f"/docs/api#error-{code}", TITLES[code])
        assert problem["detail"]
        assert ("www-authenticate" in answer.headers) == (code == "unauthorized")


def test_it_names_the_field_that_is_wrong(alice: Person) -> None:
    problem = ask(alice, "GET", "/v1/entries?status=lost").json()

    assert problem["field"] == "status"
    assert problem["detail"].startswith("status: ")
    assert "field" not in ask(alice, "GET", "/v1/nothing").json()


def test_the_example_of_the_handbook_is_true(alice: Person) -> None:
    example = HANDBOOK.split("Accept: application/problem+json\n\n")[1].split("\n\n")[0]

    assert ask(alice, "GET", "/v1/entries?status=lost").json() == json.loads(example)


def test_without_asking_the_body_is_that_of_the_contract(alice: Person) -> None:
    for accept in ("*/*", "application/json", "application/*", f"{PROBLEM};q=0"):
        answer = ask(alice, "GET", "/v1/nothing", accept=accept)
        assert answer.headers["content-type"] == "application/json"
        assert answer.json().keys() == {"error_message"}


@pytest.mark.parametrize(
    ("accept", "expected"),
    [
        ("", False), ("*/*", False), ("text/html", False), (PROBLEM, True), (PROBLEM.upper(), True),
        (f"application/json, {PROBLEM}", True), (f"application/json;q=0.9,{PROBLEM};q=0.8", False),
        (f"application/json;q=0.5 , {PROBLEM}; charset=utf-8; q=0.7", True), (f"{PROBLEM};q=x", False),
        ("application/problem+jsonx", False),
    ],
)  # fmt: skip
def test_problems_are_asked_for_by_name(accept: str, expected: bool) -> None:
    assert wants_problem(accept) is expected


@pytest.mark.parametrize(
    ("error", "status", "headers"),
    [
        (StoreUnavailable(TEXT), 503, {}),
        (InsufficientStorage(TEXT), 507, {}),
        (RequestTooSlow(TEXT), 408, {}),
        (UploadTooLarge(TEXT), 413, {}),
        (SignInThrottled(TEXT, retry_after_s=7), 429, {"retry-after": "7"}),
        (KeyThrottled(Quota(2, 0, 9)), 429, {"retry-after": "9", "ratelimit": '"key";r=0;t=9'}),
    ],
    ids=lambda value: value.code if isinstance(value, TidingsError) else "",
)
def test_rare_errors_are_problems_too(error: TidingsError, status: int, headers: Mapping[str, str]) -> None:
    plain, problem = (in_form(failure_of(error), accept, "/reader") for accept in ("", PROBLEM))

    assert {plain.status_code, problem.status_code} == {status}
    decoded: Any = msgspec.json.decode(bytes(problem.body), type=Problem)
    assert (decoded.type, decoded.status) == (f"/reader/docs/api#error-{error.code}", status)
    assert decoded.detail == msgspec.json.decode(bytes(plain.body), type=ErrorBody).error_message
    for response in (plain, problem):
        assert headers.items() <= dict(response.headers).items()
        assert response.headers["x-error-code"] == error.code


def test_the_reference_describes_each_code_at_the_address_of_its_problem(alice: Person) -> None:
    page = call(alice.service.url, "GET", "/docs/api").body.decode()

    for code in TITLES:
        assert page.count(f'id="error-{code}"') == 1
        assert f"`{code}`" in HANDBOOK
    assert title_of("something-new") == "Something new"
