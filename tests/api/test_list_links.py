"""Secret addresses at which other programs follow the lists of a user."""

from __future__ import annotations

from urllib.parse import urlsplit

import pytest

from support.people import Person, call
from support.publisher import Publisher

NONE = dict.fromkeys(("unread", "starred", "category", "feed", "view", "view_opml"))


def visit(person: Person, url: str, **ids: int) -> tuple[int, bytes]:
    answer = call(person.service.url, "GET", urlsplit(url.format(**ids)).path)
    return answer.status, answer.body


def test_every_list_is_followed_at_its_address_until_it_is_revoked(alice: Person, site: Publisher) -> None:
    assert alice.get("/v1/list-links") == NONE
    feed = alice.has_feed(site, ["Rain"])
    alice.put(f"/v1/entries/{alice.entries()[0]['id']}/star")
    view = alice.post("/v1/views", {"name": "Wet", "query": "title:rain"})
    ids = {"category_id": feed["category"]["id"], "feed_id": feed["id"], "view_id": view["id"]}

    links = alice.post("/v1/list-links")

    assert links.keys() == NONE.keys()
    assert alice.get("/v1/list-links") == links
    for name, url in links.items():
        status, body = visit(alice, url, **ids)
        assert status == 200, name
        assert (b"Rain" if name != "view_opml" else feed["feed_url"].encode()) in body, name

    newer = alice.post("/v1/list-links")
    assert visit(alice, links["unread"])[0] == 404
    assert visit(alice, newer["unread"])[0] == 200

    alice.delete("/v1/list-links")
    alice.delete("/v1/list-links")
    assert visit(alice, newer["unread"])[0] == 404
    assert alice.get("/v1/list-links") == NONE


@pytest.mark.one_engine
def test_a_key_that_expires_gets_no_address_that_outlives_it(alice: Person) -> None:
    alice.post("/v1/list-links")
    body = {"description": "For a while", "expires_at": "2990-12-31"}
    limited = Person(alice.service, alice.user, alice.post("/v1/api-keys", body)["token"])

    for method in ("GET", "POST"):
        refused = limited.call(method, "/v1/list-links")
        assert (refused.status, "expires" in refused.error) == (403, True)
    limited.delete("/v1/list-links")
    assert alice.get("/v1/list-links") == NONE
