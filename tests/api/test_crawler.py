"""Feeds whose entries get their full content: when it is fetched, and what filters and rules see."""

from __future__ import annotations

from typing import Any

import pytest

from support.people import Person, rss
from support.publisher import Answer, Drop, Publisher, Reply

SENTENCE = "The rain came late, lasted long, and left by the evening. "


def page(words: str) -> str:
    """A page whose article has these words in it."""
    return (
        f"<html><body><nav><a href='/'>Home</a></nav><article><h1>Rain</h1><p>{words}. {SENTENCE * 5}</p>"
        f"<p><script>spy()</script>{SENTENCE * 5}</p></article></body></html>"
    )


class Newspaper:
    """A feed at /feed.xml whose entry of each title leads to the page /TITLE."""

    def __init__(self, site: Publisher, *titles: str) -> None:
        self.site = site
        self.publish(*titles)
        for title in titles:
            self.print(title, page(f"All of {title}"))

    def publish(self, *titles: str) -> None:
        """titles: the newest first."""
        feed = rss(titles, self.site.url("/feed.xml"))
        for number, title in enumerate(titles):
            feed = feed.replace(self.site.url(f"/feed.xml/{number}"), self.site.url(f"/{title}"))
        self.site.serve("/feed.xml", feed)

    def print(self, title: str, what: str | Reply) -> None:
        self.site.script(f"/{title}", what if isinstance(what, Reply) else Answer(what))

    def fetched(self, title: str) -> int:
        return len(self.site.requests_for(f"/{title}"))


def subscribe(person: Person, paper: Newspaper, **fields: Any) -> int:
    body = {"feed_url": paper.site.url("/feed.xml"), "crawler": True, **fields}
    return int(person.post("/v1/feeds", body)["feed_id"])


def contents(person: Person) -> dict[str, str]:
    return {entry["title"]: entry["content"] for entry in person.entries()}


def refresh(person: Person, feed_id: int) -> None:
    person.put(f"/v1/feeds/{feed_id}/refresh")


def test_a_new_feed_comes_with_whole_articles(alice: Person, site: Publisher) -> None:
    subscribe(alice, Newspaper(site, "Two", "One"))

    found = contents(alice)
    assert "All of One" in found["One"]
    assert "All of Two" in found["Two"]
    assert "spy" not in found["One"]
    assert "Home" not in found["One"]
    assert {entry["reading_time"] for entry in alice.entries()} == {1}
    assert [entry["title"] for entry in alice.entries(order="id")] == ["One", "Two"]


def test_a_feed_without_the_flag_leaves_pages_alone(alice: Person, site: Publisher) -> None:
    paper = Newspaper(site, "One")
    subscribe(alice, paper, crawler=False)

    assert contents(alice) == {"One": "About One."}
    assert paper.fetched("One") == 0


def test_only_new_entries_have_their_page_fetched(alice: Person, site: Publisher) -> None:
    paper = Newspaper(site, "One")
    feed_id = subscribe(alice, paper)
    paper.print("Two", page("All of Two"))
    paper.publish("Two", "One")

    refresh(alice, feed_id)

    assert "All of Two" in contents(alice)["Two"]
    assert (paper.fetched("One"), paper.fetched("Two")) == (1, 1)


def test_entries_that_were_deleted_are_not_fetched_again(alice: Person, site: Publisher) -> None:
    paper = Newspaper(site, "One")
    feed_id = subscribe(alice, paper)
    alice.put("/v1/entries", {"entry_ids": [alice.entries()[0]["id"]], "status": "read"})
    alice.put("/v1/flush-history", status=202)
    paper.print("Two", page("All of Two"))
    paper.publish("Two", "One")

    refresh(alice, feed_id)

    assert contents(alice).keys() == {"Two"}
    assert paper.fetched("One") == 1


def test_an_article_stays_when_the_publisher_changes_the_summary(alice: Person, site: Publisher) -> None:
    paper = Newspaper(site, "One")
    feed_id = subscribe(alice, paper)
    site.serve("/feed.xml", rss(["One"], site.url("/feed.xml")).replace("About One.", "More about One."))

    refresh(alice, feed_id)

    assert "All of One" in contents(alice)["One"]


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
def test_what_cannot_be_had_leaves_the_words_of_the_feed(alice: Person, site: Publisher, reply: Reply) -> None:
    paper = Newspaper(site, "Two", "One")
    paper.print("One", reply)

    feed = alice.get(f"/v1/feeds/{subscribe(alice, paper)}")

    found = contents(alice)
    assert found["One"] == "About One."
    assert "All of Two" in found["Two"]
    assert feed["parsing_error_count"] == 0


