"""The search of entry lists."""

from __future__ import annotations

import pytest

from support.people import Person, rss
from support.publisher import Publisher


def titles(person: Person, search: str, **query: object) -> list[str]:
    return [entry["title"] for entry in person.entries(search=search, **query)]


def test_entries_of_a_new_subscription_are_found_at_once(alice: Person, site: Publisher) -> None:
    alice.has_feed(site, items=["Rain tomorrow", "Sunshine", "More rains"])

    assert titles(alice, "rain", direction="desc") == ["Rain tomorrow", "More rains"]
    assert alice.get("/v1/entries", search="rain", limit=1)["total"] == 2


def test_a_search_covers_the_content_too(alice: Person, site: Publisher) -> None:
    alice.has_feed(site, items=["Rain"])

    assert titles(alice, "about") == ["Rain"]


def test_a_search_that_finds_nothing_is_an_empty_list(alice: Person, site: Publisher) -> None:
    alice.has_feed(site)

    assert alice.get("/v1/entries", search="hailstorm") == {"total": 0, "entries": []}


def test_an_empty_search_does_not_filter(alice: Person, site: Publisher) -> None:
    alice.has_feed(site)

    assert alice.get("/v1/entries", search="")["total"] == alice.get("/v1/entries", search="  ")["total"] == 2


def test_phrases_exclusions_and_prefixes(alice: Person, site: Publisher) -> None:
    alice.has_feed(site, items=["Heavy rain tonight", "Rain, heavy at times", "Rainbows"])

    assert titles(alice, '"heavy rain"') == ["Heavy rain tonight"]
    assert titles(alice, "heavy rain", order="title") == ["Heavy rain tonight", "Rain, heavy at times"]
    assert titles(alice, "rain -tonight") == ["Rain, heavy at times"]
    assert sorted(titles(alice, "rain*")) == ["Heavy rain tonight", "Rain, heavy at times", "Rainbows"]
    assert titles(alice, "-rain") == ["Rainbows"]


def test_a_search_can_be_limited_to_a_feed_or_a_category(alice: Person, site: Publisher) -> None:
    category = alice.has_category()
    here = alice.has_feed(site, items=["Rain here"], category_id=category["id"])
    alice.has_feed(site, items=["Rain there"])

    assert titles(alice, "rain", feed_id=here["id"]) == ["Rain here"]
    for path in (f"/v1/feeds/{here['id']}/entries", f"/v1/categories/{category['id']}/entries"):
        assert [entry["title"] for entry in alice.get(path, search="rain")["entries"]] == ["Rain here"]


def test_a_search_can_be_combined_with_a_status(alice: Person, site: Publisher) -> None:
    alice.has_feed(site, items=["Rain one", "Rain two"])
    (first,) = alice.entries(search="one")
    alice.put("/v1/entries", {"entry_ids": [first["id"]], "status": "read"})

    assert titles(alice, "rain", status="read") == ["Rain one"]
    assert titles(alice, "rain", status="unread") == ["Rain two"]


def test_an_edited_entry_is_found_at_once_by_its_new_words_only(alice: Person, site: Publisher) -> None:
    alice.has_feed(site, items=["Rain"])
    (entry,) = alice.entries()
    alice.put(f"/v1/entries/{entry['id']}", {"title": "Snow", "content": "<p>Snowmen</p>"}, status=201)

    assert titles(alice, "rain") == []
    assert titles(alice, "snow snowman") == []
    assert titles(alice, "snow snowmen") == ["Snow"]


def test_entries_of_a_refresh_are_found_at_once(alice: Person, site: Publisher) -> None:
    feed = alice.has_feed(site, items=["Rain"])
    path = feed["feed_url"].removeprefix(site.origin)
    site.serve(path, rss(["Hail", "Rain"], site.url(path)))
    alice.put(f"/v1/feeds/{feed['id']}/refresh")

    assert titles(alice, "hail") == ["Hail"]


def test_entries_of_other_users_are_not_found(alice: Person, bob: Person, charlie: Person, site: Publisher) -> None:
    alice.has_feed(site, items=["Rain for Alice"])
    bob.has_feed(site, items=["Rain for Bob"])

    assert titles(alice, "rain") == ["Rain for Alice"]
    assert titles(bob, "rain") == ["Rain for Bob"]
    assert titles(charlie, "rain") == []


def test_deleted_feeds_are_not_found(alice: Person, site: Publisher) -> None:
    feed = alice.has_feed(site, items=["Rain"])
    assert titles(alice, "rain") == ["Rain"]
    alice.delete(f"/v1/feeds/{feed['id']}")

    assert titles(alice, "rain") == []


@pytest.mark.parametrize(
    "search",
    [
        '"', '""', '"""', "-", "--", '-"', "*", "**", "a*b*", "(", ")", "((a)", "a OR", "AND", "NEAR(a b, 2)",
        "title:a", "^a", "a + b", "{title body}: a", "a & b", "a | !b", "a <-> b", "'a'", "a:*", "\\", "%", "';--",
        "\x1b[31m", "�", "東京", "🎉", "\u202eabc", "a" * 3000, "-a" * 500, '"a ' * 500, "ﷺ" * 200,
    ],
)  # fmt: skip
def test_a_hostile_search_is_no_error(alice: Person, search: str) -> None:
    assert alice.call("GET", "/v1/entries", search=search).status == 200
