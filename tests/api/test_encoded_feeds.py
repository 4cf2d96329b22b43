"""The feed objects of the API are encoded again when they have changed, whichever process changed them."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest
from sqlalchemy import event, select, update

from support.people import Person
from support.publisher import Publisher
from tidings.api.endpoints.feeds import EncodedFeeds, encoded_feeds
from tidings.api.feed_style import PLAIN
from tidings.engine.database import Read
from tidings.storage.feeds import feed_texts
from tidings.storage.schema import feeds as feed_table


def shown(person: Person, name: str = "title") -> list[Any]:
    """What the service sends, asked twice: the second answer may come from what was kept."""
    first, second = person.get("/v1/feeds"), person.get("/v1/feeds")
    assert first == second
    return [feed[name] for feed in second]


def set_title(person: Person, title: str) -> None:
    """Changes the title in this process; the service is another one."""
    with person.service.services.database.writing() as db:
        db.run(update(feed_table).where(feed_table.c.user_id == person.id).values(title=title))


def test_changes_of_another_process_are_shown_at_once(alice: Person, site: Publisher) -> None:
    alice.has_feed(site)
    for title in ("Mine", "Yours", "Mine"):
        set_title(alice, title)
        assert shown(alice) == [title]


def test_a_change_is_shown_as_soon_as_it_is_committed(alice: Person, site: Publisher) -> None:
    alice.has_feed(site)
    set_title(alice, "Before")
    with alice.service.services.database.writing() as db:
        db.run(update(feed_table).where(feed_table.c.user_id == alice.id).values(title="After"))
        assert shown(alice) == ["Before"]

    assert shown(alice) == ["After"]


def test_category_time_zone_and_entries_follow(alice: Person, site: Publisher) -> None:
    feed = alice.has_feed(site, ["One"])
    shown(alice)
    alice.put(f"/v1/categories/{feed['category']['id']}", {"title": "Weather", "hide_globally": True}, status=201)
    assert [category["title"] for category in shown(alice, "category")] == ["Weather"]
    assert alice.entries()[0]["feed"]["category"]["hide_globally"] is True

    alice.put(f"/v1/users/{alice.id}", {"timezone": "Asia/Tokyo"}, status=201)
    assert shown(alice, "checked_at")[0].endswith("+09:00")
    assert alice.entries()[0]["feed"]["checked_at"].endswith("+09:00")


def test_feeds_of_other_users_are_not_among_them(alice: Person, bob: Person, site: Publisher) -> None:
    feed = alice.has_feed(site)
    kept = EncodedFeeds()
    with alice.service.services.reading() as db:
        assert list(encoded_feeds(db, alice.user, kept=kept)) == [feed["id"]]
        assert encoded_feeds(db, bob.user, [feed["id"]], kept=kept) == {}
        assert encoded_feeds(db, bob.user, kept=kept) == {}


AWKWARD: list[dict[str, Any]] = [
    {"title": 'a","b', "description": "\\ \" ' \n\t , ( ) {}"},
    {"keep_read_days": None, "keep_unread_days": -1},
    {"keep_read_days": -1, "keep_unread_days": None},
    {"user_agent": "", "cookie": "null"},
    {"user_agent": "null", "cookie": ""},
    {"crawler": True, "title": "Wetter 🌧 ünd"},
]


def test_each_state_is_shown_as_it_is_the_first_and_the_second_time(alice: Person, site: Publisher) -> None:
    alice.has_feed(site)
    kept = EncodedFeeds()
    for values in [*AWKWARD, *AWKWARD]:
        with alice.service.services.database.writing() as db:
            db.run(update(feed_table).where(feed_table.c.user_id == alice.id).values(**values))
        with alice.service.services.reading() as db:
            [expected] = encoded_feeds(db, alice.user, kept=EncodedFeeds()).values()
            [found] = encoded_feeds(db, alice.user, kept=kept).values()
        assert found == expected
        assert msgspec.json.decode(found).items() >= values.items()


def test_a_state_is_kept_under_its_own_text(alice: Person, site: Publisher, engine: str) -> None:
    """On PostgreSQL a feed may change between the statement of the texts and that of the records."""
    if engine != "postgresql":
        pytest.skip("a read on SQLite sees one state")
    alice.has_feed(site)
    set_title(alice, "First")
    kept, changes = EncodedFeeds(), ["Second"]

    with alice.service.services.reading() as db:

        @event.listens_for(db.connection, "after_cursor_execute")
        def change_once(*_arguments: Any) -> None:
            if changes:
                set_title(alice, changes.pop())

        assert titles(db, alice, kept) == ["Second"]
        set_title(alice, "First")
        assert titles(db, alice, kept) == ["First"]


def titles(db: Read, person: Person, kept: EncodedFeeds) -> list[str]:
    return [msgspec.json.decode(feed)["title"] for feed in encoded_feeds(db, person.user, kept=kept).values()]


def test_a_feed_that_has_not_changed_is_not_read_again(alice: Person, site: Publisher) -> None:
    alice.has_feed(site)
    kept = EncodedFeeds()
    statements: list[str] = []
    with alice.service.services.reading() as db:
        titles(db, alice, kept)
        event.listen(db.connection, "after_cursor_execute", lambda *arguments: statements.append(arguments[2]))
        titles(db, alice, kept)

    assert len(statements) == 1


def test_what_is_kept_stays_below_the_limit() -> None:
    kept = EncodedFeeds(limit=1_000)
    for number in range(100):
        kept.add(("UTC", PLAIN, f"{number:050}"), b"x" * 50)
        kept.get_many([("UTC", PLAIN, f"{0:050}")])
        assert kept.size_bytes <= 1_000

    found = kept.get_many(("UTC", PLAIN, f"{number:050}") for number in range(100))
    assert [number for number, encoded in enumerate(found) if encoded] == [0, *range(91, 100)]
    kept.add(("UTC", PLAIN, "large"), b"x" * 2_000)
    assert kept.size_bytes <= 1_000


def test_the_text_consists_of_all_that_the_api_shows_of_a_feed(alice: Person, site: Publisher) -> None:
    """Each column is changed alone, and the text with it."""
    alice.has_feed(site)
    from tidings.api.endpoints.feeds import SHOWN

    fixed = {"id", "user_id", "icon_id", "feed_url"}
    with alice.service.services.database.writing() as db:
        row = db.rows(select(feed_table).where(feed_table.c.user_id == alice.id))[0]
        seen = {feed_texts.texts(db, alice.id, SHOWN)[0][1]}
        for name in sorted(set(SHOWN) - fixed):
            value = row[name]
            changed = not value if isinstance(value, bool) else value + "x" if isinstance(value, str) else 7
            db.run(update(feed_table).where(feed_table.c.user_id == alice.id).values(**{name: changed}))
            seen.add(feed_texts.texts(db, alice.id, SHOWN)[0][1])
    assert len(seen) == 1 + len(set(SHOWN) - fixed)
