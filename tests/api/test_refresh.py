"""Refreshing feeds: a publisher's mistake is recorded on the feed, and nowhere else."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from typing import Any

import pytest

from support.people import Person, rss
from support.publisher import Answer, Cut, Drop, Endless, Publisher, Reply, gzip_bomb

LAUGHS = (
    '<?xml version="1.0"?><!DOCTYPE rss [<!ENTITY a "ha">'
    + "".join(f'<!ENTITY {chr(98 + n)} "{f"&{chr(97 + n)};" * 10}">' for n in range(9))
    + "]><rss version='2.0'><channel><title>&j;</title></channel></rss>"
)


def refresh(person: Person, feed: dict[str, Any], status: int = 204) -> dict[str, Any]:
    """The feed afterwards."""
    answer = person.call("PUT", f"/v1/feeds/{feed['id']}/refresh")
    assert answer.status == status, answer.body
    if status != 204:
        assert answer.error
    after: dict[str, Any] = person.get(f"/v1/feeds/{feed['id']}")
    return after


def path_of(feed: dict[str, Any], site: Publisher) -> str:
    return str(feed["feed_url"]).removeprefix(site.url(""))


def minutes_until_next(feed: dict[str, Any]) -> float:
    checked, following = (datetime.fromisoformat(feed[name]) for name in ("checked_at", "next_check_at"))
    return (following - checked).total_seconds() / 60


def test_new_entries_are_unread_and_known_ones_keep_their_state(alice: Person, site: Publisher) -> None:
    feed = alice.has_feed(site, ["One"])
    known = alice.entries()[0]
    alice.put("/v1/entries", {"entry_ids": [known["id"]], "status": "read", "starred": True})
    site.serve(path_of(feed, site), rss(["Two", "One"], feed["feed_url"]))

    refresh(alice, feed)

    assert [(e["title"], e["status"], e["starred"]) for e in alice.entries(order="id")] == [
        ("One", "read", True),
        ("Two", "unread", False),
    ]
    assert alice.get("/v1/feeds/counters") == {"reads": {str(feed["id"]): 1}, "unreads": {str(feed["id"]): 1}}


def test_an_entry_changed_by_the_publisher_is_updated_with_a_new_changed_at(alice: Person, site: Publisher) -> None:
    feed = alice.has_feed(site, ["One", "Two"])
    before = {entry["title"]: entry for entry in alice.entries()}
    site.serve(path_of(feed, site), rss(["One", "Two"], feed["feed_url"]).replace("About One.", "All about One."))

    refresh(alice, feed)

    after = {entry["title"]: entry for entry in alice.entries()}
    assert "All about One." in after["One"]["content"]
    assert after["One"]["changed_at"] > before["One"]["changed_at"]
    kept = ("id", "hash", "status", "published_at", "created_at")
    assert {name: after["One"][name] for name in kept} == {name: before["One"][name] for name in kept}
    assert after["Two"] | {"feed": {}} == before["Two"] | {"feed": {}}


def test_a_refresh_sends_the_stored_validators(alice: Person, site: Publisher) -> None:
    site.serve("/tagged.xml", rss(["a"], "http://x.test"), etag='"7"', last_modified="Sat, 21 Nov 2026 08:00:00 GMT")
    feed = alice.get(f"/v1/feeds/{alice.post('/v1/feeds', {'feed_url': site.url('/tagged.xml')})['feed_id']}")

    after = refresh(alice, feed)

    assert site.last.headers["if-none-match"] == '"7"'
    assert site.last.headers["if-modified-since"] == "Sat, 21 Nov 2026 08:00:00 GMT"
    assert after["etag_header"] == '"7"'
    assert after["checked_at"] > feed["checked_at"]
    assert alice.get("/v1/entries")["total"] == 1


def test_the_rest_of_a_document_that_was_cut_off_comes_with_the_next_check(alice: Person, site: Publisher) -> None:
    url = site.url("/cut.xml")
    one, two = rss(["Two", "One"], url), rss(["Four", "Three", "Two", "One"], url)
    site.serve("/cut.xml", one[: one.index("About One")], etag='"1"')
    feed_id = alice.post("/v1/feeds", {"feed_url": url})["feed_id"]
    assert [entry["title"] for entry in alice.entries()] == ["Two"]

    site.serve("/cut.xml", one, etag='"1"')
    alice.put(f"/v1/feeds/{feed_id}/refresh")
    assert {entry["title"] for entry in alice.entries()} == {"One", "Two"}

    # Cut off twice in the same place, so that the second document is the one before.
    site.serve("/cut.xml", two[: two.index("About Three")], etag='"2"')
    for _ in range(2):
        alice.put(f"/v1/feeds/{feed_id}/refresh")
        assert {entry["title"] for entry in alice.entries()} == {"One", "Two", "Four"}
    site.serve("/cut.xml", two, etag='"2"')
    alice.put(f"/v1/feeds/{feed_id}/refresh")
    assert {entry["title"] for entry in alice.entries()} == {"One", "Two", "Three", "Four"}


@pytest.mark.parametrize(
    "rules",
    [
        {"blocklist_rules": "Two"},
        {"keeplist_rules": "One"},
        {"block_filter_entry_rules": "EntryTitle=Two"},
        {"keep_filter_entry_rules": "EntryTitle=One"},
    ],
)
def test_an_entry_that_is_not_blocked_any_more_comes_from_the_unchanged_document(
    alice: Person, site: Publisher, rules: dict[str, str]
) -> None:
    site.serve("/same.xml", rss(["Two", "One"], site.url("/same.xml")), etag='"a"')
    feed_id = alice.post("/v1/feeds", {"feed_url": site.url("/same.xml"), **rules})["feed_id"]
    assert [entry["title"] for entry in alice.entries()] == ["One"]

    alice.put(f"/v1/feeds/{feed_id}", dict.fromkeys(rules, ""), status=201)
    alice.put(f"/v1/feeds/{feed_id}/refresh")

    assert {entry["title"] for entry in alice.entries()} == {"One", "Two"}


@pytest.mark.parametrize("is_new_version", [True, False], ids=["a changed document", "an unchanged one"])
def test_rules_that_are_changed_during_a_check_apply_to_the_next(
    alice: Person, site: Publisher, *, is_new_version: bool
) -> None:
    url, first = site.url("/same.xml"), rss(["Two", "One"], site.url("/same.xml"))
    site.serve("/same.xml", first, etag='"a"')
    feed_id = alice.post("/v1/feeds", {"feed_url": url, "blocklist_rules": "Two"})["feed_id"]

    def change_rules(_request: object) -> Answer:
        alice.put(f"/v1/feeds/{feed_id}", {"blocklist_rules": ""}, status=201)
        return last

    last = Answer(rss(["Three", "Two", "One"], url), etag='"b"') if is_new_version else Answer(first, etag='"a"')
    site.script("/same.xml", change_rules, last)
    for _ in range(2):
        alice.put(f"/v1/feeds/{feed_id}/refresh")

    assert "Two" in {entry["title"] for entry in alice.entries()}


def test_rules_of_the_user_apply_to_unchanged_documents_of_all_feeds(
    alice: Person, bob: Person, site: Publisher
) -> None:
    me, rules = alice.get("/v1/me")["id"], {"block_filter_entry_rules": "EntryTitle=Two"}
    alice.put(f"/v1/users/{me}", rules, status=201)
    for path in ("/1.xml", "/2.xml"):
        site.serve(path, rss(["Two", "One"], site.url(path)), etag='"a"')
        alice.post("/v1/feeds", {"feed_url": site.url(path)})
    of_bob = bob.post("/v1/feeds", {"feed_url": site.url("/1.xml")})["feed_id"]

    alice.put(f"/v1/users/{me}", dict.fromkeys(rules, ""), status=201)
    for feed in alice.get("/v1/feeds"):
        alice.put(f"/v1/feeds/{feed['id']}/refresh")

    assert sorted(entry["title"] for entry in alice.entries()) == ["One", "One", "Two", "Two"]
    assert bob.get(f"/v1/feeds/{of_bob}")["etag_header"] == '"a"', "feeds of others are as they were"


def test_validators_are_not_sent_if_the_feed_ignores_the_http_cache(alice: Person, site: Publisher) -> None:
    site.serve("/tagged.xml", rss(["a"], "http://x.test"), etag='"7"')
    body = {"feed_url": site.url("/tagged.xml"), "ignore_http_cache": True}
    refresh(alice, {"id": alice.post("/v1/feeds", body)["feed_id"]})

    assert "if-none-match" not in site.last.headers


def test_validators_are_updated_by_each_response(alice: Person, site: Publisher) -> None:
    site.script(
        "/feed.xml",
        Answer(rss(["a"], "http://x.test"), etag='"1"'),
        Answer(rss(["b", "a"], "http://x.test")),
    )
    feed = {"id": alice.post("/v1/feeds", {"feed_url": site.url("/feed.xml")})["feed_id"]}

    assert refresh(alice, feed)["etag_header"] == ""


@pytest.mark.parametrize(
    ("headers", "extra", "minutes"),
    [
        ({}, "<ttl>1080</ttl>", 1080),
        ({}, "<ttl>99999</ttl>", 1440),
        ({"Cache-Control": "max-age=64800"}, "", 1080),
        ({"Cache-Control": "MAX-AGE=64800"}, "", 1080),
        ({"Cache-Control": "max-age=64800", "Age": "1800"}, "", 1050),
        ({"Cache-Control": "max-age=999999"}, "", 1440),
        ({"Cache-Control": "max-age=7200"}, "<ttl>1080</ttl>", 1080),
        ({"Retry-After": "64800"}, "", 1080),
    ],
)
def test_the_next_check_is_not_before_the_time_the_publisher_asks_for(
    alice: Person, site: Publisher, headers: dict[str, str], extra: str, minutes: float
) -> None:
    feed = alice.has_feed(site)
    site.serve(path_of(feed, site), rss(["New"], feed["feed_url"], extra=extra), headers=headers)

    assert minutes - 0.1 <= minutes_until_next(refresh(alice, feed)) <= minutes + 1


def test_without_hints_the_next_check_follows_the_publish_rate(alice: Person, site: Publisher) -> None:
    feed = alice.has_feed(site)
    site.serve(path_of(feed, site), rss(["New"], feed["feed_url"], extra="<ttl>5</ttl>"))

    assert 5 <= minutes_until_next(refresh(alice, feed)) <= 1440


@pytest.mark.slow
@pytest.mark.parametrize(
    "reply",
    [
        *(Answer("no", status=status) for status in (401, 403, 404, 410, 500, 502, 504, 418)),
        Answer(""),
        Answer("<html><body>Moved.</body></html>"),
        Answer("{not json"),
        Endless(),
        # Made before the feed is asked for: it takes seconds on a busy machine, and would end in a time-out.
        lambda: gzip_bomb(200 * 2**20),
    ],
    ids=lambda reply: f"{type(reply).__name__}-{getattr(reply, 'status', '')}-{len(getattr(reply, 'body', ''))}",
)
def test_a_failed_refresh_is_500_and_leaves_the_feed_as_it_was_with_its_error(
    alice: Person, site: Publisher, reply: Reply | Callable[[], Reply]
) -> None:
    feed = alice.has_feed(site)
    site.script(path_of(feed, site), reply() if callable(reply) else reply)

    first = refresh(alice, feed, 500)
    second = refresh(alice, feed, 500)

    assert (first["parsing_error_count"], second["parsing_error_count"]) == (1, 2)
    assert first["parsing_error_message"]
    assert minutes_until_next(first) == pytest.approx(60, rel=0.11)
    assert minutes_until_next(second) == pytest.approx(120, rel=0.11)
    assert alice.get("/v1/entries")["total"] == 2
    assert second["title"] == feed["title"]


@pytest.mark.parametrize(
    "reply",
    [
        Answer("no", status=429),
        Answer("no", status=503),
        Cut("<rss><channel>" + " " * 1000, after=20),
        Drop(),
    ],
    ids=lambda reply: f"{type(reply).__name__}-{getattr(reply, 'status', '')}",
)
def test_a_temporary_failure_is_returned_but_not_counted(alice: Person, site: Publisher, reply: Reply) -> None:
    feed = alice.has_feed(site)
    site.script(path_of(feed, site), reply)

    failed = refresh(alice, feed, 500)

    assert failed["parsing_error_count"] == 0
    assert failed["parsing_error_message"]
    assert minutes_until_next(failed) == pytest.approx(60, rel=0.11)


def test_a_redirect_that_never_ends_is_500(alice: Person, site: Publisher) -> None:
    feed = alice.has_feed(site)
    site.redirect(path_of(feed, site), to=path_of(feed, site))

    assert "in a loop" in refresh(alice, feed, 500)["parsing_error_message"]


def test_an_entity_expansion_bomb_is_harmless(alice: Person, site: Publisher) -> None:
    feed = alice.has_feed(site)
    site.serve(path_of(feed, site), LAUGHS)

    alice.call("PUT", f"/v1/feeds/{feed['id']}/refresh")

    assert len(alice.get(f"/v1/feeds/{feed['id']}")["title"]) < 1000
    assert alice.get("/v1/entries")["total"] == 2


def test_a_success_clears_the_errors_and_so_does_any_edit(alice: Person, site: Publisher) -> None:
    feed = alice.has_feed(site)
    good = rss(["One", "Two"], feed["feed_url"])
    site.serve(path_of(feed, site), "no", status=500)
    refresh(alice, feed, 500)
    site.serve(path_of(feed, site), good)

    succeeded = refresh(alice, feed)

    assert (succeeded["parsing_error_count"], succeeded["parsing_error_message"]) == (0, "")
    site.serve(path_of(feed, site), "no", status=500)
    refresh(alice, feed, 500)
    edited = alice.put(f"/v1/feeds/{feed['id']}", {}, status=201)
    assert (edited["parsing_error_count"], edited["parsing_error_message"]) == (0, "")


def test_retry_after_is_honoured(alice: Person, site: Publisher) -> None:
    feed = alice.has_feed(site)
    site.serve(path_of(feed, site), "later", status=429, headers={"Retry-After": "7200"})

    assert minutes_until_next(refresh(alice, feed, 500)) == pytest.approx(120, abs=1)


def test_a_429_to_one_user_does_not_stop_another(alice: Person, bob: Person, site: Publisher) -> None:
    feed, other = alice.has_feed(site), bob.has_feed(site)
    site.serve(path_of(feed, site), "later", status=429, headers={"Retry-After": "7200"})
    refresh(alice, feed, 500)

    refresh(bob, other)

    answer = bob.call("PUT", f"/v1/feeds/{other['id']}/refresh")
    assert answer.status == 500
    assert "once a minute" in answer.error


def test_a_redirect_onto_another_own_feed_is_an_error(alice: Person, site: Publisher) -> None:
    one, other = alice.has_feed(site), alice.has_feed(site)
    site.redirect(path_of(one, site), to=other["feed_url"], status=301)

    failed = refresh(alice, one, 500)

    assert failed["feed_url"] == one["feed_url"]
    assert failed["parsing_error_count"] == 1


def test_a_permanent_redirect_is_stored_after_the_third_time(alice: Person, site: Publisher) -> None:
    feed = alice.has_feed(site)
    site.serve("/new.xml", rss(["x"], feed["feed_url"]))
    site.redirect(path_of(feed, site), to="/new.xml", status=308)

    urls = [refresh(alice, feed)["feed_url"] for _ in range(3)]

    assert urls == [feed["feed_url"], feed["feed_url"], site.url("/new.xml")]


def test_a_permanent_redirect_that_ends_is_not_stored(alice: Person, site: Publisher) -> None:
    feed = alice.has_feed(site)
    site.serve("/new.xml", rss(["x"], feed["feed_url"]))
    for _ in range(2):
        site.redirect(path_of(feed, site), to="/new.xml", status=301)
        refresh(alice, feed)
        refresh(alice, feed)
        site.redirect(path_of(feed, site), to="/new.xml", status=302)

        assert refresh(alice, feed)["feed_url"] == feed["feed_url"]


def test_a_feed_that_returns_410_is_not_checked_any_more(alice: Person, site: Publisher) -> None:
    feed = alice.has_feed(site)
    site.serve(path_of(feed, site), "gone", status=410)

    gone = refresh(alice, feed, 500)

    assert gone["disabled"]
    assert "410" in gone["parsing_error_message"]
    assert "until you switch it on again" in gone["parsing_error_message"]
    enabled = alice.put(f"/v1/feeds/{feed['id']}", {"disabled": False}, status=201)
    assert (enabled["disabled"], enabled["parsing_error_message"]) == (False, "")


def test_a_disabled_feed_can_still_be_refreshed_by_hand(alice: Person, site: Publisher) -> None:
    feed = alice.has_feed(site, disabled=True)

    assert refresh(alice, feed)["checked_at"] > feed["checked_at"]


def test_title_and_site_follow_the_publisher_until_the_user_sets_them(alice: Person, site: Publisher) -> None:
    feed = alice.has_feed(site)
    site.serve(path_of(feed, site), rss(["x"], feed["feed_url"], title="New name"))
    assert refresh(alice, feed)["title"] == "New name"

    alice.put(f"/v1/feeds/{feed['id']}", {"title": "Mine"}, status=201)
    site.serve(path_of(feed, site), rss(["y"], feed["feed_url"], title="Newer name"))

    assert refresh(alice, feed)["title"] == "Mine"


def test_a_document_without_title_and_site_does_not_replace_them(alice: Person, site: Publisher) -> None:
    feed = alice.has_feed(site)
    site.serve(path_of(feed, site), "<rss><channel><item><title>New</title><guid>new</guid></item></channel></rss>")

    after = refresh(alice, feed)

    assert (after["title"], after["site_url"]) == (feed["title"], feed["site_url"])
    assert "New" in {entry["title"] for entry in alice.entries()}


def test_a_feed_named_after_its_address_gets_a_title_later(alice: Person, site: Publisher) -> None:
    item, url = "<item><title>One</title><guid>1</guid></item>", site.url("/nameless.xml")
    site.serve("/nameless.xml", f"<rss><channel>{item}</channel></rss>")
    alice.post("/v1/feeds", {"feed_url": url})
    (feed,) = alice.get("/v1/feeds")
    assert (feed["title"], feed["site_url"]) == (url, url)

    site.serve("/nameless.xml", f"<rss><channel><link>https://a.example/</link>{item}</channel></rss>")
    assert refresh(alice, feed)["title"] == "https://a.example/"
    site.serve("/nameless.xml", f"<rss><channel><title>Name</title>{item}</channel></rss>")
    after = refresh(alice, feed)
    assert (after["title"], after["site_url"]) == ("Name", "https://a.example/")


def test_unknown_feeds_cannot_be_refreshed(alice: Person) -> None:
    assert alice.call("PUT", "/v1/feeds/2147483000/refresh").status == 404
    assert alice.call("PUT", "/v1/feeds/x/refresh").status == 400


def test_refreshing_all_answers_at_once_and_empty(alice: Person) -> None:
    answer = alice.call("PUT", "/v1/feeds/refresh")

    assert (answer.status, answer.body) == (204, b"")
