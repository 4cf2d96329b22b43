"""Forms that mark many entries read leave unread what was stored after their page was built."""

from __future__ import annotations

import re
import time
from collections.abc import Callable

import pytest

from support.people import Person, rss
from support.publisher import Publisher
from support.running import RunningService
from support.visitors import Visitor

FIELD = re.compile(r'name="(newest|later)" value="([\d,]+)"')
JSON = {"Accept": "application/json"}
OLD = 1_262_304_000


class OpenPages:
    """Alice reads her only feed; entries arrive while a page is open."""

    def __init__(self, reader: Visitor, alice: Person, site: Publisher) -> None:
        self.reader, self.alice = reader, alice
        items = rss(["One", "Two", "Three"], site.url("/news"), extra="<category>News</category>")
        created = alice.post("/v1/feeds", {"feed_url": site.serve("/news.xml", items)})
        self.feed = alice.get(f"/v1/feeds/{created['feed_id']}")
        self.category = self.feed["category"]["id"]
        self._put_on_lists([entry["id"] for entry in alice.entries()])

    def arrive(self, title: str, published_at: int | None = None) -> int:
        entry = {"url": f"https://a.example/{title}", "title": title, "status": "unread", "tags": ["News"]}
        path = f"/v1/feeds/{self.feed['id']}/entries/import"
        moment = {} if published_at is None else {"published_at": published_at}
        entry_id = int(self.alice.post(path, {**entry, **moment})["id"])
        self._put_on_lists([entry_id])
        return entry_id

    def _put_on_lists(self, ids: list[int]) -> None:
        for entry_id in ids:
            self.reader.post(f"/entries/{entry_id}/labels", new="Work")
            self.reader.post(f"/entries/{entry_id}/share")
            self.reader.post("/entries/marks", star=entry_id)

    @property
    def label(self) -> str:
        match = re.search(r'href="[^"]*(/labels/\d+)"', self.reader.page("/unread"))
        assert match
        return match[1]

    def mark(self, page: str, action: str, **part: int) -> dict[str, str]:
        """Send a form as it is on the page."""
        match = re.search(rf'<form[^>]*action="[^"]*{re.escape(action)}"[^>]*>(.*?)</form>', page, re.DOTALL)
        assert match
        fields = dict(FIELD.findall(match[1]))
        answer: dict[str, str] = self.reader.post(action, {**fields, **part}, headers=JSON).json()
        return answer

    def unread(self) -> set[str]:
        return {entry["title"] for entry in self.alice.entries(status="unread")}


@pytest.fixture
def pages(reader: Visitor, alice: Person, site: Publisher) -> OpenPages:
    alice.put(f"/v1/users/{alice.id}", {"entry_sorting_direction": "desc"}, status=201)
    return OpenPages(reader, alice, site)


LISTS: dict[str, Callable[[OpenPages], str]] = {
    "unread": lambda _: "/unread",
    "feed": lambda pages: f"/feeds/{pages.feed['id']}",
    "category": lambda pages: f"/categories/{pages.category}",
    "label": lambda pages: pages.label,
    "all of a feed": lambda pages: f"/feeds/{pages.feed['id']}?show=all",
    "starred": lambda _: "/starred",
    "shared": lambda _: "/shared",
    "tagged": lambda _: "/tagged?tag=News",
    "search": lambda _: "/search?query=is%3Aunread",
    "old search": lambda _: "/search?q=about",
}


@pytest.mark.parametrize("path_of", LISTS.values(), ids=LISTS.keys())
def test_an_entry_that_arrives_while_a_list_is_open_stays_unread(
    pages: OpenPages, path_of: Callable[[OpenPages], str]
) -> None:
    path = path_of(pages)
    page = pages.reader.page(path)
    pages.arrive("Late")
    pages.arrive("Late, of long ago", OLD)

    place, _, query = path.partition("?")
    answer = pages.mark(page, f"{place}/mark-read" + (f"?{query}" if query else ""))

    assert answer["notice"] == "3 marked read"
    assert answer["to"].endswith(path)
    assert pages.unread() == {"Late", "Late, of long ago"}


def test_what_is_dated_in_the_future_is_marked_where_it_was_shown(pages: OpenPages) -> None:
    pages.arrive("Soon", int(time.time()) + 3_600)
    page = pages.reader.page("/unread")
    assert "Soon" in page

    assert pages.mark(page, "/unread/mark-read")["notice"] == "4 marked read"


def test_a_search_for_nothing_marks_nothing(pages: OpenPages) -> None:
    assert "mark-read" not in pages.reader.page("/search")

    assert pages.reader.post("/search/mark-read", headers=JSON).json()["notice"] == "Nothing was unread."
    assert pages.unread() == {"One", "Two", "Three"}


