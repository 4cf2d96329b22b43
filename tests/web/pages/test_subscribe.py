"""Subscribing on a page: what was found is shown before anything is stored."""

from __future__ import annotations

import re
from typing import Any

import pytest

from support.people import Person, rss
from support.publisher import Publisher
from support.visitors import Visitor


def a_site(site: Publisher) -> str:
    """With a page that names two feeds; the URL of the page."""
    for name in ("news", "notes"):
        site.serve(f"/{name}.xml", rss([f"First {name}", f"Second {name}"], site.url(f"/{name}"), title=f"All {name}"))
    links = "".join(
        f'<link rel="alternate" type="application/rss+xml" title="{name}" href="/{name}.xml">'
        for name in ("news", "notes")
    )
    return site.serve("/", f"<html><head>{links}</head><body></body></html>")


def test_found_feeds_are_shown_with_title_format_and_newest_entries(reader: Visitor, site: Publisher) -> None:
    reader.get("/feeds/add")
    page = reader.post("/feeds/find", url=a_site(site)).body.decode()

    assert "2 feeds found" in page
    for words in ("All news", "All notes", "First news", "Second notes", "RSS"):
        assert words in page


@pytest.mark.parametrize("path", ["/", "/empty.xml"])
def test_a_found_feed_without_entries_is_not_said_to_be_unfetched(reader: Visitor, site: Publisher, path: str) -> None:
    site.serve("/", '<link rel="alternate" type="application/rss+xml" href="/empty.xml">')
    site.serve("/empty.xml", rss([], site.url("/empty.xml"), title="Empty"))
    reader.get("/feeds/add")
    page = reader.post("/feeds/find", url=site.url(path)).body.decode()

    assert "One feed found" in page
    assert "has not been fetched" not in page
    assert "Nothing here." in page


def test_the_selected_feed_is_subscribed_to_with_its_options(reader: Visitor, alice: Person, site: Publisher) -> None:
    category, *others = (alice.has_category(title)["id"] for title in ("Reading", "Later", "News"))
    reader.get("/feeds/add")
    page = reader.post("/feeds/find", url=a_site(site)).body.decode()
    assert page.count('name="also_in"') == 4
    assert reader.post("/feeds/add", feed_url=site.url("/notes.xml"), category_id=category, also_in="x").status == 400

    answer = reader.post(
        "/feeds/add",
        feed_url=site.url("/notes.xml"),
        category_id=category,
        also_in=[*others, category],
        hide_globally="1",
        url=site.url("/"),
    )

    (feed,) = alice.get("/v1/feeds")
    assert answer.headers["location"] == f"/feeds/{feed['id']}"
    assert (feed["title"], feed["category"]["title"], feed["hide_globally"]) == ("All notes", "Reading", True)
    assert feed["category_ids"] == [category, *others]
    # What was just shown was not fetched again.
    assert len(site.requests_for("/notes.xml")) == 1


def test_an_existing_subscription_is_reported(reader: Visitor, alice: Person, site: Publisher) -> None:
    address = a_site(site)
    known = alice.post("/v1/feeds", {"feed_url": site.url("/news.xml")})["feed_id"]
    reader.get("/feeds/add")

    page = reader.post("/feeds/find", url=address).body.decode()
    second = reader.post("/feeds/add", feed_url=site.url("/news.xml"))

    assert "Subscribed" in page
    assert f'href="/feeds/{known}"' in page
    assert second.headers["location"] == f"/feeds/{known}"
    assert "You are already subscribed to this feed." in reader.follow(second)


def test_a_failure_is_shown_next_to_the_address_field(reader: Visitor, site: Publisher) -> None:
    site.serve("/closed", status=403)
    empty = site.serve("/empty", "<html><body>Nothing here</body></html>")
    reader.get("/feeds/add")

    for given, message, status in (
        (site.url("/closed"), "403", 400),
        # It was read, and the page offers what can be made of it.
        (empty, "No feed was found on this page", 200),
        ("https://", "complete address", 400),
        ("", "address of a page", 400),
        ("https://exa mple.org/", "complete address", 400),
    ):
        answer = reader.post("/feeds/find", url=given, user_agent="Mine/1.0")
        page = answer.body.decode()
        assert answer.status == status
        assert re.search(rf'id="error-url">[^<]*{message}', page), given
        assert f'value="{given}"' in page
        assert 'value="Mine/1.0"' in page


@pytest.mark.parametrize(("status", "is_open"), [(401, True), (403, True), (404, False)])
def test_the_fields_for_a_password_are_open_when_a_site_asks_for_one(
    reader: Visitor, site: Publisher, status: int, is_open: bool
) -> None:
    reader.get("/feeds/add")
    page = reader.post("/feeds/find", url=site.serve("/", "", status=status)).body.decode()

    options = re.search(r"<details( open)?><summary>Password, cookie, proxy", page)
    assert options
    assert bool(options[1]) is is_open