def test_pages_are_asked_for_a_few_at_a_time(alice: Person, site: Publisher) -> None:
    titles = [f"Story{number}" for number in range(12)]
    paper = Newspaper(site, *titles)
    open_now = most = 0

    class Slow(Answer):
        async def send(self, wire: Any, seen: Any) -> bool:
            nonlocal open_now, most
            open_now += 1
            most = max(most, open_now)
            try:
                return await super().send(wire, seen)
            finally:
                open_now -= 1

    for title in titles:
        paper.print(title, Slow(page(f"All of {title}"), after_s=0.1))

    subscribe(alice, paper)

    assert 1 < most <= 4
    assert all(f"All of {title}." in content for title, content in contents(alice).items())


def test_rules_see_the_feed_first_and_then_the_article(alice: Person, site: Publisher) -> None:
    paper = Newspaper(site, "Rain", "Snow", "Hail")
    paper.print("Snow", page("All of SPONSORED"))

    subscribe(alice, paper, block_filter_entry_rules="EntryContent=SPONSORED\nEntryContent=About Hail")

    assert contents(alice).keys() == {"Rain"}
    assert (paper.fetched("Snow"), paper.fetched("Hail")) == (1, 0)


def test_an_entry_is_kept_for_what_its_article_says_only_if_the_feed_says_it_too(
    alice: Person, site: Publisher
) -> None:
    subscribe(alice, Newspaper(site, "Rain"), keep_filter_entry_rules="EntryContent=All of Rain")

    assert contents(alice) == {}


def test_the_page_is_where_the_address_rule_says(alice: Person, site: Publisher) -> None:
    paper = Newspaper(site, "Rain")
    site.serve("/print/Rain", page("All of printed Rain"))

    subscribe(alice, paper, urlrewrite_rules='rewrite("^(https?://[^/]+)/(\\w+)$"|"$1/print/$2")')

    assert "All of printed Rain" in contents(alice)["Rain"]
    assert paper.fetched("Rain") == 0


def test_scraper_and_rewrite_rules_shape_the_article(alice: Person, site: Publisher) -> None:
    rules = {"scraper_rules": "h1", "rewrite_rules": 'replace("Rain"|"Sun"), replace_title("^"|"New: ")'}

    subscribe(alice, Newspaper(site, "One"), **rules)

    assert contents(alice) == {"New: One": "<h1>Sun</h1>"}


def test_rules_of_the_user_judge_articles_too(alice: Person, site: Publisher) -> None:
    alice.put(f"/v1/users/{alice.id}", {"block_filter_entry_rules": "EntryContent=All of One"}, status=201)

    subscribe(alice, Newspaper(site, "Two", "One"))

    assert contents(alice).keys() == {"Two"}


def test_tracking_is_not_part_of_the_address_that_is_fetched(alice: Person, site: Publisher) -> None:
    paper = Newspaper(site, "Rain")
    site.serve("/feed.xml", rss(["Rain"], "x").replace("<link>x/0", f"<link>{site.url('/Rain')}?utm_source=feed"))

    subscribe(alice, paper)

    assert [seen.path for seen in site.requests if seen.path.startswith("/Rain")] == ["/Rain"]


def test_a_feed_that_cannot_be_read_fails_as_ever(alice: Person, site: Publisher) -> None:
    paper = Newspaper(site, "One")
    feed_id = subscribe(alice, paper)
    site.serve("/feed.xml", "<html>moved</html>")

    answer = alice.call("PUT", f"/v1/feeds/{feed_id}/refresh")

    assert answer.status == 500
    assert alice.get(f"/v1/feeds/{feed_id}")["parsing_error_count"] == 1


def test_a_rule_that_cannot_be_followed_is_told_once(alice: Person, site: Publisher) -> None:
    feed = alice.has_feed(site, ["Three", "Two", "One"], urlrewrite_rules='rewrite("^.*$"|"nowhere")')

    told = [line for line in alice.service.log.splitlines() if "rule not followed" in line]
    assert len([line for line in told if f"feed={feed['id']} " in line]) == 1
    assert alice.get("/v1/entries")["total"] == 3
