"""Clients that listen hear of jobs that go on in the background, and of deliveries that fail."""

from __future__ import annotations

import pytest

from support.event_reader import reading_events
from support.outbox import deliver, delivery_queue, hook
from support.people import Person
from support.publisher import Answer, Drop, Publisher
from tidings.archives import import_runs_store
from tidings.archives.import_runs import ImportState
from tidings.engine.database import Database
from tidings.storage.accounts import change_log
from tidings.storage.accounts.change_log import Kind

pytestmark = pytest.mark.slow


def test_applying_a_rule_is_told(alice: Person) -> None:
    rule_id = alice.post("/v1/rules", {"query": "title:rain", "actions": [{"type": "star"}]})["id"]
    with reading_events(alice.service.url, {"X-Auth-Token": alice.token}) as events:
        events.until("ready")

        alice.post(f"/v1/rules/{rule_id}/apply", status=202)

        assert events.changes()["rule_runs"] == {"count": 1, "ids": [rule_id]}


def test_the_progress_of_an_import_is_told(alice: Person) -> None:
    database, now = alice.service.services.database, alice.service.services.clock()
    with reading_events(alice.service.url, {"X-Auth-Token": alice.token}) as events:
        events.until("ready")

        with database.writing() as db:
            import_runs_store.begin(db, alice.id, "token", source="freshrss", origin="a", now=now, abandoned=now)
        assert events.changes() == {"lists": ["imports"]}

        with database.writing() as db:
            import_runs_store.finish(db, alice.id, "token", state=ImportState.DONE, now=now)
        assert events.changes() == {"lists": ["imports"]}


def test_deliveries_are_told_that_fail_and_those_that_succeed_afterwards(database: Database, site: Publisher) -> None:
    webhook = hook(database, site.script("/hook", Answer(), Drop(), Answer()))
    webhook.post("first", "second", "third")

    deliver(delivery_queue(database), lambda: set(webhook.states()) == {"delivered"})

    ids = [shown.delivery.id for shown in webhook.all()]
    with database.reading() as db:
        rows = change_log.rows(db, webhook.user_id, 0, limit=100)
    told = [row.changed[Kind.DELIVERY] for row in rows if Kind.DELIVERY in row.changed]
    assert told == [[ids[1]], [ids[1]]]
