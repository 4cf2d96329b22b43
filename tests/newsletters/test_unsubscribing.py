"""Newsletters are left by one request (RFC 8058), through the address guard."""

from __future__ import annotations

from typing import Any

from newsletters.letters import delivered, has_address, message, senders
from support.people import Person
from support.publisher import Publisher
from tidings.newsletters import store


def has_sender(person: Person, url: str, *, is_one_click: bool = True) -> dict[str, Any]:
    """Have a letter delivered whose sender is left at this address. Real ones use https, which is not tested here."""
    delivered(person, has_address(person), message(1))
    sender = senders(person)["Tides"]
    with person.service.services.database.writing() as db:
        store.change_sender(db, person.id, sender["id"], unsubscribe_url=url, is_one_click=is_one_click)
    return sender


def unsubscribe(person: Person, sender: dict[str, Any]) -> Any:
    return person.call("POST", f"/v1/newsletters/senders/{sender['id']}/unsubscribe")


def test_one_request_unsubscribes(alice: Person, site: Publisher) -> None:
    site.serve("/leave", "Bye.")
    sender = has_sender(alice, site.url("/leave?u=1"))

    answer = unsubscribe(alice, sender)

    assert answer.status == 200, answer.body
    assert answer.json()["unsubscribed_at"]
    (request,) = site.requests
    assert (request.method, request.body) == ("POST", b"List-Unsubscribe=One-Click")
    headers = {name.lower(): value for name, value in request.headers.items()}
    assert headers["content-type"] == "application/x-www-form-urlencoded"
    assert "cookie" not in headers


def test_a_refusal_and_a_redirect_are_told(alice: Person, site: Publisher) -> None:
    sender = has_sender(alice, site.url("/missing"))
    answer = unsubscribe(alice, sender)
    assert (answer.status, "refuses to unsubscribe you (status 404)" in answer.error) == (500, True)

    site.serve("/moved", "", status=302, headers={"Location": site.url("/leave")})
    with alice.service.services.database.writing() as db:
        store.change_sender(db, alice.id, sender["id"], unsubscribe_url=site.url("/moved"))
    assert "status 302" in unsubscribe(alice, sender).error
    assert senders(alice)["Tides"]["unsubscribed_at"] is None


def test_without_that_way_the_other_ways_are_named(alice: Person) -> None:
    sender = has_sender(alice, "https://tides.example/leave", is_one_click=False)
    assert "open https://tides.example/leave" in unsubscribe(alice, sender).error

    with alice.service.services.database.writing() as db:
        store.change_sender(db, alice.id, sender["id"], unsubscribe_url="", unsubscribe_mail="mailto:a@b.example")
    assert "write to mailto:a@b.example" in unsubscribe(alice, sender).error
    with alice.service.services.database.writing() as db:
        store.change_sender(db, alice.id, sender["id"], unsubscribe_mail="")
    answer = unsubscribe(alice, sender)
    assert (answer.status, "block the sender" in answer.error) == (400, True)


def test_a_stranger_cannot_unsubscribe(alice: Person, bob: Person, site: Publisher) -> None:
    sender = has_sender(alice, site.url("/leave"))

    assert unsubscribe(bob, sender).status == 404
    assert site.requests == []
