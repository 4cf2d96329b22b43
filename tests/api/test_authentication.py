"""Authentication by password and by API key (docs/api.md)."""

from __future__ import annotations

import base64
from dataclasses import replace

import pytest

from support.people import PASSWORD, HttpResponse, Person, answers_to, basic, call
from tidings.wiring.services import AllServices

pytestmark = pytest.mark.one_engine


def request_me(person: Person, headers: dict[str, str], path: str = "/v1/me", method: str = "GET") -> HttpResponse:
    return call(person.service.url, method, path, headers=headers)


def test_without_credentials_it_is_401_with_a_challenge(alice: Person) -> None:
    answer = request_me(alice, {})

    assert answer.status == 401
    assert answer.headers["www-authenticate"].startswith("Basic realm=")
    assert answer.error


@pytest.mark.parametrize(
    "headers",
    [
        {"Authorization": "Basic"},
        {"Authorization": "Basic ***"},
        {"Authorization": "Bearer abc"},
        {"Authorization": "Basic " + base64.b64encode(b"\xff\xfe:x").decode()},
        {"X-Auth-Token": ""},
        basic("nobody-knows-them", "whatever"),
        basic("nobody\0", "whatever"),
        basic("", "whatever"),
    ],
)
def test_undecodable_credentials_are_401(alice: Person, headers: dict[str, str]) -> None:
    answer = request_me(alice, headers)

    assert answer.status == 401
    assert "www-authenticate" in answer.headers


def test_scheme_and_username_are_compared_without_case(alice: Person) -> None:
    assert request_me(alice, basic(alice.user.username, PASSWORD)).json()["id"] == alice.id
    assert request_me(alice, basic(alice.user.username.upper(), PASSWORD, "bASIC")).json()["id"] == alice.id


@pytest.mark.parametrize(
    "headers",
    [
        {},
        {"Content-Type": "application/x-www-form-urlencoded"},
        {"Origin": "https://reader.example", "Content-Type": "application/json"},
        {"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "cors", "Origin": "https://reader.example"},
        {"Sec-Fetch-Site": "same-origin", "Sec-Fetch-Mode": "navigate", "Content-Type": "text/plain"},
        {"Sec-Fetch-Site": "none", "Sec-Fetch-Mode": "navigate", "Content-Type": "text/plain"},
    ],
    ids=str,
)
def test_basic_credentials_without_a_browser_may_change_data(alice: Person, headers: dict[str, str]) -> None:
    answer = call(
        alice.service.url,
        "POST",
        "/v1/categories",
        b'{"title": "Mine"}',
        {**basic(alice.user.username), **headers},
    )

    assert answer.status == 201


def test_a_page_of_the_service_itself_may_use_the_api(alice: Person) -> None:
    headers = {"Origin": alice.service.url, "Content-Type": "text/plain", **basic(alice.user.username)}

    assert call(alice.service.url, "POST", "/v1/categories", b'{"title": "Mine"}', headers).status == 201


def test_a_page_of_another_site_may_use_an_api_key(alice: Person) -> None:
    headers = {"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "no-cors", "X-Auth-Token": alice.token}

    assert call(alice.service.url, "POST", "/v1/categories", b'{"title": "Mine"}', headers).status == 201


def test_a_wrong_or_empty_password_is_401(alice: Person) -> None:
    assert request_me(alice, basic(alice.user.username, "wrong horse")).status == 401
    assert request_me(alice, basic(alice.user.username, "")).status == 401


def test_an_unknown_token_is_401_without_a_challenge_even_beside_a_good_password(alice: Person) -> None:
    answer = request_me(alice, {**basic(alice.user.username, PASSWORD), "X-Auth-Token": "0" * 64})

    assert answer.status == 401
    assert "www-authenticate" not in answer.headers


def test_a_valid_token_wins_over_basic_credentials(alice: Person, bob: Person) -> None:
    answer = request_me(alice, {**basic(bob.user.username, PASSWORD), "X-Auth-Token": f" {alice.token} "})

    assert answer.json()["id"] == alice.id


def test_a_token_in_other_letter_case_is_401(alice: Person) -> None:
    assert request_me(alice, {"X-Auth-Token": alice.token.upper()}).status == 401


def test_a_changed_password_invalidates_the_old_one_at_once(alice: Person, services: AllServices) -> None:
    assert request_me(alice, basic(alice.user.username, PASSWORD)).status == 200

    services.accounts.users.set_password(alice.user.username, "battery staple")

    assert request_me(alice, basic(alice.user.username, PASSWORD)).status == 401
    assert request_me(alice, basic(alice.user.username, "battery staple")).status == 200


def test_the_first_call_already_updates_the_time_of_the_last_login(alice: Person) -> None:
    assert alice.get("/v1/me")["last_login_at"] is not None


def test_credentials_are_checked_before_the_route(alice: Person) -> None:
    assert request_me(alice, {}, "/v1/no/such/thing").status == 401
    assert request_me(alice, {}, "/v1/me", "DELETE").status == 401
    assert request_me(alice, {"X-Auth-Token": alice.token}, "/v1/no/such/thing").status == 404


@pytest.mark.slow
def test_guessing_becomes_slow_and_the_owner_can_still_sign_in(alice: Person, bob: Person) -> None:
    for _ in range(7):
        assert request_me(alice, basic(alice.user.username, "guess")).status == 401

    assert request_me(alice, basic(alice.user.username, PASSWORD)).status == 200
    assert request_me(bob, basic(bob.user.username, PASSWORD)).status == 200


def test_the_key_of_a_deleted_user_is_refused(alice: Person, services: AllServices) -> None:
    services.accounts.users.remove(alice.user.username)

    assert request_me(alice, {"X-Auth-Token": alice.token}).status == 401
    assert request_me(alice, basic(alice.user.username, PASSWORD)).status == 401
    assert replace(alice).call("GET", "/v1/feeds").status == 401


def test_too_many_guesses_are_429_with_retry_after(alice: Person) -> None:
    client_address = {"X-Forwarded-For": "203.0.113.77"}

    guesses = [{**basic(f"nobody-{alice.id}", f"guess {number}"), **client_address} for number in range(24)]
    answers: dict[int, HttpResponse] = {}
    for answer in answers_to(alice.service.url, "/v1/me", guesses):
        assert answer.status in (401, 429)
        answers[answer.status] = answer
        # The others wait for their turns, up to twenty seconds.
        if len(answers) == 2:
            break

    assert int(answers[429].headers["retry-after"]) > 0
    assert answers[429].error
