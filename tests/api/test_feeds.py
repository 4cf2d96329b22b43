"""Feeds: reading, creating, changing and deleting them."""

from __future__ import annotations

from typing import Any

import pytest

from support.people import Person, rss
from support.publisher import Endless, Publisher
from tidings.domain.feeds.feed_settings import ALL_FEED_SETTINGS, SWITCHES

FIELDS = {
    "id", "user_id", "feed_url", "site_url", "title", "description", "language", "checked_at", "next_check_at",
    "etag_header", "last_modified_header", "parsing_error_message", "parsing_error_count", "category",
    "category_ids", "icon",
    *(one.name for one in ALL_FEED_SETTINGS),
}  # fmt: skip

GOOD_RULES = {
    "scraper_rules": "article, .content",
    "rewrite_rules": 'nl2br,replace("a"|"b")',
    "urlrewrite_rules": 'rewrite("^http:"|"https:")',
    "blocklist_rules": "(?i)sponsored",
    "keeplist_rules": "news",
    "block_filter_entry_rules": "EntryTitle=(?i)ad\nEntryDate=max-age:30d\n",
    "keep_filter_entry_rules": "EntryURL=/news/",
}
BAD_RULES = [
    {"blocklist_rules": "("},
    {"keeplist_rules": "(?=x)"},
    {"block_filter_entry_rules": "Title=x"},
    {"block_filter_entry_rules": "EntryTitle"},
    {"keep_filter_entry_rules": "EntryTitle="},
    {"keep_filter_entry_rules": "EntryTitle=["},
    {"urlrewrite_rules": "replace"},
    {"urlrewrite_rules": 'rewrite("("|"x")'},
    {"urlrewrite_rules": 'rewrite("a"|"b")rewrite("c"|"d")'},
    {"rewrite_rules": "no_such_rule"},
    {"rewrite_rules": 'replace("a")'},
    {"rewrite_rules": "remove"},
    {"rewrite_rules": 'replace("("|"x")'},
    {"rewrite_rules": 'replace("a'},
    {"proxy_url": "ftp://proxy"},
    {"proxy_url": "proxy:8080"},
]

BAD_INTERVALS: list[dict[str, Any]] = [
    {"check_interval_minutes": minutes} for minutes in (-1, 1, 4, 43_201, 2**40, 30.5, "30", True)
]


def test_a_feed_has_every_field_of_the_contract(alice: Person, site: Publisher) -> None:
    feed = alice.has_feed(site)

    assert set(feed) == FIELDS
    assert feed["icon"] is None
    assert feed["category"]["title"] == "All"
    nullable = {name for name, value in feed.items() if value is None}
    assert nullable == {"icon", "keep_read_days", "keep_unread_days"}


def test_creating_answers_201_with_the_id_and_all_entries_unread(alice: Person, site: Publisher) -> None:
    feed = alice.has_feed(site, ["Newest", "Middle", "Oldest"])

    entries = alice.entries(order="id")
    assert [(entry["title"], entry["status"]) for entry in entries] == [
        ("Oldest", "unread"), ("Middle", "unread"), ("Newest", "unread")
    ]  # fmt: skip
    assert alice.get("/v1/feeds/counters") == {"reads": {}, "unreads": {str(feed["id"]): 3}}
    assert feed["checked_at"] < feed["next_check_at"]


def test_validators_of_the_first_response_are_stored(alice: Person, site: Publisher) -> None:
    site.serve("/tagged.xml", rss(["a"], "http://x.test"), etag='"7"', last_modified="Sat, 21 Nov 2026 08:00:00 GMT")
    created = alice.post("/v1/feeds", {"feed_url": site.url("/tagged.xml")})

    feed = alice.get(f"/v1/feeds/{created['feed_id']}")

    assert (feed["etag_header"], feed["last_modified_header"]) == ('"7"', "Sat, 21 Nov 2026 08:00:00 GMT")


@pytest.mark.parametrize("category", [None, 0, "left out"])
def test_without_a_category_it_goes_into_the_first_by_title(alice: Person, site: Publisher, category: Any) -> None:
    first = alice.has_category("Aardvark")
    fields = {} if category == "left out" else {"category_id": category}

    assert alice.has_feed(site, **fields)["category"]["id"] == first["id"]


