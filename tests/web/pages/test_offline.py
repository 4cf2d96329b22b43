"""Copies for reading offline: their pages, and the header that says what a browser may keep."""

from __future__ import annotations

import re
from importlib.resources import files

from support.people import Person
from support.publisher import Publisher
from support.visitors import Visitor
from tidings.web.pages import entry
from tidings.web.pages.pwa import HEADER, NOTHING


def name(visitor: Visitor, path: str = "/unread") -> str:
    return visitor.get(path).headers[HEADER.lower()]


def test_a_copy_says_when_it_was_saved_and_marks_nothing_read(reader: Visitor, alice: Person, site: Publisher) -> None:
    alice.has_feed(site, ["Rain"])
    entry_id = alice.entries()[0]["id"]

    alice.put(f"/v1/entries/{entry_id}/bookmark")
    feed_id = alice.entries()[0]["feed_id"]
    category_id = alice.entries()[0]["feed"]["category"]["id"]
    lists = ("unread", "starred", f"feeds/{feed_id}", f"categories/{category_id}")
    for path in (*(f"/offline/{one}" for one in lists), f"/offline/{entry_id}"):
        page = reader.page(path)
        assert "Offline, saved" in page
        assert "Rain" in page
        # Forms lead back to the page itself.
        assert 'name="back" value="/offline' not in page
    assert alice.entries()[0]["status"] == "unread"
    assert "Offline, saved" not in reader.page(f"/unread/{entry_id}")


def test_a_copy_leaves_the_notice_to_the_page_that_the_user_sees(
    reader: Visitor, alice: Person, site: Publisher
) -> None:
    alice.has_feed(site, ["Rain"])
    reader.post("/unread/mark-read")

    assert "1 marked read" not in reader.page("/offline/unread")
    assert "1 marked read" not in reader.page(f"/offline/{alice.entries()[0]['id']}")
    page = reader.page("/unread")
    assert "1 marked read" in page
    assert 'name="moment"' in page


def test_links_of_a_copy_lead_to_copies_even_if_originals_are_preferred(
    reader: Visitor, alice: Person, site: Publisher
) -> None:
    alice.has_feed(site, ["Rain"])
    alice.put(f"/v1/users/{alice.id}", {"always_open_external_links": True}, status=201)
    path = f'href="/unread/{alice.entries()[0]["id"]}"'

    assert path in reader.page("/offline/unread")
    assert path not in reader.page("/unread")


def test_copies_of_what_belongs_to_somebody_else_do_not_exist(reader: Visitor, bob: Person, site: Publisher) -> None:
    bob.has_feed(site, ["Sun"])

    entry = bob.entries()[0]
    for path in (entry["id"], f"feeds/{entry['feed_id']}", f"categories/{entry['feed']['category']['id']}"):
        assert reader.get(f"/offline/{path}").status == 404


def test_people_who_open_a_copy_get_the_page(reader: Visitor) -> None:
    answer = reader.get("/offline/unread", headers={"Sec-Fetch-Mode": "navigate"})

    assert (answer.status, answer.headers["location"]) == (303, "/unread")


def test_the_name_of_the_copies_changes_with_all_they_depend_on(
    reader: Visitor, visitor: Visitor, alice: Person, bob: Person
) -> None:
    first = name(reader)
    again, other = Visitor(reader.service, alice), Visitor(reader.service, bob)
    again.sign_in()
    other.sign_in()

    assert first == name(reader, "/feeds") == name(reader, "/nowhere")
    assert name(visitor, "/sign-in") == NOTHING
    names = {first, name(again), name(other)}
    alice.put(f"/v1/users/{alice.id}", {"language": "de_DE"}, status=201)
    names.add(name(reader))
    reader.post("/view", size="20")
    names.add(name(reader))
    assert len(names - {NOTHING}) == 5
    reader.post("/view", density="compact")
    reader.post("/view/order", direction="asc")
    assert name(reader) in names


def test_a_device_that_is_to_keep_nothing_gets_no_copy(reader: Visitor) -> None:
    reader.post("/view", offline="none")

    answer = reader.get("/offline/unread")

    assert (answer.status, answer.body, answer.headers[HEADER.lower()]) == (204, b"", NOTHING)
    assert name(reader) == NOTHING


def test_a_shared_device_keeps_nothing_and_its_session_ends_with_the_browser(visitor: Visitor, alice: Person) -> None:
    visitor.get("/sign-in")

    answer = visitor.post("/sign-in", username=alice.user.username, password=alice.password, shared="1")

    cookie = next(one for one in answer.cookies if one.startswith("tidings_session="))
    assert "max-age" not in cookie.lower()
    assert name(visitor) == NOTHING
    visitor.get("/view")
    visitor.post("/sign-out")
    assert "tidings_shared" not in visitor.cookies


def test_the_worker_knows_the_address_of_every_entry() -> None:
    source = files("tidings.web").joinpath("static", "js", "worker.js").read_text(encoding="utf-8")
    known = re.search(r"const ENTRY =\s+/(.*)/;", source)
    assert known
    pattern = known[1].replace(r"\/", "/")

    for route in entry.routes.all:
        path = re.sub(r"\{\w+\}", "7", route.path).removeprefix("/")
        found = re.fullmatch(pattern, path)
        assert found, route.path
        assert found[1] == "7"
