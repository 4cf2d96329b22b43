"""What a sign-in reads and writes goes through an index, with 100,000 lines of the log and 3,000 accounts."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import pytest
from sqlalchemy import text

from storage.test_plans import UndoneError, explained, work_of
from support.databases import Databases
from tidings.base.times import MINUTE, Instant
from tidings.domain.accounts.sessions import PendingSignIn, Session
from tidings.engine.database import Database, Write
from tidings.engine.statements import insert_rows
from tidings.sign_in import account_links_store, account_log_store, limits_store, tables
from tidings.sign_in.account_links_store import AccountLink
from tidings.sign_in.account_log_store import LogEntry, LogFilter, LogPlace
from tidings.sign_in.codes import factor_store
from tidings.sign_in.limits_model import Limits
from tidings.sign_in.openid import store as openid_store
from tidings.sign_in.passkeys import passkey_store
from tidings.sign_in.passkeys.passkey_store import NewPasskey
from tidings.storage.accounts import pending_sign_ins, sessions, users
from tidings.storage.schema import pending_sign_ins as pending_table
from tidings.storage.schema import sessions as session_table
from tidings.storage.schema import users as user_table

pytestmark = pytest.mark.slow

ISSUER, ACCOUNTS, LINES, NOW = "https://auth.example.org", 3_000, 100_000, Instant(1_790_000_000_000_000)
LATER = Instant(NOW + MINUTE)
NUMBERED = (session_table, pending_table, tables.identities, tables.passkeys)
# Except of the list of ids that a statement was given.
READS_ALL = re.compile(r'"(?:SCAN (?!json_each)|Seq Scan)')
# Of these lines every account has about thirty, and the first one has a tenth of all.
BUSY = 1


def digest(number: int) -> bytes:
    return number.to_bytes(16, "big")


@pytest.fixture(scope="module")
def filled(databases: Databases) -> Iterator[Database]:
    with databases.migrated() as url:
        database = Database(url)
        with database.writing() as db:
            _fill(db)
            for table in () if database.is_sqlite else NUMBERED:
                # They have got ids without it.
                db.run(text(f"SELECT setval(pg_get_serial_sequence('{table.name}', 'id'), {LINES})"))
        with database.outside_transaction() as raw:
            raw.execute("ANALYZE")
        yield database
        database.close()


def _fill(db: Write) -> None:
    ids = range(1, ACCOUNTS + 1)
    insert_rows(
        db,
        user_table,
        [
            {"id": id_, "username": f"user{id_}", "password_hash": "", "is_admin": False, "created_at": NOW}
            for id_ in ids
        ],
    )
    _fill_log(db)
    owned = [{"id": id_, "user_id": id_} for id_ in ids]
    hashed = [{**one, "token_hash": digest(one["id"]), "expires_at": LATER} for one in owned]
    seen = {"created_at": NOW, "last_seen_at": NOW}
    insert_rows(db, session_table, [{**one, **seen} for one in hashed])
    insert_rows(db, pending_table, hashed)
    named = [{"issuer": ISSUER, "subject": f"s{id_}"} for id_ in ids]
    insert_rows(
        db, tables.identities, [{**one, **name, "created_at": NOW} for one, name in zip(owned, named, strict=True)]
    )
    insert_rows(
        db,
        tables.provider_sessions,
        [
            {"session_id": id_, "user_id": id_, "provider_session_id": f"p{id_}", **name}
            for id_, name in zip(ids, named, strict=True)
        ],
    )
    made = {"name": "Phone", "public_key": b"key", "sign_count": 0, "host": "example.org", "created_at": NOW}
    insert_rows(db, tables.passkeys, [{**one, **made, "credential_id": digest(one["id"])} for one in owned])
    insert_rows(db, tables.spent_challenges, [{"nonce": digest(id_), "expires_at": LATER} for id_ in ids])
    insert_rows(db, tables.second_factors, [{"user_id": id_, "secret": "A" * 32, "last_step": 7} for id_ in ids])
    codes = [{"user_id": id_, "digest": digest(code)} for id_ in ids for code in range(3)]
    insert_rows(db, tables.recovery_codes, codes)
    linked = {"note": "", "invited_by": "", "is_admin": False, "limits": "{}", "created_at": NOW}
    insert_rows(
        db,
        tables.account_links,
        [
            {"for_user_id": id_ if id_ > 30 else None, "token_hash": digest(id_), "expires_at": LATER, **linked}
            for id_ in ids
        ],
    )
    insert_rows(db, tables.account_limits, [{"user_id": id_, "max_entries": 1_000, "size_bytes": 7} for id_ in ids])


def _fill_log(db: Write) -> None:
    rows = [
        {
            "user_id": BUSY if number % 10 == 0 else None if number % 10 == 1 else number % ACCOUNTS + 1,
            "kind": "factor_added" if number % 20_000 == 7 else "refused" if number % 10 < 3 else "signed_in",
            "username": "",
            "method": "password",
            "second_method": "",
            "address": f"192.0.{number % 200}.{number % 250}",
            "user_agent": "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0",
            "actor": "",
            "detail": "",
            "times": 1,
            "first_at": NOW - number * MINUTE,
            "last_at": NOW - number * MINUTE,
            "merge_key": digest(number),
        }
        for number in range(LINES)
    ]
    insert_rows(db, tables.account_log, rows)


def entry(**more: Any) -> LogEntry:
    given: dict[str, Any] = dict.fromkeys(LogEntry.__struct_fields__, "") | {
        "id": 0,
        "user_id": BUSY,
        "kind": "refused",
    }
    return LogEntry(**given | {"times": 1, "first_at": NOW, "last_at": NOW} | more)


LINK = AccountLink(0, None, "", "", False, "{}", NOW, LATER)
MADE = NewPasskey(
    name="Key", credential_id=b"new", public_key=b"", sign_count=0, transports="", host="example.org", works_alone=True,
    is_syncable=False, is_synced=False, aaguid="", created_at=NOW,
)  # fmt: skip
PLACE = LogPlace(Instant(NOW - 50_000 * MINUTE), 50_000)
OLD = Instant(NOW - (LINES - 500) * MINUTE)
ALL_OF_ONE, PAGE = LogFilter(user_id=7), 51


def _use_passkey(db: Write) -> None:
    found = passkey_store.by_credential(db, digest(7))
    assert found is not None
    assert passkey_store.record_use(db, found, sign_count=1, is_synced=False, now=NOW)


STATEMENTS: dict[str, Callable[[Write], object]] = {
    "log: own": lambda db: account_log_store.page(db, ALL_OF_ONE, before=None, limit=PAGE),
    "log: of a busy one": lambda db: account_log_store.page(db, LogFilter(user_id=BUSY), before=PLACE, limit=PAGE),
    "log: add": lambda db: account_log_store.add(db, entry(), None),
    "log: count": lambda db: account_log_store.add(db, entry(), digest(9)),
    "log: expire": lambda db: account_log_store.remove_expired(db, before=OLD, limit=200),
    "links: find": lambda db: account_links_store.by_hash(db, digest(7), NOW),
    "links: invitations": lambda db: account_links_store.invitations(db, NOW),
    "links: add": lambda db: account_links_store.add(db, LINK, digest=b"new"),
    "links: withdraw": lambda db: account_links_store.remove_invitation(db, 7),
    "links: use": lambda db: account_links_store.use(db, 77),
    "links: of a user": lambda db: account_links_store.remove_of_user(db, 77),
    "links: expire": lambda db: account_links_store.remove_expired(db, NOW, 200),
    "passkeys: list": lambda db: passkey_store.list_all(db, 7),
    "passkeys: get": lambda db: passkey_store.get(db, 7, 7),
    "passkeys: use": _use_passkey,
    "passkeys: count": lambda db: passkey_store.count(db, 7),
    "passkeys: add": lambda db: passkey_store.add(db, 7, MADE),
    "passkeys: rename": lambda db: passkey_store.rename(db, 7, 7, "Key"),
    "passkeys: remove": lambda db: passkey_store.remove(db, 7, 7),
    "passkeys: remove all": lambda db: passkey_store.remove_all(db, 7),
    "challenges: spend": lambda db: passkey_store.spend(db, b"new", LATER),
    "challenges: expire": lambda db: passkey_store.remove_expired(db, NOW, 200),
    "codes: get": lambda db: factor_store.get(db, 7),
    "codes: set": lambda db: factor_store.set_app(db, 7, "B" * 32, step=8),
    "codes: ask for a passkey": lambda db: factor_store.set_asks_for_passkey(db, 7, True),
    "codes: use": lambda db: factor_store.use_step(db, 7, "A" * 32, 8),
    "codes: use a recovery code": lambda db: factor_store.use_code(db, 7, digest(2)),
    "codes: count": lambda db: factor_store.count_codes(db, 7),
    "codes: replace": lambda db: factor_store.replace_codes(db, 7, [b"a", b"b"]),
    "codes: remove": lambda db: factor_store.remove(db, 7),
    "identities: find": lambda db: openid_store.by_subject(db, ISSUER, "s7"),
    "identities: list": lambda db: openid_store.list_all(db, 7),
    "identities: add": lambda db: openid_store.add(db, 7, issuer=ISSUER, subject="new", name="", now=NOW),
    "identities: use": lambda db: openid_store.set_used(db, 7, 7, name="Alice", now=NOW),
    "identities: remove": lambda db: openid_store.remove(db, 7, 7),
    "provider: session": lambda db: openid_store.session(db, 7, 7),
    "provider: of a session there": lambda db: openid_store.sessions_of(db, ISSUER, "", "p7"),
    "provider: of a subject": lambda db: openid_store.sessions_of(db, ISSUER, "s7", ""),
    "sessions: find": lambda db: sessions.by_hash(db, digest(7), NOW),
    "sessions: list": lambda db: sessions.list_all(db, 7, NOW),
    "sessions: add": lambda db: sessions.add(db, 7, _session(), digest=b"new"),
    "sessions: renew": lambda db: sessions.renew(db, 7, _session(), digest=b"new"),
    "sessions: seen": lambda db: sessions.set_last_seen(db, 7, 7, seen=NOW, until=LATER),
    "sessions: remove": lambda db: sessions.remove(db, 7, 7),
    "sessions: remove others": lambda db: sessions.remove_others(db, 7, 8),
    "sessions: expire": lambda db: sessions.remove_expired(db, now=NOW, limit=200),
    "first step: find": lambda db: pending_sign_ins.by_hash(db, digest(7), NOW),
    "first step: add": lambda db: pending_sign_ins.add(db, 7, _pending(), digest=b"new"),
    "first step: use": lambda db: pending_sign_ins.remove(db, 7, 7),
    "first step: of a user": lambda db: pending_sign_ins.remove_all(db, 7),
    "first step: expire": lambda db: pending_sign_ins.remove_expired(db, NOW, 200),
    "limits: of some": lambda db: limits_store.limits_of(db, [7, 8]),
    "limits: set": lambda db: limits_store.set_limits(db, 7, Limits()),
    "limits: add": lambda db: limits_store.add_size(db, 7, 100),
    "account: remove": lambda db: users.remove(db, 7),
}


def _session() -> Session:
    return Session(7, 7, NOW, NOW, LATER, "", "", "password", NOW)


def _pending() -> PendingSignIn:
    return PendingSignIn(0, 7, "password", "", is_shared=False, note="", expires_at=LATER)


def test_statements_read_no_table_as_a_whole(filled: Database) -> None:
    read_whole: dict[str, list[str]] = {}
    for name, statement in STATEMENTS.items():
        with explained(filled) as plans, suppress(UndoneError), filled.writing() as db:
            statement(db)
            raise UndoneError
        found = [plan.statement for plan in plans if READS_ALL.search(json.dumps(plan.plan))]
        if found or not plans:
            read_whole[name] = found

    assert read_whole == {}


@dataclass
class LogPage:
    """most_steps: thousands of SQLite's. most_pages: of PostgreSQL."""

    wanted: LogFilter
    before: LogPlace | None
    most_steps: int
    most_pages: int


# Three times what they are. Only administrators look for what is rare, which may read the log of 90 days once.
LOG_PAGES = {
    "all": LogPage(LogFilter(), None, 6, 50),
    "all, far back": LogPage(LogFilter(), PLACE, 6, 50),
    "refused": LogPage(LogFilter(kind="refused"), None, 10, 50),
    "of one": LogPage(ALL_OF_ONE, None, 6, 200),
    "of a busy one, far back": LogPage(LogFilter(user_id=BUSY), PLACE, 6, 300),
    "rare": LogPage(LogFilter(kind="factor_added"), None, 1_200, 7_500),
}


@pytest.mark.parametrize("name", LOG_PAGES)
def test_a_page_of_the_log_is_little_work(filled: Database, name: str) -> None:
    page = LOG_PAGES[name]
    with filled.reading() as db:
        work = work_of(db, lambda: account_log_store.page(db, page.wanted, before=page.before, limit=PAGE))

    sys.stdout.write(f"\n{'sqlite' if filled.is_sqlite else 'postgresql':12}{name:30}{work.total:9.1f}")
    assert work.result
    assert 0 <= work.total < (page.most_steps if filled.is_sqlite else page.most_pages)
