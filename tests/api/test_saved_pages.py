"""Pages that are in no feed, saved as starred entries."""

from __future__ import annotations

import pytest

from api.test_fetch_content import PAGE
from support.people import Person, rss
from support.publisher import Publisher


@pytest.mark.slow
def test_a_page_is_saved_with_its_title_and_article(alice: Person, site: Publisher) -> None:
    page = PAGE.replace("<title>Rain</title>", '<title>Rain | News</title><meta property="og:title" content=" Rain ">')
    url = site.serve(
        "/story", page.replace("<h1>", "<script>spy()</script><h1>"), headers={"Content-Type": "text/html"}
    )

    entry_id = alice.post("/v1/saved-pages", {"url": url})["id"]
    entry = alice.get(f"/v1/entries/{entry_id}")

    assert (entry["title"], entry["url"], entry["status"], entry["starred"]) == ("Rain", url, "unread", True)
    assert entry["content"].count("The rain of day 3") == 3
    assert f'href="{site.url("/more")}"' in entry["content"]
    assert "spy" not in entry["content"]
    feed = entry["feed"]
    assert (feed["title"], feed["disabled"]) == ("Saved pages", True)
    # Its feed is one, and nothing asks for it.
    assert alice.call("PUT", "/v1/feeds/refresh").status == 204
    assert [one["parsing_error_count"] for one in alice.get("/v1/feeds")] == [0]


def test_a_page_is_saved_once(alice: Person, bob: Person, site: Publisher) -> None:
    url = site.serve("/story", PAGE, headers={"Content-Type": "text/html"})
    first = alice.post("/v1/saved-pages", {"url": url})["id"]
    alice.put("/v1/entries", {"entry_ids": [first], "status": "read"})
    alice.put(f"/v1/entries/{first}/bookmark")

    assert alice.post("/v1/saved-pages", {"url": url}, status=200) == {"id": first}
    (entry,) = alice.entries()
    assert (entry["status"], entry["starred"]) == ("unread", True)
    assert bob.entries() == []
    assert bob.post("/v1/saved-pages", {"url": url})["id"] != first


def test_a_page_and_a_part_of_it_are_one(alice: Person, site: Publisher) -> None:
    url = site.serve("/story?a=1", PAGE, headers={"Content-Type": "text/html"})
    first = alice.post("/v1/saved-pages", {"url": f"{url}#part"})["id"]

    for same in (url, f"{url}#", f"{url}#another#part"):
        assert alice.post("/v1/saved-pages", {"url": same}, status=200) == {"id": first}
    assert [entry["url"] for entry in alice.entries()] == [url]


def test_a_page_that_was_deleted_can_be_saved_again(alice: Person, site: Publisher) -> None:
    url = site.serve("/story", PAGE, headers={"Content-Type": "text/html"})
    first = alice.post("/v1/saved-pages", {"url": url})["id"]
    alice.put(f"/v1/entries/{first}/bookmark")
    alice.put("/v1/entries", {"entry_ids": [first], "status": "read"})
    alice.put("/v1/flush-history", status=202)
    assert alice.entries() == []

    second = alice.post("/v1/saved-pages", {"url": url})["id"]
    assert alice.post("/v1/saved-pages", {"url": url}, status=200) == {"id": second}
    assert [entry["url"] for entry in alice.entries()] == [url]


@pytest.mark.parametrize(
    ("body", "status", "reason"),
    [
        ({}, 400, "url"),
        ({"url": ""}, 400, "url"),
        ({"url": "ftp://example.org/"}, 400, "http"),
        ({"url": "/gone"}, 500, "404"),
        ({"url": "/picture"}, 400, "url: This is not a web page but image/png"),
        ({"url": "/feed"}, 400, "url: This is not a web page but a feed"),
        ({"url": "/feed-as-a-page"}, 400, "url: This is not a web page but a feed"),
        ({"url": "/atom-as-text"}, 400, "url: This is not a web page but a feed"),
        ({"url": "/nothing"}, 500, "No article"),
    ],
)
def test_a_page_that_cannot_be_saved_says_why(
    alice: Person, site: Publisher, body: dict[str, str], status: int, reason: str
) -> None:
    site.serve("/picture", b"\x89PNG", headers={"Content-Type": "image/png"})
    feed = rss(["Rain"], site.url("/feed")).replace("?>", "?>\n<!-- made\nby hand --><?xml-stylesheet href='a.xsl'?>")
    site.serve("/feed", feed, headers={"Content-Type": "application/rss+xml"})
    site.serve("/feed-as-a-page", b"\xef\xbb\xbf" + feed.encode(), headers={"Content-Type": "text/html"})
    site.serve("/atom-as-text", '<feed xmlns="http://www.w3.org/2005/Atom">', headers={"Content-Type": "text/plain"})
    site.serve("/nothing", "<html><body></body></html>", headers={"Content-Type": "text/html"})
    if body.get("url", "").startswith("/"):
        body = {"url": site.url(body["url"])}

    answer = alice.call("POST", "/v1/saved-pages", body)

    assert answer.status == status
    assert reason in answer.error
    assert alice.get("/v1/feeds") == []


def test_there_is_nothing_to_refresh_in_the_feed_of_saved_pages(alice: Person, site: Publisher) -> None:
    alice.post("/v1/saved-pages", {"url": site.serve("/page.html", PAGE)})
    (feed,) = alice.get("/v1/feeds")

    alice.put(f"/v1/feeds/{feed['id']}/refresh")

    assert alice.get(f"/v1/feeds/{feed['id']}") == feed
