"""Statements on rows of users name the user, or are in a short list of exceptions.

So does each join and each subquery: a database that is distributed by user answers such a statement on one node.
The tests inspect the statements of storage modules, compiled for both engines, and the SQL that a service executes for
requests to every route of the API and the pages.
"""

from __future__ import annotations

import importlib
import json
import pkgutil
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import Dialect
from sqlalchemy.sql import ClauseElement
from sqlalchemy.sql.dml import UpdateBase
from sqlalchemy.sql.selectable import CompoundSelect, Select

import tidings
from greader.apps import READING_LIST, STARRED, App, label
from support.databases import Databases
from support.people import Cast
from support.publisher import Publisher
from support.query_blocks import tables_without_user
from support.resource_factory import BODIES, MAKERS, NAMES, ResourceFactory
from support.running import RunningService, environment_for, running
from support.visitors import Visitor
from tidings.api.openapi import operations_of
from tidings.engine import database
from tidings.engine.columns import metadata
from tidings.engine.postgresql import PostgresPool
from tidings.greader.routes import READER_ROUTES
from tidings.storage.entries import entry_lists
from tidings.storage.polling.claims import Claims
from tidings.wiring.routes import API_ROUTES, PAGE_ROUTES

pytestmark = pytest.mark.slow

RECORDER = Path(__file__).parents[1] / "support" / "recorder"
OWNED = frozenset(table.name for table in metadata.tables.values() if "user_id" in table.c)
_TABLE = re.compile(rf"(?:\b(?:FROM|JOIN|UPDATE|INTO)|,)\s+\"?({'|'.join(sorted(OWNED))})\b")
# The rooms with SQL (tests/test_architecture.py), without migrations and without readers of foreign databases.
_HAS_SQL = re.compile(
    r"tidings\.(?:(?:storage(?!\.migrations)|engine)(?:\.\w+)*|\w+\.(?:(?:\w+\.)?(?:\w+_)?store(?:\.\w+)?|tables))"
)
_NAMES_THE_USER = re.compile(r"\buser_id (?:=|IN)|INSERT INTO \w+ \([^)]*\buser_id\b")

# Tables whose rows belong to no user: an engine that distributes rows by user keeps a copy of them on each node.
SHARED = {
    "users": "the owners themselves",
    "sources": "a document is fetched once for all who subscribe to it",
    "hosts": "a host that asks to be left alone is left alone by all",
    "icons": "one icon serves all feeds that show it",
    "shared_contents": "entries of all feeds of a source refer to it, and are read through them only",
    "search_terms": "documents of all who have an entry refer to its terms, and a search does not read them",
    "shared_vectors": "a search joins what it finds with rows of the user that refer to it",
    "websub_subscriptions": "one subscription at a hub serves all",
    "websub_topics": "connects sources with subscriptions at hubs",
    "websub_pushes": "a push is for all feeds of its source",
    "bridge_turns": "processes take turns at a service",
    "chores": "the worker's own clock",
    "server_secrets": "shared by all processes",
    "sign_in_failures": "most names belong to nobody",
    "spent_challenges": "spent by somebody without an account",
    "account_links": "made for an account that may not exist yet",
}
# Tables of rows that belong to a user, but do not name the user: how it is found, why.
NAMELESS = {
    "delivery_bodies": "by the delivery, of which it is the large part",
}

