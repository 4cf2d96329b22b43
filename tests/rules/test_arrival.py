"""What rules do to entries when they arrive, before they are counted and announced."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import select, update

from support.people import rss
from support.polling_fixtures import PollingFixture
from support.publisher import Publisher
from tidings.base.text import normalize_for_search
from tidings.domain.accounts.users import User
from tidings.domain.entries.entries import EntryStatus
from tidings.engine.database import Database
from tidings.rules import store
from tidings.rules.model import Action, ActionType, RuleFields, Scope
from tidings.rules.rules import Rules
from tidings.rules.services import RuleServices
from tidings.rules.tables import rules as rule_table
from tidings.services.listeners import StoredEntries
from tidings.services.polling.check import FeedChecker
from tidings.storage.entries import labels
from tidings.storage.feeds import categories, feeds, further_categories
from tidings.storage.schema import categories as category_table
from tidings.storage.schema import entries, feed_counters
from tidings.views.services import ViewServices

READ, STAR, HIDE, DROP = map(Action, (ActionType.MARK_READ, ActionType.STAR, ActionType.HIDE, ActionType.DROP))
CHANGED = "<item><title>{title}</title><guid>{title}</guid><description>{text}</description></item>"


class Rulebook:
    """A user with a feed that is polled in this process, and rules."""

    def __init__(self, polling: PollingFixture, site: Publisher, name: str) -> None:
        self.polling = polling
        self.site = site
        self.user: User = polling.user(name)
        self.path = f"/{name}.xml"
        site.serve(self.path, rss([], site.url("")))
        self.feed_id = polling.subscribe(self.user, site.url(self.path))

    @property
    def rules(self) -> Rules:
        return self.polling.services.of(RuleServices).rules

    def rule(self, query: str, *actions: Action, **fields: Any) -> int:
        return self.rules.create(self.user.id, RuleFields(query=query, actions=actions, **fields)).id

    def publish(self, titles: Sequence[str], text: str = "") -> None:
        items = "".join(CHANGED.format(title=title, text=text or f"About {title}.") for title in titles)
        self.site.serve(self.path, f"<rss version='2.0'><channel><title>Feed</title>{items}</channel></rss>")
        self.polling.due_again()
        self.polling.poll()

    def states(self) -> dict[str, tuple[str, bool]]:
        listed = select(entries.c.title, entries.c.status, entries.c.starred).where(entries.c.user_id == self.user.id)
        with self.polling.database.reading() as db:
            return {
                title: (EntryStatus(status).api_name, bool(starred)) for title, status, starred in db.tuples(listed)
            }

    def hidden(self) -> set[str]:
        with self.polling.database.reading() as db:
            rows = db.rows(select(entries.c.title, entries.c.hidden).where(entries.c.user_id == self.user.id))
            return {row["title"] for row in rows if row["hidden"]}

    def label(self, name: str) -> int:
        return self.polling.services.entries.labels.create(self.user.id, name).id

    def labelled(self, label: str) -> set[str]:
        with self.polling.database.reading() as db:
            ids = {row["id"]: row["title"] for row in db.rows(select(entries).where(entries.c.user_id == self.user.id))}
            given = labels.of_entries(db, self.user.id, ids)
        key = normalize_for_search(label)
        return {ids[id_] for id_, named in given.items() if key in {normalize_for_search(one.name) for one in named}}


@pytest.fixture
def alice(database: Database, database_url: str, tmp_path: Path, site: Publisher) -> Rulebook:
    return Rulebook(PollingFixture(database, database_url, tmp_path), site, "alice")


def test_rules_decide_in_their_order_before_entries_are_counted_and_announced(alice: Rulebook) -> None:
    bob = Rulebook(alice.polling, alice.site, "bob")
    later = alice.label("Later")
    keep = alice.rule("title:keep", Action(ActionType.LABEL, later), stop=True)
    drop = alice.rule("rain", DROP)
    alice.rule("title:snow", READ, STAR)
    alice.rule("title:snow", DROP, enabled=False)
    announced: list[StoredEntries] = []
    checker = alice.polling.services.polling.claims._checker
    assert isinstance(checker, FeedChecker)
    checker._listeners.entries_stored.append(lambda _db, stored: announced.extend(stored))

    bob.publish(["Rain", "Snow"])
    alice.publish(["Rain", "Keep the rain", "Snow", "Hail"])

    assert bob.states() == {"Rain": ("unread", False), "Snow": ("unread", False)}
    assert alice.states() == {
        "Keep the rain": ("unread", False),
        "Snow": ("read", True),
        "Hail": ("unread", False),
    }
    assert alice.labelled("Later") == {"Keep the rain"}
    (told,) = (one for one in announced if one.user.id == alice.user.id)
    assert (len(told.entry_ids), len(told.unread_ids)) == (3, 2)
    with alice.polling.database.reading() as db:
        counted = select(feed_counters).where(feed_counters.c.feed_id == alice.feed_id)
        (counts,) = db.rows(counted)
        assert (counts["unread"], counts["read"], counts["starred_read"]) == (2, 1, 1)
        matched = {rule.id: rule.matched_total for rule in store.list_all(db, alice.user.id)}
    # What a rule with "stop" matches is not offered to the next one.
    assert (matched[keep], matched[drop]) == (1, 1)

    # A dropped entry does not come back, not even when its rule is gone or the publisher changes it.
    alice.rules.delete(alice.user.id, drop)
    alice.publish(["Rain", "Keep the rain", "Snow", "Hail"], text="Changed.")
    assert "Rain" not in alice.states()


def test_entries_arrive_hidden_or_are_hidden_when_they_change(alice: Rulebook) -> None:
    bob = Rulebook(alice.polling, alice.site, "bob")
    rules = [alice.rule("title:rain", HIDE), alice.rule("text:sale", HIDE, for_changed=True)]

    for one in (alice, bob):
        one.publish(["Rain", "Snow", "Hail"])

    assert alice.states() == dict.fromkeys(("Rain", "Snow", "Hail"), ("unread", False))
    assert (alice.hidden(), bob.hidden()) == ({"Rain"}, set())

    alice.publish(["Rain", "Snow"], text="A sale.")
    assert alice.hidden() == {"Rain", "Snow"}
    # Hidden entries stay hidden when the publisher changes them, and are not brought back by the rule's end.
    for rule in rules:
        alice.rules.delete(alice.user.id, rule)
    alice.publish(["Rain", "Snow"], text="Something else.")
    assert alice.hidden() == {"Rain", "Snow"}


def test_a_rule_asks_what_its_view_is_when_an_entry_arrives(alice: Rulebook) -> None:
    views = alice.polling.services.of(ViewServices).views
    wet = views.create(alice.user.id, {"name": "Wet", "query": "title:rain"})
    alice.rule("S:wet -title:light", STAR)

    alice.publish(["Rain", "Light rain", "Snow"])
    assert {title for title, (_, starred) in alice.states().items() if starred} == {"Rain"}

    views.update(alice.user.id, wet.id, {"query": "title:hail"})
    alice.publish(["Hail", "More rain"])
    assert {title for title, (_, starred) in alice.states().items() if starred} == {"Rain", "Hail"}


def test_rules_are_tried_on_entries_of_their_scope(alice: Rulebook, site: Publisher) -> None:
    site.serve(
        "/other.xml", "<rss version='2.0'><channel><title>Other</title><item><title>Rain</title></item></channel></rss>"
    )
    other = alice.polling.subscribe(alice.user, site.url("/other.xml"))
    with alice.polling.database.reading() as db:
        feed = feeds.get(db, alice.user.id, other)
    assert feed is not None
    alice.rule("", STAR, scope=Scope.FEED, feed_id=alice.feed_id)
    # A category includes those below it.
    with alice.polling.database.writing() as db:
        above = categories.add(db, alice.user.id, title="Above", title_key="above", hide_globally=False)
        db.run(update(category_table).where(category_table.c.id == feed.category_id).values(parent_id=above))
        # So is a category that is not the first of the feed.
        further = categories.add(db, alice.user.id, title="Further", title_key="further", hide_globally=False)
        further_categories.add(db, alice.user.id, [(feed.id, further)])
    alice.rule("", READ, scope=Scope.CATEGORY, category_id=above)
    alice.rule("category:further", STAR, scope=Scope.CATEGORY, category_id=further)

    alice.publish(["Snow"])

    assert alice.states() == {"Snow": ("unread", True), "Rain": ("read", True)}


def test_a_changed_entry_stays_as_its_user_made_it(alice: Rulebook) -> None:
    alice.publish(["One", "Two", "Three", "Four"])
    alice.rule("text:sale", READ, for_changed=True)
    alice.rule("text:sale", STAR)
    with alice.polling.database.reading() as db:
        ids = dict(db.tuples(select(entries.c.title, entries.c.id)))
    changes = alice.polling.services.entries.changes
    # Two was read and is unread again; Three is starred.
    changes.update(alice.user, [ids["Two"]], status=EntryStatus.READ)
    changes.update(alice.user, [ids["Two"]], status=EntryStatus.UNREAD)
    changes.update(alice.user, [ids["Three"]], starred=True)

    alice.publish(["One", "Two", "Three", "Four"], text="Now about something else.")
    alice.publish(["One", "Two", "Three", "Four"], text="A sale.")

    assert alice.states() == {
        "One": ("read", False),
        "Two": ("unread", False),
        "Three": ("unread", True),
        "Four": ("read", False),
    }


def test_a_rule_that_fails_does_not_keep_entries_from_being_stored(
    alice: Rulebook, monkeypatch: pytest.MonkeyPatch
) -> None:
    alice.rule("title:/rain/", DROP)
    alice.rule("snow", READ)
    with alice.polling.database.writing() as db:
        db.run(update(rule_table).where(rule_table.c.query == "title:/rain/").values(query="title:/(/"))

    alice.publish(["Rain", "Snow"])

    assert alice.states() == {"Rain": ("unread", False), "Snow": ("read", False)}

    # Without time left, no rule is tried.
    monkeypatch.setattr("tidings.rules.arrival.MAX_RULES_S", 0.0)
    alice.publish(["More snow", "Rain", "Snow"])
    assert alice.states()["More snow"] == ("unread", False)


def test_entries_of_a_new_feed_arrive_as_well(alice: Rulebook, site: Publisher) -> None:
    site.serve("/new.xml", rss(["Rain", "Snow"], site.url("/new.xml")))
    alice.rule("title:rain", DROP)
    alice.rule("title:snow", READ)

    async def subscribe() -> None:
        await alice.polling.services.feeds.subscriptions.create(alice.user, {"feed_url": site.url("/new.xml")})
        await alice.polling.services.disconnect()

    asyncio.run(subscribe())

    assert alice.states() == {"Snow": ("read", False)}
