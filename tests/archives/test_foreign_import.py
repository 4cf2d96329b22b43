"""Accounts of a running server move over its REST API; ours has the same, so that it can stand in for Miniflux."""

from __future__ import annotations

import json
from typing import Any

import pytest

from support.people import Person
from support.publisher import Answer, Publisher
from tidings.archives.import_runs import AccountImportReport
from tidings.archives.readers.miniflux_source import MinifluxSource
from tidings.base.errors import InvalidInput
from tidings.net.errors import FetchError
from tidings.net.guard import AddressGuard
from tidings.wiring.services import AllServices

ENTRY = ("hash", "status", "starred", "title", "url", "content", "published_at", "created_at", "reading_time", "tags")


def _import(services: AllServices, person: Person, url: str, key: str = "key") -> AccountImportReport:
    user = services.accounts.users.find(person.user.username)
    with MinifluxSource(url, key, guard=AddressGuard(allow_private_networks=True)) as source:
        return services.archives.foreign_import.store(user, source, lambda _done, _total: None)


def _entries(person: Person) -> list[dict[str, Any]]:
    return sorted(({name: entry[name] for name in ENTRY} for entry in person.entries()), key=lambda one: one["hash"])


def _serve(site: Publisher, **documents: Any) -> None:
    """Serve the API of Miniflux with these documents; every list is empty otherwise. Entries: all with one id."""
    defaults: dict[str, Any] = {"me": {}, "categories": [], "feeds": [], "entries": {"total": 0, "entries": []}}
    for name, document in (defaults | documents).items():
        if name != "entries":
            site.script(f"/v1/{name}", Answer(json.dumps(document)))
    page = (defaults | documents)["entries"]
    id_ = page["entries"][0]["id"] if page["entries"] else 0
    responses = {
        "asc&limit=1": page,
        "desc&limit=1": page,
        f"asc&limit=1000&after_entry_id={id_ - 1}&before_entry_id={id_ + 1}": page,
        f"asc&limit=1000&after_entry_id={id_}": {"total": 0, "entries": []},
    }
    for query, document in responses.items():
        site.script(f"/v1/entries?order=id&direction={query}", Answer(json.dumps(document)))


def _entry(**values: Any) -> dict[str, Any]:
    return {
        "id": 7,
        "feed_id": 1,
        "hash": "ab" * 32,
        "status": "read",
        "published_at": "2024-05-06T07:08:09Z",
        **values,
    }


FEED = {"id": 1, "feed_url": "https://example.org/feed", "title": "Rain", "category": {"title": "Weather"}}


def test_a_feed_from_a_page_moves_with_its_selectors(
    alice: Person, bob: Person, site: Publisher, services: AllServices
) -> None:
    page = site.serve("/notices", '<ul><li><a href="/1">Rain</a></li></ul>', headers=[("Content-Type", "text/html")])
    made = {"kind": "html+css", "selectors": {"item": "li", "title": "a", "link": "a@href"}}
    alice.post("/v1/feeds", {"feed_url": page, **made})

    report = _import(services, bob, alice.service.url, alice.token)

    (moved,) = bob.get("/v1/feeds")
    assert (report.problems, {name: moved[name] for name in made}) == ([], made)


def test_an_account_moves_between_two_servers(
    alice: Person, bob: Person, site: Publisher, services: AllServices
) -> None:
    feed = alice.has_feed(site, ["Rain", "Snow", "Wind"])
    alice.put(f"/v1/feeds/{feed['id']}", {"blocklist_rules": "(?i)advert", "title": "Mine"}, status=201)
    ids = [entry["id"] for entry in alice.entries()]
    alice.put("/v1/entries", {"entry_ids": ids[:2], "status": "read"})
    alice.put(f"/v1/entries/{ids[1]}/bookmark")
    alice.put(f"/v1/users/{alice.id}", {"theme": "dark_serif"}, status=201)

    report = _import(services, bob, alice.service.url, alice.token)

    assert (report.new_feeds, report.new_entries, report.problems) == (1, 3, [])
    assert _entries(bob) == _entries(alice)
    (moved,) = bob.get("/v1/feeds")
    assert (moved["title"], moved["blocklist_rules"]) == ("Mine", "(?i)advert")
    assert bob.get("/v1/me")["theme"] == "dark_serif"
    assert bob.get("/v1/me")["username"] == bob.user.username


@pytest.mark.slow
@pytest.mark.parametrize(
    "limit", [1, pytest.param(3, marks=pytest.mark.long), 4, pytest.param(100, marks=pytest.mark.long)]
)
def test_pages_hold_each_entry_once_whoever_has_the_ids_between(
    alice: Person, bob: Person, site: Publisher, limit: int
) -> None:
    bob.has_feed(site, [str(number) for number in range(5)])
    for number in range(6):
        alice.has_feed(site, [f"{number} Rain", f"{number} Snow"])
        bob.has_feed(site, [str(entry) for entry in range(number * 2)])

    guard = AddressGuard(allow_private_networks=True)
    with MinifluxSource(alice.service.url, alice.token, guard=guard, page=limit) as source:
        titles = [entry.title for entry in source.entries()]

    assert titles == [entry["title"] for entry in alice.entries(order="id", direction="asc")]
    assert len(titles) == 12


