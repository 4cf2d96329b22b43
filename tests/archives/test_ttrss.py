"""Accounts of a running Tiny Tiny RSS move over its JSON API, which a server of our own speaks here."""

from __future__ import annotations

import json
from hashlib import sha256
from typing import Any

import pytest

from support.people import Person
from support.publisher import Answer, Publisher
from support.ttrss import PAGE, SESSION, Ttrss
from tidings.archives.import_runs import AccountImportReport
from tidings.archives.readers.ttrss_source import TtrssSource
from tidings.base.errors import InvalidInput
from tidings.net.errors import FetchError
from tidings.net.guard import AddressGuard
from tidings.storage.entries import labels
from tidings.wiring.services import AllServices


def _article(id_: int, **values: Any) -> dict[str, Any]:
    return {
        "id": id_,
        "guid": json.dumps({"ver": 2, "uid": 1, "hash": f"SHA1:{id_:040}"}),
        "unread": False,
        "marked": False,
        "published": False,
        "updated": 1_714_979_289,
        "title": f"Entry {id_:05}",
        "link": f"https://rain.example/{id_}",
        "feed_id": "7",
        "tags": [""],
        "labels": [],
        "attachments": [],
        "content": "<p>Rain<script>x()</script></p>",
        "author": "Ann",
        "comments_link": "",
        "lang": "en",
        "note": None,
        **values,
    }


FEED = {
    "id": 7,
    "feed_url": "https://rain.example/feed",
    "title": "Rain &amp; snow",
    "cat_id": 3,
    "update_interval": 60,
}


def _serve(site: Publisher, api: Ttrss) -> str:
    site.script("/tt-rss/api/", api)
    return site.url("/tt-rss")


def _import(services: AllServices, person: Person, url: str, password: str = "pässword") -> AccountImportReport:
    user = services.accounts.users.find(person.user.username)
    guard = AddressGuard(allow_private_networks=True)
    with TtrssSource(url, "ann", password, guard=guard) as source:
        return services.archives.foreign_import.store(user, source, lambda _done, _total: None)


def test_an_account_moves_with_its_state(bob: Person, site: Publisher, services: AllServices) -> None:
    attachment = {"id": "1", "content_url": "https://rain.example/a.mp3", "content_type": "audio/mpeg", "duration": "9"}
    api = Ttrss(
        categories=[{"id": "3", "title": "Weather"}, {"id": 4, "title": "Empty"}],
        feeds=[
            FEED,
            {"id": 8, "feed_url": "https://off.example/feed", "title": "Off", "cat_id": 0, "update_interval": -1},
        ],
        labels=[{"id": -1025, "caption": "Later", "fg_color": "", "bg_color": "", "checked": False}],
        articles={
            7: [
                _article(
                    1, unread=True, tags=["wet", "cold"], attachments=[attachment], comments_link="https://c.example/"
                ),
                _article(2, marked=True, labels=[[-1025, "Later", "", ""]], title="A &lt; B"),
                _article(3, published=True, guid="1,tag:rain.example,2024:3"),
            ],
            0: [_article(4, feed_id=0, marked=True, title=None, link="https://gone.example/4")],
        },
    )

    report = _import(services, bob, _serve(site, api))

    assert (report.new_feeds, report.new_entries, report.problems) == (3, 4, [])
    feeds = {feed["feed_url"]: feed for feed in bob.get("/v1/feeds")}
    rain, off = feeds["https://rain.example/feed"], feeds["https://off.example/feed"]
    assert (rain["title"], rain["category"]["title"], rain["disabled"]) == ("Rain & snow", "Weather", False)
    assert (off["category"]["title"], off["disabled"]) == ("All", True)
    assert feeds["https://tiny-tiny-rss.invalid/saved"]["disabled"]
    assert {"Weather", "Empty"} <= {category["title"] for category in bob.get("/v1/categories")}
    entries = {entry["url"].rpartition("/")[2]: entry for entry in bob.entries()}
    first = entries["1"]
    assert (first["status"], first["starred"], first["tags"]) == ("unread", False, ["wet", "cold"])
    assert (first["author"], first["comments_url"]) == ("Ann", "https://c.example/")
    assert first["published_at"].startswith("2024-05-06T07:08:09")
    assert first["content"] == "<p>Rain</p>"
    assert first["enclosures"][0]["url"] == "https://rain.example/a.mp3"
    assert first["hash"] == sha256(b"https://rain.example/1").hexdigest()
    assert (entries["2"]["status"], entries["2"]["starred"], entries["2"]["title"]) == ("read", True, "A < B")
    assert entries["3"]["hash"] == sha256(b"tag:rain.example,2024:3").hexdigest()
    assert (entries["4"]["starred"], entries["4"]["title"]) == (True, "https://gone.example/4")
    with services.database.reading() as db:
        found = labels.of_entries(db, bob.id, [entries["2"]["id"], entries["3"]["id"]])
    assert [[label.name for label in each] for each in found.values()] == [["Later"], ["Published"]]
    assert api.operations[-1] == "logout"
    assert not any("ssword" in seen.path or SESSION in seen.path for seen in site.requests)


