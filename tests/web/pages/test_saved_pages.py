"""Saving a page from the form for feeds, from a bookmark, and from other apps."""

from __future__ import annotations

import pytest

from api.test_fetch_content import PAGE
from support.people import Person
from support.publisher import Publisher
from support.visitors import Visitor


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
