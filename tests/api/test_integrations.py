"""Setting up other services by API (docs/integrations.md)."""

from __future__ import annotations

import re
from typing import Any

import pytest

from support.people import Person
from support.publisher import Publisher
from tidings.domain.integrations import REGISTRY
from tidings.storage.schema import deliveries, integrations

LINKDING = {"enabled": True, "url": "https://links.example.org", "token": "8c1f", "tags": "tidings"}


def put(person: Person, **given: Any) -> dict[str, Any]:
    whole: dict[str, Any] = person.put("/v1/integrations", given, status=201)
    return whole


def refused(person: Person, given: Any) -> str:
    """The message; nothing has changed."""
    before = person.get("/v1/integrations")
    answer = person.call("PUT", "/v1/integrations", given)
    assert answer.status == 400, answer.body
    assert person.get("/v1/integrations") == before
    return answer.error


def stored(person: Person) -> dict[str, str]:
    with person.service.services.reading() as db:
        rows = db.rows(integrations.select().where(integrations.c.user_id == person.id))
    return {row["name"]: row["settings"] for row in rows}


def test_every_service_is_there_and_off_at_first(alice: Person) -> None:
    whole = alice.get("/v1/integrations")

    assert {"webhook", "wallabag", "linkding", "custom", "apprise", "ntfy", "pushover"} <= whole.keys()
    assert len(whole) >= 23
    assert not any(members["enabled"] for members in whole.values())
    assert whole["linkding"] == {
        "enabled": False,
        "url": "",
        "has_token": False,
        "tags": "",
        "unread": False,
        "last_error": "",
    }


def test_any_part_is_merged_and_the_whole_comes_back(alice: Person) -> None:
    whole = put(alice, linkding=LINKDING)
    again = put(alice, linkding={"unread": True, "tags": None}, raindrop={"collection_id": 7})

    assert whole["linkding"]["tags"] == "tidings"
    assert again["linkding"] == whole["linkding"] | {"unread": True}
    assert again["raindrop"]["collection_id"] == 7
    assert again == alice.get("/v1/integrations")
    assert put(alice) == again
    assert put(alice, linkding=None) == again


def test_secrets_are_kept_and_not_shown(alice: Person) -> None:
    put(alice, linkding=LINKDING, cubox={"api_link": "https://cubox.pro/c/api/save/s3cret"})

    answer = alice.call("GET", "/v1/integrations")

    assert b"8c1f" not in answer.body
    assert b"s3cret" not in answer.body
    assert answer.json()["linkding"]["has_token"] is True
    assert "token" not in answer.json()["linkding"]
    assert '"8c1f"' in stored(alice)["linkding"]
    put(alice, linkding={"unread": True})
    assert '"8c1f"' in stored(alice)["linkding"]
    put(alice, linkding={"enabled": False, "token": ""})
    assert "8c1f" not in stored(alice)["linkding"]
    assert alice.get("/v1/integrations")["linkding"]["has_token"] is False
    assert "8c1f" not in alice.service.log
    assert "s3cret" not in alice.service.log


def test_what_was_shown_can_be_sent_back(alice: Person) -> None:
    whole = put(alice, linkding=LINKDING, webhook={"enabled": True, "url": "https://hook.example/"})

    assert put(alice, **whole) == whole
    assert '"8c1f"' in stored(alice)["linkding"]


def test_the_webhook_gets_a_secret_that_is_shown_and_can_be_renewed(alice: Person) -> None:
    first = put(alice, webhook={"enabled": True, "url": "https://hook.example/"})["webhook"]
    kept = put(alice, webhook={"url": "https://ada:pass@other.example/"})["webhook"]
    renewed = put(alice, webhook={"secret": ""})["webhook"]

    assert re.fullmatch("[0-9a-f]{64}", first["secret"])
    assert kept["secret"] == first["secret"]
    assert re.fullmatch("[0-9a-f]{64}", renewed["secret"])
    assert renewed["secret"] != first["secret"]
    assert "made by Tidings" in refused(alice, {"webhook": {"secret": "mine"}})


