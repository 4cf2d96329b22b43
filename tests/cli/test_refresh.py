"""`tidings refresh` and `worker`: feeds of a real publisher are stored in a real database."""

from __future__ import annotations

import signal

import pytest
from sqlalchemy import select

from cli.commands import CTRL_C, Tidings, error_line, eventually
from cli.subscriptions import subscribed
from support.people import rss
from support.publisher import Hang, Publisher
from tidings.storage.feeds import feeds
from tidings.storage.schema import entries
from tidings.wiring.services import AllServices

pytestmark = pytest.mark.slow

# How long a fetch that hangs would be waited for.
TEN_MINUTES = "600"


def feed_at(site: Publisher, path: str, *titles: str) -> str:
    return site.serve(path, rss(titles, site.url(path)))


def titles_of(services: AllServices, user_id: int) -> list[str]:
    with services.reading() as db:
        return sorted(db.scalars(select(entries.c.title).where(entries.c.user_id == user_id)))


def errors_of(services: AllServices, user_id: int) -> dict[str, str]:
    with services.reading() as db:
        return {one.feed_url: one.parsing_error_message for one in feeds.list_all(db, user_id)}


def test_refresh_in_a_pipe_stores_entries_and_prints_a_summary_without_a_bar(
    tidings: Tidings, services: AllServices, site: Publisher
) -> None:
    good, gone = feed_at(site, "/good.xml", "First"), site.serve("/gone.xml", status=404)
    alice = subscribed(services, "alice", good, gone)
    bob = subscribed(services, "bob", good)

    all_of_them = tidings("refresh")

    assert (all_of_them.returncode, all_of_them.stdout) == (0, "Feeds checked: 3, failed: 1, new entries: 2\n")
    assert "\x1b" not in all_of_them.stderr
    assert "Checking feeds" not in all_of_them.stderr
    assert titles_of(services, alice) == titles_of(services, bob) == ["First"]
    failures = errors_of(services, alice)
    assert failures[gone]
    assert not failures[good]

    feed_at(site, "/good.xml", "Second", "First")
    of_alice = tidings("refresh", "--user", "alice", LOG_LEVEL="error")

    assert (of_alice.returncode, of_alice.stderr) == (0, "")
    assert of_alice.stdout == "Feeds checked: 2, failed: 1, new entries: 1\n"
    assert titles_of(services, alice) == ["First", "Second"]
    assert titles_of(services, bob) == ["First"]


def test_refresh_fails_only_if_no_feed_could_be_read(tidings: Tidings, services: AllServices, site: Publisher) -> None:
    subscribed(services, "alice", site.serve("/page.xml", "<html><p>Moved"), site.serve("/broken.xml", status=500))
    subscribed(services, "bob")

    of_all, of_bob = tidings("refresh"), tidings("refresh", "--user", "bob")

    assert (of_all.returncode, of_all.stdout) == (1, "Feeds checked: 2, failed: 2, new entries: 0\n")
    assert "Traceback" not in of_all.stderr
    assert (of_bob.returncode, of_bob.stdout) == (0, "Feeds checked: 0, failed: 0, new entries: 0\n")
    assert "charlie" in error_line(tidings("refresh", "--user", "charlie"), 1)


def test_refresh_on_a_terminal_draws_a_bar_and_leaves_the_summary(
    tidings: Tidings, services: AllServices, site: Publisher
) -> None:
    subscribed(services, "alice", feed_at(site, "/feed.xml", "First"))

    with tidings.on_a_terminal("refresh") as terminal:
        assert terminal.exit_code() == 0

    drawn, _, left = terminal.seen.rpartition("\x1b[2K")
    assert "Checking feeds" in drawn
    assert "1/1" in drawn
    assert left.strip() == "Feeds checked: 1, failed: 0, new entries: 1"
    # A line of the log stands above the bar, not in the middle of it.
    assert any("feed polled" in line and "Checking" not in line for line in drawn.splitlines())


def test_ctrl_c_during_a_refresh_leaves_a_clean_terminal_and_keeps_stored_entries(
    tidings: Tidings, services: AllServices, site: Publisher
) -> None:
    alice = subscribed(services, "alice", feed_at(site, "/feed.xml", "First"), site.script("/slow.xml", Hang()))

    with tidings.on_a_terminal("refresh", LOG_LEVEL="error", HTTP_CLIENT_TIMEOUT=TEN_MINUTES) as terminal:
        terminal.wait_for("1/2")
        terminal.type(CTRL_C)
        assert terminal.exit_code() == 130

    assert terminal.seen.rindex("\x1b[?25h") > terminal.seen.rindex("\x1b[?25l"), "the cursor is still hidden"
    assert terminal.seen.rpartition("\x1b[2K")[2].strip() == ""
    assert "Traceback" not in terminal.seen
    assert titles_of(services, alice) == ["First"]
    assert set(errors_of(services, alice).values()) == {""}


def test_interrupting_a_refresh_ends_it_silently_with_exit_code_130(
    tidings: Tidings, services: AllServices, site: Publisher
) -> None:
    subscribed(services, "alice", site.script("/slow.xml", Hang()))

    with tidings.started("refresh", HTTP_CLIENT_TIMEOUT=TEN_MINUTES) as process:
        site.wait_for(1)
        process.send_signal(signal.SIGINT)
        process.wait(60)

    assert (process.returncode, process.output, process.errors) == (130, "", "")


def test_workers_check_due_feeds_and_stop_on_a_signal_with_exit_code_0(
    tidings: Tidings, services: AllServices, site: Publisher
) -> None:
    alice = subscribed(services, "alice", feed_at(site, "/feed.xml", "First"), feed_at(site, "/other.xml", "Second"))

    with tidings.started("worker") as one, tidings.started("worker", LOG_LEVEL="warning") as quiet:
        assert eventually(lambda: titles_of(services, alice) == ["First", "Second"])
        one.send_signal(signal.SIGINT)
        quiet.send_signal(signal.SIGTERM)
        codes = one.wait(60), quiet.wait(60)

    assert codes == (0, 0), one.errors
    assert (one.output, quiet.output, quiet.errors) == ("", "", "")
    assert "poller started" in one.errors.splitlines()[0]
    assert "poller stopped" in one.errors
    assert len(site.requests_for("/feed.xml")) == len(site.requests_for("/other.xml")) == 1
