"""Lists of feeds that are followed: their feeds come, and go when their user agrees."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from support.people import Person, rss
from support.publisher import Answer, Publisher
from tidings.base.times import Instant
from tidings.domain.feeds.opml import OpmlSubscription
from tidings.live_opml.model import MAX_FEEDS, ListedFeed, compare, wait_after
from tidings.live_opml.subscriptions import LiveOpml
from tidings.net.fetch import Fetcher, FetchSettings
from tidings.services.clock import system_clock
from tidings.services.listeners import Listeners
from tidings.services.publisher_requests import PoliteFetcher

PATH = "/blogroll.opml"


def opml(*urls: str, title: str = "Harbour", more: str = "") -> str:
    outlines = "".join(f'<outline text="Feed {number}" xmlUrl="{url}"{more}/>' for number, url in enumerate(urls))
    return f'<opml version="2.0"><head><title>{title}</title></head><body>{outlines}</body></opml>'


def feed_urls(site: Publisher, *names: str) -> list[str]:
    return [site.serve(f"/{name}.xml", rss([f"About {name}"], site.url(f"/{name}"), title=name)) for name in names]


def follow(person: Person, site: Publisher, *urls: str, **more: str) -> dict[str, Any]:
    url = site.serve(PATH, opml(*urls, **more))
    followed: dict[str, Any] = person.post("/v1/opml-subscriptions", {"url": url}, status=201)
    return followed


def check(person: Person, followed: dict[str, Any]) -> dict[str, Any]:
    """Have a list checked as a worker does it. Returns the subscription afterwards."""
    database = person.service.services.database
    person.put(f"/v1/opml-subscriptions/{followed['id']}/refresh")

    async def run() -> None:
        settings = FetchSettings(user_agent="tests", allow_private_networks=True)
        fetcher = PoliteFetcher(Fetcher(settings), database, system_clock)
        live = LiveOpml(database, system_clock, fetcher, Listeners())
        while (source := await asyncio.to_thread(live.claim, "tests")) is not None:
            if source.id == followed["id"]:
                await live.check(source, "tests")
        await fetcher.close()

    asyncio.run(run())
    shown: dict[str, Any] = person.get(f"/v1/opml-subscriptions/{followed['id']}")
    return shown


def by_url(person: Person) -> dict[str, dict[str, Any]]:
    return {one["feed_url"]: one for one in person.get("/v1/feeds")}


def star_an_entry(person: Person, feed_id: int) -> None:
    person.put(f"/v1/feeds/{feed_id}/refresh")
    entry = person.get(f"/v1/feeds/{feed_id}/entries")["entries"][0]
    person.put(f"/v1/entries/{entry['id']}/bookmark")


def test_the_feeds_of_a_list_are_added_to_a_category_of_its_own(alice: Person, site: Publisher) -> None:
    alice.has_category("Harbour")
    urls = feed_urls(site, "a", "b")

    followed = follow(alice, site, *urls)

    assert (followed["title"], followed["feed_count"], followed["removals"]) == ("Harbour 2", 2, [])
    found = by_url(alice)
    assert {*found} == {*urls}
    assert {one["category"]["id"] for one in found.values()} == {followed["category_id"]}
    assert alice.get("/v1/opml-subscriptions") == [followed]
    # Nothing but the list was fetched.
    assert [one.path for one in site.requests] == [PATH]


def test_a_list_says_nothing_about_how_feeds_are_fetched(alice: Person, site: Publisher) -> None:
    (url,) = feed_urls(site, "a")

    follow(alice, site, url, more=' crawler="true" userAgent="evil" allowSelfSignedCertificates="true"')

    stored = by_url(alice)[url]
    assert (stored["crawler"], stored["user_agent"], stored["allow_self_signed_certificates"]) == (False, "", False)


def test_new_feeds_are_added_and_missing_ones_wait_for_a_decision(alice: Person, site: Publisher) -> None:
    a, b, c = feed_urls(site, "a", "b", "c")
    followed = follow(alice, site, a, b)
    site.serve(PATH, opml(b, c))

    shown = check(alice, followed)

    assert {*by_url(alice)} == {a, b, c}
    assert [(one["feed_url"], one["starred"]) for one in shown["removals"]] == [(a, 0)]
    # It is named again: there is nothing left to decide.
    site.serve(PATH, opml(a, b, c))
    assert check(alice, followed)["removals"] == []


def test_a_feed_goes_when_its_user_agrees_and_stays_otherwise(alice: Person, site: Publisher) -> None:
    a, b, c = feed_urls(site, "a", "b", "c")
    followed = follow(alice, site, a, b, c)
    ids = {url: one["id"] for url, one in by_url(alice).items()}
    site.serve(PATH, opml(c))
    check(alice, followed)

    path = f"/v1/opml-subscriptions/{followed['id']}/removals"
    shown = alice.post(path, {"remove": [ids[a]], "keep": [ids[b]]}, status=201)

    assert (shown["removals"], shown["feed_count"]) == ([], 1)
    assert {*by_url(alice)} == {b, c}
    assert check(alice, followed)["removals"] == []
    problem = alice.post(path, {"remove": [ids[c]]}, status=400)
    assert problem["error_message"] == f"remove: the list has not dropped feed {ids[c]}."


def test_starred_entries_are_not_deleted_unless_that_is_said(alice: Person, site: Publisher) -> None:
    a, b = feed_urls(site, "a", "b")
    followed = follow(alice, site, a, b)
    feed_id = by_url(alice)[a]["id"]
    star_an_entry(alice, feed_id)
    site.serve(PATH, opml(b))
    assert check(alice, followed)["removals"][0]["starred"] == 1

    path = f"/v1/opml-subscriptions/{followed['id']}/removals"
    problem = alice.post(path, {"remove": [feed_id]}, status=400)

    assert problem["error_message"].startswith(f"with_starred: feed {feed_id} (Feed 0) has 1 starred entries")
    assert {*by_url(alice)} == {a, b}
    alice.post(path, {"remove": [feed_id], "with_starred": True}, status=201)
    assert {*by_url(alice)} == {b}


def test_feeds_that_were_there_before_or_were_deleted_are_left_alone(alice: Person, site: Publisher) -> None:
    a, b, c = feed_urls(site, "a", "b", "c")
    own = alice.post("/v1/feeds", {"feed_url": a})["feed_id"]
    followed = follow(alice, site, a, b, c)
    assert followed["feed_count"] == 2
    alice.delete(f"/v1/feeds/{by_url(alice)[b]['id']}")
    # The next answer differs, so that it is read.
    site.serve(PATH, opml(a, b, c, title="Port"))
    check(alice, followed)
    assert {*by_url(alice)} == {a, c}

    site.serve(PATH, opml(c))

    assert check(alice, followed)["removals"] == []
    assert by_url(alice)[a]["id"] == own


def test_an_unchanged_list_is_not_sent_again(alice: Person, site: Publisher) -> None:
    urls = feed_urls(site, "a")
    site.script(PATH, *[Answer(opml(*urls), etag='"1"')] * 2)
    followed = alice.post("/v1/opml-subscriptions", {"url": site.url(PATH)}, status=201)

    shown = check(alice, followed)

    assert [one.headers.get("if-none-match") for one in site.requests_for(PATH)] == [None, '"1"']
    assert (shown["error_message"], shown["removals"]) == ("", [])


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        (Answer("gone", status=500), "500"),
        (Answer("<html><body>Moved</body></html>"), "not an OPML document"),
        (Answer(opml()), "there are no feeds in the document"),
    ],
)
def test_a_list_that_fails_keeps_its_feeds_and_says_why(
    alice: Person, site: Publisher, answer: Answer, reason: str
) -> None:
    urls = feed_urls(site, "a")
    followed = follow(alice, site, *urls)
    site.script(PATH, answer)

    shown = check(alice, followed)

    assert reason in shown["error_message"]
    assert shown["removals"] == []
    assert {*by_url(alice)} == {*urls}
    site.serve(PATH, opml(*urls))
    assert check(alice, followed)["error_message"] == ""


def test_a_list_that_cannot_be_followed_changes_nothing(alice: Person, site: Publisher) -> None:
    before = alice.get("/v1/categories")
    url = site.serve(PATH, "<html></html>")

    problem = alice.post("/v1/opml-subscriptions", {"url": url}, status=400)

    assert "not an OPML document" in problem["error_message"]
    assert alice.get("/v1/categories") == before
    follow(alice, site, *feed_urls(site, "a"))
    assert alice.post("/v1/opml-subscriptions", {"url": url}, status=400)["error_message"] == (
        "url: you follow this list already."
    )
    for wrong in ("", "nowhere", "https://me:secret@lists.example/"):
        assert alice.post("/v1/opml-subscriptions", {"url": wrong}, status=400)["error_message"].startswith("url: ")


def test_the_feeds_stay_when_a_subscription_ends(alice: Person, bob: Person, site: Publisher) -> None:
    urls = feed_urls(site, "a")
    followed = follow(alice, site, *urls)
    path = f"/v1/opml-subscriptions/{followed['id']}"
    bob.delete(path, status=404)

    alice.delete(path)

    assert alice.get("/v1/opml-subscriptions") == []
    assert {*by_url(alice)} == {*urls}


def test_deleting_the_category_ends_the_subscription(alice: Person, site: Publisher) -> None:
    followed = follow(alice, site, *feed_urls(site, "a"))

    alice.delete(f"/v1/categories/{followed['category_id']}")

    assert alice.get("/v1/opml-subscriptions") == []
    assert alice.get("/v1/feeds") == []


# Deciding


def listed(*urls: str) -> list[OpmlSubscription]:
    return [OpmlSubscription(1, (), {"feed_url": url}) for url in urls]


def test_a_list_brings_a_limited_number_of_feeds() -> None:
    known = [ListedFeed(f"https://old.example/{number}", number, None) for number in range(MAX_FEEDS - 1)]
    urls = [row.url for row in known]

    change = compare(known, listed(*urls, "https://new.example/1", "https://new.example/2"))

    assert ([*change.new], change.left_out) == (["https://new.example/1"], 1)
    assert (change.gone, change.back, change.forgotten) == ([], [], [])


def test_what_a_list_drops_waits_once_and_is_forgotten_without_a_feed() -> None:
    known = [
        ListedFeed("https://a.example/", 1, None),
        ListedFeed("https://b.example/", 2, Instant(5)),
        ListedFeed("https://c.example/", None, None),
        ListedFeed("https://d.example/", 4, Instant(5)),
    ]

    change = compare(known, listed("https://d.example/", "https://e.example/", "https://e.example/"))

    assert change.gone == ["https://a.example/"]
    assert change.forgotten == ["https://c.example/"]
    assert change.back == ["https://d.example/"]
    assert [*change.new] == ["https://e.example/"]


def test_a_failing_list_is_checked_less_often() -> None:
    waits = [wait_after(failures) for failures in (0, 1, 2, 3, 100)]

    assert waits == sorted(waits)
    assert waits[-1] == waits[-2]
