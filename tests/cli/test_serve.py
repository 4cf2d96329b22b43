"""`tidings serve` as a whole: killed processes are restarted, and all end together."""

from __future__ import annotations

import contextlib
import http.client
import os
import secrets
import signal
from pathlib import Path

import pytest
from sqlalchemy import create_engine, make_url, text

from cli.commands import eventually
from cli.subscriptions import subscribed
from support.people import call, rss
from support.processes import children, is_running
from support.publisher import Hang, Publisher
from support.running import RunningService, environment_for, running

pytestmark = pytest.mark.slow


def running_children(pid: int) -> dict[int, str]:
    """Return the names of the running children of a process, by process id."""
    found = {}
    for child in filter(is_running, children(pid)):
        with contextlib.suppress(OSError):
            found[child] = Path(f"/proc/{child}/comm").read_text(encoding="ascii").strip()
    return found


def worker(service: RunningService) -> int | None:
    return next((pid for pid, name in running_children(service.process.pid).items() if name == "tidings worker"), None)


def web_worker(service: RunningService) -> int | None:
    return next((pid for pid, name in running_children(service.process.pid).items() if name == "tidings web wor"), None)


def is_ready(service: RunningService) -> bool:
    with contextlib.suppress(OSError, http.client.HTTPException):
        return call(service.url, "GET", "/readyz").status == 200
    return False


def test_killed_children_are_restarted_and_none_outlives_a_killed_supervisor(
    empty_database_url: str, site: Publisher, tmp_path: Path
) -> None:
    environment = environment_for(empty_database_url, tmp_path, admin_password="test123")
    with running("serve", environment, tmp_path) as service:
        service.wait_until_ready()
        assert eventually(lambda: worker(service))
        first_worker, first_web = worker(service), web_worker(service)
        assert first_worker
        assert first_web

        os.kill(first_worker, signal.SIGKILL)
        os.kill(first_web, signal.SIGKILL)

        assert eventually(lambda: worker(service) not in (None, first_worker)), service.log
        assert eventually(lambda: web_worker(service) not in (None, first_web) and is_ready(service)), service.log
        subscribed(service.services, "alice", site.serve("/feed.xml", rss(["First"], site.url("/feed.xml"))))
        assert site.wait_for(1, "/feed.xml")

        pids = [service.process.pid, *children(service.process.pid)]
        assert len(pids) >= 3
        service.process.kill()
        service.process.wait()
        assert eventually(lambda: not any(map(is_running, pids))), service.log
    assert "Traceback" not in service.log
    assert "test123" not in service.log


def test_the_leases_of_a_killed_worker_are_released_at_once(
    empty_database_url: str, site: Publisher, tmp_path: Path
) -> None:
    url = site.script("/hangs.xml", Hang())
    environment = environment_for(empty_database_url, tmp_path, admin_password="test123", worker_processes="1")
    with running("serve", environment, tmp_path) as service:
        service.wait_until_ready()
        subscribed(service.services, "alice", url)
        assert site.wait_for(1, "/hangs.xml"), service.log
        killed = worker(service)
        assert killed

        os.kill(killed, signal.SIGKILL)

        assert eventually(lambda: "leases of an ended worker released" in service.log), service.log
        assert "leases=1" in service.log


def test_serve_waits_for_a_database_that_starts_later(postgres_url: str, tmp_path: Path) -> None:
    name = f"late_{secrets.token_hex(4)}"
    url = make_url(postgres_url)
    environment = environment_for(url.set(database=name).render_as_string(hide_password=False), tmp_path)
    with running("serve", environment, tmp_path) as service:
        assert eventually(lambda: "waiting for the database" in service.log), service.log
        assert name in service.log

        engine = create_engine(url.set(drivername="postgresql+psycopg"), isolation_level="AUTOCOMMIT")
        with engine.connect() as connection:
            connection.execute(text(f"CREATE DATABASE {name}"))
        engine.dispose()

        service.wait_until_ready()
