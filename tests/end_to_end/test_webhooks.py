"""From a publisher's new entry to the receiver of a webhook, with real processes."""

from __future__ import annotations

from pathlib import Path

import pytest

from support.outbox import is_signed
from support.people import rss
from support.publisher import Publisher
from support.running import environment_for, running
from tidings import __version__
from tidings_client import Client

pytestmark = pytest.mark.slow


def test_a_new_entry_is_sent_to_a_webhook(empty_database_url: str, site: Publisher, tmp_path: Path) -> None:
    environment = environment_for(empty_database_url, tmp_path, admin_username="ada", admin_password="correct horse")
    site.serve("/feed.xml", rss(["First"], site.url("/feed.xml")))
    site.serve("/hook")

    with (
        running("serve", environment, tmp_path) as service,
        Client(service.url, username="ada", password="correct horse") as client,
    ):
        service.wait_until_ready()
        webhook = client.update_integrations(webhook={"enabled": True, "url": site.url("/hook")})["webhook"]
        feed = client.create_feed(feed_url=site.url("/feed.xml"))
        site.serve("/feed.xml", rss(["Second", "First"], site.url("/feed.xml")))
        client.refresh_feed(feed["feed_id"])
        (seen,) = site.wait_for(1, "/hook")

    assert is_signed(seen, webhook["secret"])
    assert [entry["title"] for entry in seen.json()["entries"]] == ["Second"]
    assert seen.headers["user-agent"] == f"Tidings/{__version__}"
