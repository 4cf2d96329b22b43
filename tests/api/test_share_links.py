"""Share links: anyone can read an entry by its link, until the link is revoked."""

from __future__ import annotations

import re
from urllib.parse import urlsplit

import pytest

from support.people import HttpResponse, Person, call
from support.publisher import Publisher


def shared(person: Person, **query: int) -> list[str]:
    return [link["title"] for link in person.get("/v1/share-links", **query)["share_links"]]


def visit(person: Person, share_url: str) -> HttpResponse:
    return call(person.service.url, "GET", urlsplit(share_url).path)


def test_anyone_reads_an_entry_by_its_share_link_until_it_is_revoked(alice: Person, site: Publisher) -> None:
    feed = alice.has_feed(site, ["Rain", "Snow"])
    entry = next(one for one in alice.entries() if one["title"] == "Rain")
    path = f"/v1/entries/{entry['id']}/share"

    link = alice.post(path)

    code = link["share_code"]
    assert link == {
        "entry_id": entry["id"],
        "feed_id": feed["id"],
        "title": "Rain",
        "url": entry["url"],
        "share_code": code,
        "share_url": link["share_url"],
    }
    assert link["share_url"].endswith(f"/share/{code}")
    assert alice.post(path) == link
    assert alice.get(f"/v1/entries/{entry['id']}")["share_code"] == code
    assert alice.get("/v1/share-links") == {"share_links": [link]}
    assert b"About Rain." in visit(alice, link["share_url"]).body

    alice.delete(path)
    alice.delete(path)

    assert shared(alice) == []
    assert visit(alice, link["share_url"]).status == 404
    assert alice.post(path)["share_code"] != code


def test_share_links_come_page_by_page(alice: Person, site: Publisher) -> None:
    titles = ["Five", "Four", "Three", "Two", "One"]
    alice.has_feed(site, titles)
    for entry in alice.entries():
        alice.post(f"/v1/entries/{entry['id']}/share")

    path, seen = "/v1/share-links?limit=2&fields=title", []
    while path:
        answer = alice.call("GET", path)
        seen.append([link["title"] for link in answer.json()["share_links"]])
        following = re.fullmatch(r'<(.+)>; rel="next"', answer.headers.get("link", "<>"))
        path = following[1] if following else ""

    assert seen == [["Five", "Four"], ["Three", "Two"], ["One"]]
    assert shared(alice, limit=5) == titles


@pytest.mark.one_engine
def test_nobody_lists_makes_or_revokes_share_links_of_others(alice: Person, bob: Person, site: Publisher) -> None:
    alice.has_feed(site, ["Rain"])
    path = f"/v1/entries/{alice.entries()[0]['id']}/share"
    link = alice.post(path)

    assert shared(bob) == []
    for method in ("POST", "DELETE"):
        assert bob.call(method, path).status == 404
    assert alice.get("/v1/share-links") == {"share_links": [link]}


@pytest.mark.one_engine
@pytest.mark.parametrize(("query", "field"), [("limit=0", "limit"), ("limit=1001", "limit"), ("cursor=x", "cursor")])
def test_a_page_of_share_links_that_cannot_be_is_refused(query: str, field: str, alice: Person) -> None:
    refused = alice.call("GET", f"/v1/share-links?{query}")

    assert (refused.status, refused.error.partition(":")[0]) == (400, field)
