"""The page of all feeds: how each is, and one change to many."""

from __future__ import annotations

import re
from typing import Any
from urllib.parse import urlsplit

import pytest
from sqlalchemy import update

from support.people import Person
from support.publisher import Answer, Publisher
from support.visitors import Visitor
from tidings.base.messages import encode_message, join_sentences, verbatim
from tidings.base.times import DAY
from tidings.domain.feeds.health import BROWSER_OFFER
from tidings.storage.feeds import feeds as stored_feeds
from tidings.storage.feeds import health
from tidings.storage.schema import feeds
from tidings.wiring.services import AllServices


def rows(page: str) -> dict[str, str]:
    """The row of each feed, by title, in order."""
    found = re.findall(
        r'<li class="(?:\w+)">\s*<label class="tick"><input type="checkbox" name="feed".*?</li>', page, re.DOTALL
    )
    return {re.search(r'aria-label="([^"]*)"', row)[1]: row for row in found}  # type: ignore[index]


def subscribe(alice: Person, site: Publisher, *titles: str) -> dict[str, int]:
    created = {}
    for title in titles:
        created[title] = alice.has_feed(site)["id"]
        alice.put(f"/v1/feeds/{created[title]}", {"title": title}, status=201)
    return created


def set_signs(services: AllServices, feed_id: int, **values: object) -> None:
    with services.database.writing() as db:
        db.run(update(feeds).where(feeds.c.id == feed_id).values(**values))


@pytest.mark.slow
def test_each_feed_shows_its_health_and_what_to_do(
    reader: Visitor, alice: Person, site: Publisher, services: AllServices
) -> None:
    ids = subscribe(alice, site, "Well", "Gone", "Moving", "Asleep", "Off")
    address = urlsplit(alice.get(f"/v1/feeds/{ids['Gone']}")["feed_url"]).path
    site.serve(address, status=404)
    alice.call("PUT", f"/v1/feeds/{ids['Gone']}/refresh")
    set_signs(services, ids["Moving"], moved_to="https://new.example.org/<feed>", moved_times=1)
    alice.put(f"/v1/feeds/{ids['Off']}", {"disabled": True}, status=201)

    shown = rows(reader.page("/feeds"))

    assert list(shown) == ["Gone", "Moving", "Off", "Asleep", "Well"]
    assert "Failing" in shown["Gone"]
    assert "(404)" in shown["Gone"]
    assert "https://new.example.org/&lt;feed&gt;" in shown["Moving"]
    assert "Switched off" in shown["Off"]
    assert "next check" in shown["Well"]
    assert "2 entries in half a year" in shown["Well"]


def test_feeds_are_filtered_and_sorted(reader: Visitor, alice: Person, site: Publisher) -> None:
    ids = subscribe(alice, site, "Birds", "Apples", "Cider")
    category = alice.has_category("Garden")
    alice.put(f"/v1/feeds/{ids['Apples']}", {"category_id": category["id"]}, status=201)
    alice.put(f"/v1/feeds/{ids['Cider']}", {"disabled": True}, status=201)

    assert list(rows(reader.page("/feeds?sort=title"))) == ["Apples", "Birds", "Cider"]
    assert list(rows(reader.page(f"/feeds?category={category['id']}"))) == ["Apples"]
    assert list(rows(reader.page("/feeds?q=CID"))) == ["Cider"]
    assert list(rows(reader.page("/feeds?state=off"))) == ["Cider"]
    assert "No feed matches." in reader.page("/feeds?q=nothing")
    # Values that are not offered are ignored.
    assert len(rows(reader.page("/feeds?sort=sideways&page=99&category=x"))) == 3