def test_entries_that_arrive_while_others_are_read_come_last(alice: Person, site: Publisher) -> None:
    alice.has_feed(site, ["Rain", "Snow"])

    guard = AddressGuard(allow_private_networks=True)
    with MinifluxSource(alice.service.url, alice.token, guard=guard, page=1) as source:
        reading = source.entries()
        first = next(reading).title
        alice.has_feed(site, ["Wind"])
        later = [entry.title for entry in reading]

    assert {first, *later[:-1]} == {"Rain", "Snow"}
    assert later[-1] == "Wind"


def test_what_cannot_be_used_is_left_out_and_named(bob: Person, site: Publisher, services: AllServices) -> None:
    _serve(
        site,
        me={"theme": "pink", "entries_per_page": 40},
        feeds=[
            FEED | {"blocklist_rules": "(?i", "user_agent": "Mine"},
            FEED | {"id": 2, "feed_url": "file:///etc/passwd"},
        ],
        entries={"total": 3, "entries": [_entry(hash="x", url="https://example.org/1"), _entry(feed_id=2), _entry()]},
    )

    report = _import(services, bob, site.url(""))

    assert (report.new_feeds, report.new_entries) == (1, 1)
    assert [problem.partition(":")[0] for problem in report.problems] == [
        "setting theme", "blocklist_rules of feed https", "feed file", "entry https",
    ]  # fmt: skip
    assert bob.get("/v1/me")["entries_per_page"] == 40
    assert bob.get("/v1/feeds")[0]["user_agent"] == "Mine"


def test_an_answer_that_is_nested_without_end_is_an_error_that_says_so(
    bob: Person, site: Publisher, services: AllServices
) -> None:
    _serve(site, feeds=[FEED])
    site.script("/v1/me", Answer('{"theme":' * 5_000 + "1" + "}" * 5_000))

    with pytest.raises(InvalidInput, match="nested too deeply"):
        _import(services, bob, site.url(""))
    assert bob.get("/v1/feeds") == []


def test_urls_of_the_media_proxy_become_those_of_the_media(bob: Person, site: Publisher, services: AllServices) -> None:
    proxied = f"https://old.example/reader/proxy/{'a' * 43}=/aHR0cDovL2ltZy5leGFtcGxlL2EucG5nP2I9YyZk"
    sets = f"https://a.example/b.png 1x,{proxied} 2x"
    entry = _entry(
        content=f'<img src="{proxied}" srcset="{sets}">', enclosures=[{"url": proxied, "mime_type": "image/png"}]
    )
    _serve(site, feeds=[FEED], entries={"total": 1, "entries": [entry]})

    _import(services, bob, site.url(""))

    (stored,) = bob.entries()
    assert stored["content"].count("http://img.example/a.png?b=c&amp;d") == 2
    assert "https://a.example/b.png" in stored["content"]
    assert "/proxy/" not in stored["content"]
    assert stored["enclosures"][0]["url"] == "http://img.example/a.png?b=c&d"


@pytest.mark.parametrize(
    ("path", "answer", "problem"),
    [
        ("/v1/me", Answer(status=401), "does not accept the API key"),
        ("/v1/me", Answer(status=302, headers={"Location": "https://elsewhere.example/"}), "redirects to https://elsewh"),
        ("/v1/me", Answer("<html>"), "does not answer /v1/me as Miniflux does"),
        ("/v1/feeds", Answer('[{"id": "x"}]'), "does not answer /v1/feeds as Miniflux does"),
        ("/v1/feeds", Answer(status=404), "answers /v1/feeds with status 404"),
    ],
)  # fmt: skip
def test_another_server_is_refused_and_nothing_is_stored(
    bob: Person, site: Publisher, services: AllServices, path: str, answer: Answer, problem: str
) -> None:
    _serve(site)
    site.script(path, answer)

    with pytest.raises((InvalidInput, FetchError), match=problem):
        _import(services, bob, site.url(""))

    assert bob.get("/v1/feeds") == []


def test_an_import_that_breaks_off_while_it_reads_stores_nothing(
    bob: Person, site: Publisher, services: AllServices
) -> None:
    _serve(site, me={"entries_per_page": 40}, feeds=[FEED], entries={"total": 2, "entries": [_entry()]})
    site.script("/v1/entries?order=id&direction=asc&limit=1000&after_entry_id=7", Answer(status=500))

    with pytest.raises(FetchError, match="500"):
        _import(services, bob, site.url(""))

    assert bob.get("/v1/feeds") == []
    assert bob.get("/v1/me")["entries_per_page"] == 100


@pytest.mark.slow
def test_a_busy_server_is_asked_again(bob: Person, site: Publisher, services: AllServices) -> None:
    _serve(site, feeds=[FEED])
    site.script("/v1/feeds", Answer(status=503), Answer(json.dumps([FEED])))

    assert _import(services, bob, site.url("")).new_feeds == 1
