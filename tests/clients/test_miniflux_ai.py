"""miniflux-ai: receives webhooks, has a model write about each new entry, and puts that before its content.

    webhook ─► signature ─► entries ─► model ─► PUT /v1/entries/{id}
       polling of all unread entries ──┘

It answers a webhook after the last of its requests. The receiver here does the same on a socket of its own, with a
text in place of the model's; the requests are those of the `miniflux` library, which it uses. Facts from its sources
of April 2026. `test_bulk_readers.py` has the polling of many entries.
"""

from __future__ import annotations

import fnmatch
import hashlib
import hmac
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import miniflux
import pytest
from sqlalchemy import update

from support.outbox import deliver, delivery_queue
from support.people import Person, rss
from support.publisher import Answer, Publisher, ReceivedRequest, Reply
from tidings.deliveries.tables import deliveries

pytestmark = pytest.mark.slow

HOOK = "/api/miniflux-ai"
# Titles of the agents that its examples have: one in a block, one that is followed by its text.
SUMMARY, TRANSLATION = "֎ AI summary:", "🌐AI translate: "
OWN_SITES = ("https://ai-news.miniflux", "https://feeds-status.miniflux")


@dataclass
class MinifluxAi:
    """The program. secret: from its configuration. fails: how often the model does. slow_s: how long it takes.

    asked: titles of the entries that the model was asked about.
    """

    client: miniflux.Client
    secret: str
    agents: tuple[str, ...] = (SUMMARY, TRANSLATION)
    slow_s: float = 0
    fails: int = 0
    asked: list[str] = field(default_factory=list)

    def receive(self, seen: ReceivedRequest) -> Reply:
        """Handle a webhook: 403 unless it is signed, 500 if anything in it is missing."""
        expected = hmac.new(self.secret.encode(), seen.body, hashlib.sha256).hexdigest()
        if not hmac.compare_digest(expected, seen.headers.get("x-miniflux-signature", "")):
            return Answer("Forbidden", status=403)
        assert seen.headers["content-type"] == "application/json"
        payload = seen.json()
        if "entries" not in payload or self.fails > 0:
            self.fails -= 1
            return Answer("Internal Server Error", status=500)
        for entry in payload["entries"]:
            self.process({**entry, "feed": payload["feed"]})
        return Answer('{"status":"ok"}', after_s=self.slow_s)

    def poll(self) -> None:
        """Process all unread entries, as it does every few minutes."""
        for entry in self.client.get_entries(status=["unread"], limit=10000)["entries"]:
            self.process(entry)

    def process(self, entry: dict[str, Any]) -> None:
        # What it keeps for the daily news.
        assert {"created_at", "title", "url"} <= entry.keys()
        assert entry["feed"]["category"]["title"]
        if self._is_done(entry):
            return
        self.asked.append(entry["title"])
        parts = {
            SUMMARY: f"<blockquote>\n  <p><strong>{SUMMARY}</strong> It is wet.\n</p>\n</blockquote><br/>",
            TRANSLATION: f"{TRANSLATION}<p>Il pleut.</p><hr><br />",
        }
        before = "".join(parts[agent] for agent in self.agents)
        self.client.update_entry(entry["id"], content=before + entry["content"])

    def _is_done(self, entry: dict[str, Any]) -> bool:
        """Return whether an entry needs no text: its content begins with one, or its feed is one of the program's."""
        is_own = any(fnmatch.fnmatch(entry["feed"]["site_url"], pattern) for pattern in OWN_SITES)
        begins = (*self.agents, "<blockquote>") if SUMMARY in self.agents else self.agents
        return is_own or entry["content"].startswith(begins)


@pytest.fixture
def program(alice: Person, other_site: Publisher) -> MinifluxAi:
    """Alice's, to which her webhook leads."""
    shown = alice.put("/v1/integrations", {"webhook": {"enabled": True, "url": other_site.url(HOOK)}}, status=201)[
        "webhook"
    ]
    program = MinifluxAi(miniflux.Client(alice.service.url, api_key=alice.token), shown["secret"])
    other_site.script(HOOK, program.receive)
    return program


@pytest.fixture(autouse=True)
def without_deliveries_of_other_tests(alice: Person) -> None:
    services = alice.service.services
    others = (deliveries.c.user_id != alice.id, deliveries.c.state == "pending")
    with services.database.writing() as db:
        db.run(update(deliveries).where(*others).values(state="failed", finished_at=services.clock()))


@pytest.fixture
def feed(alice: Person, site: Publisher) -> dict[str, Any]:
    """Alice's feed, in which no entry is new yet."""
    category = alice.has_category("Weather")
    return alice.has_feed(site, ["Old"], category_id=category["id"])


def publish(person: Person, site: Publisher, feed: dict[str, Any], *titles: str) -> None:
    """Have the publisher add entries, and fetch them."""
    path = feed["feed_url"].removeprefix(site.origin)
    site.serve(path, rss([*titles, "Old"], feed["feed_url"]))
    person.put(f"/v1/feeds/{feed['id']}/refresh")


