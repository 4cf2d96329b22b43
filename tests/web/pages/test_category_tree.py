"""The tree of categories in the sidebar and on the pages of categories."""

from __future__ import annotations

import re

import pytest

from support.many_feeds import add_feeds
from support.people import Person
from support.publisher import Publisher
from support.visitors import Visitor


def under(alice: Person, title: str, parent: int | None = None) -> int:
    number: int = alice.post("/v1/categories", {"title": title, "parent_id": parent})["id"]
    return number


def sidebar_of(page: str) -> str:
    found = re.search('<ul class="groups".*?</nav>', page, re.DOTALL)
    assert found
    return found[0]


def titles(alice: Person) -> list[str]:
    return [one["title"] for one in alice.get("/v1/categories")]


def test_the_sidebar_has_groups_in_groups_and_counts_what_is_below(
    reader: Visitor, alice: Person, site: Publisher
) -> None:
    news = under(alice, "News")
    europe = under(alice, "Europe", news)
    feed = alice.has_feed(site, ["a", "b", "c"], category_id=under(alice, "France", europe))

    shown = sidebar_of(reader.page("/unread"))

    names = re.findall(r'<span class="name"[^>]*>([^<]*)</span>', shown)
    assert [name for name in names if name in ("All", "News", "Europe", "France", feed["title"])] == [
        "News", "Europe", "France", feed["title"], "All",
    ]  # fmt: skip
    assert f'data-count="c{news}">3<' in shown
    assert reader.get("/counts").json()[f"c{news}"] == 3
    page = reader.page(f"/categories/{news}")
    assert page.count('class="row unread"') == 3
    assert ">News / Europe / France</option>" in reader.page(f"/feeds/{feed['id']}/edit")
    assert reader.page(f"/feeds?category={news}").count(f"/feeds/{feed['id']}/edit") >= 1
    entry = alice.entries()[0]["id"]
    assert reader.get(f"/categories/{news}/entries/{entry}").status == 200


def test_a_closed_group_of_many_is_loaded_with_the_groups_in_it(reader: Visitor, alice: Person) -> None:
    add_feeds(alice, 4, 50)
    ids = {one["title"]: one["id"] for one in alice.get("/v1/categories")}
    below, above = ids["Category 01"], ids["Category 00"]
    alice.put(f"/v1/categories/{below}", {"parent_id": above}, status=201)

    shown = sidebar_of(reader.page("/unread"))
    assert "Category 01" not in shown
    assert f'href="/sidebar?category={above}">100 more feeds<' in shown
    opened = reader.page(f"/sidebar?category={above}")
    main = opened[opened.index("<main") :]
    assert f'data-group="{below}"' in main
    assert main.count("Feed 0-") == 50
    # Those above the current group are open.
    assert "Category 01" in sidebar_of(reader.page(f"/categories/{below}"))


def test_a_category_is_created_edited_and_dragged_under_another_one(reader: Visitor, alice: Person) -> None:
    news, tech = under(alice, "News"), under(alice, "Tech")
    reader.get("/categories")
    reader.post("/categories/add", title="Europe", parent=news)
    europe = alice.get("/v1/categories")[-2]["id"]
    assert titles(alice) == ["All", "News", "News / Europe", "Tech"]

    page = reader.page(f"/categories/{europe}/edit")
    assert f'<option value="{news}" selected>' in page
    assert f'<option value="{europe}"' not in page
    reader.post(f"/categories/{europe}/edit", title="Asia", parent=tech)
    assert titles(alice) == ["All", "News", "Tech", "Tech / Asia"]
    reader.post(f"/categories/{europe}/edit", title="Africa")
    assert titles(alice) == ["All", "News", "Tech", "Tech / Africa"]

    answer = reader.post(f"/categories/{tech}/edit", title="Tech", parent=europe)
    assert answer.status == 400
    assert "cannot be below itself" in answer.body.decode()
    assert "cannot be below itself" in reader.follow(reader.post(f"/categories/{tech}/move", parent=europe))
    assert "Tech moved." in reader.follow(reader.post(f"/categories/{tech}/move", parent=news))
    assert titles(alice) == ["All", "News", "News / Tech", "News / Tech / Africa"]
    reader.post(f"/categories/{europe}/move", parent="")
    assert titles(alice) == ["Africa", "All", "News", "News / Tech"]


def test_deleting_says_what_is_below_and_asks_what_becomes_of_it(
    reader: Visitor, alice: Person, site: Publisher
) -> None:
    news = under(alice, "News")
    europe = under(alice, "Europe", news)
    under(alice, "France", europe)
    alice.has_feed(site, category_id=europe)

    page = reader.page(f"/categories/{news}/delete")
    assert "The 2 categories below it: Europe, France" in page
    assert "Delete with 1 feed and all entries" in page
    reader.post(f"/categories/{news}/delete", below="up")
    assert titles(alice) == ["All", "Europe", "Europe / France"]
    reader.post(f"/categories/{europe}/delete", below="delete", move_to=alice.get("/v1/categories")[0]["id"])
    assert titles(alice) == ["All"]
    assert len(alice.get("/v1/feeds")) == 1


def test_names_that_are_paths_become_a_tree_when_asked(reader: Visitor, alice: Person, site: Publisher) -> None:
    flat = [alice.has_category(title)["id"] for title in ("Tech / Linux", "News / Europe / France", "News")]
    feed = alice.has_feed(site, category_id=flat[1])
    before = titles(alice)
    planned = alice.get("/v1/categories/tree")
    assert sorted(one["path"] for one in planned) == [["News", "Europe", "France"], ["Tech", "Linux"]]
    page = reader.page(reader.page("/categories") and "/categories/tree")
    assert "News › Europe › France" in page

    assert "2 categories moved." in reader.follow(reader.post("/categories/tree"))

    assert set(before) < set(titles(alice))
    assert titles(alice) == [
        "All", "News", "News / Europe", "News / Europe / France", "Tech", "Tech / Linux",
    ]  # fmt: skip
    assert alice.get(f"/v1/feeds/{feed['id']}")["category"]["id"] == flat[1]
    assert next(one for one in alice.get("/v1/categories") if one["title"] == "News")["id"] == flat[2]
    assert alice.post("/v1/categories/tree", {}, status=200) == []
    assert "No name is a path." in reader.page("/categories/tree")


@pytest.mark.parametrize("action", ["move", "edit"])
def test_a_category_of_another_user_is_not_a_place(reader: Visitor, alice: Person, bob: Person, action: str) -> None:
    theirs, mine = under(bob, "Theirs"), under(alice, "Mine")
    reader.get("/categories")

    assert reader.get(f"/categories/{theirs}/edit").status == 404
    assert reader.post(f"/categories/{theirs}/{action}", title="x", parent="").status == 404
    reader.post(f"/categories/{mine}/{action}", title="Mine", parent=theirs)
    assert next(one for one in alice.get("/v1/categories") if one["id"] == mine)["parent_id"] is None
