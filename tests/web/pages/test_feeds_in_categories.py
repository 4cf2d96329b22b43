"""Feeds in several categories, on the pages of feeds and categories, and in the sidebar."""

from __future__ import annotations

import re
from typing import Any

from support.people import Person
from support.publisher import Publisher
from support.visitors import Visitor


def named(alice: Person, *titles: str) -> list[int]:
    return [int(alice.has_category(title)["id"]) for title in titles]


def places(alice: Person, feed: dict[str, Any]) -> list[int]:
    ids: list[int] = alice.get(f"/v1/feeds/{feed['id']}")["category_ids"]
    return ids


def test_the_form_of_a_feed_adds_and_takes_further_categories(reader: Visitor, alice: Person, site: Publisher) -> None:
    news, tech, art = named(alice, "News", "Tech", "Art")
    feed = alice.has_feed(site, ["a"], category_id=news)
    path = f"/feeds/{feed['id']}/edit"
    whole = {"title": feed["title"], "feed_url": feed["feed_url"], "site_url": feed["site_url"]}
    reader.get(path)

    reader.post(path, **whole, category_id=news, also="", also_in=tech)
    assert places(alice, feed) == [news, tech]
    page = reader.page(path)
    assert re.search(rf'name="also" value="{tech}" checked', page)
    # A form without the field, such as one that was open before, changes nothing about them.
    reader.post(path, **whole, category_id=art)
    assert places(alice, feed) == [art, tech]
    reader.post(path, **whole, category_id=art, also="", also_in="")
    assert places(alice, feed) == [art]
    refused = reader.post(path, **whole, category_id=art, also="", also_in=2147483000)
    assert refused.status == 400
    assert places(alice, feed) == [art]


def test_the_sidebar_and_the_list_of_each_category_have_the_feed(
    reader: Visitor, alice: Person, site: Publisher
) -> None:
    news, tech = named(alice, "News", "Tech")
    feed = alice.has_feed(site, ["a", "b"], category_ids=[news, tech])
    page = reader.page("/unread")

    assert page.count(f'href="/feeds/{feed["id"]}"') == 2
    assert f'data-count="c{news}">2<' in page
    assert f'data-count="c{tech}">2<' in page
    assert 'data-count="unread">2<' in page
    assert reader.page(f"/categories/{tech}").count('class="row unread"') == 2
    entry = alice.entries()[0]["id"]
    assert reader.get(f"/categories/{tech}/entries/{entry}").status == 200
    assert "News, Tech" in reader.page(f"/feeds?category={tech}")
    reader.post(f"/categories/{tech}/mark-read")
    assert 'data-count="unread"><' in reader.page("/unread")


def test_a_category_that_all_hide_hides_the_feed_from_the_count(
    reader: Visitor, alice: Person, site: Publisher
) -> None:
    news, tech = named(alice, "News", "Tech")
    alice.has_feed(site, ["a"], category_ids=[news, tech])

    for category, count in ((news, "1"), (tech, "")):
        alice.put(f"/v1/categories/{category}", {"hide_globally": True}, status=201)
        assert f'data-count="unread">{count}<' in reader.page("/unread")


def test_many_feeds_are_put_into_a_further_category_or_dragged_out_of_one(
    reader: Visitor, alice: Person, site: Publisher
) -> None:
    news, tech, art = named(alice, "News", "Tech", "Art")
    feed = alice.has_feed(site, category_id=news)

    def apply(action: str) -> list[int]:
        reader.post("/feeds/bulk", feed=feed["id"], action=action)
        return places(alice, feed)

    reader.get("/feeds")
    assert apply(f"also:{tech}") == [news, tech]
    assert apply(f"also:{news}") == [news, tech]
    assert apply(f"move:{art}:{tech}") == [news, art]
    assert apply(f"move:{tech}:{news}") == [tech, art]
    assert apply(f"move:{tech}:{art}") == [tech]
    assert apply("also:2147483000") == [tech]


def test_deleting_a_category_says_which_feeds_stay_elsewhere(reader: Visitor, alice: Person, site: Publisher) -> None:
    news, tech, art = named(alice, "News", "Tech", "Art")
    both = alice.has_feed(site, category_ids=[news, tech])
    alone = alice.has_feed(site, category_id=news)
    page = reader.page(f"/categories/{news}/delete")

    assert ">Its feed</label>" in page
    assert "1 feed stays in its other category." in page
    reader.post(f"/categories/{news}/delete", move_to=art)
    assert (places(alice, both), places(alice, alone)) == ([tech], [art])
