"""Statements on queues of 10,000 deliveries to 100 receivers use indexes."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import Any

import pytest
from sqlalchemy import text

from storage.test_plans import Plan, explained
from support import distributed
from support.databases import Databases
from support.entry_fixtures import NOW
from support.outbox import hook
from tidings.base.messages import verbatim
from tidings.base.times import SECOND, Instant
from tidings.deliveries.events import DeliveryState, QueueLimits, ReceiverQueue
from tidings.deliveries.store import outbox
from tidings.deliveries.store.outbox import AttemptRecord
from tidings.engine.database import Database, Read, Write

pytestmark = pytest.mark.slow

RECEIVERS, EACH, IDLE, FINISHED = 100, 100, 4_000, 30_000
TABLES = {"deliveries", "delivery_bodies", "receivers"}
# Both indexes have new deliveries in order of ids; SQLite prefers the second.
ARRIVING = "ix_deliveries_arriving|ix_deliveries_waiting"
LATER = Instant(NOW + 3600 * SECOND)

_FILL_RECEIVERS = """
    WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < {number})
    INSERT INTO receivers (user_id, integration, address_digest, pending, next_attempt_at, failures)
    SELECT :user, 'webhook', {digest}, {pending}, CASE WHEN i <= {busy} THEN :now + i ELSE NULL END, i % 10 / 9 FROM n
"""
_FILL_DELIVERIES = """
    WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < {number})
    INSERT INTO deliveries (user_id, delivery_id, integration, event_type, receiver, state, created_at, finished_at,
                            receiver_id, size)
    SELECT :user, {kind} || '-' || i, 'webhook', 'new_entries', 'https://hooks.example/' || i, {state}, :now + i,
           {finished}, {receiver}, 9 FROM n