# Statements of the worker, which serves all users at the same time: modules with SQL, of the core and of slices.
OF_ALL_USERS = {
    "storage.polling.sources": "a source belongs to no user; a check serves every user that subscribes to it",
    "websub.store": "one subscription at a hub serves all users; a push is stored feed by feed",
    "rules.runs_store": "the worker applies rules of all users; a run names the user in each change of entries",
    "live_opml.claims_store": "the worker checks lists of all users; a claim touches nothing else of the row",
    "newsletters.imap.claims_store": "the worker reads mailboxes of all users; what it writes names the worker",
    "storage.entries.search_index": "the worker indexes waiting entries of all users",
    "engine.full_text": "the index is written for all users; a search matches only terms marked with the user's id",
    "maintenance.store.clock_repair": "a wrong clock is wrong for all users; only times are changed",
    "maintenance.store.status": "the operator sees totals, never rows",
}
# (table, condition of the statement): why this is enough.
EXCEPTIONS = {
    ("read_after", r"read_after\.days >"): "cleanup asks which users have old entries marked as read",
    ("snoozed_entries", r"snoozed_entries\.until <="): "the worker asks which users have entries that come back",
    ("api_keys", r"api_keys\.token_hash ="): "the token is the credential, and identifies the user",
    (
        "api_passwords",
        r"api_passwords\.fever_key_digest =",
    ): "the key is the credential, and identifies the user",
    ("sessions", r"sessions\.token_hash ="): "the cookie is the credential, and identifies the user",
    ("passkeys", r"passkeys\.credential_id ="): "the passkey is the credential, and identifies the user",
    ("sessions", r"sessions\.expires_at <="): "cleanup of expired sessions",
    ("pending_sign_ins", r"pending_sign_ins\.token_hash ="): "the cookie is the credential, and identifies the user",
    ("pending_sign_ins", r"pending_sign_ins\.expires_at <="): "cleanup of what was never completed",
    ("identities", r"identities\.subject ="): "the provider has proved the identity, which identifies the user",
    (
        "provider_sessions",
        r"provider_sessions\.(?:subject|provider_session_id) =",
    ): "the provider's token names its session, and identifies the user",
    ("account_log", r"account_log\.last_at <"): "cleanup of what is too old",
    ("host_attempts", r"^DELETE .* host_attempts\.last_at <"): "cleanup of attempts that no longer count",
    ("list_links", r"list_links\.token ="): "the link is the permission, and identifies the user",
    ("list_versions", r"^UPDATE list_versions SET version=\S+, number=[^=]+$"): "a repair may change the lists of all",
    ("changes", r"^DELETE FROM changes$"): "after a repair, clients begin again",
    ("newsletter_addresses", r"newsletter_addresses\.secret ="): "the secret is the permission to deliver",
    ("newsletter_letters", r"^DELETE .* newsletter_letters\.received_at <"): "cleanup of what is too old",
    ("entries", r"entries\.share_code ="): "the link is the permission to read this entry",
    ("feeds", r"feeds\.icon_id = icons\.id"): "an icon is shared; it goes when no feed of any user has it",
    ("feeds", r"feeds\.source_id = \? (?:AND feeds\.id >|ORDER BY feeds\.disabled|LIMIT)"): (
        "contents are shared by all feeds of a source"
    ),
    ("feeds", r"^SELECT DISTINCT feeds\.icon_id"): "the same, where feeds are on other servers than icons",
    ("entry_contents", r"entry_contents\.shared_id = shared_contents\.id"): (
        "a shared content is removed when no entry of any user has it"
    ),
    ("entry_contents", r"^SELECT DISTINCT entry_contents\.shared_id"): (
        "the same, where entries are on other servers than contents"
    ),
    ("categories", r"categories\.keep_duplicates = true$"): "the worker asks what users have excepted",
    ("feeds", r"feeds\.keep_duplicates = true$"): "the worker asks what users have excepted",
    ("duplicates", r"duplicates\.compared = false AND duplicates\.user_id >"): "the worker compares for all users",
    (
        "search_vectors",
        r"^SELECT \(SELECT count\(\*\) FROM \(SELECT 1 FROM search_vectors WHERE words @@ CAST\(\? AS tsquery\) LIMIT",
    ): "the index is counted alone: a search matches only terms marked with the user's id",
    ("deliveries", r"deliveries\.receiver_id IS NULL AND deliveries\.state = 'pending' ORDER BY"): (
        "the worker puts new deliveries of all users into queues"
    ),
    ("deliveries", r"^SELECT \(EXISTS .* deliveries\.receiver_id IS NULL"): "the worker asks whether anyone has work",
    ("receivers", r"receivers\.next_attempt_at <= \S+ AND \(receivers\.claimed_until IS NULL"): (
        "the worker claims due queues of all users"
    ),
    ("receivers", r"receivers\.next_attempt_at IS NULL AND \(receivers\.claimed_until IS NULL"): (
        "cleanup of queues without deliveries"
    ),
    ("receivers", r"receivers\.claimed_by = \S+(?: COLLATE \"C\")? AND claimed_by <> ''"): (
        "a worker that stops releases its queues"
    ),
    ("deliveries", r"deliveries\.finished_at < "): "cleanup of what is too old",
    ("deliveries", r"^DELETE FROM deliveries WHERE deliveries\.id "): "cleanup of what is too old",
}
# The same for statements that are built at run time.
BUILT = {
    (
        "entries",
        r"^WITH wanted \(feed_id, hash\)",
    ): "a check looks up entries of all the feeds that it serves",
    (
        "tombstones",
        r"^WITH wanted \(feed_id, hash\)",
    ): "a check looks up deleted entries of all the feeds that it serves",
    ("account_log", r"FROM account_log .*ORDER BY account_log\.last_at DESC"): "administrators see the log of all",
}

