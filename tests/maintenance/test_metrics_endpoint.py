"""/metrics: who may read it, and that it tells of all processes what they did."""

from __future__ import annotations

import base64
import re
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from newsletters.letters import delivered, has_address, message
from support.databases import Databases, SqliteDatabases
from support.people import Cast, call, rss
from support.publisher import Publisher
from support.running import RunningService, running, running_service
from tidings import metrics
from tidings.storage.feeds import feeds

pytestmark = pytest.mark.slow

Samples = dict[str, float]
POLLED = 'tidings_polls_total{outcome="stored"}'


def read(service: RunningService, **headers: str) -> Samples:
    named = {name.replace("_", "-"): text for name, text in headers.items()}
    answer = call(service.url, "GET", "/metrics", headers=named)
    assert answer.status == 200, answer.body
    assert answer.headers["content-type"].startswith("text/plain; version=")
    lines = answer.body.decode().splitlines()
    return {name: float(value) for name, value in (line.rsplit(" ", 1) for line in lines if not line.startswith("#"))}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path


@contextmanager
def counting(databases: Databases, folder: Path, **settings: str) -> Iterator[RunningService]:
    with (
        databases.migrated() as url,
        running_service(url, folder, metrics_collector="1", metrics_refresh_interval="1", **settings) as service,
    ):
        yield service


def test_metrics_are_404_unless_enabled(service: RunningService) -> None:
    assert call(service.url, "GET", "/metrics").status == 404


def test_requests_of_all_processes_are_counted_by_route(databases: Databases, folder: Path) -> None:
    with counting(databases, folder, web_workers="2") as service:
        alice = Cast(service).person("alice")
        for _ in range(20):
            alice.get("/v1/me")
        alice.call("GET", "/v1/feeds/2147483000")
        call(service.url, "GET", "/v1/nowhere/at/all")
        call(service.url, "BREW", "/v1/me")
        expected = {
            'tidings_http_requests_total{method="GET",route="/v1/me",status="200"}': 20,
            'tidings_http_requests_total{method="GET",route="/v1/feeds/{feed_id}",status="404"}': 1,
            'tidings_http_requests_total{method="GET",route="none",status="401"}': 1,
        }
        # An answer is on its way before it is counted.
        wait_until(lambda: expected.items() <= read(service).items())
        seen = read(service)

    assert not any("BREW" in name or "nowhere" in name for name in seen)
    assert seen['tidings_http_request_seconds_count{method="GET",route="/v1/me"}'] >= 20
    assert seen['tidings_database_seconds_count{use="read"}'] >= 20
    assert seen['tidings_database_seconds_count{use="write"}'] >= 1
    assert seen["tidings_up"] == 1
    assert seen["tidings_users"] >= 1
    assert seen["tidings_database_bytes"] > 10_000


def test_metrics_of_a_worker_are_included_and_remain_after_it_ends(
    databases: Databases, folder: Path, site: Publisher
) -> None:
    with counting(databases, folder) as service:
        alice = Cast(service).person("alice")
        path = site.serve("/due.xml", rss(["One", "Two", "Three"], site.url("/due.xml")))
        where = {"category_id": alice.get("/v1/categories")[0]["id"], "feed_url": path, "title": "Due"}
        with service.services.database.writing() as db:
            feeds.add(db, alice.id, created_at=0, checked_at=0, next_check_at=0, **where)
        with running("worker", service.environment, folder):
            wait_until(lambda: POLLED in read(service))
        # Of the database it says for a second what it said before.
        wait_until(lambda: read(service)["tidings_polls_due"] == 0)
        seen = read(service)

    assert seen[POLLED] == 1
    assert seen["tidings_entries_stored_total"] == 3
    assert seen["tidings_poll_seconds_count"] >= 1


def test_letters_are_counted_by_what_became_of_them(databases: Databases, folder: Path) -> None:
    with counting(databases, folder) as service:
        alice = Cast(service).person("alice")
        path = has_address(alice)
        for number in (1, 1, 2):
            delivered(alice, path, message(number))
        wait_until(lambda: 'tidings_letters_total{outcome="repeated"}' in read(service))
        seen = read(service)

    counted = {name: value for name, value in seen.items() if name.startswith("tidings_letters_total")}
    assert counted == {
        'tidings_letters_total{outcome="stored"}': 2,
        'tidings_letters_total{outcome="repeated"}': 1,
    }


