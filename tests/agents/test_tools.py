"""What the tools of agents find and change, on both engines."""

from __future__ import annotations

import json
from typing import Any

import pytest

from agents.agent import Agent, agent_of, within_marks
from support.people import Person
from support.publisher import Publisher
from tidings.deliveries.store.integrations import lock_all, save
from tidings.wiring.services import AllServices

FOUR = {"url": "https://a.example/4", "title": "Four", "status": "unread"}


@pytest.fixture
def agent(alice: Person) -> Agent:
    return agent_of(alice, "manage")


def titles(found: Any) -> list[str]:
    return [entry["from_strangers"]["title"] for entry in found["entries"]]


def test_feeds_are_listed_with_their_unread_entries(alice: Person, bob: Person, agent: Agent, site: Publisher) -> None:
    category = alice.has_category("News")
    feed = alice.has_feed(site, ["One", "Two"], category_id=category["id"])
    alice.has_feed(site, [])
    bob.has_feed(site)

    found = agent.use("list_feeds", only_unread=True)

    assert (found["total"], found["next_offset"]) == (1, None)
    (listed,) = found["feeds"]
    assert (listed["id"], listed["category_id"]) == (str(feed["id"]), str(category["id"]))
    assert (listed["unread"], listed["is_failing"], listed["from_strangers"]["title"]) == (2, False, "A feed")
    assert agent.use("list_feeds", category_id=str(category["id"]))["total"] == 1
    assert agent.use("list_feeds", title_contains="nothing like it")["feeds"] == []
    first = agent.use("list_feeds", limit=1)
    assert (len(first["feeds"]), first["total"], first["next_offset"]) == (1, 2, 1)
    assert len(agent.use("list_feeds", offset=1)["feeds"]) == 1
    assert "There is no category 7777777" in agent.fail("list_feeds", category_id="7777777")


def test_credentials_are_not_in_the_addresses_of_feeds(alice: Person, agent: Agent, site: Publisher) -> None:
    feed = alice.has_feed(site, ["One"])
    address = f"{feed['feed_url']}?auth_token=hunter2&page=3"
    site.serve(address.removeprefix(site.url("")), b"")
    alice.put(f"/v1/feeds/{feed['id']}", {"feed_url": address, "site_url": "https://me:hunter2@a.example/"}, status=201)

    found = agent.call("list_feeds")

    assert "hunter2" not in json.dumps(found)
    shown = found["structuredContent"]["feeds"][0]["from_strangers"]
    assert shown["feed_url"].endswith("?auth_token=[hidden]&page=3")
    assert shown["site_url"] == "https://[hidden]@a.example/"


def test_categories_views_and_labels_are_listed(alice: Person, agent: Agent, site: Publisher) -> None:
    news = alice.has_category("News")
    below = alice.post("/v1/categories", {"title": "Europe", "parent_id": news["id"]})
    alice.has_feed(site, ["One", "Two"], category_id=below["id"])
    view = alice.post("/v1/views", {"name": "Ones", "query": "title:one"})
    label = alice.post("/v1/labels", {"title": "Later"})

    categories = {one["path"]: one for one in agent.use("list_categories")["categories"]}
    assert categories["News / Europe"] == {
        "id": str(below["id"]), "path": "News / Europe", "parent_id": str(news["id"]), "feeds": 1, "unread": 2,
    }  # fmt: skip
    assert (categories["News"]["parent_id"], categories["News"]["unread"]) == (None, 2)
    assert agent.use("list_views")["views"] == [
        {
            "id": str(view["id"]),
            "name": "Ones",
            "query": "title:one",
            "unread": 1,
            "has_more_unread": False,
            "search_query": f"S:{view['id']}",
        }
    ]
    assert agent.use("list_labels")["labels"] == [{"id": str(label["id"]), "name": "Later"}]
    assert titles(agent.use("search", query=f"S:{view['id']}")) == ["One"]


