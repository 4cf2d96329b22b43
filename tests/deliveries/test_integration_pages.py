"""Connecting other services in the browser, and what became of deliveries."""

from __future__ import annotations

import hashlib
import hmac
import re
import uuid
from typing import Any

import pytest
from sqlalchemy import update

from deliveries.test_delivery_endpoints import save, wait_until
from support.people import Person
from support.publisher import Answer, Publisher
from support.running import RunningService
from support.visitors import Visitor
from tidings.deliveries.registry import REGISTRY
from tidings.deliveries.store import outbox
from tidings.deliveries.tables import deliveries

HOOK = "/settings/integrations/webhook"
LINKDING = "/settings/integrations/linkding"


def connect(reader: Visitor, path: str, **fields: Any) -> None:
    reader.page(path)
    assert reader.post(path, **fields).status == 303


@pytest.mark.parametrize("name", REGISTRY)
def test_every_service_has_a_form_with_all_its_fields(reader: Visitor, name: str) -> None:
    page = reader.page(f"/settings/integrations/{name}")

    assert all(f'name="{field.name}"' in page for field in REGISTRY[name].fields if not field.is_generated)
    assert f"/settings/integrations/{name}" in reader.page("/settings/integrations")


def test_a_secret_is_stored_never_shown_and_deleted_on_request(alice: Person, reader: Visitor) -> None:
    connect(reader, LINKDING, enabled="1", url="https://links.example.org", token="hush-hush", tags="a")
    assert "hush-hush" not in reader.page(LINKDING)

    connect(reader, LINKDING, enabled="1", url="https://links.example.org", token="", tags="b")
    shown = alice.get("/v1/integrations")["linkding"]
    assert (shown["has_token"], shown["tags"], shown["enabled"]) == (True, "b", True)

    connect(reader, LINKDING, url="https://links.example.org", **{"clear-token": "1"})
    shown = alice.get("/v1/integrations")["linkding"]
    assert (shown["has_token"], shown["enabled"]) == (False, False)


def test_an_error_is_shown_next_to_its_field(alice: Person, reader: Visitor) -> None:
    reader.page(LINKDING)
    answer = reader.post(LINKDING, enabled="1", url="ftp://links.example.org", token="hush-hush", tags="kept")

    page = answer.body.decode()
    assert answer.status == 400
    assert 'id="error-url"' in page
    assert "kept" in page
    assert 'value="hush-hush"' in page, "or it would be missing when the form is sent again"
    assert answer.headers["cache-control"] == "no-store"
    assert not alice.get("/v1/integrations")["linkding"]["enabled"]


def test_a_service_cannot_be_enabled_without_required_settings(reader: Visitor) -> None:
    reader.page(LINKDING)
    answer = reader.post(LINKDING, enabled="1", url="https://links.example.org")

    assert "Linkding cannot be switched on without it." in answer.body.decode()


def test_a_test_shows_the_response_of_the_service(site: Publisher, reader: Visitor) -> None:
    site.serve("/hook", "thanks a lot")
    reader.page(HOOK)
    page = reader.post(f"{HOOK}/test", url=site.url("/hook")).body.decode()
    assert "The test arrived." in page
    assert "thanks a lot" in page

    site.script("/hook", Answer("go <away>", status=500))
    page = reader.post(f"{HOOK}/test", url=site.url("/hook")).body.decode()
    assert "The test did not arrive." in page
    assert "go &lt;away&gt;" in page


def test_a_test_without_an_address_says_so(reader: Visitor) -> None:
    reader.page(HOOK)
    answer = reader.post(f"{HOOK}/test", url="")

    assert answer.status == 400
    assert "no address yet" in answer.body.decode()


def test_the_secret_of_the_webhook_is_shown_signs_and_is_renewed(site: Publisher, reader: Visitor) -> None:
    site.serve("/hook", "thanks")
    connect(reader, HOOK, enabled="1", url=site.url("/hook"))
    secret = made_secret(reader.page(HOOK))
    reader.post(f"{HOOK}/test", url=site.url("/hook"))
    seen = site.requests_for("/hook")[-1]
    expected = hmac.new(secret.encode(), seen.body, hashlib.sha256).hexdigest()
    assert seen.headers["x-service-signature"] == expected

    renewed = made_secret(reader.follow(reader.post(f"{HOOK}/renew")))
    assert renewed != secret
    assert re.search(rf'value="{re.escape(site.url("/hook"))}"', reader.page(HOOK))


def made_secret(page: str) -> str:
    match = re.search(r'id="made-secret">([0-9a-f]{64})<', page)
    assert match
    return match[1]


def test_an_unknown_service_is_404(reader: Visitor) -> None:
    assert reader.get("/settings/integrations/telepathy").status == 404


