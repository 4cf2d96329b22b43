"""Order and layout of single lists: in pages without script, in the API, and in archives."""

from __future__ import annotations

import re

from newsletters.test_archives import exported, imported
from support.people import Person
from support.publisher import Publisher
from support.visitors import Visitor
from web.pages.test_entry_lists import titles

PATH = "/v1/list-settings"


def chosen(page: str, field: str) -> list[str]:
    """The choices of a list's menu that have a check mark."""
    return re.findall(rf'name="{field}" value="(\w+)" aria-pressed="true"', page)


def has_lists(person: Person, site: Publisher) -> dict[str, tuple[str, str]]:
    """Return the name and the path of each kind of list, all with the same two entries."""
    category = person.has_category("Weather")
    feed = person.has_feed(site, ["New", "Old"], category_id=category["id"])
    label = person.post("/v1/labels", {"title": "Later"})
    ids = [entry["id"] for entry in person.entries()]
    person.put("/v1/entries", {"entry_ids": ids, "starred": True})
    for entry_id in ids:
        person.put(f"/v1/entries/{entry_id}", {"labels": [label["id"]]}, status=201)
        person.post(f"/v1/entries/{entry_id}/share", status=201)
    return {
        "unread": ("unread", "/unread"),
        "starred": ("starred", "/starred"),
        "shared": ("shared", "/shared"),
        "feed": (f"f{feed['id']}", f"/feeds/{feed['id']}"),
        "category": (f"c{category['id']}", f"/categories/{category['id']}"),
        "label": (f"l{label['id']}", f"/labels/{label['id']}"),
    }


def test_each_list_has_an_order_and_a_layout_of_its_own(reader: Visitor, alice: Person, site: Publisher) -> None:
    lists = has_lists(alice, site)
    for kind, (name, path) in lists.items():
        back = reader.post(f"{path}/display", direction="asc", back=path)
        reader.post(f"{path}/display", density="cards", back=path)

        page = reader.follow(back)
        assert titles(page) == ["Old", "New"], kind
        assert (chosen(page, "direction"), chosen(page, "density")) == (["asc"], ["cards"])
        assert 'data-density="cards"' in page
        others = [other for one, other in lists.values() if one != name]
        assert [titles(reader.page(other)) for other in others] == [["New", "Old"]] * len(others), kind
        assert alice.get(PATH) == [{"list": name, "direction": "asc", "density": "cards"}]

        reader.post(f"{path}/display", direction="everywhere")
        reader.post(f"{path}/display", density="everywhere")
        page = reader.page(path)
        assert titles(page) == ["New", "Old"]
        assert chosen(page, "direction") == chosen(page, "density") == ["everywhere"]
        assert alice.get(PATH) == []


def test_history_can_begin_with_what_was_read_first(reader: Visitor, alice: Person, site: Publisher) -> None:
    alice.has_feed(site, ["New", "Old"])
    for entry in alice.entries():
        alice.put("/v1/entries", {"entry_ids": [entry["id"]], "status": "read"})
    alice.put(f"/v1/users/{alice.id}", {"entry_sorting_direction": "asc"}, status=201)
    last = titles(reader.page("/history"))

    reader.post("/history/display", direction="asc")

    assert titles(reader.page("/history")) == last[::-1]
    assert titles(reader.page("/unread")) == []


def test_a_view_is_changed_in_the_menu_of_its_list(reader: Visitor, alice: Person, site: Publisher) -> None:
    alice.has_feed(site, ["New", "Old"])
    view = alice.post("/v1/views", {"name": "All", "query": "", "density": "compact"})["id"]
    page = reader.page(f"/views/{view}")
    assert (chosen(page, "direction"), chosen(page, "density")) == (["desc"], ["compact"])

    reader.post(f"/views/{view}/display", direction="asc")
    reader.post(f"/views/{view}/display", density="everywhere")

    page = reader.page(f"/views/{view}")
    assert titles(page) == ["Old", "New"]
    assert (chosen(page, "direction"), chosen(page, "density")) == (["asc"], ["everywhere"])
    assert 'value="everywhere"' not in page.partition('aria-label="Sort order"')[2].partition("</ul>")[0]
    assert reader.post(f"/views/{view}/display", direction="sideways").status == 400