def sent(person: Person) -> list[tuple[str, int, int]]:
    """Return the state, the attempts and the last status of each delivery, oldest first."""
    found = person.get("/v1/webhooks/deliveries")["deliveries"][::-1]
    return [(one["state"], one["attempts"], one["last_status"]) for one in found]


def deliver_until(person: Person, condition: Callable[[], bool], *, within_s: float = 180) -> None:
    deliver(delivery_queue(person.service.services.database, within_s=within_s), condition, within_s=60)


def content_of(person: Person, title: str) -> str:
    (found,) = (entry["content"] for entry in person.entries() if entry["title"] == title)
    return str(found)


@pytest.mark.parametrize("agents", [(SUMMARY,), (TRANSLATION,), (SUMMARY, TRANSLATION)], ids=["block", "text", "both"])
def test_new_entries_get_a_text_once(
    alice: Person, site: Publisher, feed: dict[str, Any], program: MinifluxAi, agents: tuple[str, ...]
) -> None:
    program.agents = agents
    publish(alice, site, feed, "Rain", "Sun")

    deliver_until(alice, lambda: sent(alice) == [("delivered", 1, 200)])

    assert sorted(program.asked) == ["Rain", "Sun"]
    for title in ("Rain", "Sun"):
        content = content_of(alice, title)
        assert all(content.count(agent.strip()) == 1 for agent in agents)
        assert content.endswith(f"About {title}.")
    # The polling knows its own texts by how they begin. Otherwise it would pay for new ones every few minutes.
    program.asked.clear()
    program.poll()
    program.poll()
    assert program.asked == ["Old"]
    assert {entry["status"] for entry in alice.entries()} == {"unread"}


def test_another_secret_gives_the_events_up(
    alice: Person, site: Publisher, feed: dict[str, Any], program: MinifluxAi
) -> None:
    program.secret = "of another account"
    publish(alice, site, feed, "Rain")

    deliver_until(alice, lambda: sent(alice) == [("failed", 1, 403)])

    assert (program.asked, content_of(alice, "Rain")) == ([], "About Rain.")


def test_a_model_that_takes_too_long_is_asked_twice_at_most_and_leaves_one_text(
    alice: Person, site: Publisher, feed: dict[str, Any], program: MinifluxAi
) -> None:
    program.slow_s = 60
    publish(alice, site, feed, "Rain")

    deliver_until(alice, lambda: sent(alice)[0][0] == "failed" and len(program.asked) == 2, within_s=2)

    assert sent(alice)[0][:2] == ("failed", 2)
    assert program.asked == ["Rain", "Rain"]
    assert content_of(alice, "Rain").count(SUMMARY) == 1


def test_a_model_that_fails_is_asked_again(
    alice: Person, site: Publisher, feed: dict[str, Any], program: MinifluxAi
) -> None:
    program.fails = 2
    publish(alice, site, feed, "Rain")

    deliver_until(alice, lambda: sent(alice) == [("delivered", 3, 200)])

    assert program.asked == ["Rain"]
    assert content_of(alice, "Rain").count(SUMMARY) == 1


def test_a_saved_entry_which_it_cannot_read_delays_no_new_ones(
    alice: Person, site: Publisher, feed: dict[str, Any], program: MinifluxAi
) -> None:
    """It looks for `entries` in every event, and answers 500 without them."""
    alice.post(f"/v1/entries/{alice.entries()[0]['id']}/save", status=202)
    publish(alice, site, feed, "Rain")

    deliver_until(alice, lambda: [state for state, _, _ in sent(alice)] == ["failed", "delivered"])

    assert program.asked == ["Rain"]


def test_its_own_feeds_are_found_and_left_alone(alice: Person, site: Publisher, program: MinifluxAi) -> None:
    """It subscribes to them, in the first category of the instance, which another user does not have."""
    title, link = "֎Newsᴬᴵ for you", OWN_SITES[0]
    document = rss(["Welcome"], link, title=title).replace(f"{link}/site", link)
    url = site.serve("/rss/ai-news", document, headers={"Content-Type": "text/html; charset=utf-8"})
    with pytest.raises(miniflux.ClientError):
        program.client.create_feed(url, category_id=2**31 - 1)
    program.client.create_feed(url, category_id=alice.has_category()["id"])

    (feed,) = program.client.get_feeds()
    assert (feed["feed_url"], feed["site_url"], title in feed["title"]) == (url, link, True)
    program.client.refresh_feed(feed["id"])
    program.poll()
    assert program.asked == []


def test_it_tells_which_feeds_fail(alice: Person, site: Publisher, feed: dict[str, Any], program: MinifluxAi) -> None:
    site.serve(feed["feed_url"].removeprefix(site.origin), status=500)
    alice.put(f"/v1/feeds/{feed['id']}/refresh", status=500)

    (found,) = program.client.get_feeds()

    assert (found["disabled"], found["parsing_error_count"]) == (False, 1)
    assert all(
        isinstance(found[name], str) and found[name] for name in ("parsing_error_message", "checked_at", "title")
    )