def test_a_search_goes_through_all_pages(alice: Person, agent: Agent, site: Publisher) -> None:
    alice.has_feed(site, [f"Rain {number}" for number in range(5)])

    found: list[str] = []
    cursor: Any = ""
    pages = 0
    while cursor is not None:
        page = agent.use("search", query="rain", limit=2, **({"cursor": cursor} if cursor else {}))
        assert page["total"] == (5 if not cursor else None)
        found += titles(page)
        cursor, pages = page["next_cursor"], pages + 1

    assert (found, pages) == ([f"Rain {number}" for number in range(5)], 3)
    assert titles(agent.use("search", query="", newest_first=False))[0] == "Rain 4"
    assert "take next_cursor" in agent.fail("search", query="", cursor="7")


def test_a_query_that_cannot_be_read_comes_back_with_its_place(agent: Agent) -> None:
    told = agent.fail("search", query="rain published:soon")

    assert told.startswith("query: cannot be read from character")
    assert "⟨here⟩" in told
    assert "there is no saved view Nothing" in agent.fail("search", query="S:Nothing")


def test_an_entry_is_read_in_parts(alice: Person, agent: Agent, site: Publisher) -> None:
    alice.has_feed(site, ["One"])
    (entry,) = alice.entries()
    paragraphs = "".join(f"<p>Paragraph <b>{number}</b>.</p>" for number in range(100))
    alice.put(f"/v1/entries/{entry['id']}", {"content": f"<h2>Top</h2>{paragraphs}"}, status=201)

    part: Any = None
    offset: Any = 0
    parts = []
    while offset is not None:
        part = agent.use("get_entry", entry_id=str(entry["id"]), offset=offset, max_chars=500)
        parts.append(within_marks(part["from_strangers"]["markdown"]))
        assert part["total_chars"] > 500
        offset = part["next_offset"]

    whole = "".join(parts)
    assert len(whole) == part["total_chars"]
    assert whole.startswith("## Top\n\nParagraph **0**.\n\nParagraph **1**.")
    assert (part["status"], part["from_strangers"]["title"]) == ("unread", "One")
    assert alice.get(f"/v1/entries/{entry['id']}")["status"] == "unread"


def test_entries_of_others_do_not_exist(alice: Person, bob: Person, agent: Agent, site: Publisher) -> None:
    bob.has_feed(site, ["One"])
    bobs = str(bob.entries()[0]["id"])

    missing = f"There is no entry {bobs}."
    assert agent.fail("get_entry", entry_id=bobs) == missing
    for tool, more in (
        ("mark_entries", {"status": "read"}), ("star_entries", {"starred": True}), ("label_entries", {"add": ["1"]}),
    ):  # fmt: skip
        assert agent.fail(tool, entry_ids=[bobs], **more) == missing
    assert agent.use("search", query="")["entries"] == []
    for place in ("feed_id", "category_id", "view_id"):
        assert "There is no" in agent.fail("mark_all_read", **{place: "7777777"})
    assert agent.fail("mark_all_read", feed_id=str(bob.get("/v1/feeds")[0]["id"])).startswith("There is no feed")


def test_entries_are_marked_starred_and_labelled(alice: Person, agent: Agent, site: Publisher) -> None:
    alice.has_feed(site, ["One", "Two", "Three"])
    label = alice.post("/v1/labels", {"title": "Later"})
    one, two, three = (str(entry["id"]) for entry in alice.entries(direction="desc"))

    assert agent.use("mark_entries", entry_ids=[one, two], status="read") == {"entry_ids": [one, two]}
    agent.use("star_entries", entry_ids=[two], starred=True)
    agent.use("label_entries", entry_ids=[two, three], add=[str(label["id"])])
    agent.use("label_entries", entry_ids=[three], remove=[str(label["id"])])

    state = {str(entry["id"]): entry for entry in alice.entries()}
    assert [state[id_]["status"] for id_ in (one, two, three)] == ["read", "read", "unread"]
    assert [state[id_]["starred"] for id_ in (one, two, three)] == [False, True, False]
    assert [len(state[id_]["labels"]) for id_ in (one, two, three)] == [0, 1, 0]
    assert "There is no label 7777777" in agent.fail("label_entries", entry_ids=[one], add=["7777777"])
    assert "at least one label" in agent.fail("label_entries", entry_ids=[one])
    # One that does not exist keeps the others from being changed.
    agent.fail("mark_entries", entry_ids=[three, "7777777"], status="read")
    assert alice.get(f"/v1/entries/{three}")["status"] == "unread"


