"""Endpoints of deliveries: list, read, and send again."""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import Callable, Mapping
from typing import Any

import pytest
from sqlalchemy import update

from support.outbox import deliver, delivery_queue
from support.people import Person
from support.publisher import Answer, Publisher
from tidings.deliveries.tables import deliveries, delivery_bodies

PATH = "/v1/webhooks/deliveries"


def switch_on(person: Person, url: str) -> str:
    """Configure the webhook. Returns its secret."""
    shown = person.put("/v1/integrations", {"webhook": {"enabled": True, "url": url}}, status=201)
    return str(shown["webhook"]["secret"])


def save(person: Person, site: Publisher, *titles: str) -> None:
    """Save entries with these titles, in this order."""
    person.has_feed(site, titles)
    ids = {entry["title"]: entry["id"] for entry in person.entries()}
    for title in titles:
        person.post(f"/v1/entries/{ids[title]}/save", status=202)


def list_deliveries(person: Person, **query: Any) -> list[Mapping[str, Any]]:
    found: list[Mapping[str, Any]] = person.get(PATH, **query)["deliveries"]
    return found


def run(person: Person, until: Callable[[], bool]) -> None:
    """Run deliveries until the condition holds, without those that other tests left."""
    services = person.service.services
    others = (deliveries.c.user_id != person.id, deliveries.c.state == "pending")
    with services.database.writing() as db:
        db.run(update(deliveries).where(*others).values(state="failed", finished_at=services.clock()))
    deliver(delivery_queue(services.database), until)


def wait_until(person: Person, *states: str) -> None:
    """Deliver until the deliveries of this person, oldest first, are in these states."""
    run(person, lambda: [one["state"] for one in list_deliveries(person)][::-1] == [*states])


def test_a_delivery_is_shown_from_waiting_to_delivered(alice: Person, site: Publisher) -> None:
    secret = switch_on(alice, site.serve("/hook", "thanks").replace("//", "//ada:hush@"))
    save(alice, site, "One")

    (waiting,) = list_deliveries(alice)
    assert waiting["state"] == "pending"
    assert waiting["receiver"] == site.url("/hook")
    assert waiting["next_attempt_at"] == waiting["created_at"]
    assert (waiting["attempts"], waiting["finished_at"], waiting["last_status"]) == (0, None, 0)
    wait_until(alice, "delivered")

    (done,) = list_deliveries(alice)
    (seen,) = site.requests_for("/hook")
    assert (done["state"], done["attempts"], done["last_status"]) == ("delivered", 1, 200)
    assert done["next_attempt_at"] is None
    assert done["finished_at"] >= done["created_at"]
    assert (done["integration"], done["event_type"]) == ("webhook", "save_entry")
    assert done["delivery_id"] == seen.headers["x-service-delivery"]
    details = alice.get(f"{PATH}/{done['id']}")
    assert details == {**done, "body": seen.body.decode(), "last_response": "thanks"}
    assert done["size"] == len(seen.body)
    expected = hmac.new(secret.encode(), seen.body, hashlib.sha256).hexdigest()
    assert seen.headers["x-service-signature"] == expected
    assert seen.headers["authorization"] == "Basic YWRhOmh1c2g="


def test_a_failed_delivery_shows_its_error_here_and_in_the_settings(alice: Person, site: Publisher) -> None:
    busy = Answer("upgrading", status=503, headers={"Retry-After": "7200"})
    switch_on(alice, site.script("/hook", busy, Answer("who are you?", status=401)))
    save(alice, site, "One")

    run(alice, lambda: list_deliveries(alice)[0]["attempts"] == 1)

    (waiting,) = list_deliveries(alice)
    assert (waiting["state"], waiting["last_status"]) == ("pending", 503)
    assert waiting["next_attempt_at"] > waiting["created_at"]

    alice.post(f"{PATH}/{waiting['id']}/redeliver", status=202)
    wait_until(alice, "failed")

    (refused,) = list_deliveries(alice)
    assert (refused["attempts"], refused["last_status"], refused["next_attempt_at"]) == (2, 401, None)
    assert "does not accept the credentials" in refused["last_error"]
    assert alice.get(f"{PATH}/{refused['id']}")["last_response"] == "who are you?"
    assert alice.get("/v1/integrations")["webhook"]["last_error"] == refused["last_error"]


