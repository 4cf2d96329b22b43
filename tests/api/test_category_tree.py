"""Categories under other categories: their places, and what apps without a tree see."""

from __future__ import annotations

from typing import Any

import pytest

from support.people import Person
from support.publisher import Publisher


def under(alice: Person, title: str, parent: dict[str, Any] | None = None) -> dict[str, Any]:
    made: dict[str, Any] = alice.post("/v1/categories", {"title": title, "parent_id": parent and parent["id"]})
    return made


def change(alice: Person, category: dict[str, Any], **values: Any) -> dict[str, Any]:
    changed: dict[str, Any] = alice.put(f"/v1/categories/{category['id']}", values, status=201)
    return changed


def titles(alice: Person) -> list[str]:
    return [one["title"] for one in alice.get("/v1/categories")]


def test_a_category_is_put_under_another_one_and_shown_with_its_path(alice: Person, site: Publisher) -> None:
    news = under(alice, "News")
    europe = under(alice, "Europe", news)
    feed = alice.has_feed(site, category_id=europe["id"])

    assert (europe["title"], europe["parent_id"]) == ("News / Europe", news["id"])
    assert feed["category"] == europe
    kept = change(alice, europe, keep_duplicates=True)
    assert alice.get(f"/v1/feeds/{feed['id']}")["category"] == kept == europe | {"keep_duplicates": True}
    change(alice, europe, keep_duplicates=False)
    assert change(alice, europe, parent_id=None)["title"] == "Europe"
    assert alice.get(f"/v1/feeds/{feed['id']}")["category"]["parent_id"] is None
    assert change(alice, europe, parent_id=news["id"]) == europe
    assert change(alice, news, title="World")["parent_id"] is None
    assert titles(alice) == ["All", "World", "World / Europe"]
    assert alice.get(f"/v1/feeds/{feed['id']}")["category"]["title"] == "World / Europe"


def test_a_category_cannot_be_where_it_would_be_below_itself_too_deep_or_there_twice(
    alice: Person, bob: Person
) -> None:
    top = under(alice, "c1")
    line = [top]
    for depth in range(2, 9):
        line.append(under(alice, f"c{depth}", line[-1]))
    theirs = under(bob, "Theirs")

    for category, values, message in (
        (top, {"parent_id": line[-1]["id"]}, "below itself"),
        (top, {"parent_id": top["id"]}, "below itself"),
        (under(alice, "Other"), {"parent_id": line[-1]["id"]}, "8 deep"),
        (line[1], {"parent_id": theirs["id"]}, "there is no category"),
        (line[1], {"parent_id": 2147483000}, "there is no category"),
        (under(alice, "c2"), {"parent_id": top["id"]}, "This category already exists."),
    ):
        answer = alice.call("PUT", f"/v1/categories/{category['id']}", values)
        assert (answer.status, message in answer.error) == (400, True), answer.error
    for body, message in (
        ({"title": "C2", "parent_id": top["id"]}, "This category already exists."),
        ({"title": "c1 / c2"}, "This category already exists."),
        ({"title": "ninth", "parent_id": line[-1]["id"]}, "8 deep"),
        ({"title": "x", "parent_id": theirs["id"]}, "there is no category"),
    ):
        answer = alice.call("POST", "/v1/categories", body)
        assert (answer.status, message in answer.error) == (400, True), answer.error
    assert [one["title"] for one in bob.get("/v1/categories")] == ["All", "Theirs"]


def test_what_is_below_a_deleted_category_moves_up_unless_it_is_to_go_as_well(alice: Person, site: Publisher) -> None:
    news = under(alice, "News")
    world = under(alice, "World", news)
    asia = under(alice, "Asia", world)
    gone, kept = (alice.has_feed(site, category_id=one["id"]) for one in (world, asia))

    alice.delete(f"/v1/categories/{world['id']}")
    assert titles(alice) == ["All", "News", "News / Asia"]
    assert alice.call("GET", f"/v1/feeds/{gone['id']}").status == 404
    assert alice.get(f"/v1/feeds/{kept['id']}")["category"]["title"] == "News / Asia"

    alice.delete(f"/v1/categories/{news['id']}?with_below=true")
    assert titles(alice) == ["All"]
    assert alice.get("/v1/entries")["total"] == 0


def test_apps_see_paths_or_names_as_the_user_chooses(alice: Person) -> None:
    linux = under(alice, "Linux", under(alice, "Tech"))
    under(alice, "Linux", under(alice, "Work"))
    user = f"/v1/users/{alice.id}"

    alice.put(user, {"category_titles": "name"}, status=201)
    assert titles(alice) == ["All", "Linux", "Tech", "Work", "Work / Linux"]
    assert change(alice, linux, title="LINUX")["title"] == "LINUX"
    assert change(alice, linux, title="BSD")["parent_id"] == linux["parent_id"]
    assert titles(alice) == ["All", "BSD", "Linux", "Tech", "Work"]
    # An app sees this title, wherever the category is.
    assert alice.call("POST", "/v1/categories", {"title": "bsd"}).error == "This category already exists."
    assert alice.call("PUT", user, {"category_titles": "tree"}).status == 400

    alice.put(user, {"category_titles": "path"}, status=201)
    assert titles(alice) == ["All", "Tech", "Tech / BSD", "Work", "Work / Linux"]


@pytest.mark.parametrize("title", ["Tech / BSD", "BSD", "Elsewhere / BSD"])
def test_an_app_that_renames_a_path_renames_its_last_part(alice: Person, title: str) -> None:
    tech = under(alice, "Tech")
    linux = under(alice, "Linux", tech)

    changed = change(alice, linux, title=title)

    assert (changed["title"], changed["parent_id"]) == ("Tech / BSD", tech["id"])


def test_names_that_are_paths_become_a_tree_on_request(alice: Person, bob: Person, site: Publisher) -> None:
    for person in (alice, bob):
        person.has_category("News / Europe / France")
    flat = alice.has_category("Tech / Linux")
    feed = alice.has_feed(site, category_id=flat["id"])
    planned = [["News", "Europe", "France"], ["Tech", "Linux"]]

    assert [one["path"] for one in alice.get("/v1/categories/tree")] == planned
    assert [one["path"] for one in alice.post("/v1/categories/tree", {}, status=200)] == planned

    assert titles(alice) == ["All", "News", "News / Europe", "News / Europe / France", "Tech", "Tech / Linux"]
    assert alice.get(f"/v1/feeds/{feed['id']}")["category"] == flat | {
        "parent_id": alice.get("/v1/categories")[4]["id"]
    }
    assert alice.post("/v1/categories/tree", {}, status=200) == []
    assert titles(bob) == ["All", "News / Europe / France"]