def test_saving_needs_a_service(alice: Person, agent: Agent, site: Publisher, services: AllServices) -> None:
    alice.has_feed(site, ["One"])
    entry_id = str(alice.entries()[0]["id"])

    assert "set up a service to save entries to" in agent.fail("save_entry", entry_id=entry_id)
    with services.database.writing() as db:
        settings = json.dumps({"url": "https://links.example.com/", "token": "x"})
        lock_all(db, alice.id)
        save(db, alice.id, "betula", enabled=True, settings=settings, now=services.clock())
    assert agent.use("save_entry", entry_id=entry_id) == {"is_queued": True}


def test_what_is_unread_is_listed_once(alice: Person, agent: Agent, site: Publisher) -> None:
    feed = alice.has_feed(site, ["One", "Two", "Three"])
    first = agent.use("list_unread", limit=2)
    assert first["has_more"]
    second = agent.use("list_unread", since=first["next_since"], limit=2)
    assert (sorted(titles(first) + titles(second)), second["has_more"]) == (["One", "Three", "Two"], False)
    nothing = agent.use("list_unread", since=second["next_since"])
    assert (nothing["entries"], nothing["has_more"]) == ([], False)

    alice.post(f"/v1/feeds/{feed['id']}/entries/import", FOUR)
    alice.post(f"/v1/feeds/{feed['id']}/entries/import", {"url": "https://a.example/5", "title": "Five"})

    assert titles(agent.use("list_unread", since=nothing["next_since"])) == ["Four"]
    assert titles(agent.use("list_unread", since=nothing["next_since"], query="title:five")) == []
    assert titles(agent.use("list_unread", since="2026-01-01", query="title:one")) == ["One"]
    assert agent.use("list_unread", since="2999-01-01T00:00Z")["entries"] == []
    assert "give next_since" in agent.fail("list_unread", since="yesterday")


def test_a_list_is_marked_read_after_a_confirmation(alice: Person, bob: Person, agent: Agent, site: Publisher) -> None:
    feed = alice.has_feed(site, ["One", "Two"])
    view = alice.post("/v1/views", {"name": "Ones", "query": "title:one"})
    category = str(feed["category"]["id"])

    told = agent.use("mark_all_read", category_id=category)
    assert (told["done"], told["count"], told["expires_in_s"]) == (False, 2, 600)
    assert [entry["status"] for entry in alice.entries()] == ["unread", "unread"]
    token = told["confirmation"]
    for other in ({"feed_id": str(feed["id"])}, {"view_id": str(view["id"])}):
        assert "not the token of this call" in agent.fail("mark_all_read", confirmation=token, **other)
    for forged in ("x", token[:-2] + "xx", "A" * len(token)):
        assert "not the token of this call" in agent.fail("mark_all_read", confirmation=forged, category_id=category)
    own = str(bob.has_category()["id"])
    assert "not the token" in agent_of(bob).fail("mark_all_read", confirmation=token, category_id=own)
    # What arrives in between stays unread.
    alice.post(f"/v1/feeds/{feed['id']}/entries/import", FOUR)

    done = agent.use("mark_all_read", category_id=category, confirmation=token)

    assert (done["done"], done["count"], done["confirmation"]) == (True, 2, "")
    assert [entry["title"] for entry in alice.entries(status="unread")] == ["Four"]
    assert "name one of" in agent.fail("mark_all_read")
    assert "name one of" in agent.fail("mark_all_read", category_id=category, feed_id="1")


def test_a_view_whose_query_was_changed_needs_another_confirmation(
    alice: Person, agent: Agent, site: Publisher
) -> None:
    alice.has_feed(site, ["One", "Two"])
    view = alice.post("/v1/views", {"name": "Ones", "query": "title:one"})
    told = agent.use("mark_all_read", view_id=str(view["id"]))
    assert told["count"] == 1
    alice.put(f"/v1/views/{view['id']}", {"query": ""}, status=201)

    assert "not the token" in agent.fail("mark_all_read", view_id=str(view["id"]), confirmation=told["confirmation"])
    assert len(alice.entries(status="unread")) == 2