# Statements that name the user, but not for each table that they join or look up: (table, its query): why.
UNLINKED = {
    ("entries", r"entries\.feed_id = (?:feeds\.id|feed_counters\.feed_id)|entries\.feed_id IN \(SELECT feeds\.id"): (
        "the index of a feed's entries, which alone is read, does not contain the user"
    ),
    ("search_vectors", r"FROM search_vectors WHERE (?:words @@|entry_id =)"): (
        "the index is searched alone: a search matches only terms marked with the user's id"
    ),
    ("search_pending", r"^INSERT INTO search_pending .* NOT IN"): "after a repair, entries of all users wait",
    ("entries", r"^INSERT INTO search_pending .* NOT IN"): "after a repair, entries of all users wait",
    (
        "list_versions",
        r"^INSERT INTO changes .* FROM list_versions$",
    ): "after a repair, clients begin again",
    ("list_versions", r"changes\.user_id = list_versions\.user_id"): "cleanup asks which users have old changes",
}


def normal(sql: str) -> str:
    """Return a statement on one line, with uniform parameters and lists."""
    text = " ".join(sql.split())
    text = re.sub(r"%\((\w+)\)s(?:::\w+)?|:\w+|\?", "?", text)
    return re.sub(r"\((?:\?|__\[POSTCOMPILE_\w+\])(?:, \?)*\)", "(?)", text)


def is_owned_and_open(sql: str) -> bool:
    """Whether a statement reads or writes rows of users, and neither names the user nor is an exception."""
    tables = set(_TABLE.findall(sql))
    if not tables or _NAMES_THE_USER.search(sql):
        return False
    excepted = {table for table, condition in EXCEPTIONS | BUILT if re.search(condition, sql)}
    return not tables <= excepted


def unlinked(sql: str) -> set[str]:
    """Return the tables of a statement that names the user whose rows it nevertheless reads of any user."""
    if not _NAMES_THE_USER.search(sql):
        return set()
    excepted = {table for table, condition in UNLINKED if re.search(condition, sql)}
    return tables_without_user(sql, OWNED) - excepted


def is_executable(sql: str) -> bool:
    """Return whether a statement may run as it is. A SELECT without a condition only serves to build others."""
    return not sql.startswith("SELECT") or " WHERE " in sql


@cache
def dialect(engine: str) -> Dialect:
    """Return the dialect as the service configures it. Nothing connects."""
    if engine == "sqlite":
        return database.sqlite(database.driver_url("sqlite:///unused"), 1, file=database.DatabaseFile("unused")).dialect
    return PostgresPool(database.driver_url("postgresql://user@localhost/unused"), 1).engine.dialect


def kept_statements() -> Iterator[tuple[str, str, ClauseElement]]:
    """Yield (module, name, statement) of what modules with SQL keep, even in dicts, lists and tuples."""
    for found in pkgutil.walk_packages(tidings.__path__, "tidings."):
        if not _HAS_SQL.fullmatch(found.name):
            continue
        for name, value in vars(importlib.import_module(found.name)).items():
            for each in _inside(value):
                if isinstance(each, Select | CompoundSelect | UpdateBase):
                    yield found.name.removeprefix("tidings."), name, each


def _inside(value: Any) -> Iterable[Any]:
    if isinstance(value, dict):
        return value.values()
    if isinstance(value, Claims):
        return vars(value).values()
    return value if isinstance(value, list | tuple) else [value]


@cache
def compiled(engine: str) -> dict[str, set[str]]:
    """Return the statements of modules, each with its names (module.variable)."""
    places = defaultdict(set)
    for module, name, statement in kept_statements():
        if _is_for(statement, engine):
            places[_sql(statement, engine)].add(f"{module}.{name}")
    return places


def _is_for(statement: ClauseElement, engine: str) -> bool:
    """Only PostgreSQL has vectors."""
    return engine == "postgresql" or "search_vectors" not in _sql(statement, "postgresql")