@pytest.mark.slow
def test_many_feeds_are_changed_at_once(reader: Visitor, alice: Person, site: Publisher) -> None:
    ids = subscribe(alice, site, "One", "Two", "Three")
    category = alice.has_category("Elsewhere")
    two = [ids["One"], ids["Two"]]
    reader.get("/feeds")

    def feed(title: str) -> dict[str, object]:
        found: dict[str, object] = alice.get(f"/v1/feeds/{ids[title]}")
        return found

    notice = reader.follow(reader.post("/feeds/bulk", feed=two, action=f"move:{category['id']}"))
    assert "2 feeds moved." in notice
    assert [feed(title)["category"]["title"] for title in ids] == ["Elsewhere", "Elsewhere", "All"]  # type: ignore[index]
    assert len(alice.get(f"/v1/categories/{category['id']}/entries")["entries"]) == 4

    reader.post("/feeds/bulk", feed=two, action="every:60")
    assert [feed(title)["check_interval_minutes"] for title in ids] == [60, 60, 0]

    reader.post("/feeds/bulk", feed=two, action="off")
    assert [feed(title)["disabled"] for title in ids] == [True, True, False]
    assert "2 feeds switched on." in reader.follow(reader.post("/feeds/bulk", whole="1", action="on"))
    assert not any(feed(title)["disabled"] for title in ids)


def test_an_enabled_feed_is_due_at_once(reader: Visitor, alice: Person, site: Publisher, services: AllServices) -> None:
    ids = subscribe(alice, site, "One")
    in_a_week = services.clock() + 7 * DAY
    errors = {"failed_checks": 9, "parsing_error_count": 9, "parsing_error_message": "No."}
    set_signs(services, ids["One"], disabled=True, next_check_at=in_a_week, **errors)
    reader.get("/feeds")

    reader.post("/feeds/bulk", feed=ids["One"], action="on")

    found = alice.get(f"/v1/feeds/{ids['One']}")
    assert (found["disabled"], found["parsing_error_count"], found["parsing_error_message"]) == (False, 0, "")
    with services.reading() as db:
        stored = stored_feeds.get(db, alice.id, ids["One"])
    assert stored is not None
    assert stored.next_check_at <= services.clock()


def test_deleting_feeds_asks_for_confirmation(reader: Visitor, alice: Person, site: Publisher) -> None:
    ids = subscribe(alice, site, "Stays", "Goes", "Goes too")
    two = [ids["Goes"], ids["Goes too"]]
    reader.get("/feeds")

    confirmation = reader.post("/feeds/bulk", feed=two, action="delete").body.decode()
    assert "Delete 2 feeds" in confirmation
    assert "4 entries" in confirmation
    assert len(alice.get("/v1/feeds")) == 3

    notice = reader.follow(reader.post("/feeds/bulk", feed=two, action="delete", sure="1"))
    assert "2 feeds deleted." in notice
    assert [feed["title"] for feed in alice.get("/v1/feeds")] == ["Stays"]


def test_selecting_all_applies_to_the_feeds_of_the_filter(reader: Visitor, alice: Person, site: Publisher) -> None:
    ids = subscribe(alice, site, "Red house", "Blue house", "Red boat")
    reader.get("/feeds?q=red")

    reader.post("/feeds/bulk", whole="1", q="red", action="off")

    off = {title for title, id_ in ids.items() if alice.get(f"/v1/feeds/{id_}")["disabled"]}
    assert off == {"Red house", "Red boat"}


def test_feeds_of_other_users_are_skipped(reader: Visitor, bob: Person, site: Publisher) -> None:
    theirs = bob.has_feed(site)
    reader.get("/feeds")

    for action in ("off", "every:60", "refresh", "delete", f"move:{theirs['category']['id']}"):
        reader.post("/feeds/bulk", feed=theirs["id"], action=action, sure="1")

    after = bob.get(f"/v1/feeds/{theirs['id']}")
    assert (after["disabled"], after["check_interval_minutes"]) == (False, 0)
    assert "A feed" not in reader.page("/feeds")


@pytest.mark.parametrize(
    ("sent", "notice"),
    [
        ({"action": "off"}, "Select at least one feed"),
        ({"action": "", "feed": "1"}, "Choose what to do"),
        ({"action": "fly", "feed": "1"}, "Choose what to do"),
        ({"action": "every:", "feed": "1"}, "Choose what to do"),
        ({"action": "off", "feed": "x"}, "Select at least one feed"),
        ({"action": "every:1", "whole": "1"}, "minutes"),
        ({"action": "move:99999999", "whole": "1"}, "There is no category"),
        ({"action": "refresh", "whole": "1"}, "Nothing to check"),
    ],
)
def test_an_impossible_action_is_reported(
    reader: Visitor, alice: Person, site: Publisher, sent: dict[str, Any], notice: str
) -> None:
    subscribe(alice, site, "One")
    reader.get("/feeds")

    assert notice in reader.follow(reader.post("/feeds/bulk", **sent))