"""


@pytest.fixture(scope="module")
def queues(databases: Databases) -> Iterator[tuple[Database, int]]:
    """Yield a database with queues, and the id of the user who owns them."""
    distributed.skip_plans(databases)
    with databases.migrated() as url:
        database = Database(url)
        mine = hook(database, "https://hooks.example/")
        digest = "CAST(CAST(i AS text) AS blob)" if database.is_sqlite else "convert_to(CAST(i AS text), 'UTF8')"
        # Finished deliveries are of another user.
        other = hook(database, "https://hooks.example/")
        fills = [
            _FILL_RECEIVERS.format(number=RECEIVERS + IDLE, digest=digest, pending=EACH, busy=RECEIVERS),
            _FILL_DELIVERIES.format(
                number=FINISHED, kind="'f'", state="'delivered'", finished=":now + i", receiver="1"
            ),
            _FILL_DELIVERIES.format(
                number=RECEIVERS * EACH, kind="'p'", state="'pending'", finished="NULL", receiver=f"1 + i % {RECEIVERS}"
            ),
            "INSERT INTO delivery_bodies (delivery_id, body) SELECT id, :body FROM deliveries",
        ]
        with database.writing() as db:
            for fill, owner in zip(fills, (mine, other, mine), strict=False):
                db.run(text(fill), user=owner.user_id, now=NOW)
            db.run(text(fills[3]), body=b'\0{"event_type": "new_entries"}')
        mine.post(*map(str, range(20)), now=NOW)
        if not database.is_sqlite:
            with database.engine.connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
                connection.exec_driver_sql("VACUUM ANALYZE")
        yield database, mine.user_id
        database.close()


def first(db: Read, user_id: int, receiver_id: int) -> Any:
    found = outbox.first_pending(db, user_id, receiver_id)
    assert found is not None
    return found[0]


READS: dict[str, tuple[Callable[[Read, int], object], set[str]]] = {
    "whether there is work": (
        lambda db, _: outbox.has_work(db, LATER),
        {ARRIVING, "ix_receivers_due", "ix_receivers_failing"},
    ),
    "the first of a queue": (lambda db, user: first(db, user, 7), {"ix_deliveries_waiting"}),
    "the first that stepped aside": (
        lambda db, user: outbox.first_retry(db, user, 7, LATER) is None,
        {"ix_deliveries_retrying"},
    ),
    "a list": (lambda db, user: outbox.list_deliveries(db, user, limit=100), {"ix_deliveries_user"}),
    "a list further down": (
        lambda db, user: outbox.list_deliveries(db, user, limit=100, before_id=35_000),
        {"ix_deliveries_user"},
    ),
    "a list of a state": (
        lambda db, user: outbox.list_deliveries(db, user, state=DeliveryState.PENDING, limit=100),
        {"ix_deliveries_user_state"},
    ),
    "a list of an integration": (
        lambda db, user: outbox.list_deliveries(db, user, integration="webhook", limit=100),
        {"ix_deliveries_user"},
    ),
    "a list of an integration of which there is nothing": (
        lambda db, user: not outbox.list_deliveries(db, user, integration="pinboard", limit=100),
        {"ix_deliveries_user_integration"},
    ),
    "a list of a receiver": (
        lambda db, user: outbox.list_deliveries(
            db, user, integration="webhook", receiver="https://hooks.example/7", limit=9
        ),
        {"ix_deliveries_user"},
    ),
    "a list of what was saved": (
        lambda db, user: not outbox.list_deliveries(db, user, event_type="save_entry", limit=100),
        {"ix_deliveries_saved"},
    ),
    "a list of what came": (
        lambda db, user: outbox.list_deliveries(
            db, user, event_type="new_entries", state=DeliveryState.PENDING, limit=100
        ),
        {"ix_deliveries_user"},
    ),
    "a list of everything at once": (
        lambda db, user: (
            not outbox.list_deliveries(
                db,
                user,
                event_type="save_entry",
                integration="webhook",
                state=DeliveryState.FAILED,
                before_id=35_000,
                limit=100,
            )
        ),
        {"ix_deliveries_(saved|user)"},
    ),
    "where they went": (
        lambda db, user: outbox.integrations_of(db, user) == ["webhook"],
        {"ix_deliveries_user_integration"},
    ),
    "receivers of an integration": (
        lambda db, user: len(outbox.receivers_of(db, user, "webhook")) > 900,
        {"ix_deliveries_user"},
    ),
    "one": (lambda db, user: outbox.get(db, user, 35_000), set()),
    "a body": (lambda db, user: outbox.body(db, user, 35_000), set()),
}


def queue(user_id: int, receiver_id: int) -> ReceiverQueue:
    return ReceiverQueue(receiver_id, user_id, "webhook", 0, None, 0)


WRITES: dict[str, tuple[Callable[[Write, int], object], set[str]]] = {
    "lining up": (lambda db, _: outbox.enqueue(db, now=LATER, limits=QueueLimits()), {ARRIVING}),
    "lining up where there is no room": (
        lambda db, _: outbox.enqueue(db, now=LATER, limits=QueueLimits(max_deliveries=5)),
        {"ix_deliveries_waiting"},
    ),
    "limits of users": (
        # Of another user: all receivers are this one's, and are read as a whole.
        lambda db, user: outbox.users_over_limits(db, [user + 1], QueueLimits()),
        {"uq_receivers_user_id_integration_address_digest|sqlite_autoindex_receivers"},
    ),
    "cutting the queues of a user": (
        lambda db, user: outbox.enforce_user_limits(db, user, QueueLimits(max_deliveries_of_user=2_000), LATER),
        {"ix_deliveries_waiting"},
    ),
    "claiming": (
        lambda db, _: outbox.claim(db, "w", now=LATER, until=LATER, limit=20, max_failing=8),
        {"ix_receivers_due", "ix_receivers_failing"},
    ),
    "keeping": (lambda db, user: outbox.renew(db, user, 7, "w", LATER), set()),
    "holding": (lambda db, user: outbox.lock_claimed(db, [queue(user, id_) for id_ in range(1, 9)], "w"), set()),
    "writing down": (
        lambda db, user: outbox.record_attempts(
            db,
            [AttemptRecord(queue(user, 7), first(db, user, 7), LATER, DeliveryState.DELIVERED, 200)],
            now=LATER,
            until=LATER,
        ),
        {"ix_deliveries_waiting"},
    ),
    "counting": (lambda db, user: outbox.recount(db, user, 7), {"ix_deliveries_waiting"}),
    "waiting for what stepped aside": (
        lambda db, user: outbox.wait_for_retries(db, user, 7),
        {"ix_deliveries_waiting", "ix_deliveries_retrying"},
    ),
    "giving up": (
        lambda db, user: outbox.give_up_pending(db, user, 7, verbatim("gone"), now=LATER),
        {"ix_deliveries_waiting"},
    ),
    "giving back": (lambda db, _: outbox.release_all(db, "w"), {"ix_receivers_claimed"}),
    "sending again": (lambda db, user: outbox.redeliver(db, user, 35_000, now=LATER), set()),
    "forgetting": (lambda db, _: outbox.delete_finished(db, before=LATER, limit=50), {"ix_deliveries_finished"}),
}


class UndoneError(Exception):
    pass


@pytest.mark.parametrize("name", READS)
def test_a_query_uses_an_index(queues: tuple[Database, int], name: str) -> None:
    database, user_id = queues
    read_query, indexes = READS[name]

    with explained(database) as plans, database.reading() as db:
        assert read_query(db, user_id)

    check(database, plans, indexes)


@pytest.mark.parametrize("name", WRITES)
def test_a_change_uses_an_index(queues: tuple[Database, int], name: str) -> None:
    database, user_id = queues
    change, indexes = WRITES[name]

    with explained(database) as plans:
        and_undo(database, lambda db: change(db, user_id))

    check(database, plans, indexes)


def test_a_claim_takes_the_longest_due_receivers_and_some_failing_ones(queues: tuple[Database, int]) -> None:
    database, _ = queues
    found: list[ReceiverQueue] = []

    and_undo(database, lambda db: found.extend(outbox.claim(db, "w", now=LATER, until=LATER, limit=20, max_failing=3)))

    failed = [queue.id for queue in found if queue.failures]
    assert failed == [9, 19, 29]
    well = [number for number in range(1, RECEIVERS) if number % 10 != 9]
    assert [queue.id for queue in found if not queue.failures] == well[:17]


def and_undo(database: Database, change: Callable[[Write], object]) -> None:
    with suppress(UndoneError), database.writing() as db:
        change(db)
        raise UndoneError


def check(database: Database, plans: list[Plan], indexes: set[str]) -> None:
    plan_text = json.dumps([plan.plan for plan in plans])
    assert [index for index in indexes if not re.search(index, plan_text)] == [], plan_text
    for plan in plans:
        assert not [*scans(database, plan)], plan.statement + plan_text


def scans(database: Database, plan: Plan) -> Iterator[str]:
    """Yield the tables that are read as a whole."""
    if database.is_sqlite:
        lines = [line.split() for line in plan.plan]
        yield from (line[1] for line in lines if line[0] == "SCAN" and line[1] in TABLES and "INDEX" not in line)
    else:
        yield from _scanned(plan.plan[0]["Plan"])


def _scanned(node: dict[str, Any]) -> Iterator[str]:
    if node["Node Type"] == "Seq Scan" and node["Relation Name"] in TABLES:
        yield node["Relation Name"]
    for part in node.get("Plans", ()):
        yield from _scanned(part)
