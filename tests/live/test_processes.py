"""Events reach the streams of every web process, whichever process has written, and streams end when it stops."""

from __future__ import annotations

from contextlib import ExitStack
from pathlib import Path

import pytest

from support.event_reader import EventReader, reading_events
from support.people import Cast, rss
from support.publisher import Publisher
from support.running import environment_for, running, running_service
from tidings.base.times import Instant
from tidings.engine import notify
from tidings.storage.polling import sources

pytestmark = pytest.mark.slow


def new_titles(events: EventReader) -> int:
    """Return how many new entries the next event with any has."""
    while True:
        told = events.changes()
        if told.get("entries", {}).get("new"):
            return int(told["entries"]["new"])


def test_what_a_worker_stores_is_told_by_each_web_process(database_url: str, tmp_path: Path, site: Publisher) -> None:
    folders = [tmp_path / name for name in ("one", "two", "worker")]
    for folder in folders:
        folder.mkdir()
    with ExitStack() as stack:
        one, two = (stack.enter_context(running_service(database_url, folder)) for folder in folders[:2])
        alice = Cast(one).person("alice")
        feed = alice.has_feed(site, ["One"])
        stack.enter_context(running("worker", environment_for(database_url, folders[2]), folders[2]))
        headers = {"X-Auth-Token": alice.token}
        readers = [stack.enter_context(reading_events(service.url, headers)) for service in (one, two)]
        for reader in readers:
            reader.until("ready")

        path = feed["feed_url"].removeprefix(site.url(""))
        site.serve(path, rss(["Three", "Two", "One"], site.url(path)))
        with one.services.database.writing() as db:
            sources.set_next_check(db, [feed["id"]], Instant(0))
            notify.notify(db, notify.FEEDS)

        assert [new_titles(reader) for reader in readers] == [2, 2]


def test_open_streams_do_not_delay_the_stop(database_url: str, tmp_path: Path) -> None:
    with running_service(database_url, tmp_path) as service:
        alice = Cast(service).person("alice")
        with reading_events(service.url, {"X-Auth-Token": alice.token}) as events:
            events.until("ready")

            assert service.stop() == 0

            # Its end, and not that of the connection.
            assert events.next() is None
            assert events.answer.isclosed()
        assert "did not stop in time" not in service.log
