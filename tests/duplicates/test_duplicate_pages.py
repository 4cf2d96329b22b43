"""Pages say where else an article is, and folded ones are read with it."""

from __future__ import annotations

import re

import pytest

from duplicates.test_api import by_feed, choose, search_all, subscribe_twice
from support.people import Person
from support.publisher import Publisher
from support.visitors import Visitor
from web.pages.test_settings import sent

pytestmark = pytest.mark.slow


def test_a_list_and_an_article_link_to_the_other_feeds(alice: Person, site: Publisher) -> None:
    visitor = Visitor(alice.service, alice)
    visitor.sign_in()
    visitor.post("/settings/reading", sent("/settings/reading", alice.get("/v1/me")), duplicates="fold")
    assert alice.get("/v1/me")["duplicates"] == "fold"
    news, _planet = subscribe_twice(alice, site)
    search_all(alice)
    original = by_feed(alice)[news, "Rain"]
    (folded_id,) = original["duplicates"]

    listed = visitor.page("/unread")
    assert f'Also in <a href="/entries/{folded_id}"><bdi>Planet</bdi></a>' in listed
    assert f'id="e{folded_id}"' not in listed
    assert f'Also in <a href="/entries/{original["id"]}"><bdi>News</bdi></a>' in visitor.page(f"/entries/{folded_id}")
    assert alice.get(f"/v1/entries/{original['id']}")["status"] == "read"
    visitor.post("/entries/marks", star=str(folded_id))
    assert [one["id"] for one in alice.entries(starred="true")] == [original["id"]]
    assert re.search(r'name="unstar"', visitor.page(f"/entries/{folded_id}"))
    visitor.post(f"/entries/{folded_id}/labels", new_name="Later")
    assert f'Also in <a href="/entries/{folded_id}"><bdi>Planet</bdi></a>' in visitor.page("/starred")


def test_opening_a_later_one_that_was_marked_read_reads_the_first(
    alice: Person, reader: Visitor, site: Publisher
) -> None:
    news, planet = subscribe_twice(alice, site)
    choose(alice, "mark_read")
    found = by_feed(alice)
    assert found[planet, "Rain"]["status"] == "read"
    reader.page(f"/entries/{found[planet, 'Rain']['id']}")
    assert {title: by_feed(alice)[news, title]["status"] for title in ("Rain", "Snow")} == {
        "Rain": "read",
        "Snow": "unread",
    }


def test_a_category_is_excepted_on_its_page(alice: Person, reader: Visitor) -> None:
    category = alice.has_category("Planets")
    path = f"/categories/{category['id']}/edit"
    reader.page(path)
    reader.post(path, title="Planets", parent="", keep_duplicates="1")
    assert 'keep_duplicates" value="1" checked' in reader.page(path).replace("  ", " ")
    # The row of the list has no such box, and leaves it as it is.
    reader.page("/categories")
    reader.post(path, title="Planets and moons")
    (stored,) = [one for one in alice.get("/v1/categories") if one["id"] == category["id"]]
    assert (stored["title"], stored["keep_duplicates"]) == ("Planets and moons", True)