def test_an_account_without_feeds_gets_a_link_to_subscribe(reader: Visitor) -> None:
    assert 'href="/welcome"' in reader.page("/feeds")


@pytest.mark.slow
def test_a_feed_that_takes_seconds_to_answer_is_called_slow(
    reader: Visitor, alice: Person, site: Publisher, services: AllServices
) -> None:
    ids = subscribe(alice, site, "Quick", "Slow one")
    set_signs(services, ids["Slow one"], took_ms=6_240)

    assert list(rows(reader.page("/feeds?state=slow"))) == ["Slow one"]
    assert list(rows(reader.page("/feeds?sort=slowest"))) == ["Slow one", "Quick"]
    assert "answered in 6.2 s" in reader.page("/feeds")
    assert "answered in 6.2 s" in reader.page(f"/feeds/{ids['Slow one']}/edit")

    address = urlsplit(alice.get(f"/v1/feeds/{ids['Slow one']}")["feed_url"]).path
    site.script(address, Answer("<rss version='2.0'><channel><title>New</title></channel></rss>", after_s=0.2))
    reader.post(f"/feeds/{ids['Slow one']}/refresh")

    assert rows(reader.page("/feeds?state=slow")) == {}
    with services.reading() as db:
        signs = health.get(db, alice.id, ids["Slow one"], services.clock())
    assert signs is not None
    assert 200 <= signs.took_ms < 5_000


def test_a_feed_behind_a_challenge_is_offered_the_browser(
    reader: Visitor, alice: Person, site: Publisher, services: AllServices
) -> None:
    ids = subscribe(alice, site, "Guarded", "Down")
    for title, error in (
        ("Guarded", join_sentences(verbatim("It checks that visitors are human."), BROWSER_OFFER)),
        ("Down", join_sentences(verbatim("It is down."), verbatim("Twice."))),
    ):
        text = error.english()
        signs = {"parsing_error_message": text, "parsing_error_form": encode_message(error, text)}
        set_signs(services, ids[title], parsing_error_count=3, failed_checks=3, **signs)

    shown = rows(reader.get("/feeds").body.decode())
    assert "/through-flaresolverr" in shown["Guarded"]
    assert "/through-flaresolverr" not in shown["Down"]
    assert "/through-flaresolverr" in reader.get(f"/feeds/{ids['Guarded']}/edit").body.decode()
    answer = reader.post(f"/feeds/{ids['Guarded']}/through-flaresolverr", back="/feeds")

    assert (answer.status, answer.headers["location"]) == (303, "/feeds")
    feed = alice.get(f"/v1/feeds/{ids['Guarded']}")
    assert (feed["fetch_via_flaresolverr"], feed["parsing_error_count"]) == (True, 0)


def test_another_users_feed_is_not_sent_to_the_browser(reader: Visitor, bob: Person, site: Publisher) -> None:
    feed = bob.has_feed(site)
    reader.get("/feeds")

    assert reader.post(f"/feeds/{feed['id']}/through-flaresolverr").status == 404
    assert not bob.get(f"/v1/feeds/{feed['id']}")["fetch_via_flaresolverr"]


def test_a_feed_is_moved_to_another_category(reader: Visitor, alice: Person, bob: Person, site: Publisher) -> None:
    feed, theirs = alice.has_feed(site, ["Rain"]), bob.has_feed(site, ["Rain"])
    weather, foreign = alice.has_category("Weather <b>"), bob.has_category("Weather")
    path = f"/feeds/{feed['id']}"
    assert f'value="{weather["id"]}" aria-pressed="false"' in reader.page(path)

    assert reader.post(f"{path}/move", category_id=foreign["id"]).status == 404
    assert reader.post(f"/feeds/{theirs['id']}/move", category_id=weather["id"]).status == 404
    assert reader.post(f"{path}/move", category_id=weather["id"], back=path).headers["location"] == path

    page = reader.page(path)
    assert "Moved to Weather &lt;b&gt;." in page
    assert f'value="{weather["id"]}" aria-pressed="true"' in page
    assert alice.get(f"/v1{path}")["category"]["id"] == weather["id"]
    assert bob.get(f"/v1/feeds/{theirs['id']}")["category"]["title"] != "Weather <b>"
