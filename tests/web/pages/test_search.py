"""The search page: results with highlighted words, from all feeds or from one feed or category."""

from __future__ import annotations

import pytest
from sqlalchemy import delete, text

from support.people import Person
from support.publisher import Publisher
from support.visitors import Visitor
from tidings.storage.schema import search_pending


@pytest.fixture
def feeds(alice: Person, site: Publisher) -> list[int]:
    """Two, with an entry about rain each; the second is in a category of its own."""
    category = alice.has_category("Weather")["id"]
    first = alice.has_feed(site, ["Rain & <b>wind</b>", "Sun"])
    second = alice.has_feed(site, ["Raining again"], category_id=category)
    return [first["id"], second["id"], category]


def test_matching_words_are_highlighted(reader: Visitor, feeds: list[int]) -> None:
    page = reader.page("/search?q=rain")

    assert "<mark>Rain</mark>" in page
    assert "About <mark>Raining</mark> again." in page
    assert "<b>" not in page


@pytest.mark.slow
def test_a_search_says_that_entries_cannot_be_found_yet(reader: Visitor, alice: Person, feeds: list[int]) -> None:
    said = "Some entries are still being indexed and cannot be found yet."
    assert said not in reader.page("/search?q=rain")
    # So many that a search gives up waiting for them: it takes 8,000 transactions to see that these entries are gone.
    waiting = (
        "INSERT INTO search_pending (entry_id, user_id) WITH RECURSIVE many (id) AS"
        " (SELECT 1000000 UNION ALL SELECT id + 1 FROM many WHERE id < 1400000) SELECT id, :user FROM many"
    )
    database = alice.service.services.database
    with database.writing() as db:
        db.run(text(waiting), user=alice.id)

    assert said in reader.page("/search?q=rain")
    assert said not in reader.page("/unread")

    with database.writing() as db:
        db.run(delete(search_pending).where(search_pending.c.user_id == alice.id))
    assert said not in reader.page("/search?q=rain")


def test_a_search_in_a_feed_or_category_finds_only_its_entries(reader: Visitor, feeds: list[int]) -> None:
    first, second, category = feeds

    for where, count in ((f"f{first}", 1), (f"f{second}", 1), (f"c{category}", 1), ("", 2), ("x9", 2), ("f", 2)):
        assert reader.page(f"/search?q=rain&where={where}").count('class="row ') == count, where


def test_entries_opened_from_a_search_keep_its_scope(reader: Visitor, feeds: list[int]) -> None:
    page = reader.page(f"/search?q=rain&where=f{feeds[0]}")

    assert f"?q=rain&amp;where=f{feeds[0]}" in page
    assert f'value="f{feeds[0]}" selected' in page


def test_a_search_in_a_feed_of_another_user_is_404(
    reader: Visitor, bob: Person, site: Publisher, feeds: list[int]
) -> None:
    theirs = bob.has_feed(site, ["Rain"])

    assert reader.get(f"/search?q=rain&where=f{theirs['id']}").status == 404
    assert reader.get(f"/search?q=rain&where=c{theirs['category']['id']}").status == 404
    assert reader.get(f"/search?q=rain&where=f{10**17}").status == 404
