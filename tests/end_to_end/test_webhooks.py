"""From a publisher's new entry to the receiver of a webhook, with real processes."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from support.outbox import is_signed
from support.people import call, rss
from support.publisher import Publisher
from support.running import environment_for, running
from tidings import __version__

pytestmark = pytest.mark.slow


def test_a_new_entry_is_sent_to_a_webhook(empty_database_url: str, site: Publisher, tmp_path: Path) -> None:
    environment = environment_for(empty_database_url, tmp_path, admin_username="ada", admin_password="correct horse")
    site.serve("/feed.xml", rss(["First"], site.url("/feed.xml")))
    site.serve("/hook")

    with running("serve", environment, tmp_path) as service:
        service.wait_until_ready()

        def ask(method: str, path: str, body: object) -> dict[str, object]:
            basic = {"Authorization": "Basic YWRhOmNvcnJlY3QgaG9yc2U="}
            answer = call(service.url, method, path, json.dumps(body).encode(), basic)
            assert answer.status in (200, 201, 202, 204), answer.body
            return answer.json() if answer.body else {}

        webhook = ask("PUT", "/v1/integrations", {"webhook": {"enabled": True, "url": site.url("/hook")}})["webhook"]
        feed = ask("POST", "/v1/feeds", {"feed_url": site.url("/feed.xml")})
        site.serve("/feed.xml", rss(["Second", "First"], site.url("/feed.xml")))
        ask("PUT", f"/v1/feeds/{feed['feed_id']}/refresh", {})
        (seen,) = site.wait_for(1, "/hook", timeout_s=90)

    assert isinstance(webhook, dict)
    assert is_signed(seen, webhook["secret"])
    assert [entry["title"] for entry in seen.json()["entries"]] == ["Second"]
    assert seen.headers["user-agent"] == f"Tidings/{__version__}"
