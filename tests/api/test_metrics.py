"""/metrics: who may read it, and that it tells of all processes what they did."""

from __future__ import annotations

import base64
import re
import resource
import signal
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from support.databases import Databases, SqliteDatabases
from support.people import Cast, call, rss
from support.publisher import Publisher
from support.running import RunningService, running, running_service
from tidings import metrics
from tidings.metrics.multiprocess import FILE_SIZE, MetricFiles, SampleKey, sum_of_all
from tidings.storage.feeds import feeds

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


def wait_until(claim: Callable[[], bool], within_s: float = 60) -> None:
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


KEY = SampleKey("counter", "tidings_things", "Things.", (("kind", "big"),))


def add(files: MetricFiles, amount: float, key: SampleKey = KEY) -> None:
    files.values[files.index(key)] += amount


def test_each_process_has_its_own_file_and_its_successor_continues_it(tmp_path: Path) -> None:
    first, second = MetricFiles(tmp_path), MetricFiles(tmp_path)
    assert {first.number, second.number} == {1, 2}
    add(first, 7)
    add(second, 10)
    first.close()

    third = MetricFiles(tmp_path)
    add(third, 1)

    assert third.number == 1
    assert sum_of_all(tmp_path) == {KEY: 18}
    second.close()
    third.close()


def test_the_first_process_deletes_files_of_an_earlier_run(tmp_path: Path) -> None:
    first = MetricFiles(tmp_path)
    add(first, 7)
    first.close()

    second = MetricFiles(tmp_path)

    assert sum_of_all(tmp_path) == {}
    second.close()


def test_a_name_that_its_writer_did_not_finish_is_ignored_and_written_again(tmp_path: Path) -> None:
    first, other = MetricFiles(tmp_path), MetricFiles(tmp_path)
    add(first, 7)
    first.close()
    with (tmp_path / "names-1.jsonl").open("ab") as file:
        file.write(b'["counter","tidings_th')
    assert sum_of_all(tmp_path) == {KEY: 7}

    successor = MetricFiles(tmp_path)
    add(successor, 1, SampleKey("counter", "tidings_others", "Others."))

    assert list(sum_of_all(tmp_path).values()) == [7, 1]
    successor.close()
    other.close()


def test_a_full_file_takes_no_further_value_and_loses_none(tmp_path: Path) -> None:
    files = MetricFiles(tmp_path)
    add(files, 1)
    for number in range(2, len(files.values)):
        files.index(SampleKey("counter", f"tidings_{number}", "Things."))
    before = sum_of_all(tmp_path)

    add(files, 5, SampleKey("counter", "tidings_more", "Things."))

    assert sum_of_all(tmp_path) == before
    files.close()


def test_a_name_that_a_full_disk_does_not_take_leaves_nothing_behind(tmp_path: Path) -> None:
    files = MetricFiles(tmp_path)
    add(files, 1)
    size = (tmp_path / "names-1.jsonl").stat().st_size
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    handler = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size + 5, limits[1]))
    try:
        add(files, 5, SampleKey("counter", "tidings_more", "Things."))
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
        signal.signal(signal.SIGXFSZ, handler)
    assert sum_of_all(tmp_path) == {KEY: 1}

    add(files, 2, SampleKey("counter", "tidings_more", "Things."))

    assert list(sum_of_all(tmp_path).values()) == [1, 2]
    files.close()


def test_a_file_is_created_atomically(tmp_path: Path) -> None:
    """A reader never finds a file of values that is not whole."""
    seen: set[int] = set()
    done = threading.Event()

    def look() -> None:
        over = False
        while not over:
            over = done.is_set()
            seen.update(path.stat().st_size for path in tmp_path.glob("*.db"))

    reader = threading.Thread(target=look)
    reader.start()
    processes = [MetricFiles(tmp_path) for _ in range(30)]
    done.set()
    reader.join()
    for files in processes:
        files.close()

    assert seen == {FILE_SIZE}
    assert len(list(tmp_path.glob("*.db"))) == 30


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
        'tidings_tidied_total{what="entries"} 40.0',
        "tidings_polls_due 4.0",
    ):
        assert f"\n{line}\n" in text
    assert "icons" not in text
    told = re.findall(r"^# HELP (\w+) \S", text, flags=re.MULTILINE)
    names = re.findall(r"^(tidings_\w+?)(?:_bucket|_sum|_count)?[ {]", text, flags=re.MULTILINE)
    assert set(names) == set(told)
