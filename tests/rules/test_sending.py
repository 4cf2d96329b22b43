"""Rules that save entries, notify of them and send them to the webhook."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec
import pytest
from sqlalchemy import select

from rules.test_arrival import READ, Rulebook
from support.polling_fixtures import PollingFixture
from support.publisher import Publisher
from tidings.deliveries.tables import deliveries, delivery_bodies
from tidings.engine.database import Database
from tidings.rules.model import Action, ActionType

SAVE, NOTIFY, WEBHOOK = (Action(one) for one in (ActionType.SAVE, ActionType.NOTIFY, ActionType.WEBHOOK))


@pytest.fixture
def alice(database: Database, database_url: str, tmp_path: Path, site: Publisher) -> Rulebook:
    book = Rulebook(PollingFixture(database, database_url, tmp_path), site, "alice")
    # The first entries of a feed are no news.
    book.publish(["Old rain"])
    return book


def connect(book: Rulebook, **integrations: dict[str, Any]) -> None:
    switched_on = {name: {"enabled": True} | values for name, values in integrations.items()}
    book.polling.services.deliveries.integrations.update(book.user.id, switched_on)


def sent(book: Rulebook) -> list[tuple[str, str, list[str]]]:
    """Return integration, event and the titles of its entries."""
    statement = (
        select(deliveries.c.integration, deliveries.c.event_type, delivery_bodies.c.body)
        .join_from(deliveries, delivery_bodies)
        .where(deliveries.c.user_id == book.user.id)
    )
    found = []
    with book.polling.database.reading() as db:
        for integration, event, body in db.tuples(statement):
            decoded = msgspec.json.decode(body)
            listed = decoded["entries"] if "entries" in decoded else [decoded["entry"]]
            found.append((integration, event, [entry["title"] for entry in listed]))
    return sorted(found)


def test_an_entry_is_saved_notified_of_and_sent_as_rules_say(alice: Rulebook) -> None:
    connect(
        alice,
        linkding={"url": "https://links.example.org", "token": "t"},
        ntfy={"url": "https://ntfy.example.org", "topic": "rain", "all_feeds": False},
        webhook={"url": "https://hooks.example.org/"},
    )
    alice.rule("title:rain", SAVE, NOTIFY, WEBHOOK, name="Rain")
    alice.rule("title:rain", NOTIFY, READ)
    alice.rule("title:snow", WEBHOOK, enabled=False)

    alice.publish(["Old rain", "Rain", "More rain", "Snow"])

    assert sent(alice) == [
        ("linkding", "save_entry", ["More rain"]),
        ("linkding", "save_entry", ["Rain"]),
        # Once, though two rules notify.
        ("ntfy", "new_entries", ["More rain", "Rain"]),
        # Those that arrive read are no new entries.
        ("webhook", "new_entries", ["Snow"]),
        ("webhook", "rule_matched", ["More rain", "Rain"]),
        ("webhook", "save_entry", ["More rain"]),
        ("webhook", "save_entry", ["Rain"]),
    ]


def test_a_service_that_hears_of_all_entries_is_not_told_twice(alice: Rulebook) -> None:
    connect(alice, ntfy={"url": "https://ntfy.example.org", "topic": "rain", "all_feeds": True})
    alice.rule("title:rain", NOTIFY)
    alice.rule("title:storm", NOTIFY, READ)

    alice.publish(["Old rain", "Rain", "Storm"])

    assert sent(alice) == [("ntfy", "new_entries", ["Rain"]), ("ntfy", "new_entries", ["Storm"])]


def test_nothing_is_sent_of_what_is_dropped_or_no_news(alice: Rulebook, site: Publisher) -> None:
    connect(alice, webhook={"url": "https://hooks.example.org/"})
    alice.rule("title:rain", WEBHOOK, for_changed=True)
    alice.rule("title:rain title:more", Action(ActionType.DROP))

    alice.publish(["Old rain", "More rain"], text="Changed.")

    assert sent(alice) == []