def test_deliveries_are_listed_newest_first_in_pages_and_by_state(alice: Person, site: Publisher) -> None:
    site.script("/hook", Answer(), Answer(), Answer(status=410))
    switch_on(alice, site.url("/hook"))
    save(alice, site, "One", "Two", "Three", "Four")
    wait_until(alice, "delivered", "delivered", "failed", "failed")

    ids = [one["id"] for one in list_deliveries(alice)]
    assert ids == sorted(ids, reverse=True)
    assert [one["id"] for one in list_deliveries(alice, limit=2)] == ids[:2]
    assert [one["id"] for one in list_deliveries(alice, limit=2, offset=1)] == ids[1:3]
    assert [one["id"] for one in list_deliveries(alice, before_id=ids[1])] == ids[2:]
    assert [one["id"] for one in list_deliveries(alice, state="failed")] == ids[:2]
    assert [one["id"] for one in list_deliveries(alice, state="delivered", before_id=ids[2])] == ids[3:]
    assert list_deliveries(alice, state="pending") == []


@pytest.mark.parametrize("query", [{"state": "lost"}, {"limit": 1001}])
def test_an_invalid_list_query_is_refused(alice: Person, query: dict[str, Any]) -> None:
    answer = alice.call("GET", PATH, **query)

    assert answer.status == 400
    assert next(iter(query)) in answer.error


def test_a_delivery_can_be_sent_again_with_its_id(alice: Person, site: Publisher) -> None:
    switch_on(alice, site.serve("/hook"))
    save(alice, site, "One")
    wait_until(alice, "delivered")
    (done,) = list_deliveries(alice)

    resent = alice.post(f"{PATH}/{done['id']}/redeliver", status=202)

    assert (resent["id"], resent["state"], resent["finished_at"]) == (done["id"], "pending", None)
    assert resent["next_attempt_at"] > done["created_at"]
    wait_until(alice, "delivered")
    first, second = site.requests_for("/hook")
    assert first.body == second.body
    assert first.headers["x-service-delivery"] == second.headers["x-service-delivery"]
    assert list_deliveries(alice)[0]["attempts"] == 2


def test_redelivering_a_pending_delivery_attempts_it_at_once(alice: Person, site: Publisher) -> None:
    site.script("/hook", Answer(status=503, headers={"Retry-After": "7200"}), Answer())
    switch_on(alice, site.url("/hook"))
    save(alice, site, "One")
    run(alice, lambda: list_deliveries(alice)[0]["attempts"] == 1)
    (waiting,) = list_deliveries(alice)

    resent = alice.post(f"{PATH}/{waiting['id']}/redeliver", status=202)

    assert resent["next_attempt_at"] < waiting["next_attempt_at"]
    wait_until(alice, "delivered")


def test_a_delivery_without_a_stored_body_cannot_be_sent_again(alice: Person, site: Publisher) -> None:
    switch_on(alice, site.serve("/hook"))
    save(alice, site, "One")
    wait_until(alice, "delivered")
    (done,) = list_deliveries(alice)
    with alice.service.services.database.writing() as db:
        db.run(delivery_bodies.delete().where(delivery_bodies.c.delivery_id == done["id"]))

    answer = alice.call("POST", f"{PATH}/{done['id']}/redeliver")

    assert answer.status == 400
    assert "not kept" in answer.error
    assert alice.get(f"{PATH}/{done['id']}")["body"] is None


def test_deliveries_of_other_users_are_hidden(alice: Person, bob: Person, site: Publisher) -> None:
    switch_on(alice, site.serve("/hook"))
    save(alice, site, "One")
    (deliveries_of_alice,) = list_deliveries(alice)

    assert list_deliveries(bob) == []
    assert bob.call("GET", f"{PATH}/{deliveries_of_alice['id']}").status == 404
    assert bob.call("POST", f"{PATH}/{deliveries_of_alice['id']}/redeliver").status == 404
    assert list_deliveries(alice) == [deliveries_of_alice]


def test_a_test_event_returns_the_response_and_stores_nothing(alice: Person, site: Publisher) -> None:
    secret = switch_on(alice, site.script("/hook", Answer("hello"), Answer("go away", status=403)))

    good = alice.post("/v1/integrations/webhook/test", status=200)
    bad = alice.post("/v1/integrations/webhook/test", status=200)

    assert good == {"works": True, "status": 200, "error": "", "response": "hello"}
    assert (bad["works"], bad["status"], bad["response"]) == (False, 403, "go away")
    (seen, _) = site.requests_for("/hook")
    assert seen.json()["event_type"] == seen.headers["x-service-event-type"] == "save_entry"
    assert seen.headers["x-service-signature"] == hmac.new(secret.encode(), seen.body, hashlib.sha256).hexdigest()
    assert list_deliveries(alice) == []


def test_a_test_event_names_the_address_that_the_receiver_redirects_to(alice: Person, site: Publisher) -> None:
    switch_on(alice, site.serve("/hook", status=302, headers={"Location": "/login"}))

    outcome = alice.post("/v1/integrations/webhook/test", status=200)

    assert (outcome["works"], outcome["status"]) == (False, 302)
    assert site.url("/login") in outcome["error"]
