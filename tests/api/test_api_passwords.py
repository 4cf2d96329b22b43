"""API passwords: endpoints of the native API."""

from __future__ import annotations

import re
from typing import Any

import pytest

from support.people import Person, basic, call


def made(person: Person, name: str = "Reeder") -> dict[str, Any]:
    password: dict[str, Any] = person.post("/v1/api-passwords", {"name": name})
    return password


def test_a_new_password_is_returned_with_the_login_for_the_app(alice: Person) -> None:
    password = made(alice)

    assert set(password) == {"id", "user_id", "name", "username", "password", "last_used_at", "created_at"}
    assert (password["user_id"], password["name"], password["last_used_at"]) == (alice.id, "Reeder", None)
    assert password["username"] == alice.user.username
    assert re.fullmatch("(?:[a-km-np-z2-9]{5}-){3}[a-km-np-z2-9]{5}", password["password"])


def test_a_password_is_shown_once(alice: Person) -> None:
    password = made(alice)

    answer = alice.call("GET", "/v1/api-passwords")

    assert [one["id"] for one in answer.json()] == [password["id"]]
    assert set(answer.json()[0]) == {"id", "user_id", "name", "last_used_at", "created_at"}
    assert password["password"].encode() not in answer.body


def test_passwords_are_listed_by_name_and_belong_to_their_user(alice: Person, bob: Person) -> None:
    for name in ("b", "a"):
        made(alice, name)
    made(bob, "bob's")

    assert [one["name"] for one in alice.get("/v1/api-passwords")] == ["a", "b"]


@pytest.mark.parametrize(
    "body",
    [{}, {"name": ""}, {"name": " \t"}, {"name": 5}, {"name": "REEDER "}, {"name": "a\u0000b"}, {"name": "x" * 201}],
)
def test_a_password_without_a_usable_name_is_400(alice: Person, body: object) -> None:
    made(alice)

    answer = alice.call("POST", "/v1/api-passwords", body)

    assert answer.status == 400
    assert "name" in answer.error


@pytest.mark.slow
def test_a_user_has_a_hundred_passwords_at_most(alice: Person) -> None:
    for number in range(100):
        made(alice, f"app {number}")

    assert alice.call("POST", "/v1/api-passwords", {"name": "one more"}).status == 400
    alice.delete(f"/v1/api-passwords/{alice.get('/v1/api-passwords')[0]['id']}")
    assert made(alice, "one more")["id"]


def test_two_users_may_call_their_passwords_alike(alice: Person, bob: Person) -> None:
    assert made(alice)["name"] == made(bob)["name"]


def test_a_deleted_password_is_gone(alice: Person) -> None:
    password = made(alice)

    alice.delete(f"/v1/api-passwords/{password['id']}")

    assert alice.call("DELETE", f"/v1/api-passwords/{password['id']}").status == 404
    assert alice.get("/v1/api-passwords") == []


def test_an_api_password_does_not_open_the_native_api(alice: Person) -> None:
    headers = basic(alice.user.username, made(alice)["password"])

    assert call(alice.service.url, "GET", "/v1/me", headers=headers).status == 401
