"""Size limits, uncompressed: the largest list page and sidebar, all scripts, all styles."""

from __future__ import annotations

import re

import pytest

from support.many_feeds import add_feeds
from support.people import Person
from support.visitors import Visitor
from tidings.base.times import MINUTE, Instant
from tidings.domain.entries.entries import EntryStatus, ReadyEntry
from tidings.storage.feeds import feeds
from tidings.storage.polling import entry_writes
from tidings.web.sidebar import MAX_UNFOLDED_FEEDS

pytestmark = pytest.mark.slow

HTML, SIDEBAR, SCRIPT, STYLE = 150_000, 60_000, 40_000, 50_000
TITLE = "A title of eighty characters, as newspapers like to write them on a long weekend"
BODY = "<p>" + "Lorem ipsum dolor sit amet, consectetur adipiscing elit. " * 50 + "</p>"


def add_many_feeds_and_entries(person: Person) -> None:
    """As many feeds as a sidebar shows at once, and more entries than a page."""
    services = person.service.services
    category = services.feeds.categories.create(person.id, "Newspapers").id
    now = services.clock()
    for number in range(MAX_UNFOLDED_FEEDS):
        with services.database.writing() as db:
            feed_id = feeds.add(
                db, person.id, category_id=category, feed_url=f"http://127.0.0.1:1/{number}",
                title=f"The daily newspaper, {number}", created_at=now, checked_at=now, next_check_at=now,
            )  # fmt: skip
            entry = ReadyEntry(
                hash=number.to_bytes(32, "big"),
                fingerprint=b"",
                title=TITLE,
                url=f"https://www.example.org/2026/11/21/a-title-of-eighty-characters-{number}",
                comments_url=f"https://www.example.org/2026/11/21/a-title-of-eighty-characters-{number}#comments",
                content=BODY,
                published_at=Instant(now - number * MINUTE),
                status=EntryStatus.UNREAD,
            )
            entry_writes.add(db, person.id, feed_id, category, [entry], now=now)


def test_a_page_of_a_hundred_entries_is_light(reader: Visitor, alice: Person) -> None:
    add_many_feeds_and_entries(alice)

    page = reader.page("/unread")

    assert page.count('class="row unread"') == 100
    assert page.count("The daily newspaper") >= 100 + MAX_UNFOLDED_FEEDS
    assert len(page.encode()) < HTML


@pytest.mark.parametrize("density", ["cards", "magazine", "stream"])
def test_a_page_of_other_layouts_is_light_too(reader: Visitor, alice: Person, density: str) -> None:
    add_many_feeds_and_entries(alice)
    reader.post("/view", density=density)

    assert len(reader.page("/unread").encode()) < HTML


def test_scripts_are_light(reader: Visitor) -> None:
    scripts = [*re.findall(r'<script[^>]* src="([^"]+)"', reader.page("/unread")), "/worker.js"]

    assert len(scripts) == 2
    assert sum(len(reader.get(one).body) for one in scripts) < SCRIPT


@pytest.mark.parametrize("path", ["/unread", "/keys", "/feeds", "/settings", "/sign-in"])
def test_the_style_of_a_page_is_light(reader: Visitor, path: str) -> None:
    visitor = Visitor(reader.service) if path == "/sign-in" else reader
    styles = re.findall(r'<link rel="stylesheet" href="([^"]+)"', visitor.page(path))

    assert len(styles) == 1
    assert sum(len(reader.get(one).body) for one in styles) < STYLE


def test_a_page_for_reading_loads_no_styles_of_settings(reader: Visitor) -> None:
    (style,) = re.findall(r'<link rel="stylesheet" href="([^"]+)"', reader.page("/unread"))

    assert b".item-list" not in reader.get(style).body


@pytest.mark.parametrize("categories", [1, 60])
def test_a_sidebar_of_three_thousand_feeds_is_light(reader: Visitor, alice: Person, categories: int) -> None:
    feeds = add_feeds(alice, categories, 3_000 // categories)

    for path in ("/unread", f"/feeds/{feeds['Feed 0-49']}"):
        sidebar = re.search('<nav class="sidebar".*?</nav>', reader.page(path), re.DOTALL)
        assert sidebar
        assert len(sidebar[0].encode()) < SIDEBAR, path
