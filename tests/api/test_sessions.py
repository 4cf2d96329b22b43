"""The browsers in which a user is signed in."""

from __future__ import annotations

import pytest

from support.people import Person
from support.running import RunningService
from support.visitors import Visitor


def is_signed_in(browser: Visitor) -> bool:
    return browser.get("/unread").status == 200


@pytest.fixture
def browsers(service: RunningService, alice: Person) -> list[Visitor]:
    """Return two browsers in which Alice is signed in."""
    found = [Visitor(service, alice), Visitor(service, alice)]
    for browser in found:
        browser.sign_in()
    return found


def test_a_session_is_listed_and_ended(alice: Person, bob: Person, browsers: list[Visitor]) -> None:
    last, first = alice.get("/v1/sessions")

    assert (last["user_id"], last["method"], last["second_method"]) == (alice.id, "password", "")
    assert {last["address"], first["address"]} == {browser.address for browser in browsers}
    assert bob.get("/v1/sessions") == []
    assert bob.call("DELETE", f"/v1/sessions/{last['id']}").status == 404

    ended = next(browser for browser in browsers if browser.address == last["address"])
    alice.delete(f"/v1/sessions/{last['id']}")

    assert [is_signed_in(browser) for browser in browsers] == [browser is not ended for browser in browsers]
    assert alice.call("DELETE", f"/v1/sessions/{last['id']}").status == 404
    assert [one["id"] for one in alice.get("/v1/sessions")] == [first["id"]]


def test_all_sessions_of_a_user_are_ended(
    service: RunningService, alice: Person, bob: Person, browsers: list[Visitor]
) -> None:
    of_bob = Visitor(service, bob)
    of_bob.sign_in()

    alice.delete("/v1/sessions")

    assert not any(map(is_signed_in, browsers))
    assert is_signed_in(of_bob)
    assert alice.get("/v1/sessions") == []
    assert alice.get("/v1/me")["id"] == alice.id


@pytest.mark.one_engine
def test_who_has_a_limited_key_does_not_sign_its_owner_out(alice: Person, browsers: list[Visitor]) -> None:
    key = alice.post("/v1/api-keys", {"description": "Manager", "scope": "manage"})["token"]
    limited = Person(alice.service, alice.user, key)

    for path in ("/v1/sessions", f"/v1/sessions/{limited.get('/v1/sessions')[0]['id']}"):
        assert limited.call("DELETE", path).status == 403
    assert all(map(is_signed_in, browsers))
