"""Lists with chosen members, and links from page to page."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any, get_args

import pytest
from sqlalchemy import event

from newsletters.letters import deliver, has_address, message
from support.handbook import check_examples
from support.people import HttpResponse, Person, rss
from support.publisher import Publisher
from support.resource_factory import A_DAY
from support.visitors import Visitor
from tidings.api.openapi import successes
from tidings.domain.entries.entries import EntryFilter, Order, PageRequest
from tidings.http.endpoints import Endpoint
from tidings.storage.entries import entry_lists
from tidings.storage.entries.entry_lists import Parts
from tidings.wiring.routes import API_DOCUMENT, API_ROUTES
from tidings.wiring.services import AllServices

LISTS = [route for route in API_ROUTES if route.lists]
# Lists that requests for them change.
OF_REQUESTS = {"/v1/api-keys", "/v1/audit", "/v1/me/audit", "/v1/users", "/v1/sessions"}
VERSIONS = next(route for route in LISTS if route.path.endswith("/versions"))
LEAN = "id,feed_id,title,url,status,starred,published_at"


def with_ids(route: Endpoint, person: Person) -> str:
    ids = {
        "feed_id": lambda: person.get("/v1/feeds")[0]["id"],
        "category_id": lambda: person.get("/v1/categories")[0]["id"],
        "view_id": lambda: person.get("/v1/views")[0]["id"],
        "entry_id": lambda: person.entries()[0]["id"],
    }
    return re.sub(r"\{(\w+)\}", lambda name: str(ids[name[1]]()), route.path)


def items_of(answer: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the list in an object: its entries, if it has several."""
    lists = {name: value for name, value in answer.items() if isinstance(value, list)}
    found: list[dict[str, Any]] = lists.get("entries", next(iter(lists.values())))
    return found


@pytest.mark.one_engine
def test_every_list_takes_members_of_its_items_and_names_unknown_ones(charlie: Person, site: Publisher) -> None:
    charlie.has_feed(site)
    charlie.post("/v1/views", {"name": "All", "query": ""})
    charlie.post("/v1/labels", {"title": "Later"})
    charlie.post("/v1/rules", {"query": "title:rain", "actions": [{"type": "star"}]})
    charlie.post("/v1/api-passwords", {"name": "App"})
    charlie.post("/v1/categories", {"title": "News / Europe"})
    charlie.post(f"/v1/entries/{charlie.entries()[0]['id']}/share")
    charlie.put(f"/v1/entries/{charlie.entries()[0]['id']}/snooze", {"until": A_DAY}, status=201)
    charlie.post("/v1/invitations", {})
    charlie.put("/v1/list-settings", {"list": "unread", "direction": "asc"}, status=201)
    charlie.post("/v1/webhooks", {"url": site.url("/hook")})
    listed = (
        '<opml><head><title>Zoo</title></head><body><outline xmlUrl="https://buoys.example/feed.xml"/></body></opml>'
    )
    followed = site.serve("/zoo.opml", listed)
    charlie.post("/v1/opml-subscriptions", {"url": followed}, status=201)
    deliver(charlie, has_address(charlie), message())
    Visitor(charlie.service, charlie).sign_in()
    empty = {"/v1/webhooks/deliveries", "/v1/queue", with_ids(VERSIONS, charlie)}
    for route in LISTS:
        assert route.lists is not None
        path = with_ids(route, charlie)
        first, second, *_ = route.lists.__struct_fields__
        for names in (second, f" {second},{first},,{second}"):
            answer = charlie.get(path, fields=names)
            items = answer if isinstance(answer, list) else items_of(answer)
            wanted = {name.strip() for name in names.split(",") if name} | ({"id"} if path == "/v1/sync" else set())
            assert items or path in empty, path
            assert all(item.keys() == wanted for item in items), path
        refused = charlie.call("GET", path, fields=f"{first},no-such")
        assert (refused.status, refused.error.partition(":")[0]) == (400, "fields"), path
        assert "'no-such'" in refused.error
        assert second in refused.error
        assert charlie.get(path, fields="") == charlie.get(path) or path in OF_REQUESTS