@pytest.mark.parametrize("written", [" {url}\n", "feed:{url}", "feed://{url}", "feed://{rest}", "\ufeff{url}"])
def test_blanks_and_the_feed_scheme_before_the_url_are_removed(alice: Person, site: Publisher, written: str) -> None:
    url = site.serve("/feed.xml", rss(["One"], "/feed.xml"))

    typed = written.format(url=url, rest=url.removeprefix("http://"))

    assert [found["url"] for found in alice.post("/v1/discover", {"url": typed}, status=200)] == [url]
    created = alice.post("/v1/feeds", {"feed_url": typed}, status=201)

    assert alice.get(f"/v1/feeds/{created['feed_id']}")["feed_url"] == url


def test_blanks_in_the_path_are_encoded(alice: Person, site: Publisher) -> None:
    url = site.serve("/a%20b.xml", rss(["One"], "/a%20b.xml"))

    created = alice.post("/v1/feeds", {"feed_url": url.replace("%20", " ")}, status=201)
    path = f"/v1/feeds/{created['feed_id']}"

    assert alice.get(path)["feed_url"] == url
    alice.put(path, {"feed_url": f" {url.replace('%20', ' ')}", "site_url": "http://example.org/ä b"}, status=201)
    assert alice.get(path)["feed_url"] == url
    assert alice.get(path)["site_url"] == "http://example.org/ä%20b"


def test_credentials_are_not_sent_without_tls_unless_asked_for(alice: Person, site: Publisher) -> None:
    rest = site.serve("/feed.xml", rss(["One"], "/feed.xml")).removeprefix("http://")

    for secret in ({"username": "a", "password": "b"}, {"cookie": "id=1"}):
        alice.post("/v1/feeds", {"feed_url": f"feed://{rest}", **secret}, status=500)
        alice.post("/v1/discover", {"url": f"feed://{rest}", **secret}, status=500)

    assert site.requests == []


@pytest.mark.parametrize(("path", "field"), [("/v1/feeds", "feed_url"), ("/v1/discover", "url")])
@pytest.mark.parametrize(("status", "reason"), [(401, "username and password"), (404, "404")])
def test_a_site_without_tls_fails_for_the_reason_that_it_gave(
    alice: Person, site: Publisher, path: str, field: str, status: int, reason: str
) -> None:
    rest = site.serve("/feed.xml", "no", status=status).removeprefix("http://")

    answer = alice.call("POST", path, {field: f"feed://{rest}"})

    assert answer.status == 500
    assert reason in answer.error


def test_a_site_without_tls_whose_feed_is_known_is_400(alice: Person, site: Publisher) -> None:
    url = alice.has_feed(site)["feed_url"]

    answer = alice.call("POST", "/v1/feeds", {"feed_url": url.replace("http:", "feed:")})

    assert answer.status == 400
    assert "already" in answer.error


def test_a_site_that_answers_neither_https_nor_http_fails_for_the_reason_of_https(alice: Person) -> None:
    with Publisher(tls=True) as site:
        answer = alice.call("POST", "/v1/feeds", {"feed_url": site.url("/feed.xml").replace("https:", "feed:")})

    assert answer.status == 500
    assert "certificate" in answer.error


INVALID_REQUESTS: list[dict[str, Any]] = [
        {}, {"feed_url": ""}, {"feed_url": None}, {"feed_url": "example.org/feed"}, {"feed_url": "ftp://example.org"},
        {"feed_url": "/feed.xml"}, {"feed_url": "http://exam ple.org"}, {"feed_url": "http://"},
        {"feed_url": "http://" + "a" * 3000}, {"feed_url": "http://example.org:99999/"}, {"feed_url": 7},
        {"feed_url": "http://example.org", "category_id": -1},
        {"feed_url": "http://example.org", "category_id": 2147483000},
        {"feed_url": "http://example.org", "category_id": 9223372036854775807},
        *({"feed_url": "http://example.org", **rules} for rules in BAD_RULES),
        *({"feed_url": "http://example.org", **interval} for interval in BAD_INTERVALS),
]  # fmt: skip


@pytest.mark.one_engine
def test_an_invalid_request_is_400_before_anything_is_fetched(alice: Person) -> None:
    for body in INVALID_REQUESTS:
        answer = alice.call("POST", "/v1/feeds", body)

        assert answer.status == 400, body
        assert answer.error, body
    assert alice.get("/v1/feeds") == []


def test_a_second_subscription_to_the_same_url_is_400(alice: Person, bob: Person, site: Publisher) -> None:
    feed = alice.has_feed(site)

    assert alice.call("POST", "/v1/feeds", {"feed_url": feed["feed_url"]}).status == 400
    assert bob.call("POST", "/v1/feeds", {"feed_url": feed["feed_url"]}).status == 201