@cache
def _sql(statement: ClauseElement, engine: str) -> str:
    return normal(str(statement.compile(dialect=dialect(engine))))


def is_of_all_users(place: str) -> bool:
    return place.rpartition(".")[0] in OF_ALL_USERS


@pytest.mark.parametrize("kind", ["sqlite", "postgresql"])
def test_each_kept_statement_on_rows_of_users_names_the_user(kind: str) -> None:
    statements = compiled(kind)
    assert len(statements) > 150
    wrong = {
        sql: sorted(places)
        for sql, places in statements.items()
        if is_executable(sql) and is_owned_and_open(sql) and not any(map(is_of_all_users, places))
    }
    assert wrong == {}


@pytest.mark.parametrize("kind", ["sqlite", "postgresql"])
def test_each_join_and_subquery_of_a_kept_statement_names_the_user(kind: str) -> None:
    wrong = {
        sql: (tables, sorted(places))
        for sql, places in compiled(kind).items()
        if is_executable(sql) and (tables := unlinked(sql)) and not any(map(is_of_all_users, places))
    }
    assert wrong == {}


@pytest.mark.parametrize("condition", ["feed_id", "category_id", "category_ids", "categories_and_feeds"])
def test_totals_of_counters_name_the_user_of_each_table(condition: str) -> None:
    statement = entry_lists._sums((condition,), hidden=True)
    assert unlinked(normal(str(statement.compile(dialect=dialect("postgresql"))))) == set()


def test_each_exception_is_needed() -> None:
    statements = {sql: places for kind in ("sqlite", "postgresql") for sql, places in compiled(kind).items()}
    assert [
        (table, condition)
        for table, condition in UNLINKED
        if not any(table in tables_without_user(sql, OWNED) and re.search(condition, sql) for sql in statements)
    ] == []
    nameless = [sql for sql in statements if _TABLE.search(sql) and not _NAMES_THE_USER.search(sql)]
    assert [
        (table, condition)
        for table, condition in EXCEPTIONS
        if not any(table in _TABLE.findall(sql) and re.search(condition, sql) for sql in nameless)
    ] == []
    used = {place.rpartition(".")[0] for sql in nameless for place in statements[sql]}
    assert sorted(OF_ALL_USERS.keys() - used) == []


def test_each_table_names_the_user_or_is_shared_by_all() -> None:
    nameless = {table.name for table in metadata.tables.values() if "user_id" not in table.c}
    assert nameless == SHARED.keys() | NAMELESS.keys()


@contextmanager
def recorded(databases: Databases, folder: Path) -> Iterator[tuple[RunningService, Path]]:
    """Run a service that writes each statement it executes into the file."""
    file = folder / "statements"
    with databases.migrated() as url:
        environment = environment_for(url, folder) | {"PYTHONPATH": str(RECORDER), "RECORD_STATEMENTS": str(file)}
        with running("web", environment, folder) as service:
            service.wait_until_ready()
            yield service, file


def ask_everything(service: RunningService, site: Publisher) -> None:
    """Request every route of all surfaces, as the owner of the resources; as a stranger if it names one of them."""
    alice, bob = Cast(service).person("alice", is_admin=True), Cast(service).person("bob")
    resources = ResourceFactory(alice, site)
    for method in ("GET", "PUT", "POST"):
        for name, route in operations_of(API_ROUTES).items():
            if route.method == method:
                path = re.sub(r"\{(\w+)\}", lambda match: resources.named(match[1]), route.path)
                body = resources.body(name) if name in BODIES else None
                for person in (alice, bob) if _names_a_resource(route.path, BODIES.get(name)) else (alice,):
                    raw = {"raw": body.encode()} if isinstance(body, str) else {"body": body}
                    person.call(method, path, **raw)
    # All of them now: a page ends the API key with which resources are made.
    paths = [re.sub(r"\{(\w+)\}", lambda match: _in_path(resources, match[1]), route.path) for route in PAGE_ROUTES]
    for person in (alice, bob):
        visitor = Visitor(service, person)
        visitor.sign_in()
        for route, path in zip(PAGE_ROUTES, paths, strict=True):
            if person is bob and not _names_a_resource(route.path):
                continue
            if route.method == "GET":
                visitor.get(path)
            elif "sign-out" not in path:
                visitor.post(path)
        ask_reader(App(person).sign_in(), resources)


