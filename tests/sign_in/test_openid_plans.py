"""Finding an identity, and the sessions of one, reads no table as a whole."""

from __future__ import annotations

import json
import re
from collections.abc import Callable

import pytest
from sqlalchemy import insert, text

from storage.test_plans import explained
from tidings.base.times import Instant
from tidings.engine.database import Database, Write
from tidings.services.accounts.users import Users
from tidings.services.clock import system_clock
from tidings.sign_in.openid import store
from tidings.sign_in.tables import identities, provider_sessions
from tidings.storage.schema import sessions

pytestmark = pytest.mark.slow

ISSUER, COUNT, NOW = "https://auth.example.org", 3_000, Instant(1_790_000_000_000_000)


def fill(database: Database, user_id: int) -> None:
    """Give a user as many identities and sessions as a service has."""
    numbers = range(1, COUNT + 1)
    common = {"user_id": user_id, "issuer": ISSUER}
    with database.writing() as db:
        times = {"created_at": NOW, "last_seen_at": NOW, "expires_at": NOW}
        db.run_many(
            insert(sessions),
            [{"id": each, "user_id": user_id, "token_hash": each.to_bytes(8, "big"), **times} for each in numbers],
        )
        db.run_many(insert(identities), [{**common, "subject": f"s{each}", "created_at": NOW} for each in numbers])
        rows = [{"session_id": each, "subject": f"s{each}", "provider_session_id": f"p{each}"} for each in numbers]
        db.run_many(insert(provider_sessions), [{**common, **row} for row in rows])
        db.run(text("ANALYZE"))


def test_statements_use_an_index(database: Database) -> None:
    fill(database, Users(database, system_clock).create("alice", "a long password").id)
    statements: list[Callable[[Write], object]] = [
        lambda db: store.by_subject(db, ISSUER, "s7"),
        lambda db: store.session(db, 1, 7),
        lambda db: store.sessions_of(db, ISSUER, "", "p7"),
        lambda db: store.sessions_of(db, ISSUER, "s7", ""),
        lambda db: store.set_used(db, 1, 7, name="Alice", now=NOW),
        lambda db: store.remove(db, 1, 7),
    ]
    with explained(database) as plans, database.writing() as db:
        for statement in statements:
            statement(db)

    read_whole = [plan.statement for plan in plans if re.search(r'"(?:SCAN |Seq Scan)', json.dumps(plan.plan))]
    assert len(plans) == len(statements)
    assert read_whole == []