def test_status_counts_services_that_save_and_not_those_that_tell(alice: Person) -> None:
    put(alice, ntfy={"enabled": True, "topic": "rain"})
    assert alice.get("/v1/integrations/status") == {"has_integrations": False}

    put(alice, linkding=LINKDING)
    assert alice.get("/v1/integrations/status") == {"has_integrations": True}


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ({"lnkding": {}}, "'lnkding' is no integration. Did you mean linkding?"),
        ({"zzz": {}}, "There are: apprise, archive"),
        ({"linkding": {"tokn": "x"}}, "linkding.tokn: there is no such setting. Did you mean token"),
        ({"linkding": {"has_url": True}}, "linkding.has_url: there is no such setting"),
        ({"linkding": True}, "linkding: send an object"),
        ({"linkding": {"url": 5}}, "linkding.url: send a text"),
        ({"linkding": {"unread": "yes"}}, "linkding.unread: send true or false"),
        ({"linkding": {"enabled": 1}}, "linkding.enabled: send true or false"),
        ({"raindrop": {"collection_id": -1}}, "raindrop.collection_id: send a whole number from 0 on"),
        ({"raindrop": {"collection_id": 1.5}}, "raindrop.collection_id: send a whole number"),
        ({"linkding": {"enabled": True, "url": "https://a.example"}}, "linkding.token: Linkding cannot be switched on"),
        ({"linkding": {"url": "ftp://a.example"}}, "linkding.url: The address has to begin with http:// or https://"),
        ({"linkding": {"url": "https://"}}, "linkding.url: The address"),
        ({"linkding": {"url": "https://a.example:99999"}}, "linkding.url: The address cannot be understood"),
        ({"linkding": {"url": "https://a.example:0"}}, "linkding.url: The address names port 0"),
        ({"linkding": {"url": "https://u:p@a.example"}}, "linkding.url: a user name and a password do not belong"),
        ({"linkding": {"url": "https://a.example/" + "x" * 2000}}, "linkding.url: too long, 2,000 characters"),
        ({"linkding": {"url": "https://2130706433/"}}, "linkding.url: "),
        ({"linkding": {"tags": "a\nb"}}, "linkding.tags holds a line break"),
        ({"linkding": {"token": "a\0b"}}, "linkding.token holds a NUL"),
        ({"readwise": {"location": "moon"}}, "readwise.location: 'moon' is not one of new, later"),
        ({"custom": {"body": "{{titel}}"}}, "custom.body: there is no placeholder 'titel'. Did you mean title"),
        ({"custom": {"url": "https://a.example/{{x}}"}}, "custom.url: there is no placeholder 'x'"),
        ({"custom": {"url": "gopher://{{url}}"}}, "custom.url: The address has to begin"),
        ({"custom": {"headers": "Host: x"}}, "custom.headers: Host cannot be set"),
        ({"custom": {"headers": "no colon here"}}, "custom.headers: 'no colon here' is no name"),
        ({"apprise": {"urls": "dbus://"}}, "apprise.urls: Service URL 1 (dbus://): This kind of service"),
        ({"apprise": {"urls": "json://a.example " * 21}}, "apprise.urls: 20 service URLs at most"),
        ({"linkding": LINKDING, "ntfy": {"priority": "9"}}, "ntfy.priority: '9' is not one of"),
    ],
)
def test_what_cannot_be_is_told_by_its_name_and_nothing_is_taken(
    given: dict[str, Any], says: str, alice: Person
) -> None:
    assert says in refused(alice, given)


@pytest.mark.parametrize("raw", [b"", b"[]", b'"x"', b"{", b'{"linkding": }'])
def test_a_body_that_is_no_object_is_refused(raw: bytes, alice: Person) -> None:
    answer = alice.call("PUT", "/v1/integrations", raw=raw)

    assert answer.status == 400
    assert answer.error


def test_everybody_has_services_of_their_own(alice: Person, bob: Person, charlie: Person) -> None:
    put(alice, linkding=LINKDING)

    for stranger in (bob, charlie):
        assert not stranger.get("/v1/integrations")["linkding"]["enabled"]
        put(stranger, linkding={"tags": "mine"})
        assert stranger.call("POST", "/v1/integrations/wallabag/test").status == 400
    assert alice.get("/v1/integrations")["linkding"]["tags"] == "tidings"
    assert stored(bob).keys() == {"linkding"}


# Trying a service out


def test_a_service_can_be_tried_before_it_is_switched_on(alice: Person, site: Publisher) -> None:
    site.serve("/api/bookmarks/", '{"id": 1}', status=201)
    put(alice, linkding={"url": site.origin, "token": "8c1f"})

    tried = alice.post("/v1/integrations/linkding/test", status=200)

    assert tried == {"works": True, "status": 201, "error": "", "response": '{"id": 1}'}
    (seen,) = site.requests
    assert seen.headers["authorization"] == "Token 8c1f"
    assert seen.headers["user-agent"].startswith("Tidings/")
    assert seen.json()["url"].startswith("https://example.org/")


def test_what_a_service_says_against_it_is_told(alice: Person, site: Publisher) -> None:
    site.serve("/api/bookmarks/", '{"detail": "Invalid token 8c1f."}', status=401)
    put(alice, linkding={"url": site.origin, "token": "8c1f"})

    tried = alice.post("/v1/integrations/linkding/test", status=200)

    assert (tried["works"], tried["status"]) == (False, 401)
    assert tried["error"] == "Linkding does not accept the credentials (401). Check what is set for it."
    assert "8c1f" not in tried["response"]


def test_notifications_can_be_tried_too(alice: Person, site: Publisher) -> None:
    site.serve("/bell")
    site.serve("/", "{}")
    port = site.port
    put(alice, apprise={"urls": f"json://127.0.0.1:{port}/bell"}, ntfy={"url": site.origin, "topic": "rain"})

    assert alice.post("/v1/integrations/apprise/test", status=200)["error"] == ""
    assert alice.post("/v1/integrations/ntfy/test", status=200)["works"]
    assert site.requests_for("/bell")[0].json()["title"] == "Tidings"
    assert site.requests_for("/")[0].json()["topic"] == "rain"


@pytest.mark.parametrize("name", ["nothing", "linkding", "webhook"])
def test_what_is_not_set_up_cannot_be_tried(name: str, alice: Person) -> None:
    answer = alice.call("POST", f"/v1/integrations/{name}/test")

    assert answer.status == 400
    assert name in answer.error.lower()


@pytest.mark.parametrize("name", [name for name, leaf in REGISTRY.items() if "save_entry" in leaf.events])
def test_an_entry_goes_to_whatever_is_switched_on(name: str, alice: Person, site: Publisher) -> None:
    leaf = REGISTRY[name]
    settings = {
        field.name: "https://a.example/" if field.kind == "url" else "x" for field in leaf.fields if field.is_required
    }
    if name == "webhook":
        settings["url"] = "https://a.example/"
    put(alice, **{name: {"enabled": True, **settings}})
    alice.has_feed(site, ["One"])

    alice.post(f"/v1/entries/{alice.entries()[0]['id']}/save", status=202)

    with alice.service.services.reading() as db:
        sent = db.rows(deliveries.select().where(deliveries.c.user_id == alice.id))
    assert [(row["integration"], row["event_type"], row["state"]) for row in sent] == [(name, "save_entry", "pending")]