def wait_until(claim: Callable[[], bool], within_s: float = 180) -> None:
    deadline = time.monotonic() + within_s
    while not claim():
        assert time.monotonic() < deadline, "it did not happen in time"
        time.sleep(0.05)


# Who may read


def basic(username: str, password: str) -> dict[str, str]:
    return {"Authorization": "Basic " + base64.b64encode(f"{username}:{password}".encode()).decode()}


def status(service: RunningService, method: str = "GET", **headers: str) -> int:
    named = {name.replace("_", "-"): text for name, text in headers.items()}
    return call(service.url, method, "/metrics", headers=named).status


def test_clients_of_other_networks_are_refused_also_behind_a_proxy(folder: Path) -> None:
    with counting(SqliteDatabases(folder), folder) as service:
        assert status(service) == 200
        assert status(service, "HEAD") == 200
        assert status(service, "POST") == 405
        assert status(service, X_Forwarded_For="203.0.113.7") == 403
        assert status(service, X_Forwarded_For="127.0.0.1, 203.0.113.7") == 403
        assert status(service, X_Forwarded_For="nonsense") == 403


def test_a_client_cannot_forge_its_address(folder: Path) -> None:
    with counting(
        SqliteDatabases(folder), folder, metrics_allowed_networks="10.0.0.0/8", trusted_reverse_proxy_networks="none"
    ) as service:
        assert status(service, X_Forwarded_For="10.0.0.1") == 403


def test_a_configured_password_is_required(folder: Path) -> None:
    secret = folder / "secret"
    secret.write_text("correct horse\n")
    with counting(
        SqliteDatabases(folder), folder, metrics_username="prometheus", metrics_password_file=str(secret)
    ) as service:
        alice = Cast(service).person("alice", is_admin=True)

        assert status(service) == 401
        assert status(service, **basic("prometheus", "wrong")) == 401
        assert status(service, **basic("", "correct horse")) == 401
        assert status(service, Authorization="Basic !") == 401
        assert status(service, X_Auth_Token=alice.token) == 401
        assert status(service, **basic("prometheus", "correct horse")) == 200
        assert "correct horse" not in service.log


# Where numbers are kept


def test_an_unusable_folder_stops_no_process(tmp_path: Path) -> None:
    in_the_way = tmp_path / "file"
    in_the_way.touch()

    metrics.start(in_the_way)

    assert not metrics.is_enabled()
    metrics.record_request("/v1/me", "GET", 200, 0.001)


def test_every_metric_has_a_help_text(tmp_path: Path) -> None:
    metrics.start(tmp_path)
    try:
        metrics.record_poll("stored", 0.2, new_entries=3)
        metrics.record_poll("failed", 0.2)
        metrics.record_delivery("delivered", 0.1)
        metrics.record_cleanup("entries", 40)
        metrics.record_cleanup("icons", 0)
        body, _ = metrics.exposition({"tidings_polls_due": ("Due.", 4.0)})
    finally:
        metrics.stop()

    text = body.decode()
    for line in (
        'tidings_polls_total{outcome="stored"} 1.0',
        'tidings_polls_total{outcome="failed"} 1.0',
        "tidings_entries_stored_total 3.0",
        'tidings_poll_seconds_bucket{le="0.25"} 2.0',
        'tidings_deliveries_total{outcome="delivered"} 1.0',
        'tidings_cleanup_deleted_total{what="entries"} 40.0',
        "tidings_polls_due 4.0",
    ):
        assert f"\n{line}\n" in text
    assert "icons" not in text
    described = re.findall(r"^# HELP (\w+) \S", text, flags=re.MULTILINE)
    names = re.findall(r"^(tidings_\w+?)(?:_bucket|_sum|_count)?[ {]", text, flags=re.MULTILINE)
    assert set(names) == set(described)
