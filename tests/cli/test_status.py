"""`tidings status` and `tidings cleanup`."""

from __future__ import annotations

import json
import re

import pytest
from sqlalchemy import text

from cli.commands import Tidings, error_line
from cli.subscriptions import subscribed
from support.people import rss
from support.publisher import Publisher
from tidings.base.times import DAY, MINUTE
from tidings.maintenance.status import OVERDUE_AFTER, gauges
from tidings.wiring.services import AllServices

pytestmark = pytest.mark.slow


def test_status_prints_the_same_values_as_text_and_as_json(
    tidings: Tidings, services: AllServices, site: Publisher
) -> None:
    feed = site.serve("/feed.xml", rss(["One", "Two"], site.url("/feed.xml")))
    gone = site.serve("/gone.xml", status=404)
    subscribed(services, "alice", feed, gone)
    tidings("refresh")

    as_text, as_json = tidings("status"), tidings("status", "--json")

    assert (as_text.returncode, as_text.stderr) == (0, "")
    seen = json.loads(as_json.stdout)
    assert {name: seen[name] for name in ("users", "feeds", "feeds_failing", "feeds_disabled")} == {
        "users": 1, "feeds": 2, "feeds_failing": 1, "feeds_disabled": 0,
    }  # fmt: skip
    assert (seen["entries_unread"], seen["entries_read"], seen["polls_last_hour"]) == (2, 0, 2)
    assert (seen["due"], seen["overdue"], seen["oldest_overdue_s"]) == (0, 0, 0)
    assert (seen["deliveries_pending"], seen["deliveries_failed"], seen["last_cleanup_s"]) == (0, 0, None)
    assert seen["database_engine"] in as_text.stdout.lower()
    assert seen["database_bytes"] > 10_000
    assert re.search(r"^Feeds +2, of which 1 failing and 0 switched off$", as_text.stdout, re.MULTILINE)
    assert re.search(r"^Entries +2 unread, 0 read$", as_text.stdout, re.MULTILINE)
    assert re.search(r"^Cleanup +not yet$", as_text.stdout, re.MULTILINE)


def test_status_ends_with_exit_code_3_when_feeds_are_overdue(
    tidings: Tidings, services: AllServices, site: Publisher
) -> None:
    subscribed(services, "alice", site.serve("/a.xml", rss(["One"], site.url("/a.xml"))))
    late = services.clock() - OVERDUE_AFTER - 7 * MINUTE
    with services.database.writing() as db:
        for table in ("feeds", "sources"):
            db.run(text(f"UPDATE {table} SET next_check_at = :late"), late=late)

    done = tidings("status")
    seen = services.maintenance.status.read()

    assert done.returncode == 3
    assert "1, the oldest for 12 minutes; 1 of them for more than five minutes" in done.stdout
    assert (seen.due, seen.overdue) == (1, 1)
    assert seen.oldest_overdue_s >= 720
    assert gauges(seen)["tidings_polls_overdue"][1] == 1.0


def test_status_without_a_database_says_what_to_do_and_makes_no_file(bare: Tidings) -> None:
    says = error_line(bare("status"), 1)

    assert "There is no database" in says
    assert "tidings migrate" in says
    assert not (bare.folder / "tidings.db").exists(), "a mistyped path leaves an empty file behind"


def test_cleanup_removes_expired_entries_and_prints_the_counts(
    tidings: Tidings, services: AllServices, site: Publisher
) -> None:
    subscribed(services, "alice", site.serve("/a.xml", rss(["One", "Two"], site.url("/a.xml"))))
    tidings("refresh")
    with services.database.writing() as db:
        db.run(text("UPDATE entries SET changed_at = changed_at - :age"), age=181 * DAY)

    kept = tidings("cleanup", CLEANUP_ARCHIVE_UNREAD_DAYS="-1")
    first, second = tidings("cleanup"), tidings("cleanup", "--compact")

    assert (kept.returncode, kept.stdout) == (0, "Removed: entries 0, tombstones 0, icons 0, deliveries 0\n")
    assert first.stdout == "Removed: entries 2, tombstones 0, icons 0, deliveries 0\n"
    assert (second.returncode, second.stdout) == (0, kept.stdout)
    assert services.maintenance.status.read().entries_unread == 0
    assert services.maintenance.status.read().last_cleanup_s is not None


def test_cleanup_does_nothing_while_a_worker_runs_the_cleanup(tidings: Tidings, services: AllServices) -> None:
    assert services.maintenance.cleanup.begin("worker", ignore_schedule=True)

    done = tidings("cleanup")

    assert done.returncode == 0
    assert "A worker is removing old data" in done.stdout