def test_every_endpoint_that_returns_a_list_declares_it() -> None:
    def is_list(hint: Any) -> bool:
        return any(getattr(one, "__origin__", None) is list for one in (hint, *get_args(hint)))

    for route in API_ROUTES:
        if route.method == "GET" and any(map(is_list, successes(route).values())):
            assert route.lists, route.path
        if route.lists:
            parameters = API_DOCUMENT.at()["paths"][route.path]["get"]["parameters"]
            (fields,) = [one for one in parameters if one["name"] == "fields"]
            assert fields["schema"]["items"]["enum"] == [*route.lists.__struct_fields__]


def test_a_list_that_is_not_lean_is_as_it_was(alice: Person, site: Publisher) -> None:
    feed = alice.has_feed(site)
    whole = alice.get("/v1/entries", order="id")

    for names in (["content"], ["feed", "id"], ["labels", "tags", "enclosures"], [*whole["entries"][0]]):
        lean = alice.get("/v1/entries", order="id", fields=",".join(names))
        assert lean["total"] == whole["total"]
        assert lean["entries"] == [{name: entry[name] for name in names} for entry in whole["entries"]]
    assert alice.get("/v1/feeds", fields="title,id,icon") == [{name: feed[name] for name in ("title", "id", "icon")}]
    assert alice.get("/v1/feeds") == [feed]


@pytest.mark.one_engine
def test_a_long_list_is_lean_too(alice: Person, site: Publisher) -> None:
    alice.has_feed(site, ["One", "Two", "Three"])

    answer = alice.call("GET", "/v1/entries", limit=5_000, fields="title")

    assert answer.json() == {"total": 3, "entries": [{"title": title} for title in ("Three", "Two", "One")]}
    assert "link" not in answer.headers


@pytest.mark.one_engine
def test_a_hundred_entries_without_content_take_less_than_25_kb(alice: Person, site: Publisher) -> None:
    titles = [f"{number:03} A title that has as many letters as most titles do" for number in range(100)]
    address = site.url("/a-path-of-the-usual-length/2026/11")
    site.serve("/long.xml", rss(titles, address))
    feed = alice.post("/v1/feeds", {"feed_url": site.url("/long.xml")})

    answer = alice.call("GET", f"/v1/feeds/{feed['feed_id']}/entries", limit=100, fields=LEAN)

    entries = answer.json()["entries"]
    assert len(entries) == 100
    assert sum(len(entry["title"]) + len(entry["url"]) for entry in entries) > 11_000
    assert len(answer.body) < 25_000


def test_bodies_and_enclosures_are_not_read_where_nobody_wants_them(
    alice: Person, site: Publisher, services: AllServices
) -> None:
    alice.has_feed(site)

    def statements(parts: Parts) -> str:
        seen: list[str] = []
        note = lambda _connection, _cursor, statement, *_rest: seen.append(statement)  # noqa: E731
        with services.database.reading() as db:
            event.listen(db.connection, "before_cursor_execute", note)
            page = entry_lists.page(db, alice.id, EntryFilter(), PageRequest(limit=10), parts)
            event.remove(db.connection, "before_cursor_execute", note)
        assert len(page.entries) == 2
        return " ".join(seen)

    lean, whole = statements(Parts(contents=False, enclosures=False)), statements(Parts())
    for table in ("entry_contents", "enclosures"):
        assert table in whole
        assert table not in lean


def next_of(answer: HttpResponse) -> str:
    match = re.fullmatch(r'<(/[^>]+)>; rel="next"', answer.headers.get("link", ""))
    return match[1] if match else ""


def followed(person: Person, path: str, meanwhile: Callable[[], object] = lambda: None) -> list[list[int]]:
    """Return the ids of each page that the links lead to."""
    pages = []
    while path:
        answer = person.call("GET", path)
        assert answer.status == 200, answer.body
        pages.append([item["id"] for item in items_of(answer.json())])
        path = next_of(answer)
        meanwhile()
    return pages