def test_a_redirect_to_a_known_feed_is_400(alice: Person, site: Publisher) -> None:
    feed = alice.has_feed(site)
    for status in (301, 302):
        site.redirect(f"/moved-{status}", to=feed["feed_url"], status=status)
        assert alice.call("POST", "/v1/feeds", {"feed_url": site.url(f"/moved-{status}")}).status == 400


def test_only_a_permanent_redirect_replaces_the_given_url(alice: Person, site: Publisher) -> None:
    site.serve("/real.xml", rss(["a"], "http://x.test"))
    site.redirect("/for-good", to="/real.xml", status=301)
    site.serve("/other.xml", rss(["a"], "http://x.test"))
    site.redirect("/for-now", to="/other.xml", status=302)

    urls = []
    for path in ("/for-good", "/for-now"):
        created = alice.post("/v1/feeds", {"feed_url": site.url(path)})
        urls.append(alice.get(f"/v1/feeds/{created['feed_id']}")["feed_url"])

    assert urls == [site.url("/real.xml"), site.url("/for-now")]


@pytest.mark.parametrize(
    "document",
    ["<html><body>No feed here</body></html>", "", "plain words", "<?xml version='1.0'?><other/>", "{broken"],
)
def test_a_document_that_is_no_feed_is_400_and_stores_nothing(alice: Person, site: Publisher, document: str) -> None:
    site.serve("/page", document)

    answer = alice.call("POST", "/v1/feeds", {"feed_url": site.url("/page")})

    assert answer.status == 400
    assert answer.error
    assert alice.get("/v1/feeds") == []


@pytest.mark.parametrize("status", [401, 403, 404, 410, 429, 500, 503])
def test_a_site_that_refuses_is_500(alice: Person, site: Publisher, status: int) -> None:
    site.serve("/feed.xml", "no", status=status)

    answer = alice.call("POST", "/v1/feeds", {"feed_url": site.url("/feed.xml")})

    assert answer.status == 500
    assert answer.error
    assert alice.get("/v1/feeds") == []


def test_a_site_that_cannot_be_reached_is_500(alice: Person) -> None:
    for url in ("http://127.0.0.1:1/feed", "http://no-such-host.invalid/feed"):
        assert alice.call("POST", "/v1/feeds", {"feed_url": url}).status == 500


def test_a_feed_without_entries_or_title_is_accepted(alice: Person, site: Publisher) -> None:
    site.serve("/bare.xml", "<rss version='2.0'><channel/></rss>")

    created = alice.post("/v1/feeds", {"feed_url": site.url("/bare.xml")})

    assert alice.get(f"/v1/feeds/{created['feed_id']}")["title"] == site.url("/bare.xml")


def test_credentials_in_the_url_move_out_of_it(alice: Person, site: Publisher) -> None:
    site.serve("/feed.xml", rss(["a"], "http://x.test"))

    created = alice.post("/v1/feeds", {"feed_url": site.url("/feed.xml").replace("://", "://me:p%40ss@")})

    feed = alice.get(f"/v1/feeds/{created['feed_id']}")
    assert (feed["feed_url"], feed["username"], feed["password"]) == (site.url("/feed.xml"), "me", "p@ss")
    assert site.last.headers["authorization"].startswith("Basic ")


def test_all_settings_given_at_creation_are_stored(alice: Person, site: Publisher) -> None:
    # One of the two ways to fetch a feed; test_feed_settings has the other one.
    flags = {name: name != "fetch_via_flaresolverr" for name in SWITCHES}
    wanted = {**flags, **GOOD_RULES, "user_agent": "Me/1", "cookie": "a=b", "username": "u", "password": "p"}

    feed = alice.has_feed(site, **wanted)

    assert {name: feed[name] for name in wanted} == wanted
    assert site.requests[0].headers["user-agent"] == "Me/1"
    assert site.requests[0].headers["cookie"] == "a=b"


def test_feeds_are_listed_with_the_failing_first_and_then_by_title(alice: Person, site: Publisher) -> None:
    for title in ("b", "A", "c"):
        site.serve(f"/{title}.xml", rss(["x"], "http://x.test", title=title))
        alice.post("/v1/feeds", {"feed_url": site.url(f"/{title}.xml")})
    site.serve("/c.xml", "gone", status=500)
    failing = next(feed for feed in alice.get("/v1/feeds") if feed["title"] == "c")
    assert alice.call("PUT", f"/v1/feeds/{failing['id']}/refresh").status == 500

    assert [feed["title"] for feed in alice.get("/v1/feeds")] == ["c", "A", "b"]


