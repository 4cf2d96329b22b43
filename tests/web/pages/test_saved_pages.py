"""Saving a page from the form for feeds, from a bookmark, and from other apps."""

from __future__ import annotations

from typing import Any

import pytest

from api.test_fetch_content import PAGE
from support.people import Person
from support.publisher import Publisher
from support.visitors import Visitor


@pytest.mark.slow
def test_a_page_is_saved_and_shown(reader: Visitor, alice: Person, site: Publisher) -> None:
    url = site.serve("/story", PAGE, headers={"Content-Type": "text/html"})
    assert 'formaction="/save"' in reader.page(f"/feeds/add?url={url}")
    page = reader.follow(reader.post("/save", url=f" {url} "))

    assert "The rain of day 3" in page
    assert "Page saved and starred." in page
    assert [entry["starred"] for entry in alice.entries()] == [True]


def test_the_feed_of_saved_pages_has_a_name_in_the_language_of_its_user(
    reader: Visitor, alice: Person, site: Publisher
) -> None:
    alice.put(f"/v1/users/{alice.id}", {"language": "de_DE"}, status=201)
    reader.page("/feeds/add")
    reader.post("/save", url=site.serve("/story", PAGE, headers={"Content-Type": "text/html"}))

    assert [feed["title"] for feed in alice.get("/v1/feeds")] == ["Gespeicherte Seiten"]


def test_a_page_that_cannot_be_saved_keeps_what_was_typed(reader: Visitor, alice: Person, site: Publisher) -> None:
    reader.page("/feeds/add")
    answer = reader.post("/save", url=site.url("/gone"))

    assert answer.status == 400
    assert "404" in answer.body.decode()
    assert f'value="{site.url("/gone")}"' in answer.body.decode()
    assert alice.get("/v1/feeds") == []


def test_a_page_without_tls_is_saved_when_typed_without_a_scheme(
    reader: Visitor, alice: Person, site: Publisher
) -> None:
    url = site.serve("/story", PAGE, headers={"Content-Type": "text/html"})
    reader.page("/feeds/add")

    reader.post("/save", url=url.removeprefix("http://"))

    assert [entry["url"] for entry in alice.entries()] == [url]


@pytest.mark.parametrize("typed", [{"username": "pat", "password": "secret"}, {"cookie": "id=1"}])
def test_a_page_is_fetched_with_what_was_typed_and_with_nothing_else(
    reader: Visitor, alice: Person, site: Publisher, typed: dict[str, Any]
) -> None:
    html = {"Content-Type": "text/html"}
    url, other = (site.serve(path, PAGE, headers=html) for path in ("/story", "/other"))
    reader.page("/feeds/add")
    assert reader.post("/save", url=url.removeprefix("http://"), **typed).status == 400
    assert not site.requests_for("/story")

    reader.post("/save", url=url, user_agent="Pat's reader", **typed)
    reader.post("/save", url=other)

    (seen,), (later,) = site.requests_for("/story"), site.requests_for("/other")
    assert seen.headers["user-agent"] == "Pat's reader"
    assert (seen.headers.get("authorization"), seen.headers.get("cookie")) == (
        "Basic cGF0OnNlY3JldA==" if "password" in typed else None,
        typed.get("cookie"),
    )
    assert later.headers["user-agent"] != "Pat's reader"
    assert not {"authorization", "cookie"} & set(later.headers)
    assert len(alice.entries()) == 2


def test_an_option_that_is_invalid_says_so(reader: Visitor, alice: Person, site: Publisher) -> None:
    reader.page("/feeds/add")
    answer = reader.post("/save", url=site.serve("/story", PAGE), proxy_url="gopher://example.org")

    assert answer.status == 400
    assert 'id="error-proxy_url"' in answer.body.decode()
    assert alice.get("/v1/feeds") == []


@pytest.mark.parametrize(
    "query",
    [
        "url=https%3A%2F%2Fexample.org%2Fa%3Fb%3D1",
        "title=News&text=https%3A%2F%2Fexample.org%2Fa%3Fb%3D1",
        "text=Read+this%3A+https%3A%2F%2Fexample.org%2Fa%3Fb%3D1",
    ],
)
def test_an_address_from_another_app_is_in_the_form(reader: Visitor, query: str) -> None:
    assert 'value="https://example.org/a?b=1"' in reader.page(f"/feeds/add?{query}")


def test_a_bookmark_and_other_apps_lead_to_the_form(reader: Visitor) -> None:
    target = reader.get("/manifest.webmanifest").json()["share_target"]

    assert target["action"] == "/feeds/add"
    assert target["method"] == "GET"
    assert "encodeURIComponent(location.href)" in reader.page("/feeds/add")
