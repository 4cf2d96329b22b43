"""The page of categories."""

from __future__ import annotations

import re

import pytest

from support.people import Person
from support.publisher import Publisher
from support.visitors import Visitor


def titles(alice: Person) -> list[str]:
    return [one["title"] for one in alice.get("/v1/categories")]


def test_a_category_can_be_created_renamed_and_hidden(reader: Visitor, alice: Person) -> None:
    reader.get("/categories")
    reader.post("/categories/add", title="Reading")
    created = next(one for one in alice.get("/v1/categories") if one["title"] == "Reading")

    page = reader.follow(reader.post(f"/categories/{created['id']}/edit", title="<Evening>", hide_globally="1"))

    assert "&lt;Evening&gt;" in page
    changed = next(one for one in alice.get("/v1/categories") if one["id"] == created["id"])
    assert (changed["title"], changed["hide_globally"]) == ("<Evening>", True)


@pytest.mark.parametrize(("title", "message"), [("all", "This category already exists."), (" ", "needs a title")])
def test_an_invalid_title_is_reported_next_to_its_field(
    reader: Visitor, alice: Person, title: str, message: str
) -> None:
    other = alice.has_category("Other")["id"]
    reader.get("/categories")

    for path in ("/categories/add", f"/categories/{other}/edit"):
        answer = reader.post(path, title=title)
        page = answer.body.decode()
        assert answer.status == 400
        assert message in page
        assert f'value="{title}"' in page
    assert titles(alice) == ["All", "Other"]


def test_a_category_can_be_marked_read(reader: Visitor, alice: Person, site: Publisher) -> None:
    feed = alice.has_feed(site)
    reader.get("/categories")

    page = reader.follow(reader.post(f"/categories/{feed['category']['id']}/read"))
    assert "2 marked read" in page
    assert alice.entries(status="unread") == []

    moment = re.search(r'name="moment" value="(\d+)"', page)
    assert moment, "it cannot be undone"
    reader.post("/entries/undo", moment=moment[1], back="/categories")
    assert len(alice.entries(status="unread")) == 2


def test_deleting_a_category_moves_or_deletes_its_feeds(reader: Visitor, alice: Person, site: Publisher) -> None:
    gone, kept = alice.has_category("Gone"), alice.has_category("Kept")
    feed = alice.has_feed(site, category_id=gone["id"])

    page = reader.page(f"/categories/{gone['id']}/delete")
    assert "Its feed" in page
    assert "Move to Kept" in page
    reader.post(f"/categories/{gone['id']}/delete", move_to=kept["id"])
    assert titles(alice) == ["All", "Kept"]
    assert alice.get(f"/v1/feeds/{feed['id']}")["category"]["id"] == kept["id"]

    reader.post(f"/categories/{kept['id']}/delete", move_to="")
    assert titles(alice) == ["All"]
    assert alice.get("/v1/feeds") == []


def test_categories_of_other_users_are_404(reader: Visitor, alice: Person, bob: Person, site: Publisher) -> None:
    theirs = bob.has_category("Theirs")["id"]
    mine = alice.has_category("Mine")["id"]
    alice.has_feed(site, category_id=mine)
    reader.get("/categories")

    assert reader.get(f"/categories/{theirs}/delete").status == 404
    for action in ("edit", "read", "delete"):
        assert reader.post(f"/categories/{theirs}/{action}", title="Mine now").status == 404
    # Nor is it a place for feeds.
    page = reader.follow(reader.post(f"/categories/{mine}/delete", move_to=theirs))
    assert "There is no category" in page
    assert titles(alice) == ["All", "Mine"]
    assert "Theirs" in titles(bob)