def test_a_url_without_a_feed_cannot_be_subscribed_to(reader: Visitor, alice: Person, site: Publisher) -> None:
    page = site.serve("/page", "<html><body>Nothing here</body></html>")
    reader.get("/feeds/add")

    answer = reader.post("/feeds/add", feed_url=page)

    assert answer.status == 400
    assert "not with a feed" in answer.body.decode()
    assert alice.get("/v1/feeds") == []


def test_a_category_of_another_user_is_refused(reader: Visitor, bob: Person, site: Publisher) -> None:
    theirs = bob.has_category("Theirs")
    address = a_site(site)
    reader.get("/feeds/add")

    answer = reader.post("/feeds/add", feed_url=site.url("/news.xml"), url=address, category_id=theirs["id"])

    assert answer.status == 400
    assert f"There is no category {theirs['id']}" in answer.body.decode()


def test_a_site_without_tls_is_found_when_typed_without_a_scheme(reader: Visitor, site: Publisher) -> None:
    address = a_site(site).removeprefix("http://")
    reader.get("/feeds/add")
    page = reader.post("/feeds/find", url=f" {address}").body.decode()

    assert "2 feeds found" in page
    assert f'name="url" value="http://{address}"' in page


@pytest.mark.parametrize(("status", "reason"), [(401, "username and password"), (404, "404")])
@pytest.mark.parametrize("action", ["/feeds/find", "/save"])
def test_an_address_without_a_scheme_fails_for_the_reason_that_the_site_gave(
    reader: Visitor, site: Publisher, status: int, reason: str, action: str
) -> None:
    address = site.serve("/feed", "", status=status).removeprefix("http://")
    reader.get("/feeds/add")
    answer = reader.post(action, url=address)

    assert answer.status == 400
    assert re.search(rf'id="error-url">[^<]*{reason}', answer.body.decode())


def test_a_site_without_tls_that_wants_a_password_gets_it_with_the_next_try(reader: Visitor, site: Publisher) -> None:
    address = site.serve("/private", "", status=401)
    reader.get("/feeds/add")
    page = reader.post("/feeds/find", url=address.removeprefix("http://")).body.decode()
    assert f'value="{address}"' in page
    site.serve("/private", rss(["Rain"], site.url("/private"), title="All of it"))

    found = reader.post("/feeds/find", url=address, username="pat", password="secret").body.decode()

    assert "All of it" in found
    assert site.requests_for("/private")[-1].headers["authorization"].startswith("Basic ")


@pytest.mark.parametrize("secret", [{"username": "pat", "password": "secret"}, {"cookie": "id=1"}])
def test_credentials_are_not_sent_without_tls_unasked(reader: Visitor, site: Publisher, secret: dict[str, Any]) -> None:
    address = a_site(site).removeprefix("http://")
    reader.get("/feeds/add")
    answer = reader.post("/feeds/find", url=address, **secret)

    assert answer.status == 400
    assert f'value="{address}"' in answer.body.decode()
    assert answer.headers["cache-control"] == "no-store"
    assert not site.requests_for("/")


def test_credentials_in_an_address_are_not_sent_without_tls_unasked(reader: Visitor, site: Publisher) -> None:
    host = a_site(site).removeprefix("http://")
    reader.get("/feeds/add")

    assert reader.post("/feeds/find", url=f"pat:secret@{host}").status == 400
    assert not site.requests_for("/")
    assert "2 feeds found" in reader.post("/feeds/find", url=f"http://pat:secret@{host}").body.decode()


def test_an_address_with_a_scheme_is_taken_at_its_word(reader: Visitor, site: Publisher) -> None:
    address = a_site(site).replace("http://", "https://")
    reader.get("/feeds/add")

    assert reader.post("/feeds/find", url=address).status == 400
    assert not site.requests_for("/")


def test_what_was_typed_for_a_page_is_not_sent_to_the_host_of_a_feed_that_it_links_to(
    reader: Visitor, alice: Person, site: Publisher
) -> None:
    typed: dict[str, Any] = {"username": "pat", "password": "hush", "cookie": "id=1", "user_agent": "Rainreader/1"}
    with Publisher("127.0.0.2") as other:
        feed_url = other.serve("/feed.xml", rss(["One"], other.url("/feed.xml")))
        site.serve(
            "/", f'<html><head><link rel="alternate" type="application/rss+xml" href="{feed_url}"></head></html>'
        )
        reader.get("/feeds/add")
        reader.post("/feeds/find", url=site.url("/"), **typed)

        reader.post("/feeds/add", url=site.url("/"), feed_url=feed_url, **typed)

        (feed,) = alice.get("/v1/feeds")
        alice.put(f"/v1/feeds/{feed['id']}/refresh")
        assert {name: feed[name] for name in typed} == dict.fromkeys(typed, "")
        assert len(other.requests_for("/feed.xml")) == 2, "the document that was found was taken"
        for seen in other.requests:
            assert not {"cookie", "authorization"} & seen.headers.keys()
            assert "Rainreader" not in seen.headers["user-agent"]
