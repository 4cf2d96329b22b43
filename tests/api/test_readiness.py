"""The readiness check sees a database that hangs, takes no writes, or has another schema."""

from __future__ import annotations

import re
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from sqlalchemy import text

from support.databases import Databases
from support.people import Cast, HttpResponse, Person, call
from support.running import running_service
from tidings.api.openapi import operations_of
from tidings.engine.database import Database
from tidings.wiring.routes import DOCUMENTED_ROUTES

pytestmark = pytest.mark.slow


@pytest.fixture
def url(databases: Databases) -> Iterator[str]:
    with databases.migrated() as url:
        yield url


@pytest.fixture
def person(url: str, tmp_path: Path) -> Iterator[Person]:
    """Alice of a service whose database may be harmed."""
    with running_service(url, tmp_path) as service:
        yield Cast(service).person("alice", is_admin=True)


@pytest.fixture
def beside(url: str) -> Iterator[Database]:
    """Another connection to the same database."""
    opened = Database(url)
    yield opened
    opened.close()


def ready(person: Person) -> HttpResponse:
    return call(person.service.url, "GET", "/readyz")


def eventually(person: Person, status: int) -> HttpResponse:
    """Return the first answer with this status: a write that succeeded lately is not repeated for some seconds."""
    answer, left = ready(person), 300
    while answer.status != status and left:
        time.sleep(0.1)
        answer, left = ready(person), left - 1
    if answer.status == status:
        return answer
    raise AssertionError(f"{answer.status} {answer.body!r}")


@pytest.mark.parametrize("revision", ["0001", "9999"], ids=["older", "newer"])
def test_a_database_with_another_schema_is_not_ready(person: Person, beside: Database, revision: str) -> None:
    assert ready(person).status == 200
    with beside.writing() as db:
        db.run(text("UPDATE alembic_version SET version_num = :revision"), revision=revision)

    answer = ready(person)

    assert (answer.status, answer.headers["retry-after"]) == (503, "5")
    assert f"the database has schema {revision}" in person.service.log


def test_nothing_is_written_into_a_file_with_another_schema(person: Person, beside: Database) -> None:
    """As when a backup is copied into the file, which keeps its inode."""
    if not beside.is_sqlite:
        pytest.skip("PostgreSQL has no file that could be replaced")
    with beside.writing() as db:
        db.run(text("UPDATE alembic_version SET version_num = '0001'"))

    refused = person.call("POST", "/v1/categories", {"title": "lost"})
    with beside.writing() as db:
        titles = db.scalars(text("SELECT title FROM categories"))

    assert (refused.status, "retry-after" in refused.headers) == (503, True)
    assert "lost" not in titles


def test_a_database_that_hangs_is_not_ready_and_the_process_is_alive(person: Person, beside: Database) -> None:
    with beside.writing() as db:
        if not beside.is_sqlite:
            db.run(text("LOCK TABLE alembic_version IN ACCESS EXCLUSIVE MODE"))
        answer = eventually(person, 503)

        assert (answer.body, answer.headers["retry-after"]) == (b"the database does not answer in time", "5")
        assert call(person.service.url, "GET", "/healthz").status == 200
    eventually(person, 200)


def test_a_read_only_postgresql_is_not_ready_and_refuses_writes_with_503(person: Person, beside: Database) -> None:
    """As a standby after a failover to the wrong server."""
    if beside.is_sqlite:
        pytest.skip("a read-only disk needs a mount")
    name = beside.url.database
    others = "FROM pg_stat_activity WHERE datname = :name AND pid <> pg_backend_pid()"
    terminate = f"SELECT pg_terminate_backend(pid) {others}"
    with beside.reading() as db:
        db.connection.execute(text(f'ALTER DATABASE "{name}" SET default_transaction_read_only = on'))
        db.rows(text(terminate), name=name)

    assert eventually(person, 503).headers["retry-after"]
    for route in operations_of(DOCUMENTED_ROUTES).values():
        answer = person.call(route.method, re.sub(r"\{\w+\}", "1", route.path), {"title": "x", "username": "x"})
        assert answer.status != 500, f"{route.method} {route.path}"
        assert ("retry-after" in answer.headers) == (answer.status == 503)
    refused = person.call("POST", "/v1/categories", {"title": "lost"})
    assert (refused.status, "retry-after" in refused.headers) == (503, True)

    with beside.reading() as db:
        db.connection.execute(text(f'ALTER DATABASE "{name}" RESET default_transaction_read_only'))
        db.rows(text(terminate), name=name)
    eventually(person, 200)
    assert person.call("POST", "/v1/categories", {"title": "kept"}).status == 201
