"""The pages of saved views."""

from __future__ import annotations

import json

import pytest

from support.people import Person
from support.publisher import Publisher
from support.visitors import Visitor
from views.test_endpoints import has_view


@pytest.fixture
def reader(alice: Person, site: Publisher) -> Visitor:
    alice.has_feed(site, items=["Heavy rain", "Rain", "Snow"])
    visitor = Visitor(alice.service, alice)
    visitor.sign_in()
    return visitor


def shown_count(page: str, view: int) -> str:
    return page.partition(f'data-count="v{view}">')[2].partition("<")[0]


def test_a_view_is_made_from_a_search_and_lists_what_it_finds(alice: Person, reader: Visitor) -> None:
    found = reader.get("/search?query=rain+-heavy")
    assert "/views/new?query=rain+-heavy" in found.body.decode()
    assert 'value="rain -heavy"' in reader.page("/views/new?query=rain+-heavy")
    reader.post("/views/new", name="Light rain", query="rain -heavy", direction="asc")

    (view,) = alice.get("/v1/views")
    page = reader.page(f"/views/{view['id']}")

    assert (view["name"], view["direction"]) == ("Light rain", "asc")
    assert "Heavy rain" not in page
    assert "Snow" not in page
    assert shown_count(page, view["id"]) == "1"
    assert f"/views/{view['id']}/entries/" in page
    feed_id = alice.entries()[0]["feed_id"]
    assert f"query=f%3A{feed_id}+%28a+OR+b%29" in reader.page(f"/search?query=a+OR+b&where=f{feed_id}")


def test_reading_in_a_view_lowers_its_count_and_marking_reads_what_was_shown(
    alice: Person, reader: Visitor, site: Publisher
) -> None:
    view = has_view(alice, "Wet", "rain", density="cards")
    page = reader.get(f"/views/{view}")
    newest = page.body.decode().partition('name="newest" value="')[2].partition('"')[0]
    assert 'data-density="cards"' in page.body.decode()
    first = next(entry for entry in alice.entries() if entry["title"] == "Rain")
    reader.page(f"/views/{view}/entries/{first['id']}")
    assert json.loads(reader.page("/counts"))[f"v{view}"] == 1
    alice.has_feed(site, items=["Later rain"])

    reader.post(f"/views/{view}/mark-read", newest=newest)

    assert sorted(entry["title"] for entry in alice.entries(status="unread")) == ["Later rain", "Snow"]
    assert json.loads(reader.page("/counts"))[f"v{view}"] == 1


def test_a_query_that_cannot_be_read_is_marked_in_the_form(alice: Person, reader: Visitor) -> None:
    view = has_view(alice, "Wet", "rain")

    refused = reader.post(f"/views/{view}/edit", name="Wet", query="rain OR (snow")

    assert refused.status == 400
    assert "Cannot be read from character 14 on" in refused.body.decode()
    assert "rain OR (snow<mark>" in refused.body.decode()
    assert alice.get(f"/v1/views/{view}")["query"] == "rain"


def test_views_are_ordered_and_one_is_the_home_page(alice: Person, reader: Visitor) -> None:
    first, second = has_view(alice, "First", "rain"), has_view(alice, "Second", "snow")
    reader.get("/views")
    reader.post("/views", up=second)
    assert [view["id"] for view in alice.get("/v1/views")] == [second, first]
    reader.get(f"/views/{first}/edit")
    reader.post(f"/views/{first}/edit", name="First", query="rain", is_home="1")

    assert reader.get("/").headers["location"] == f"/views/{first}"


def test_deleting_a_view_says_what_uses_it(alice: Person, reader: Visitor) -> None:
    used = has_view(alice, "Used", "rain")
    user = has_view(alice, "User", "S:used heavy")

    assert "the view User" in reader.page(f"/views/{used}/delete")
    assert reader.post(f"/views/{used}/delete").status == 400
    reader.get(f"/views/{user}/delete")
    reader.post(f"/views/{user}/delete")
    reader.post(f"/views/{used}/delete")

    assert alice.get("/v1/views") == []


def test_pages_of_views_of_others_do_not_exist(alice: Person, bob: Person, reader: Visitor) -> None:
    view = has_view(bob, "Bob's", "rain")

    for path in (f"/views/{view}", f"/views/{view}/edit", f"/views/{view}/delete", f"/views/{view}/entries/1"):
        assert reader.get(path).status == 404
    for path in (f"/views/{view}/mark-read", f"/views/{view}/edit", f"/views/{view}/delete"):
        assert reader.post(path, name="Mine", query="").status == 404
    assert bob.get(f"/v1/views/{view}")["name"] == "Bob's"
    assert alice.get("/v1/views") == []
