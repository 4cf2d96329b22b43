"""What a newcomer does on the first evening, with real processes and the client that others wrote."""

from __future__ import annotations

import re
import signal
import time
import urllib.error
import urllib.request
from collections.abc import Callable
from pathlib import Path

import miniflux
import pytest

from support.people import call, rss
from support.publisher import Publisher
from support.running import RunningService, environment_for, running
from tidings.base.times import Instant
from tidings.storage.feeds import feeds
from tidings.storage.polling import sources
from tidings_client import Client

pytestmark = pytest.mark.slow


def wait_for(condition: Callable[[], bool], within_s: float) -> None:
    deadline = time.monotonic() + within_s
    while not condition():
        assert time.monotonic() < deadline, "it did not happen in time"
        time.sleep(0.5)


def printed_password(service: RunningService) -> str:
    match = re.search(r"administrator is 'admin' with the password (\S+)", service.log)
    assert match, service.log
    return match[1]


def with_scheme(url: str, scheme: str) -> str:
    return url.replace("postgresql://", f"{scheme}://")


def test_a_new_service_polls_a_feed_and_stores_a_new_entry(
    empty_database_url: str, site: Publisher, tmp_path: Path
) -> None:
    environment = environment_for(empty_database_url, tmp_path, polling_frequency="1")
    site.serve("/feed.xml", rss(["First"], site.url("/feed.xml")))

    with running("serve", environment, tmp_path) as service:
        service.wait_until_ready()
        client = miniflux.Client(service.url, "admin", printed_password(service))

        category = client.create_category("News")
        feed_id = client.create_feed(site.url("/feed.xml"), category["id"])
        (entry,) = client.get_entries(status=["unread"])["entries"]
        client.update_entries([entry["id"]], "read")
        assert client.get_entries(status=["unread"])["total"] == 0

        site.serve("/feed.xml", rss(["Second", "First"], site.url("/feed.xml")))
        # In a minute it would be due by itself.
        with service.services.database.writing() as db:
            sources.set_next_check(db, [feed_id], Instant(0))
        wait_for(lambda: client.get_feed_counters()["unreads"] == {str(feed_id): 1}, 180)
        (fresh,) = client.get_feed_entries(feed_id, status=["unread"])["entries"]
        assert (fresh["title"], fresh["status"]) == ("Second", "unread")
        assert client.get_feed_counters()["reads"] == {str(feed_id): 1}

        assert service.stop(signal.SIGINT) == 0
        # The worker did not use up the seconds that it has to stop.
        assert "did not stop in time" not in service.log

    with running("serve", environment, tmp_path) as again:
        again.wait_until_ready()
        assert "password" not in again.log


def test_refreshing_all_feeds_is_noticed_by_the_worker(
    empty_database_url: str, site: Publisher, tmp_path: Path
) -> None:
    environment = environment_for(empty_database_url, tmp_path, admin_password="test123")
    site.serve("/feed.xml", rss(["First"], site.url("/feed.xml")))

    with (
        running("serve", environment, tmp_path) as service,
        Client(service.url, username="admin", password="test123") as client,
    ):
        service.wait_until_ready()
        feed_id = client.create_feed(feed_url=site.url("/feed.xml"))["feed_id"]
        # A feed that was just checked is left in peace for half a minute.
        with service.services.database.writing() as db:
            feeds.change(db, 1, feed_id, checked_at=0)
        site.serve("/feed.xml", rss(["Second", "First"], site.url("/feed.xml")))

        client.refresh_all()

        # Before it is due by itself, an hour later.
        wait_for(lambda: client.entries()["total"] == 2, 180)


def test_all_pages_are_below_the_path_of_the_base_url(empty_database_url: str, tmp_path: Path) -> None:
    # In the other spelling of PostgreSQL's URLs.
    environment = environment_for(
        with_scheme(empty_database_url, "postgres"),
        tmp_path,
        admin_password="test123",
        base_url="https://example.org/reader/",
    )
    with running("serve", environment, tmp_path) as service:
        below_base_path = f"{service.url}/reader"
        probe = RunningService(below_base_path, environment, service.log_path, service.process)
        probe.wait_until_ready()

        with Client(below_base_path, username="admin", password="test123") as client:
            assert client.me()["username"] == "admin"
        assert call(service.url, "GET", "/readyz").body == b"OK"
        # As behind a proxy that removes the path.
        with pytest.raises(urllib.error.HTTPError, match="401"):
            urllib.request.urlopen(f"{service.url}/v1/me", timeout=60)