def test_an_undo_restores_what_was_marked_and_nothing_else(pages: OpenPages) -> None:
    page = pages.reader.page("/unread")
    late = pages.arrive("Late")
    answer = pages.mark(page, "/unread/mark-read")
    pages.alice.put("/v1/entries", {"entry_ids": [late], "status": "read"})

    undone = pages.reader.post("/entries/undo", headers=JSON, moment=answer["undo"]).json()

    assert undone["notice"] == "3 unread again"
    assert pages.unread() == {"One", "Two", "Three"}


@pytest.mark.parametrize("columns", ["list", "split"])
def test_marking_above_an_entry_leaves_what_came_since_its_page(pages: OpenPages, columns: str) -> None:
    pages.reader.post("/view", columns=columns)
    oldest = pages.alice.entries(order="published_at", direction="asc")[0]
    page = pages.reader.page(f"/unread/{oldest['id']}")
    pages.arrive("Late")

    pages.mark(page, "/unread/mark-read", above=oldest["id"])

    assert pages.unread() == {"Late"}


def test_a_later_page_of_a_list_goes_on_from_what_the_first_one_showed(pages: OpenPages) -> None:
    """The newest come first: what arrives before the second page is built is on neither."""
    pages.alice.put(f"/v1/users/{pages.alice.id}", {"entries_per_page": 2}, status=201)
    first = pages.reader.page("/unread")
    pages.arrive("Late")
    match = re.search(r'rel="next" href="[^"]*(/unread\?[^"]+)"', first)
    assert match
    second = pages.reader.page(match[1].replace("&amp;", "&"))

    pages.mark(second, "/unread/mark-read")

    assert pages.unread() == {"Late"}


def test_a_late_entry_that_a_later_page_shows_is_marked(pages: OpenPages) -> None:
    """The oldest come first: what arrives before the second page is built is on that page."""
    asked = {"entries_per_page": 2, "entry_sorting_direction": "asc"}
    pages.alice.put(f"/v1/users/{pages.alice.id}", asked, status=201)
    first = pages.reader.page("/unread")
    pages.arrive("Late")
    match = re.search(r'rel="next" href="[^"]*(/unread\?[^"]+)"', first)
    assert match
    second = pages.reader.page(match[1].replace("&amp;", "&"))
    assert "Late" in second
    pages.arrive("Later")

    pages.mark(second, "/unread/mark-read")

    assert pages.unread() == {"Later"}


def test_the_page_of_categories_leaves_what_came_since(pages: OpenPages) -> None:
    page = pages.reader.page("/categories")
    pages.arrive("Late")

    pages.mark(page, f"/categories/{pages.category}/read")

    assert pages.unread() == {"Late"}


def test_marking_what_is_old_leaves_what_came_since(pages: OpenPages) -> None:
    pages.arrive("Old", OLD)
    page = pages.reader.page("/feeds/import")
    pages.arrive("Late, of long ago", OLD)

    pages.mark(page, "/unread/mark-old")

    assert pages.unread() & {"Old", "Late, of long ago"} == {"Late, of long ago"}


def test_a_copy_for_reading_offline_marks_what_it_shows(pages: OpenPages) -> None:
    pages.reader.post("/view", offline="on")
    page = pages.reader.page("/offline/unread")
    pages.arrive("Late")

    pages.mark(page, "/unread/mark-read")

    assert pages.unread() == {"Late"}


@pytest.mark.parametrize("path", ["/unread/mark-read", "/unread/mark-old", "/categories/{category}/read"])
def test_what_is_no_id_is_refused_and_marks_nothing(pages: OpenPages, path: str) -> None:
    for field in ("newest", "later"):
        for wrong in ("x", "-1", "9" * 19, "1.5", "1,,2"):
            answer = pages.reader.post(path.format(category=pages.category), {"newest": "1", field: wrong})

            assert answer.status == 400, (field, wrong)
            assert field in answer.body.decode(), (field, wrong)
    assert pages.unread() == {"One", "Two", "Three"}


def test_later_ids_of_other_users_mark_nothing(
    pages: OpenPages, bob: Person, site: Publisher, service: RunningService
) -> None:
    bob.has_feed(site, ["Theirs"])
    theirs = bob.entries()[0]["id"]

    pages.reader.post("/unread/mark-read", newest=theirs, later=f"{theirs},{theirs + 1}")

    assert {entry["status"] for entry in bob.entries()} == {"unread"}
    assert pages.unread() == set()
