"""WebSub against a real hub: the service as it runs, with sockets in both directions and nobody polling."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import pytest
from sqlalchemy import select, update

from support.databases import Databases
from support.hub import CHALLENGE, Behaviour, Hub, call, push, wait_for
from support.people import Cast, Person, rss
from support.publisher import Publisher
from support.running import RunningService, environment_for, running
from tidings.storage.feeds import feeds
from tidings.storage.polling import sources
from tidings.websub import store as subscriptions
from tidings.websub.tables import websub_pushes, websub_subscriptions

pytestmark = pytest.mark.slow

_numbers = itertools.count(1)
Row = Any


@pytest.fixture(scope="module")
def service(databases: Databases, tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningService]:
    """Web and worker. Hubs on this machine reach it, which it cannot know: hence "on"."""
    folder = tmp_path_factory.mktemp("websub")
    with databases.migrated() as url:
        environment = environment_for(
            url, folder, websub="on", http_client_max_body_size="1", http_client_timeout="20", polling_frequency="600"
        )
        with running("serve", environment, folder) as service:
            service.wait_until_ready()
            yield service


@pytest.fixture
def cast(service: RunningService) -> Cast:
    return Cast(service)


@pytest.fixture
def hub() -> Iterator[Hub]:
    with Hub() as hub:
        yield hub


class Topic:
    """A feed of the site that names the hub."""

    def __init__(self, site: Publisher, hub: Hub, name: str = "") -> None:
        self.site, self.hub = site, hub
        self.path = f"/{name or 'topic'}-{next(_numbers)}.xml"
        self.url = site.url(self.path)
        site.serve(self.path, self.document("First"), etag='"1"')

    def document(self, *items: str, **more: str) -> str:
        return rss(items, self.url, extra=self.hub.links(self.url), **more)

    def subscribe_as(self, *people: Person) -> list[dict[str, Any]]:
        """Subscribed to, and verified by the hub."""
        created = [person.post("/v1/feeds", {"feed_url": self.url})["feed_id"] for person in people]
        assert self.hub.wait_until_verified(self.url).status == 200
        return [person.get(f"/v1/feeds/{id_}") for person, id_ in zip(people, created, strict=True)]

    def row(self, service: RunningService) -> Row:
        rows = rows_of(service, self.url)
        assert len(rows) == 1
        return rows[0]

    def polls(self) -> int:
        return len(self.site.requests_for(self.path))


def rows_of(service: RunningService, topic: str) -> list[Row]:
    with service.services.reading() as db:
        return list(db.rows(select(websub_subscriptions).where(websub_subscriptions.c.topic == topic)))


def titles(person: Person) -> list[str]:
    return sorted(entry["title"] for entry in person.entries())


def settled(service: RunningService) -> Callable[[], bool]:
    """Whether no push waits to be stored."""

    def is_settled() -> bool:
        with service.services.reading() as db:
            return db.row(select(websub_pushes.c.id)) is None

    return is_settled


def test_a_pushed_entry_is_stored_without_a_poll(
    service: RunningService, cast: Cast, alice: Person, bob: Person, site: Publisher, hub: Hub
) -> None:
    topic = Topic(site, hub)
    before = topic.subscribe_as(alice, bob)
    polls = topic.polls()

    answer = hub.publish(topic.url, topic.document("Second", title="Another name"))
    assert (answer.status, answer.body) == (202, b"")
    both = [["First", "Second"]] * 2
    wait_for(lambda: [titles(alice), titles(bob)] == both, "the push was not stored")

    # One subscription for both; nothing but entries comes of a push.
    assert len(hub.requests(topic.url)) == 1
    assert topic.polls() == polls
    after = [person.get(f"/v1/feeds/{feed['id']}") for person, feed in zip((alice, bob), before, strict=True)]
    for name in ("title", "site_url", "checked_at", "etag_header", "last_modified_header", "parsing_error_count"):
        assert [feed[name] for feed in after] == [feed[name] for feed in before], name
    with service.services.reading() as db:
        source_ids = sources.of_feeds(db, [feed["id"] for feed in before])
        assert subscriptions.hubs_of(db, source_ids, service.services.clock()) == dict.fromkeys(source_ids, True)


def test_the_subscription_request_has_all_parameters(
    service: RunningService, alice: Person, site: Publisher, hub: Hub
) -> None:
    topic = Topic(site, hub)
    topic.subscribe_as(alice)

    form = hub.requests(topic.url)[0].form
    row = topic.row(service)
    assert form == {
        "hub.callback": f"{service.url}/websub/{row['token']}",
        "hub.mode": "subscribe",
        "hub.topic": topic.url,
        "hub.lease_seconds": "864000",
        "hub.secret": row["secret"],
    }
    assert len(row["token"]) >= 43
    assert len(row["secret"]) == 64
    assert row["state"] == "active"
    assert row["lease_until"] - service.services.clock() > 9 * 86_400_000_000
    assert row["token"] not in service.log
    assert row["secret"] not in service.log


def test_a_hub_is_found_in_headers_first_and_in_json(alice: Person, site: Publisher, hub: Hub) -> None:
    """WebSub, section 4: the Link header wins over what the document says."""
    number = next(_numbers)
    named, other = site.url(f"/named-{number}"), site.url(f"/other-{number}")
    link = f'<{hub.url}>; rel="hub", <{named}>; rel="self"'
    site.serve("/headers.xml", rss(["A"], other, extra=hub.links(other)), headers={"Link": link})
    alice.post("/v1/feeds", {"feed_url": site.url("/headers.xml")})
    hub.wait_until_requested(named)
    assert hub.requests(other) == []

    json_url = site.url(f"/feed-{number}.json")
    document = (
        '{"version": "https://jsonfeed.org/version/1.1", "title": "J", "items": [{"id": "1", "content_text": "x"}],'
        f' "feed_url": "{json_url}", "hubs": [{{"type": "WebSub", "url": "{hub.url}"}}]}}'
    )
    site.serve(f"/feed-{number}.json", document)
    alice.post("/v1/feeds", {"feed_url": json_url})
    hub.wait_until_verified(json_url)


def test_a_check_finds_a_later_hub_and_entries_that_it_did_not_push(
    service: RunningService, alice: Person, site: Publisher, hub: Hub
) -> None:
    topic = Topic(site, hub)
    site.serve(topic.path, rss(["First"], topic.url), etag='"0"')
    feed_id = alice.post("/v1/feeds", {"feed_url": topic.url})["feed_id"]
    site.serve(topic.path, topic.document("First"), etag='"1"')
    alice.put(f"/v1/feeds/{feed_id}/refresh")
    assert hub.wait_until_verified(topic.url).status == 200

    hub.publish(topic.url, topic.document("Second"))
    wait_for(lambda: topic.row(service)["last_push_at"], "the push was not stored")
    # A check that finds what was pushed already has nothing to complain of.
    site.serve(topic.path, topic.document("Second", "First"), etag='"2"')
    alice.put(f"/v1/feeds/{feed_id}/refresh")
    assert topic.row(service)["last_push_at"]
    assert titles(alice) == ["First", "Second"]

    site.serve(topic.path, topic.document("Third", "Second", "First"), etag='"3"')
    alice.put(f"/v1/feeds/{feed_id}/refresh")
    assert titles(alice) == ["First", "Second", "Third"]
    assert topic.row(service)["last_push_at"] is None


def test_a_hub_in_the_headers_is_found_although_nothing_changed(alice: Person, site: Publisher, hub: Hub) -> None:
    topic = Topic(site, hub)
    document = rss(["First"], topic.url)
    site.serve(topic.path, document, etag='"1"')
    feed_id = alice.post("/v1/feeds", {"feed_url": topic.url})["feed_id"]
    link = f'<{hub.url}>; rel="hub", <{topic.url}>; rel="self"'
    site.serve(topic.path, document, etag='"1"', headers={"Link": link})
    alice.put(f"/v1/feeds/{feed_id}/refresh")

    assert hub.wait_until_verified(topic.url).status == 200


def test_a_hub_is_found_after_a_change_of_request_settings(
    service: RunningService, alice: Person, site: Publisher, hub: Hub
) -> None:
    topic = Topic(site, hub)
    (feed,) = topic.subscribe_as(alice)
    alice.put(f"/v1/feeds/{feed['id']}", {"user_agent": "Somebody else"}, status=201)
    alice.put(f"/v1/feeds/{feed['id']}/refresh")

    # With another user agent it is another source: the publisher may send it another document.
    hub.publish(topic.url, topic.document("Second"))
    wait_for(lambda: titles(alice) == ["First", "Second"], "the push was not stored")
    alice.put(f"/v1/feeds/{feed['id']}/refresh")
    conditions = [one.headers.get("if-none-match") for one in site.requests_for(topic.path)]
    assert conditions == [None, None, '"1"']


def test_every_signature_method_is_accepted(alice: Person, site: Publisher, hub: Hub) -> None:
    topic = Topic(site, hub)
    topic.subscribe_as(alice)

    methods = ["sha1", "sha256", "sha384", "sha512"]
    for method in methods:
        assert hub.publish(topic.url, topic.document(method), method=method).status == 202
    wait_for(lambda: titles(alice) == ["First", *methods], "a push was not stored")


def test_a_push_with_a_wrong_signature_is_accepted_and_ignored(
    service: RunningService, alice: Person, site: Publisher, hub: Hub
) -> None:
    topic = Topic(site, hub)
    topic.subscribe_as(alice)
    forged = topic.document("Forged")

    for signature in ("", "sha256=", f"sha256={'0' * 64}", "md5=0", "sha256=é", f"sha1={'0' * 40}"):
        answer = call(
            hub.requests(topic.url)[0].callback,
            "POST",
            forged.encode(),
            {"X-Hub-Signature": signature.encode("latin-1").decode("latin-1")},
        )
        assert (answer.status, answer.body) == (202, b"")

    hub.publish(topic.url, topic.document("Genuine"))
    wait_for(lambda: "Genuine" in titles(alice), "the push was not stored")
    wait_for(settled(service), "pushes are left over")
    assert titles(alice) == ["First", "Genuine"]


def test_a_repeated_push_makes_no_duplicates(service: RunningService, alice: Person, site: Publisher, hub: Hub) -> None:
    topic = Topic(site, hub)
    topic.subscribe_as(alice)
    document = topic.document("Once", "First")

    for _ in range(3):
        assert hub.publish(topic.url, document).status == 202
    wait_for(lambda: titles(alice) == ["First", "Once"], "the push was not stored")
    assert hub.publish(topic.url, document).status == 202
    wait_for(settled(service), "pushes are left over")
    assert titles(alice) == ["First", "Once"]


def test_a_useless_push_makes_the_feed_due_soon(
    service: RunningService, alice: Person, site: Publisher, hub: Hub
) -> None:
    """Too large, no feed at all, or only a ring at the door: five minutes after the last poll, not ten hours."""
    for body, status in ((b"x" * (2**20 + 1), 413), (b"<html><p>Nothing", 202), (b"", 202)):
        topic = Topic(site, hub)
        (feed,) = topic.subscribe_as(alice)
        assert hub.publish(topic.url, body).status == status
        wait_for(partial(is_due_soon, service, alice, feed), "the feed is not due any sooner")
        assert alice.get(f"/v1/feeds/{feed['id']}")["parsing_error_count"] == 0
    assert titles(alice) == ["First"] * 3


def is_due_soon(service: RunningService, person: Person, feed: dict[str, Any]) -> bool:
    with service.services.reading() as db:
        row = feeds.get(db, person.id, feed["id"])
    assert row is not None
    return row.next_check_at - row.checked_at <= 300_000_000


def test_a_hub_cannot_push_into_feeds_that_did_not_name_it(
    service: RunningService, alice: Person, bob: Person, site: Publisher, hub: Hub
) -> None:
    """A feed claims to be another one, at a hub of its own publisher, who can push into that feed only."""
    honest = Topic(site, hub)
    honest.subscribe_as(alice)
    with Hub() as forged, Publisher() as elsewhere:
        url = elsewhere.url("/crooked.xml")
        elsewhere.serve("/crooked.xml", rss(["Bait"], url, extra=forged.links(honest.url)))
        bob.post("/v1/feeds", {"feed_url": url})
        forged.wait_until_verified(honest.url)

        assert forged.publish(honest.url, honest.document("Injected")).status == 202
        wait_for(lambda: titles(bob) == ["Bait", "Injected"], "the push was not stored")
        wait_for(settled(service), "pushes are left over")
        assert titles(alice) == ["First"]
        tokens = {row["token"] for row in rows_of(service, honest.url)}
        assert len(tokens) == 2


def test_a_denied_subscription_is_not_requested_for_days(
    service: RunningService, alice: Person, site: Publisher, hub: Hub
) -> None:
    hub.behaviour = Behaviour(denies="We do not know this topic\n<b>at all</b>.")
    topic = Topic(site, hub)
    alice.post("/v1/feeds", {"feed_url": topic.url})
    response = hub.wait_until_verified(topic.url)

    assert (response.status, response.body) == (200, b"")
    row = topic.row(service)
    assert (row["state"], row["last_error"]) == ("denied", "We do not know this topic <b>at all</b>.")
    assert row["next_attempt_at"] - service.services.clock() > 6 * 86_400_000_000
    assert hub.publish(topic.url, topic.document("Second")).status == 404


def test_only_requested_subscriptions_can_be_verified(
    service: RunningService, alice: Person, site: Publisher, hub: Hub
) -> None:
    hub.behaviour = Behaviour(verifies=False)
    topic = Topic(site, hub)
    alice.post("/v1/feeds", {"feed_url": topic.url})
    request = hub.wait_until_requested(topic.url)

    false_values = (
        {"topic": topic.url + "?"},
        {"topic": ""},
        {"mode": "unsubscribe"},
        {"mode": ""},
        {"mode": "publish"},
        {"challenge": ""},
        {"challenge": "x" * 3000},
    )
    for false_value in false_values:
        assert hub.verify(request, **false_value).status == 404, false_value
    assert topic.row(service)["state"] == "requested"
    assert hub.publish(topic.url, topic.document("Too early")).status == 404

    response = hub.verify(request)
    assert (response.status, response.body.decode()) == (200, CHALLENGE)
    assert response.headers["content-type"] == "text/plain; charset=utf-8"
    assert response.headers["x-content-type-options"] == "nosniff"
    assert topic.row(service)["state"] == "active"

    # A day later, nobody has asked for anything.
    change(service, topic, asked_at=service.services.clock() - 90_000_000_000)
    assert hub.verify(request).status == 404


def test_an_unknown_token_is_404(service: RunningService, alice: Person, site: Publisher, hub: Hub) -> None:
    topic = Topic(site, hub)
    topic.subscribe_as(alice)
    token = topic.row(service)["token"]
    query = f"?hub.mode=subscribe&hub.topic={topic.url}&hub.challenge=x"
    nothing = call(f"{service.url}/websub/{'A' * 43}{query}", "GET")

    for guess in (
        token[:-1],
        token + "A",
        token.swapcase(),
        "A" * 43,
        "",
        "a/b",
        "%00",
        "é" * 20,
        "../v1/me",
        "A" * 500,
    ):
        for method in ("GET", "POST"):
            response = call(f"{service.url}/websub/{quoted(guess)}{query}", method, b"x" if method == "POST" else None)
            if guess == "../v1/me":
                assert response.status in (307, 401, 404)
                continue
            assert (response.status, response.body) == (404, nothing.body), guess
    assert call(f"{service.url}/websub/{token}", "PUT", b"x").status == 405
    assert call(f"{service.url}/websub/{token}", "DELETE").status == 405
    assert topic.row(service)["state"] == "active"


def quoted(guess: str) -> str:
    return guess.replace("é", "%C3%A9")


def test_a_lease_is_renewed_before_it_ends(service: RunningService, alice: Person, site: Publisher, hub: Hub) -> None:
    hub.behaviour = Behaviour(verification={"lease_seconds": "3600"})
    topic = Topic(site, hub)
    topic.subscribe_as(alice)
    row, now = topic.row(service), service.services.clock()
    assert 0 < row["lease_until"] - now <= 3_600_000_000
    assert 1_800_000_000 < row["next_attempt_at"] - now < 3_000_000_000

    change(service, topic, next_attempt_at=now)
    hub.wait_until_verified(topic.url, times=2)

    first, second = hub.requests(topic.url)
    assert first.callback == second.callback
    renewed = topic.row(service)
    assert renewed["lease_until"] > row["lease_until"]
    assert (renewed["state"], renewed["attempts"]) == ("active", 0)


def test_a_refused_request_is_repeated_later(service: RunningService, alice: Person, site: Publisher, hub: Hub) -> None:
    hub.behaviour = Behaviour(status=503, text="Come back\x00 later")
    topic = Topic(site, hub)
    created = alice.post("/v1/feeds", {"feed_url": topic.url})
    hub.wait_until_requested(topic.url)

    row = wait_for(lambda: next((r for r in rows_of(service, topic.url) if r["last_error"]), None), "no reason is kept")
    assert "503: Come back later" in row["last_error"]
    assert (row["state"], row["attempts"]) == ("requested", 1)
    assert 200_000_000 < row["next_attempt_at"] - row["asked_at"] <= 300_000_000
    assert alice.get(f"/v1/feeds/{created['feed_id']}")["parsing_error_count"] == 0

    hub.behaviour = Behaviour()
    change(service, topic, next_attempt_at=0)
    hub.wait_until_verified(topic.url)
    wait_for(lambda: topic.row(service)["last_error"] == "", "the reason stays")


def test_a_subscription_without_feeds_is_ended(
    service: RunningService, alice: Person, site: Publisher, hub: Hub
) -> None:
    topic = Topic(site, hub)
    (feed,) = topic.subscribe_as(alice)
    alice.delete(f"/v1/feeds/{feed['id']}")

    # The worker may have noticed before the hub had anything to push.
    assert hub.publish(topic.url, topic.document("Second")).status in (202, 410)
    response = hub.wait_until_verified(topic.url, "unsubscribe")

    assert (response.status, response.body.decode()) == (200, CHALLENGE)
    assert topic.row(service)["state"] == "ended"
    assert hub.publish(topic.url, topic.document("Third")).status == 410
    assert titles(alice) == []

    # It is subscribed to again: the hub is asked anew.
    topic.subscribe_as(alice)
    hub.wait_until_verified(topic.url, times=2)
    assert topic.row(service)["state"] == "active"
    assert hub.publish(topic.url, topic.document("Fourth")).status == 202
    wait_for(lambda: titles(alice) == ["First", "Fourth"], "the push was not stored")


def test_nothing_is_stored_for_a_disabled_feed(
    service: RunningService, alice: Person, bob: Person, site: Publisher, hub: Hub
) -> None:
    topic = Topic(site, hub)
    mine, _ = topic.subscribe_as(alice, bob)
    alice.put(f"/v1/feeds/{mine['id']}", {"disabled": True}, status=201)

    hub.publish(topic.url, topic.document("Second"))

    wait_for(lambda: titles(bob) == ["First", "Second"], "the push was not stored")
    wait_for(settled(service), "pushes are left over")
    assert titles(alice) == ["First"]


def test_a_feed_with_credentials_is_not_subscribed_to(alice: Person, site: Publisher, hub: Hub) -> None:
    private = Topic(site, hub, "private")
    alice.post("/v1/feeds", {"feed_url": private.url, "username": "alice", "password": "secret"})
    public = Topic(site, hub)
    public.subscribe_as(alice)

    assert hub.requests(private.url) == []


def test_a_push_that_is_too_large_does_not_block_others(alice: Person, site: Publisher, hub: Hub) -> None:
    topic = Topic(site, hub)
    topic.subscribe_as(alice)

    answer = push(hub.requests(topic.url)[0].callback, b"x" * (3 * 2**20), {"X-Hub-Signature": "sha1=0"})

    assert answer.status == 413
    assert hub.publish(topic.url, topic.document("Second")).status == 202
    wait_for(lambda: "Second" in titles(alice), "the push was not stored")


def change(service: RunningService, topic: Topic, **values: Any) -> None:
    with service.services.database.writing() as db:
        db.run(update(websub_subscriptions).where(websub_subscriptions.c.topic == topic.url).values(**values))