def test_a_rule_is_added_after_a_confirmation(alice: Person, agent: Agent, site: Publisher) -> None:
    alice.has_feed(site, ["Rain", "Snow"])
    label = alice.post("/v1/labels", {"title": "Weather"})
    wanted = {"query": "rain", "actions": [{"type": "star"}, {"type": "label", "label_id": str(label["id"])}]}

    told = agent.use("create_rule", **wanted)
    assert (told["done"], told["count"], told["rule_id"]) == (False, 0, None)
    assert "1 stored entries match, of which 1 would change" in told["what"]
    assert alice.get("/v1/rules") == []
    changed = {**wanted, "actions": [{"type": "drop"}]}
    assert "not the token" in agent.fail("create_rule", confirmation=told["confirmation"], **changed)
    done = agent.use("create_rule", confirmation=told["confirmation"], **wanted)
    again = agent.use("create_rule", confirmation=told["confirmation"], **wanted)

    (rule,) = alice.get("/v1/rules")
    assert (done["done"], done["rule_id"], again["rule_id"]) == (True, str(rule["id"]), str(rule["id"]))
    assert (rule["query"], len(rule["actions"])) == ("rain", 2)
    assert (
        "Every entry of the account matches" in agent.use("create_rule", query="", actions=[{"type": "star"}])["what"]
    )
    assert "choose the label" in agent.fail("create_rule", query="x", actions=[{"type": "label"}])
    assert "you have no feed 7777777" in agent.fail(
        "create_rule", query="x", feed_id="7777777", actions=[{"type": "star"}]
    )
    stored = agent.use("create_rule", query="snow", actions=[{"type": "star"}], apply_to_stored=True)
    assert stored["count"] == 1


def test_subscribing_finds_the_feed_of_a_page(alice: Person, agent: Agent, site: Publisher) -> None:
    feed = alice.has_feed(site, ["One"])
    known = feed["feed_url"].removeprefix(site.url(""))
    links = '<link rel="alternate" type="application/rss+xml" title="{0}" href="/{0}.xml">'
    body = b'<?xml version="1.0"?><rss version="2.0"><channel><title>%s</title></channel></rss>'
    for name in (b"a", b"b"):
        site.serve(f"/{name.decode()}.xml", body % name)
    site.serve("/one", f"<html><head>{links.format('a')}</head></html>".encode())
    both = links.format("a") + links.format("b")
    site.serve("/two", f"<html><head>{both}</head></html>".encode())

    choices = agent.use("subscribe", url=site.url("/two"))
    assert (choices["feed_id"], [one["title"] for one in choices["from_strangers"]]) == (None, ["a", "b"])
    added = agent.use("subscribe", url=site.url("/one"))
    assert alice.get(f"/v1/feeds/{added['feed_id']}")["feed_url"] == site.url("/a.xml")
    assert f"it is feed {feed['id']}" in agent.fail("subscribe", url=site.url(known))
    assert "leave out the name" in agent.fail("subscribe", url="https://me:secret@a.example/feed")
    assert agent.fail("subscribe", url="file:///etc/passwd")
    assert len(alice.get("/v1/feeds")) == 2


def test_arguments_that_do_not_fit_are_named(agent: Agent) -> None:
    assert "entry_id: Expected str, got int. See the inputSchema of get_entry." in agent.fail("get_entry", entry_id=7)
    assert "missing required field entry_id" in agent.fail("get_entry")
    assert "unknown field colour" in agent.fail("get_entry", entry_id="7", colour="red")
    assert "Expected int <= 50" in agent.fail("search", query="", limit=51)
    assert "NUL" in agent.fail("search", query="a\0b")
    assert "Expected str matching regex" in agent.fail("get_entry", entry_id="0")
    assert "length <= 100" in agent.fail("mark_entries", entry_ids=["1"] * 101, status="read")