@pytest.mark.slow
def test_deliveries_are_shown_and_sent_again(
    service: RunningService, alice: Person, bob: Person, reader: Visitor, site: Publisher
) -> None:
    site.script("/hook", Answer("not <now>", status=410), Answer("thanks"))
    connect(reader, HOOK, enabled="1", url=site.url("/hook"))
    save(alice, site, "Rain & wind")
    assert "Waiting" in reader.page("/settings/deliveries?state=pending")
    wait_until(alice, "failed")

    page = reader.page("/settings/deliveries?state=failed")
    path = re.search(r'"(/settings/deliveries/\d+)"', page)[1]  # type: ignore[index]
    assert path not in reader.page("/settings/deliveries?state=delivered")
    details = reader.page(path)
    assert "not &lt;now&gt;" in details
    assert "Rain" in details
    assert b'"event_type":"save_entry"' in reader.get(f"{path}/body").body.replace(b" ", b"")
    assert "The last delivery failed." in reader.page(HOOK)
    stranger = Visitor(service, bob)
    stranger.sign_in()
    assert [stranger.get(path).status, stranger.get(f"{path}/body").status] == [404, 404]
    assert stranger.post(f"{path}/redeliver").status == 404

    connect(reader, HOOK, enabled="1", url=site.url("/hook"))
    assert "It is being sent again." in reader.follow(reader.post(f"{path}/redeliver"))
    wait_until(alice, "delivered")
    assert "Delivered" in reader.page(path)


@pytest.mark.slow
def test_deliveries_are_paged(alice: Person, reader: Visitor, site: Publisher) -> None:
    connect(reader, HOOK, enabled="1", url=site.url("/hook"))
    save(alice, site, "One")
    (entry,) = alice.entries()
    for _ in range(54):
        alice.post(f"/v1/entries/{entry['id']}/save", status=202)

    page = reader.page("/settings/deliveries")
    older = re.search(r'rel="next" href="([^"]+)"', page)[1]  # type: ignore[index]
    first = set(re.findall(r'class="whole" href="([^"]+)"', page))
    second = set(re.findall(r'class="whole" href="([^"]+)"', reader.page(older.replace("&amp;", "&"))))
    assert (len(first), len(second), first & second) == (50, 5, set())


def test_deliveries_are_found_by_service_receiver_and_event(service: RunningService, reader: Visitor) -> None:
    assert reader.person
    posts = (
        ("webhook", "new_entries", "https://one.example/hook"),
        ("webhook", "save_entry", "https://two.example/hook"),
        ("pinboard", "save_entry", "pinboard"),
    )
    with service.services.database.writing() as db:
        for integration, event, receiver in posts:
            outbox.add(
                db,
                reader.person.id,
                delivery_id=str(uuid.uuid4()),
                integration=integration,
                event_type=event,
                receiver=receiver,
                feed_id=1,
                body=b"{}",
                now=service.services.clock(),
            )

    def found(query: str) -> list[str]:
        page = reader.page(f"/settings/deliveries?{query}")
        return re.findall(r'class="whole" href="[^"]+">([^<]+)</a>', page)

    assert found("") == ["Pinboard: Saved entry", "Webhook: Saved entry", "Webhook: New entries"]
    assert found("service=pinboard") == ["Pinboard: Saved entry"]
    assert found("event=save_entry") == ["Pinboard: Saved entry", "Webhook: Saved entry"]
    assert found("event=new_entries&service=webhook&state=pending") == ["Webhook: New entries"]
    assert found("service=webhook&state=failed") == []
    assert len(found("service=telepathy&event=none&receiver=x")) == 3

    page = reader.page("/settings/deliveries?service=webhook")
    one = re.search(r'<option value="(\w+)">https://one.example', page)
    assert one
    assert found(f"service=webhook&receiver={one[1]}") == ["Webhook: New entries"]
    assert 'name="receiver"' not in reader.page("/settings/deliveries?service=pinboard")


def test_deliveries_that_were_given_up_stay_visible_after_one_that_arrived(
    reader: Visitor, bob: Person, service: RunningService
) -> None:
    stranger = Visitor(service, bob)
    assert stranger.sign_in().status == 303
    assert reader.person
    with service.services.database.writing() as db:
        for number in range(3):
            id_ = outbox.add(
                db,
                reader.person.id,
                delivery_id=str(uuid.uuid4()),
                integration="webhook",
                event_type="new_entries",
                receiver="https://one.example/",
                feed_id=1,
                body=b"{}",
                now=service.services.clock(),
            )
            state = "delivered" if number == 2 else "failed"
            db.run(update(deliveries).where(deliveries.c.id == id_).values(state=state))

    page, overview = reader.page(HOOK), reader.page("/settings/integrations")

    assert "Deliveries given up in the last seven days: 2" in page
    assert "/settings/deliveries?state=failed&amp;service=webhook" in page
    assert "Deliveries given up in the last seven days: 2" in overview
    assert "given up" not in reader.page(LINKDING)
    assert "given up" not in stranger.page(HOOK)


def test_another_host_needs_the_secret_again(alice: Person, reader: Visitor) -> None:
    connect(reader, LINKDING, enabled="1", url="https://links.example.org", token="hush-hush")

    refused = reader.post(LINKDING, enabled="1", url="https://other.example.org", token="")

    page = refused.body.decode()
    assert refused.status == 400
    assert 'id="error-token"' in page
    assert "It was given for another host" in page
    assert alice.get("/v1/integrations")["linkding"]["url"] == "https://links.example.org"
    connect(reader, LINKDING, enabled="1", url="https://other.example.org", token="hush-hush")