@pytest.mark.parametrize("order", [*Order])
@pytest.mark.parametrize("direction", ["asc", "desc"])
def test_links_lead_through_the_whole_list_in_its_order(
    order: Order, direction: str, alice: Person, site: Publisher
) -> None:
    alice.has_feed(site, ["b", "a", "d", "c"])
    alice.has_feed(site, ["f", "e"])
    whole = [entry["id"] for entry in alice.entries(order=order, direction=direction)]

    pages = followed(alice, f"/v1/entries?limit=2&order={order}&direction={direction}&fields=id")

    assert [len(page) for page in pages] == [2, 2, 2]
    assert [id_ for page in pages for id_ in page] == whole


def test_entries_that_arrive_or_are_read_meanwhile_move_nothing(alice: Person, site: Publisher) -> None:
    alice.has_feed(site, ["b", "a", "d", "c"])
    whole = [entry["id"] for entry in alice.entries(direction="desc")]
    path = "/v1/entries?limit=1&direction=desc&status=unread&status=read"

    def change() -> None:
        alice.has_feed(site, ["new"])
        alice.put("/v1/entries", {"entry_ids": whole, "status": "read"})

    pages = followed(alice, path, change)
    assert [id_ for page in pages for id_ in page if id_ in whole] == whole


@pytest.mark.one_engine
def test_a_link_keeps_the_parameters_and_works_for_feeds_categories_and_views(alice: Person, site: Publisher) -> None:
    feed = alice.has_feed(site, ["Rain one", "Rain two", "Snow", "Rain three"])
    view = alice.post("/v1/views", {"name": "Rain", "query": "title:rain"})
    for path in (
        f"/v1/feeds/{feed['id']}/entries?search=rain&limit=2",
        f"/v1/categories/{feed['category']['id']}/entries?query=title%3Arain+is%3Aunread&limit=2",
        f"/v1/views/{view['id']}/entries?limit=2",
        "/v1/entries?search=rain&limit=2&offset=1&order=changed_at",
        "/v1/entries?search=rain&limit=1001",
    ):
        pages = followed(alice, path)
        assert [len(page) for page in pages] == {"offset": [2], "1001": [3]}.get(
            next((word for word in ("offset", "1001") if word in path), ""), [2, 1]
        ), path


def test_links_lead_through_the_account_log_and_deliveries(alice: Person, site: Publisher) -> None:
    alice.has_feed(site, ["Rain", "Snow", "Hail"])
    alice.post("/v1/webhooks", {"url": site.url("/hook"), "events": ["save_entry"]})
    for entry in alice.entries():
        alice.post(f"/v1/entries/{entry['id']}/save", status=202)
        alice.post("/v1/api-passwords", {"name": entry["title"]})

    for path in ("/v1/me/audit?kind=api_password_created&fields=id", "/v1/webhooks/deliveries?state=pending"):
        pages = followed(alice, f"{path}&limit=2")
        assert [len(page) for page in pages] == [2, 1], path
        assert [id_ for page in pages for id_ in page] == followed(alice, path)[0]


@pytest.mark.slow
@pytest.mark.one_engine
def test_a_streamed_page_has_a_link_as_well(alice: Person, site: Publisher) -> None:
    site.serve("/many.xml", rss([f"{number:04}" for number in range(1_003)], site.url("/many")))
    alice.post("/v1/feeds", {"feed_url": site.url("/many.xml")})

    pages = followed(alice, "/v1/entries?limit=1002&fields=id")

    assert [len(page) for page in pages] == [1_002, 1]
    assert len({id_ for page in pages for id_ in page}) == 1_003


@pytest.mark.one_engine
@pytest.mark.parametrize("cursor", ["x", "cDE", "cDEuMg\u00e9", "a" * 500, "bTEuMg", "LTEuMg", "cDEuMg!", " "])
def test_a_cursor_that_is_damaged_or_of_another_order_is_400(cursor: str, alice: Person) -> None:
    answer = alice.call("GET", "/v1/entries", cursor=cursor)

    assert answer.status == 400
    assert answer.error.startswith("cursor: ")
    assert alice.call("GET", "/v1/entries", cursor="cDEuMg").status == 200


def test_the_examples_of_the_handbook_are_true(alice: Person) -> None:
    assert check_examples("Lean lists", alice) == 3
