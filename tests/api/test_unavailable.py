"""While the database does not answer, every route returns 503; afterwards it works again."""

from __future__ import annotations

import re
from contextlib import closing
from pathlib import Path

import psycopg
import pytest
from sqlalchemy import make_url

from support.databases import PostgresDatabases
from support.people import Cast
from support.running import running_service
from tidings.api.openapi import operations_of
from tidings.wiring.routes import DOCUMENTED_ROUTES

pytestmark = pytest.mark.slow


def test_every_route_is_503_while_the_database_is_unavailable(request: pytest.FixtureRequest, tmp_path: Path) -> None:
    if request.config.getoption("--without-postgresql"):
        pytest.skip("an embedded database cannot be taken away from processes that have it open")
    server = request.getfixturevalue("postgres_url")
    with (
        closing(PostgresDatabases(server)) as databases,
        databases.migrated() as url,
        running_service(url, tmp_path) as service,
        psycopg.connect(server, autocommit=True) as routes_above,
    ):
        alice = Cast(service).person("alice", is_admin=True)
        assert alice.get("/v1/me")["id"] == alice.id
        name = make_url(url).database
        routes_above.execute(f'ALTER DATABASE "{name}" ALLOW_CONNECTIONS false')
        routes_above.execute("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = %s", [name])

        for route in operations_of(DOCUMENTED_ROUTES).values():
            answer = alice.call(route.method, re.sub(r"\{\w+\}", "1", route.path), {})
            needs_none = route.path in ("/healthz", "/liveness", "/v1/openapi.json")
            assert answer.status == (200 if needs_none else 503), f"{route.method} {route.path}"
            assert ("retry-after" in answer.headers) == (answer.status == 503)

        routes_above.execute(f'ALTER DATABASE "{name}" ALLOW_CONNECTIONS true')
        assert alice.get("/v1/me")["id"] == alice.id
