"""API keys."""

from __future__ import annotations

import re
from typing import Any

import pytest

from support.people import Person, call


def made(person: Person, description: str = "A phone") -> dict[str, Any]:
    key: dict[str, Any] = person.post("/v1/api-keys", {"description": description})
    return key


def with_token(person: Person, token: str, method: str = "GET", path: str = "/v1/me", body: bytes | None = None) -> int:
    return call(person.service.url, method, path, body, {"X-Auth-Token": token}).status


def test_a_new_key_is_shown_with_its_token(alice: Person) -> None:
    key = made(alice)

    assert set(key) == {
        "id", "user_id", "token", "description", "last_used_at", "created_at", "scope", "expires_at", "last_address",
    }  # fmt: skip
    assert (key["scope"], key["expires_at"], key["last_address"]) == ("admin", None, "")
    assert (key["user_id"], key["description"], key["last_used_at"]) == (alice.id, "A phone", None)
    assert re.fullmatch("[0-9a-f]{64}", key["token"])
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,6})?Z", key["created_at"])


def test_a_key_authenticates_its_user_and_has_the_time_of_its_last_use(alice: Person) -> None:
    key = made(alice)

    assert with_token(alice, key["token"]) == 200

    used = next(one for one in alice.get("/v1/api-keys") if one["id"] == key["id"])
    assert used["last_used_at"] >= key["created_at"]
    assert used["token"] == key["token"]
    assert used["last_address"] == "127.0.0.1"


def test_keys_are_listed_by_description_without_case(alice: Person, bob: Person) -> None:
    for description in ("b", "B", "a"):
        if description != "B":
            made(alice, description)
    made(alice, "Zebra")
    made(bob, "bob's")

    assert [key["description"] for key in alice.get("/v1/api-keys")] == ["a", "b", "tests", "Zebra"]


def test_times_of_a_key_are_in_the_time_zone_of_its_owner(alice: Person) -> None:
    alice.put(f"/v1/users/{alice.id}", {"timezone": "Asia/Tokyo"}, status=201)

    assert made(alice)["created_at"].endswith("+09:00")


@pytest.mark.parametrize(
    "body",
    [
        {},
        {"description": ""},
        {"description": None},
        {"description": " \t"},
        {"description": 5},
        {"description": "TESTS"},
        {"description": " tests "},
        {"description": "a\u0000b"},
        {"description": "x" * 10_001},
    ],
)
def test_an_invalid_description_is_400(alice: Person, body: object) -> None:
    answer = alice.call("POST", "/v1/api-keys", body)

    assert answer.status == 400
    assert "description" in answer.error


def test_two_users_may_describe_their_keys_alike(alice: Person, bob: Person) -> None:
    assert made(alice)["description"] == made(bob)["description"]


def test_a_long_description_is_kept_and_still_unique(alice: Person) -> None:
    # No two of its characters repeat, so no engine can compress it into its index.
    description = "".join(map(chr, range(0x4E00, 0x4E00 + 10_000)))

    assert made(alice, description)["description"] == description
    assert alice.call("POST", "/v1/api-keys", {"description": description}).status == 400
    assert made(alice, description[:-1])["id"]


def test_an_unpaired_surrogate_in_a_description_is_replaced(alice: Person) -> None:
    answer = alice.call("POST", "/v1/api-keys", raw=b'{"description": "a\\ud83d"}')

    assert (answer.status, answer.json()["description"]) == (201, "a\ufffd")


def test_a_token_cannot_be_chosen(alice: Person) -> None:
    chosen = "0" * 64

    key = alice.post("/v1/api-keys", {"description": "mine", "token": chosen, "id": 1, "user_id": 1})

    assert key["token"] != chosen
    assert key["user_id"] == alice.id


def test_a_key_may_make_keys_and_delete_itself(alice: Person) -> None:
    key = made(alice)

    assert with_token(alice, key["token"], "POST", "/v1/api-keys", b'{"description": "second"}') == 201
    assert with_token(alice, key["token"], "DELETE", f"/v1/api-keys/{key['id']}") == 204
    assert with_token(alice, key["token"]) == 401


def test_a_key_has_the_rights_of_its_owner(charlie: Person) -> None:
    key = made(charlie)

    assert with_token(charlie, key["token"], "GET", "/v1/users") == 200


def test_a_deleted_key_is_gone(alice: Person) -> None:
    key = made(alice)

    alice.delete(f"/v1/api-keys/{key['id']}")

    assert alice.call("DELETE", f"/v1/api-keys/{key['id']}").status == 404
    assert [one["description"] for one in alice.get("/v1/api-keys")] == ["tests"]


def test_a_key_of_another_user_is_404_like_an_unknown_one(alice: Person, bob: Person, charlie: Person) -> None:
    key = made(alice)

    for stranger in (bob, charlie):
        assert stranger.call("DELETE", f"/v1/api-keys/{key['id']}").status == 404
    assert alice.call("DELETE", "/v1/api-keys/2147483000").status == 404
    assert alice.call("DELETE", f"/v1/api-keys/{2**31}").status == 404
    assert with_token(alice, key["token"]) == 200


@pytest.mark.parametrize("text", ["0", "-1", "x", "1.5", str(2**63)])
def test_deleting_needs_an_id(alice: Person, text: str) -> None:
    assert alice.call("DELETE", f"/v1/api-keys/{text}").status == 400


def test_a_single_key_has_no_endpoint_to_read_or_change_it(alice: Person) -> None:
    key = made(alice)

    for method in ("GET", "PUT"):
        answer = alice.call(method, f"/v1/api-keys/{key['id']}", {})
        assert (answer.status, answer.headers["allow"]) == (405, "DELETE")
