"""The search page: results with highlighted words, from all feeds or from one feed or category."""

from __future__ import annotations

from urllib.parse import quote_plus

import pytest
from sqlalchemy import delete, text

from support.people import Person
from support.publisher import Publisher
from support.visitors import Visitor
from tidings.query import parse
from tidings.storage.schema import search_pending
from tidings.web.pages.query_help import EXAMPLES


@pytest.fixture
def feeds(alice: Person, site: Publisher) -> list[int]:
    """Two, with an entry about rain each; the second is in a category of its own."""
    category = alice.has_category("Weather")["id"]
    first = alice.has_feed(site, ["Rain & <b>wind</b>", "Sun"])
    second = alice.has_feed(site, ["Raining again"], category_id=category)
    return [first["id"], second["id"], category]


def test_matching_words_are_highlighted(reader: Visitor, feeds: list[int]) -> None:
    page = reader.page("/search?query=rain")

    assert "<mark>Rain</mark>" in page
    assert "About <mark>Raining</mark> again." in page
    assert "<b>" not in page


def test_the_field_has_a_hint_of_relative_dates(reader: Visitor) -> None:
    assert "<code>published:7d</code>" in reader.page("/search")


@pytest.mark.slow
def test_a_search_says_that_entries_cannot_be_found_yet(reader: Visitor, alice: Person, feeds: list[int]) -> None:
    said = "Some entries are still being indexed and cannot be found yet."
    assert said not in reader.page("/search?query=rain")
    # So many that a search gives up waiting for them: it takes 8,000 transactions to see that these entries are gone.
    waiting = (
        "INSERT INTO search_pending (entry_id, user_id) WITH RECURSIVE many (id) AS"
        " (SELECT 1000000 UNION ALL SELECT id + 1 FROM many WHERE id < 1400000) SELECT id, :user FROM many"
    )
    database = alice.service.services.database
    with database.writing() as db:
        db.run(text(waiting), user=alice.id)

    assert said in reader.page("/search?query=rain")
    assert said not in reader.page("/unread")

    with database.writing() as db:
        db.run(delete(search_pending).where(search_pending.c.user_id == alice.id))
    assert said not in reader.page("/search?query=rain")


def test_a_search_in_a_feed_or_category_finds_only_its_entries(reader: Visitor, feeds: list[int]) -> None:
    first, second, category = feeds

    for where, count in ((f"f{first}", 1), (f"f{second}", 1), (f"c{category}", 1), ("", 2), ("x9", 2), ("f", 2)):
        assert reader.page(f"/search?query=rain&where={where}").count('class="row ') == count, where


def test_entries_opened_from_a_search_keep_its_scope(reader: Visitor, feeds: list[int]) -> None:
    page = reader.page(f"/search?query=rain&where=f{feeds[0]}")

    assert f"?query=rain&amp;where=f{feeds[0]}" in page
    assert f'value="f{feeds[0]}" selected' in page


def test_a_search_in_a_feed_of_another_user_is_404(
    reader: Visitor, bob: Person, site: Publisher, feeds: list[int]
) -> None:
    theirs = bob.has_feed(site, ["Rain"])

    assert reader.get(f"/search?query=rain&where=f{theirs['id']}").status == 404
    assert reader.get(f"/search?query=rain&where=c{theirs['category']['id']}").status == 404
    assert reader.get(f"/search?query=rain&where=f{10**17}").status == 404


def test_a_search_takes_queries(reader: Visitor, alice: Person, feeds: list[int]) -> None:
    alice.put("/v1/entries", {"entry_ids": [alice.entries(search="sun")[0]["id"]], "starred": True})

    for query, count in (("title:rain", 2), ("is:starred OR category:weather", 2), ("rain -(wind is:unread)", 1)):
        assert reader.page(f"/search?query={quote_plus(query)}").count('class="row ') == count, query


def test_words_are_highlighted_where_a_query_asks_for_them(reader: Visitor, feeds: list[int]) -> None:
    page = reader.page("/search?query=title:raining+text:again")

    assert "<mark>Raining</mark> again</a>" in page
    assert "About Raining <mark>again</mark>." in page


def test_the_pages_of_a_search_keep_its_query(reader: Visitor, alice: Person, feeds: list[int]) -> None:
    alice.put(f"/v1/users/{alice.id}", {"entries_per_page": 1}, status=201)

    first = reader.page("/search?query=rain+is:unread")
    following = first.partition('rel="next" href="')[2].partition('"')[0].replace("&amp;", "&")

    assert "query=rain+is%3Aunread" in following
    assert reader.page(following).count('class="row ') == 1
    assert "2 results" in reader.get("/search/total?query=rain+is:unread").body.decode()


@pytest.mark.parametrize(
    ("query", "said", "shown", "selection"),
    [
        (
            "rain (snow",
            "expected a closing parenthesis for the one at character 6",
            "rain (snow<mark>\xa0</mark>",
            "10 10",
        ),
        ("\U0001f327 is:wet <b>", "Cannot be read from character 6 on", "is:<mark>wet</mark> &lt;b&gt;", "6 9"),
        ("title:/(/", "a parenthesis is opened and never closed.</p>", "title:/<mark>(/</mark>", "7 9"),
    ],
)
def test_the_place_where_a_query_cannot_be_read_is_marked(
    reader: Visitor, feeds: list[int], query: str, said: str, shown: str, selection: str
) -> None:
    answer = reader.get(f"/search?query={quote_plus(query)}&where=f{feeds[0]}")
    page = answer.body.decode()

    assert answer.status == 400
    assert said in page
    assert shown in page
    assert f'data-wrong="{selection}"' in page
    assert f'value="f{feeds[0]}" selected' in page
    assert 'class="row ' not in page


def test_a_query_without_meaning_is_explained(reader: Visitor) -> None:
    answer = reader.get("/search?query=S:mine")

    assert answer.status == 400
    assert "There is no saved view mine." in answer.body.decode()


def test_addresses_of_earlier_searches_are_read_as_words(reader: Visitor, feeds: list[int]) -> None:
    page = reader.page("/search?q=about:+(rain")

    assert page.count('class="row ') == 2
    assert 'value="about: (rain"' in page
    assert "?q=about%3A+%28rain" in page


def test_every_example_of_the_help_can_be_read(reader: Visitor) -> None:
    assert "has:enclosure" in reader.page("/search/help")
    for _name, rows in EXAMPLES:
        for examples, _what in rows:
            for example in examples:
                parse(example)