@pytest.mark.parametrize("failing", ["", "getFeedTree"])
def test_nested_categories_are_nested(failing: str, bob: Person, site: Publisher, services: AllServices) -> None:
    api = Ttrss(
        categories=[
            {"id": "3", "title": "Rain", "parent": 5},
            {"id": 4, "title": "Snow", "parent": 3},
            {"id": 5, "title": "Weather"},
        ],
        feeds=[FEED],
    )
    api.failing_operation, api.error = failing, "UNKNOWN_METHOD"

    report = _import(services, bob, _serve(site, api))

    titles = [one["title"] for one in bob.get("/v1/categories")]
    if failing:
        assert titles == ["All", "Rain", "Snow", "Weather"]
        assert "side by side" in report.problems[0]
    else:
        assert titles == ["All", "Weather", "Weather / Rain", "Weather / Rain / Snow"]
        assert report.problems == []
    assert bob.get("/v1/feeds")[0]["category"]["title"] in ("Rain", "Weather / Rain")


def test_pages_are_read_to_the_end_and_a_repeated_import_adds_nothing(
    bob: Person, site: Publisher, services: AllServices
) -> None:
    url = _serve(site, Ttrss(feeds=[FEED], articles={7: [_article(number) for number in range(2 * PAGE + 5)]}))

    first, second = _import(services, bob, url), _import(services, bob, url)

    assert (first.new_entries, first.known_entries) == (2 * PAGE + 5, 0)
    assert (second.new_entries, second.known_entries) == (0, 2 * PAGE + 5)


@pytest.mark.slow
@pytest.mark.parametrize("removed", [3, 150])
def test_entries_that_are_removed_meanwhile_hide_no_others(
    bob: Person, site: Publisher, services: AllServices, removed: int
) -> None:
    api = Ttrss(feeds=[FEED], articles={7: [_article(number) for number in range(3 * PAGE)]})

    def remove(skip: int) -> None:
        if skip == PAGE - 1 and len(api.articles[7]) == 3 * PAGE:
            del api.articles[7][:removed]

    api.before_page = remove

    assert _import(services, bob, _serve(site, api)).new_entries == 3 * PAGE


def test_entries_that_arrive_meanwhile_come_once(bob: Person, site: Publisher, services: AllServices) -> None:
    api = Ttrss(feeds=[FEED], articles={7: [_article(number) for number in range(PAGE, 2 * PAGE + 50)]})

    def add(skip: int) -> None:
        if skip == PAGE - 1:
            api.articles[7].insert(0, _article(1))

    api.before_page = add

    report = _import(services, bob, _serve(site, api))

    assert (report.new_entries, report.known_entries) == (PAGE + 50, 0)


def test_entries_with_one_url_stay_apart(bob: Person, site: Publisher, services: AllServices) -> None:
    same = "https://rain.example/changes"
    api = Ttrss(feeds=[FEED], articles={7: [_article(1, link=same), _article(2, link=same)]})

    assert _import(services, bob, _serve(site, api)).new_entries == 2


@pytest.mark.parametrize(
    ("operation", "error", "problem"),
    [
        ("login", "API_DISABLED", "the API is off for this user"),
        ("getFeeds", "NOT_LOGGED_IN", "ended the session"),
        ("getHeadlines", "E_ODD", "refuses getHeadlines: E_ODD"),
    ],
)
def test_what_the_server_refuses_is_said_and_nothing_is_stored(
    bob: Person, site: Publisher, services: AllServices, operation: str, error: str, problem: str
) -> None:
    api = Ttrss(feeds=[FEED], articles={7: [_article(1)]})
    api.failing_operation, api.error = operation, error

    with pytest.raises(InvalidInput, match=problem):
        _import(services, bob, _serve(site, api))

    assert bob.get("/v1/feeds") == []


def test_a_wrong_password_an_old_server_and_another_one_are_refused(
    bob: Person, site: Publisher, services: AllServices
) -> None:
    url = _serve(site, Ttrss(api_level=5))

    with pytest.raises(InvalidInput, match="does not accept this user and password"):
        _import(services, bob, url, "wrong")
    with pytest.raises(InvalidInput, match="too old"):
        _import(services, bob, url)
    site.script("/tt-rss/api/", Answer("<html>"))
    with pytest.raises(InvalidInput, match="does not answer login as Tiny Tiny RSS does"):
        _import(services, bob, url)
    site.script("/tt-rss/api/", Answer(status=401))
    with pytest.raises(FetchError, match="does not accept the user and password"):
        _import(services, bob, url)


def test_a_server_that_repeats_one_page_forever_is_left(bob: Person, site: Publisher, services: AllServices) -> None:
    class Stuck(Ttrss):
        def _headlines(self, request: dict[str, Any]) -> list[dict[str, Any]]:
            return super()._headlines({**request, "skip": 0})

    api = Stuck(feeds=[FEED], articles={7: [_article(number) for number in range(PAGE)]})

    assert _import(services, bob, _serve(site, api)).new_entries == PAGE