def test_neighbours_pages_and_what_is_marked_follow_the_order_of_the_list(
    reader: Visitor, alice: Person, site: Publisher
) -> None:
    feed = alice.has_feed(site, ["Three", "Two", "One"])
    path = f"/feeds/{feed['id']}"
    ids = {entry["title"]: entry["id"] for entry in alice.entries()}
    alice.put(f"/v1/users/{alice.id}", {"entries_per_page": 2, "mark_read_on_view": False}, status=201)

    answer = reader.post(f"{path}/display", direction="asc", back=f"{path}?show=all&after=5.5&newest=3")

    assert answer.headers["location"] == f"{path}?show=all"
    page = reader.page(path)
    assert titles(page) == ["One", "Two"]
    following = re.search(r'rel="next" href="([^"]+)"', page.partition('class="pager"')[2])
    assert following
    assert titles(reader.page(following[1].replace("&amp;", "&"))) == ["Three"]
    article = reader.page(f"{path}/entries/{ids['Two']}")
    assert titles(article) == ["One", "Two", "Three"]
    assert re.search(f'rel="prev" title="Previous[^>]* href="{path}/entries/{ids["One"]}"', article)
    reader.post(f"{path}/mark-read", above=ids["Two"])
    assert {entry["title"] for entry in alice.entries(status="unread")} == {"Two", "Three"}


def test_settings_go_with_their_feed_category_or_label(reader: Visitor, alice: Person, site: Publisher) -> None:
    lists = has_lists(alice, site)
    for name, _path in lists.values():
        alice.put(PATH, {"list": name, "density": "compact"}, status=201)
    assert len(alice.get(PATH)) == len(lists)

    for kind, path in (("feed", "feeds"), ("label", "labels"), ("category", "categories")):
        alice.delete(f"/v1/{path}/{lists[kind][0][1:]}")
        assert lists[kind][0] not in [one["list"] for one in alice.get(PATH)]


def test_what_is_wrong_or_of_others_changes_nothing(
    reader: Visitor, alice: Person, bob: Person, site: Publisher
) -> None:
    lists = has_lists(bob, site)
    strange = {kind: name for kind, (name, path) in lists.items() if name[1:].isdigit()}
    for name in (*strange.values(), "", "all", "f", "f0", "f99999999999999999999", "f٣", "v1", "unread "):
        assert "there is no list" in alice.put(PATH, {"list": name, "direction": "asc"}, status=400)["error_message"]
    for wrong, field in (({"direction": "up"}, "direction"), ({"density": "huge"}, "density")):
        answer = alice.put(PATH, {"list": "unread", **wrong}, status=400)
        assert answer["error_message"].startswith(f"{field}: ")
    for kind in strange:
        assert reader.post(f"{lists[kind][1]}/display", direction="asc").status == 404
    assert reader.post("/unread/display", direction="up").status == 400
    assert alice.get(PATH) == bob.get(PATH) == []

    alice.put(PATH, {"list": "unread", "direction": "asc"}, status=201)
    shown = alice.put(PATH, {"list": "unread", "density": "compact"}, status=201)
    assert shown == {"list": "unread", "direction": "asc", "density": "compact"}
    assert bob.get(PATH) == []
    assert alice.put(PATH, {"list": "unread", "direction": "", "density": ""}, status=201)["direction"] == ""
    assert alice.get(PATH) == []


def test_an_archive_has_them_and_what_the_account_has_set_stays(alice: Person, bob: Person, site: Publisher) -> None:
    lists = has_lists(alice, site)
    for name, _path in lists.values():
        alice.put(PATH, {"list": name, "direction": "asc", "density": "cards"}, status=201)
    bob.put(PATH, {"list": "starred", "direction": "desc"}, status=201)

    archive = exported(alice)
    assert imported(bob, archive).problems == []
    assert imported(bob, archive).problems == []

    feed, label = bob.get("/v1/feeds")[0], bob.get("/v1/labels")[0]
    names = {f"f{feed['id']}", f"c{feed['category']['id']}", f"l{label['id']}", "unread", "shared"}
    own = {"starred": {"direction": "desc", "density": ""}}
    found = {one["list"]: {"direction": one["direction"], "density": one["density"]} for one in bob.get(PATH)}
    assert found == own | {name: {"direction": "asc", "density": "cards"} for name in names}
