"""Feeds whose entries get their full content: when it is fetched, and what filters and rules see."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from support.people import Person, rss
from support.publisher import Answer, Drop, Publisher, Reply

pytestmark = [pytest.mark.one_engine, pytest.mark.slow]

SENTENCE = "The rain came late, lasted long, and left by the evening. "


def page(words: str) -> str:
    """A page whose article has these words in it."""
    return (
        f"<html><body><nav><a href='/'>Home</a></nav><article><h1>Rain</h1><p>{words}. {SENTENCE * 5}</p>"
        f"<p><script>spy()</script>{SENTENCE * 5}</p></article></body></html>"
    )


class FakeNewspaper:
    """A feed at /feed.xml whose entry of each title leads to the page /TITLE."""

    def __init__(self, site: Publisher, *titles: str) -> None:
        self.site = site
        self.publish(*titles)
        for title in titles:
            self.serve_page(title, page(f"All of {title}"))

    def publish(self, *titles: str) -> None:
        """titles: the newest first."""
        feed = rss(titles, self.site.url("/feed.xml"))
        for number, title in enumerate(titles):
            feed = feed.replace(self.site.url(f"/feed.xml/{number}"), self.site.url(f"/{title}"))
        self.site.serve("/feed.xml", feed)

    def serve_page(self, title: str, what: str | Reply) -> None:
        self.site.script(f"/{title}", what if isinstance(what, Reply) else Answer(what))

    def page_requests(self, title: str) -> int:
        return len(self.site.requests_for(f"/{title}"))


def subscribe(person: Person, paper: FakeNewspaper, **fields: Any) -> int:
    body = {"feed_url": paper.site.url("/feed.xml"), "crawler": True, **fields}
    return int(person.post("/v1/feeds", body)["feed_id"])


def contents(person: Person) -> dict[str, str]:
    return {entry["title"]: entry["content"] for entry in person.entries()}


def refresh(person: Person, feed_id: int) -> None:
    person.put(f"/v1/feeds/{feed_id}/refresh")


@pytest.mark.slow
def test_a_new_feed_has_the_full_content_of_its_entries(alice: Person, site: Publisher) -> None:
    subscribe(alice, FakeNewspaper(site, "Two", "One"))

    found = contents(alice)
    assert "All of One" in found["One"]
    assert "All of Two" in found["Two"]
    assert "spy" not in found["One"]
    assert "Home" not in found["One"]
    assert {entry["reading_time"] for entry in alice.entries()} == {1}
    assert [entry["title"] for entry in alice.entries(order="id")] == ["One", "Two"]


def test_no_page_is_fetched_without_the_crawler_flag(alice: Person, site: Publisher) -> None:
    paper = FakeNewspaper(site, "One")
    subscribe(alice, paper, crawler=False)

    assert contents(alice) == {"One": "About One."}
    assert paper.page_requests("One") == 0


@pytest.mark.slow
def test_only_new_entries_have_their_page_fetched(alice: Person, site: Publisher) -> None:
    paper = FakeNewspaper(site, "One")
    feed_id = subscribe(alice, paper)
    paper.serve_page("Two", page("All of Two"))
    paper.publish("Two", "One")

    refresh(alice, feed_id)

    assert "All of Two" in contents(alice)["Two"]
    assert (paper.page_requests("One"), paper.page_requests("Two")) == (1, 1)


@pytest.mark.slow
def test_entries_that_were_deleted_are_not_fetched_again(alice: Person, site: Publisher) -> None:
    paper = FakeNewspaper(site, "One")
    feed_id = subscribe(alice, paper)
    alice.put("/v1/entries", {"entry_ids": [alice.entries()[0]["id"]], "status": "read"})
    alice.put("/v1/flush-history", status=202)
    paper.serve_page("Two", page("All of Two"))
    paper.publish("Two", "One")

    refresh(alice, feed_id)

    assert contents(alice).keys() == {"Two"}
    assert paper.page_requests("One") == 1


def test_full_content_stays_when_the_publisher_changes_the_summary(alice: Person, site: Publisher) -> None:
    paper = FakeNewspaper(site, "One")
    feed_id = subscribe(alice, paper)
    site.serve("/feed.xml", rss(["One"], site.url("/feed.xml")).replace("About One.", "More about One."))

    refresh(alice, feed_id)

    assert "All of One" in contents(alice)["One"]


@pytest.mark.slow
@pytest.mark.parametrize(
    "reply",
    [
        pytest.param(Answer("gone", status=404), id="404"),
        pytest.param(Answer(), id="nothing"),
        pytest.param(Answer("%PDF", headers={"Content-Type": "application/pdf"}), id="a document"),
        pytest.param(Answer("<html><body></body></html>"), id="no article"),
        pytest.param(Drop(), id="hung up"),
    ],
)
def test_a_page_that_cannot_be_fetched_leaves_the_content_of_the_feed(
    alice: Person, site: Publisher, reply: Reply
) -> None:
    paper = FakeNewspaper(site, "Two", "One")
    paper.serve_page("One", reply)

    feed = alice.get(f"/v1/feeds/{subscribe(alice, paper)}")

    found = contents(alice)
    assert found["One"] == "About One."
    assert "All of Two" in found["Two"]
    assert feed["parsing_error_count"] == 0


@pytest.mark.slow
def test_a_limited_number_of_pages_is_fetched_concurrently(alice: Person, site: Publisher) -> None:
    titles = [f"Story{number}" for number in range(12)]
    paper = FakeNewspaper(site, *titles)
    open_requests = max_open_requests = 0

    class Slow(Answer):
        async def send(self, wire: Any, seen: Any) -> bool:
            nonlocal open_requests, max_open_requests
            open_requests += 1
            max_open_requests = max(max_open_requests, open_requests)
            try:
                while max_open_requests < 2:  # noqa: ASYNC110 - the first one waits for the second
                    await asyncio.sleep(0.01)
                return await super().send(wire, seen)
            finally:
                open_requests -= 1

    for title in titles:
        paper.serve_page(title, Slow(page(f"All of {title}"), after_s=0.1))

    subscribe(alice, paper)

    assert 1 < max_open_requests <= 4
    assert all(f"All of {title}." in content for title, content in contents(alice).items())


@pytest.mark.slow
def test_filter_rules_apply_to_the_feed_content_and_then_to_the_article(alice: Person, site: Publisher) -> None:
    paper = FakeNewspaper(site, "Rain", "Snow", "Hail")
    paper.serve_page("Snow", page("All of SPONSORED"))

    subscribe(alice, paper, block_filter_entry_rules="EntryContent=SPONSORED\nEntryContent=About Hail")

    assert contents(alice).keys() == {"Rain"}
    assert (paper.page_requests("Snow"), paper.page_requests("Hail")) == (1, 0)


def test_a_keep_rule_must_match_the_feed_content_as_well_as_the_article(alice: Person, site: Publisher) -> None:
    subscribe(alice, FakeNewspaper(site, "Rain"), keep_filter_entry_rules="EntryContent=All of Rain")

    assert contents(alice) == {}


def test_the_page_is_fetched_from_the_rewritten_url(alice: Person, site: Publisher) -> None:
    paper = FakeNewspaper(site, "Rain")
    site.serve("/print/Rain", page("All of printed Rain"))

    subscribe(alice, paper, urlrewrite_rules='rewrite("^(https?://[^/]+)/(\\w+)$"|"$1/print/$2")')

    assert "All of printed Rain" in contents(alice)["Rain"]
    assert paper.page_requests("Rain") == 0


def test_scraper_and_rewrite_rules_shape_the_article(alice: Person, site: Publisher) -> None:
    rules = {"scraper_rules": "h1", "rewrite_rules": 'replace("Rain"|"Sun"), replace_title("^"|"New: ")'}

    subscribe(alice, FakeNewspaper(site, "One"), **rules)

    assert contents(alice) == {"New: One": "<h1>Sun</h1>"}


def test_filter_rules_of_the_user_apply_to_articles(alice: Person, site: Publisher) -> None:
    alice.put(f"/v1/users/{alice.id}", {"block_filter_entry_rules": "EntryContent=All of One"}, status=201)

    subscribe(alice, FakeNewspaper(site, "Two", "One"))

    assert contents(alice).keys() == {"Two"}


def test_pages_are_fetched_without_tracking_parameters(alice: Person, site: Publisher) -> None:
    paper = FakeNewspaper(site, "Rain")
    site.serve("/feed.xml", rss(["Rain"], "x").replace("<link>x/0", f"<link>{site.url('/Rain')}?utm_source=feed"))

    subscribe(alice, paper)

    assert [seen.path for seen in site.requests if seen.path.startswith("/Rain")] == ["/Rain"]


def test_a_feed_that_cannot_be_parsed_fails_as_without_the_crawler(alice: Person, site: Publisher) -> None:
    paper = FakeNewspaper(site, "One")
    feed_id = subscribe(alice, paper)
    site.serve("/feed.xml", "<html>moved</html>")

    answer = alice.call("PUT", f"/v1/feeds/{feed_id}/refresh")

    assert answer.status == 500
    assert alice.get(f"/v1/feeds/{feed_id}")["parsing_error_count"] == 1


def test_an_unusable_rule_is_logged_once(alice: Person, site: Publisher) -> None:
    feed = alice.has_feed(site, ["Three", "Two", "One"], urlrewrite_rules='rewrite("^.*$"|"nowhere")')

    warnings = [line for line in alice.service.log.splitlines() if "rule not followed" in line]
    assert len([line for line in warnings if f"feed={feed['id']} " in line]) == 1
    assert alice.get("/v1/entries")["total"] == 3