def test_the_feeds_of_a_category_and_of_an_unknown_one(alice: Person, site: Publisher) -> None:
    category = alice.has_category()
    inside = alice.has_feed(site, category_id=category["id"])
    alice.has_feed(site)

    assert [feed["id"] for feed in alice.get(f"/v1/categories/{category['id']}/feeds")] == [inside["id"]]
    assert alice.call("GET", "/v1/categories/2147483000/feeds").status == 404
    assert alice.call("GET", "/v1/categories/0/feeds").status == 400


def test_an_update_answers_201_with_the_feed(alice: Person, site: Publisher) -> None:
    feed = alice.has_feed(site)
    category = alice.has_category()
    wanted = {
        "title": "Mine", "site_url": "https://example.org/", "description": "d", "user_agent": "Me/2", **GOOD_RULES
    }  # fmt: skip

    updated = alice.put(f"/v1/feeds/{feed['id']}", {**wanted, "category_id": category["id"], "id": 5}, status=201)

    assert {name: updated[name] for name in wanted} == wanted
    assert updated["category"]["id"] == category["id"]
    assert updated["id"] == feed["id"]
    assert alice.put(f"/v1/feeds/{feed['id']}", {}, status=201) == updated


def test_entries_move_with_their_feed_into_another_category(alice: Person, site: Publisher) -> None:
    feed, category = alice.has_feed(site), alice.has_category()

    alice.put(f"/v1/feeds/{feed['id']}", {"category": {"id": category["id"]}}, status=201)

    assert alice.get(f"/v1/categories/{category['id']}/entries")["total"] == 2
    assert alice.get(f"/v1/categories/{feed['category']['id']}/entries")["total"] == 0


@pytest.mark.parametrize("name", ["user_agent", "cookie"])
def test_a_header_that_cannot_be_sent_is_not_stored(alice: Person, site: Publisher, name: str) -> None:
    feed = alice.has_feed(site)

    assert alice.put(f"/v1/feeds/{feed['id']}", {name: " pasted \n"}, status=201)[name] == "pasted"
    for value in ("two\nlines", "a\x7f"):
        answer = alice.call("PUT", f"/v1/feeds/{feed['id']}", {name: value})
        assert (answer.status, name in answer.error) == (400, True)
    alice.put(f"/v1/feeds/{feed['id']}/refresh")


def test_rules_are_cleared_by_an_empty_text(alice: Person, site: Publisher) -> None:
    feed = alice.has_feed(site, **GOOD_RULES)

    cleared = alice.put(f"/v1/feeds/{feed['id']}", dict.fromkeys(GOOD_RULES, ""), status=201)

    assert {cleared[name] for name in GOOD_RULES} == {""}


INVALID_UPDATES: list[dict[str, Any]] = [
        {"title": ""}, {"title": " "}, {"feed_url": ""}, {"feed_url": "nowhere"}, {"site_url": ""},
        {"site_url": "javascript:alert(1)"}, {"category_id": 0}, {"category_id": -1}, {"category_id": 2147483000},
        {"disabled": "true"}, {"title": "nul \0"}, *BAD_RULES, *BAD_INTERVALS,
]  # fmt: skip


def test_an_invalid_update_is_400_and_changes_nothing(alice: Person, site: Publisher) -> None:
    feed = alice.has_feed(site)
    for body in INVALID_UPDATES:
        assert alice.call("PUT", f"/v1/feeds/{feed['id']}", {"user_agent": "new", **body}).status == 400, body
        assert alice.get(f"/v1/feeds/{feed['id']}") == feed, body


def test_an_interval_can_be_set_and_removed(alice: Person, site: Publisher) -> None:
    feed = alice.has_feed(site, check_interval_minutes=45)
    path = f"/v1/feeds/{feed['id']}"

    assert feed["check_interval_minutes"] == 45
    assert alice.put(path, {"check_interval_minutes": 5}, status=201)["check_interval_minutes"] == 5
    assert alice.put(path, {"title": "Mine"}, status=201)["check_interval_minutes"] == 5
    assert alice.put(path, {"check_interval_minutes": None}, status=201)["check_interval_minutes"] == 0
    assert alice.put(path, {"check_interval_minutes": 43_200}, status=201)["check_interval_minutes"] == 43_200
    assert alice.put(path, {"check_interval_minutes": 0}, status=201)["check_interval_minutes"] == 0
    assert alice.has_feed(site, check_interval_minutes=None)["check_interval_minutes"] == 0