def ask_reader(app: App, resources: ResourceFactory) -> None:
    """Request every route of the Google Reader API for several kinds of streams."""
    number = resources.id_of("feed_id")
    for stream in (f"feed/{number}", f"feed/{resources.site.url('/feed.xml')}", label("All"), STARRED, READING_LIST):
        given = {
            "s": stream,
            "i": str(resources.id_of("entry_id")),
            "a": STARRED,
            "xt": label("All"),
            "ot": "1600000000",
        }
        for route in READER_ROUTES:
            path = route.path.removeprefix("/reader/api/0/").replace("{stream:path}", stream)
            app.call(route.method, path, given, query={**given, "ac": "edit", "n": "1", "c": "9"})


def _names_a_resource(path: str, body: Any = None) -> bool:
    return "{" in path or re.search(r"\{\w+_id\}", json.dumps(body)) is not None


def _in_path(resources: ResourceFactory, parameter: str) -> str:
    return resources.named(parameter) if parameter in {*MAKERS, *NAMES} else "1"


def test_requests_execute_only_statements_that_name_the_user(
    databases: Databases, engine: str, tmp_path: Path, site: Publisher
) -> None:
    with recorded(databases, tmp_path) as (service, file):
        ask_everything(service, site)
        service.stop()
    executed = {normal(json.loads(line)) for line in file.read_text(encoding="utf-8").splitlines()}
    kept = compiled(engine)
    assert len(executed & kept.keys()) > 60, "what was recorded is not what modules keep"
    wrong = [
        sql for sql in sorted(executed) if is_owned_and_open(sql) and not any(map(is_of_all_users, kept.get(sql, ())))
    ]
    assert wrong == []
    not_linked = {sql: unlinked(sql) for sql in sorted(executed) if not any(map(is_of_all_users, kept.get(sql, ())))}
    assert {sql: tables for sql, tables in not_linked.items() if tables} == {}
    assert [condition for _, condition in BUILT if not any(re.search(condition, sql) for sql in executed)] == []


@pytest.mark.parametrize(
    ("sql", "is_wrong"),
    [
        ("SELECT entries.id FROM entries WHERE entries.id = ?", True),
        ("SELECT entries.id FROM entries WHERE entries.user_id = ? AND entries.id = ?", False),
        ("UPDATE feeds SET title=? WHERE feeds.id = ?", True),
        ("INSERT INTO feeds (title) VALUES (?)", True),
        ("INSERT INTO feeds (user_id, title) VALUES (?, ?)", False),
        ("SELECT api_keys.id FROM api_keys WHERE api_keys.token_hash = ?", False),
        ("SELECT icons.id FROM icons WHERE icons.id = ?", False),
    ],
)
def test_a_statement_without_its_user_is_found(sql: str, is_wrong: bool) -> None:
    assert is_owned_and_open(sql) == is_wrong


@pytest.mark.parametrize(
    ("sql", "tables"),
    [
        ("SELECT 1 FROM feeds JOIN entries ON entries.feed_id = feeds.id WHERE feeds.user_id = ?", {"entries"}),
        ("SELECT 1 FROM feeds AS f, entries WHERE f.user_id = ? AND entries.user_id = f.user_id", set()),
        ("SELECT 1 FROM feeds AS f, entries AS e WHERE +e.user_id = ? AND f.id = e.feed_id", {"f"}),
        ("SELECT 1 FROM entries WHERE user_id = ? AND id IN (SELECT entry_id FROM duplicates)", {"duplicates"}),
        ("SELECT 1 FROM entries WHERE user_id = ? UNION SELECT 1 FROM entries WHERE entries.id = ?", {"entries"}),
        ("UPDATE feeds SET title=? WHERE feeds.user_id = ? AND EXISTS (SELECT 1 FROM labels)", {"labels"}),
        ("DELETE FROM entries WHERE user_id = ? AND title = ')' AND feed_id IN (?)", set()),
        ("INSERT INTO labels (user_id, name) SELECT user_id, ? FROM feeds WHERE feeds.id = ?", {"feeds"}),
    ],
)
def test_a_table_that_is_joined_without_its_user_is_found(sql: str, tables: set[str]) -> None:
    assert tables_without_user(sql, OWNED) == tables