def test_an_invalid_interval_names_its_field(alice: Person, site: Publisher) -> None:
    feed = alice.has_feed(site)

    answer = alice.call("PUT", f"/v1/feeds/{feed['id']}", {"check_interval_minutes": 3})

    assert (answer.status, "check_interval_minutes" in answer.error) == (400, True)


def test_the_url_of_another_feed_is_400_and_that_of_the_feed_itself_is_accepted(alice: Person, site: Publisher) -> None:
    one, other = alice.has_feed(site), alice.has_feed(site)

    assert alice.call("PUT", f"/v1/feeds/{one['id']}", {"feed_url": other["feed_url"]}).status == 400
    assert alice.call("PUT", f"/v1/feeds/{one['id']}", {"feed_url": one["feed_url"]}).status == 201


def test_a_new_url_clears_the_validators(alice: Person, site: Publisher) -> None:
    site.serve("/tagged.xml", rss(["a"], "http://x.test"), etag='"7"')
    feed_id = alice.post("/v1/feeds", {"feed_url": site.url("/tagged.xml")})["feed_id"]

    moved = alice.put(f"/v1/feeds/{feed_id}", {"feed_url": site.url("/new.xml")}, status=201)

    assert moved["etag_header"] == ""


def test_an_unknown_feed_is_404_after_the_body_was_read(alice: Person) -> None:
    assert alice.call("PUT", "/v1/feeds/2147483000", {"title": ""}).status == 404
    assert alice.call("PUT", "/v1/feeds/2147483000", raw=b"{").status == 400
    assert alice.call("GET", "/v1/feeds/2147483000").status == 404


def test_deleting_a_feed_deletes_its_entries(alice: Person, site: Publisher) -> None:
    feed = alice.has_feed(site)

    alice.delete(f"/v1/feeds/{feed['id']}")

    assert alice.get("/v1/entries") == {"total": 0, "entries": []}
    assert alice.call("DELETE", f"/v1/feeds/{feed['id']}").status == 404


def test_marking_a_feed_read_skips_future_entries_and_other_feeds(alice: Person, site: Publisher) -> None:
    feed, other = alice.has_feed(site), alice.has_feed(site)

    alice.put(f"/v1/feeds/{feed['id']}/mark-all-as-read")
    alice.put(f"/v1/feeds/{feed['id']}/mark-all-as-read")

    assert alice.get("/v1/feeds/counters") == {"reads": {str(feed["id"]): 2}, "unreads": {str(other["id"]): 2}}
    assert alice.call("PUT", "/v1/feeds/2147483000/mark-all-as-read").status == 404


def test_an_endless_body_is_refused(alice: Person, site: Publisher) -> None:
    site.script("/endless.xml", Endless())

    assert alice.call("POST", "/v1/feeds", {"feed_url": site.url("/endless.xml")}).status == 500
    assert alice.get("/v1/me")["id"] == alice.id


def test_a_feed_that_is_sent_back_as_it_was_still_follows_its_publisher(alice: Person, site: Publisher) -> None:
    feed = alice.has_feed(site)
    path = feed["feed_url"].removeprefix(site.url(""))
    sent = {name: feed[name] for name in ("title", "site_url", "description", "crawler", "user_agent")}

    alice.put(f"/v1/feeds/{feed['id']}", {**sent, "hide_globally": True}, status=201)

    site.serve(path, rss(["One"], feed["feed_url"], title="Another name"))
    alice.put(f"/v1/feeds/{feed['id']}/refresh")
    found = alice.get(f"/v1/feeds/{feed['id']}")
    assert (found["title"], found["hide_globally"]) == ("Another name", True)

    alice.put(f"/v1/feeds/{feed['id']}", {"title": "Mine"}, status=201)
    alice.put(f"/v1/feeds/{feed['id']}", {"title": "Mine"}, status=201)
    site.serve(path, rss(["Two"], feed["feed_url"], title="A third name"))
    alice.put(f"/v1/feeds/{feed['id']}/refresh")
    assert alice.get(f"/v1/feeds/{feed['id']}")["title"] == "Mine"
