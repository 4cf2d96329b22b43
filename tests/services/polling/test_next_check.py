"""What publishers, users and failures do to the next check, through real requests and both databases."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest
from sqlalchemy import select

from support.people import PASSWORD, rss
from support.ports import free_port
from support.publisher import Answer, Drop, Publisher, Reply
from support.running import environment_for
from tidings.base.times import DAY, HOUR, MINUTE, Instant
from tidings.domain.feeds.feeds import Feed
from tidings.domain.polling.check_times import HINT_JITTER
from tidings.engine.database import Database
from tidings.services.polling.decide import MAX_TEMPORARY_FAILURES, SWITCHED_OFF
from tidings.services.polling.lease import RefreshFailed
from tidings.settings import load
from tidings.storage.feeds import feeds
from tidings.storage.schema import entries
from tidings.wiring.services import AllServices, build_services

# A Wednesday, 10:15 in UTC.
START = Instant(1_795_601_700_000_000)
ERROR = Answer("no", status=500)


class ScheduleFixture:
    """One user, one publisher, and a clock that goes when it is told to."""

    def __init__(self, database: Database, environment: dict[str, str], site: Publisher) -> None:
        self.now = START
        self.site = site
        self._database = database
        self.services: AllServices
        self.restart(environment)
        self.user = self.services.accounts.users.create("alice", PASSWORD)

    def restart(self, environment: dict[str, str]) -> None:
        self.services = build_services(self._database, load(environment, None), clock=lambda: self.now)

    def subscribe(self, path: str, reply: Reply, **given: object) -> int:
        async def create() -> int:
            try:
                url = self.site.script(path, reply)
                return await self.services.feeds.subscriptions.create(self.user, {"feed_url": url, **given})
            finally:
                await self.services.disconnect()

        return asyncio.run(create())

    def check(self, feed_id: int, after: int = 25 * HOUR) -> Feed:
        """The feed after a check, as a poll or as a refresh by hand; later than the one before by `after`."""

        async def refresh() -> None:
            try:
                await self.services.polling.claims.refresh_now(self.user.id, feed_id)
            except RefreshFailed:
                pass
            finally:
                await self.services.disconnect()

        self.now = Instant(self.now + after)
        asyncio.run(refresh())
        return self.feed(feed_id)

    def import_(self, *urls: str) -> None:
        outlines = "".join(f"<outline xmlUrl='{url}'/>" for url in urls)
        self.services.feeds.opml.import_(self.user.id, f"<opml><body>{outlines}</body></opml>".encode())

    def poll(self) -> None:
        """As a worker does, one source after the other."""

        async def check_all() -> None:
            try:
                for claim in self.services.polling.claims.claim("worker", 100):
                    await self.services.polling.claims.check(claim)
            finally:
                await self.services.disconnect()

        asyncio.run(check_all())

    def feed(self, feed_id: int) -> Feed:
        with self._database.reading() as db:
            found = feeds.get(db, self.user.id, feed_id)
        assert found is not None
        return found

    def feeds(self) -> list[Feed]:
        with self._database.reading() as db:
            return feeds.list_all(db, self.user.id)

    def titles(self) -> list[str]:
        with self._database.reading() as db:
            return db.scalars(select(entries.c.title).order_by(entries.c.title))

    def wait_of(self, feed: Feed) -> int:
        return feed.next_check_at - self.now


@pytest.fixture
def settings(request: pytest.FixtureRequest) -> dict[str, str]:
    """Every hour, so that whatever is longer was asked for."""
    return {"polling_scheduler": "round_robin", "polling_limit_per_host": "100"} | getattr(request, "param", {})


@pytest.fixture
def fixture(
    database: Database, database_url: str, tmp_path: Path, site: Publisher, settings: dict[str, str]
) -> ScheduleFixture:
    return ScheduleFixture(database, environment_for(database_url, tmp_path, **settings), site)


def document(fixture: ScheduleFixture, *titles: str, extra: str = "") -> str:
    return rss(titles or ["One"], fixture.site.url("/feed.xml"), extra=extra)


def is_about(wait: int, expected: int) -> bool:
    return expected <= wait <= expected + HINT_JITTER


def test_hints_of_a_document_apply_while_it_is_unchanged(fixture: ScheduleFixture) -> None:
    text = document(fixture, extra="<ttl>180</ttl>")
    tagged = fixture.subscribe("/tagged.xml", Answer(text, etag='"1"'))
    plain = fixture.subscribe("/plain.xml", Answer(text))

    for feed_id in (tagged, plain):
        first = fixture.feed(feed_id)
        assert is_about(first.next_check_at - first.checked_at, 180 * MINUTE)
        for _ in range(2):
            assert is_about(fixture.wait_of(fixture.check(feed_id)), 180 * MINUTE)

    fixture.site.serve("/plain.xml", document(fixture, "Two"))
    assert fixture.wait_of(fixture.check(plain)) < 67 * MINUTE


@pytest.mark.slow
@pytest.mark.one_engine
@pytest.mark.parametrize("failures", [(), (7,), tuple(range(3, 9))], ids=["no failure", "one", "a week"])
def test_a_server_that_answers_304_for_ever_is_asked_without_validators_after_eight_days(
    fixture: ScheduleFixture, failures: tuple[int, ...]
) -> None:
    feed_id = fixture.subscribe("/feed.xml", Answer(document(fixture), etag='"1"'))
    fixture.site.serve("/feed.xml", document(fixture, "Two"), etag='"1"')
    for day in range(1, 11 + len(failures)):
        if day in failures:
            fixture.site.serve("/feed.xml", "", status=500)
        fixture.check(feed_id, after=DAY)
        fixture.site.serve("/feed.xml", document(fixture, "Two"), etag='"1"')

    seen = [("if-none-match" in each.headers) for each in fixture.site.requests_for("/feed.xml")[1:]]
    assert seen[0]
    # Without a failure one or two of ten days: where the period ends depends on the address.
    assert 1 <= seen.count(False) <= 2 + len(failures)
    assert fixture.titles() == ["One", "Two"]
    # The validators of the whole document are used again.
    assert '"1"' in {fixture.check(feed_id, after=DAY).etag_header for _ in range(2)}


def test_excluded_hours_also_apply_after_a_304(fixture: ScheduleFixture) -> None:
    hours = "".join(f"<hour>{hour}</hour>" for hour in (11, 12, 13))
    text = document(fixture, extra=f"<skipHours>{hours}</skipHours><skipDays><day>Saturday</day></skipDays>")
    feed_id = fixture.subscribe("/feed.xml", Answer(text, etag='"1"'))

    # At 10:15 every day; the check of Friday at 23:30 would be followed by one on Saturday.
    feed = fixture.check(feed_id, after=DAY)
    assert 14 * HOUR <= feed.next_check_at % DAY < 15 * HOUR
    feed = fixture.check(feed_id, after=DAY + 13 * HOUR + 15 * MINUTE)
    assert is_about(fixture.wait_of(feed) // HOUR, 24)


@pytest.mark.one_engine
@pytest.mark.parametrize(
    "reply",
    [
        Answer("", status=304, headers={"Retry-After": "7200"}),
        Answer("", status=304, headers={"Cache-Control": "max-age=9000", "Age": "1800"}),
        Answer("", status=429, headers={"Retry-After": "7200"}),
        Answer("", status=503, headers={"Retry-After": "7200"}),
        Answer("", status=503, headers={"Cache-Control": "max-age=7200"}),
        Answer("", status=404, headers={"Cache-Control": "public, MAX-AGE=7200"}),
        Answer("<rss version='2.0'><channel><title>New</title></channel></rss>", headers={"Retry-After": "7200"}),
        Answer(
            "<rss version='2.0'><channel><title>New</title></channel></rss>", headers={"Cache-Control": "max-age=7200"}
        ),
    ],
    ids=lambda reply: f"{reply.status}-{'-'.join(reply.headers)}",
)
def test_cache_headers_are_honoured_on_every_status(fixture: ScheduleFixture, reply: Reply) -> None:
    feed_id = fixture.subscribe("/feed.xml", Answer(document(fixture), etag='"1"'))
    fixture.site.script("/feed.xml", reply)

    assert is_about(fixture.wait_of(fixture.check(feed_id)), 2 * HOUR)


@pytest.mark.slow
def test_failures_in_a_row_wait_longer_and_one_success_clears_all(fixture: ScheduleFixture) -> None:
    feed_id = fixture.subscribe("/feed.xml", Answer(document(fixture), etag='"1"'))
    fixture.site.script("/feed.xml", ERROR)

    waits = [fixture.wait_of(fixture.check(feed_id)) / HOUR for _ in range(8)]
    failed = fixture.feed(feed_id)
    fixture.site.serve("/feed.xml", document(fixture), etag='"1"')
    healed = fixture.check(feed_id)

    assert waits == pytest.approx([1, 2, 4, 8, 16, 24, 24, 24], rel=0.101)
    assert (failed.parsing_error_count, failed.failed_checks, failed.disabled) == (8, 8, False)
    assert (healed.parsing_error_count, healed.parsing_error_message, healed.failed_checks) == (0, "", 0)
    assert fixture.wait_of(healed) < 67 * MINUTE


@pytest.mark.one_engine
@pytest.mark.slow
@pytest.mark.parametrize("trouble", ["429", "503", "timeout", "dropped"])
def test_temporary_failures_become_an_error_only_if_they_last(
    fixture: ScheduleFixture, database_url: str, tmp_path: Path, settings: dict[str, str], trouble: str
) -> None:
    feed_id = fixture.subscribe("/feed.xml", Answer(document(fixture), etag='"1"'))
    if trouble == "dropped":
        fixture.site.script("/feed.xml", Drop())
    elif trouble == "timeout":
        fixture.site.serve("/feed.xml", "late", after_s=30)
        # Not before: the subscription has to succeed.
        fixture.restart(environment_for(database_url, tmp_path, http_client_timeout="1", **settings))
    else:
        fixture.site.serve("/feed.xml", "no", status=int(trouble))

    once = fixture.check(feed_id)

    assert (once.parsing_error_count, once.failed_checks) == (0, 1)
    assert once.parsing_error_message
    if trouble == "timeout":  # the others show the rest without waiting for it
        return
    last = [fixture.check(feed_id) for _ in range(MAX_TEMPORARY_FAILURES)][-1]
    assert (last.parsing_error_count, last.failed_checks) == (1, MAX_TEMPORARY_FAILURES + 1)
    assert 12 * HOUR < fixture.wait_of(last) <= DAY


def test_a_temporary_failure_of_a_feed_that_was_never_read_is_an_error_at_once(fixture: ScheduleFixture) -> None:
    fixture.import_(f"http://127.0.0.1:{free_port()}/feed.xml")
    (imported,) = fixture.feeds()
    subscribed = fixture.subscribe("/feed.xml", Answer(document(fixture)))
    fixture.services.feeds.subscriptions.update(
        fixture.user.id, subscribed, {"feed_url": f"http://127.0.0.1:{free_port()}/2.xml"}
    )

    for feed_id in (imported.id, subscribed):
        once = fixture.check(feed_id)
        assert (once.parsing_error_count, once.failed_checks) == (1, 1)


@pytest.mark.parametrize("settings", [{"polling_parsing_error_limit": "2"}], indirect=True)
def test_a_feed_is_disabled_at_the_error_limit_with_a_message(fixture: ScheduleFixture) -> None:
    feed_id = fixture.subscribe("/feed.xml", Answer(document(fixture)))
    fixture.site.script("/feed.xml", ERROR)

    first, second = fixture.check(feed_id), fixture.check(feed_id)

    assert (first.disabled, second.disabled) == (False, True)
    assert SWITCHED_OFF.english() in second.parsing_error_message


def test_a_successful_refresh_enables_a_feed_that_was_gone(fixture: ScheduleFixture) -> None:
    feed_id = fixture.subscribe("/feed.xml", Answer(document(fixture)))
    fixture.site.script("/feed.xml", Answer("gone", status=410))

    assert fixture.check(feed_id).disabled
    fixture.site.serve("/feed.xml", document(fixture))
    found = fixture.check(feed_id)

    assert (found.disabled, found.parsing_error_message) == (False, "")


def test_a_refresh_enables_a_feed_that_was_gone_also_after_its_error_was_cleared(
    fixture: ScheduleFixture,
) -> None:
    feed_id = fixture.subscribe("/feed.xml", Answer(document(fixture)))
    fixture.site.script("/feed.xml", Answer("gone", status=410))
    assert fixture.check(feed_id).disabled_reason == "gone"

    fixture.services.feeds.subscriptions.update(fixture.user.id, feed_id, {"title": "Renamed", "disabled": True})
    fixture.site.serve("/feed.xml", document(fixture))
    found = fixture.check(feed_id)

    assert (found.disabled, found.disabled_reason) == (False, "")


@pytest.mark.slow
def test_a_feed_that_its_user_disables_after_it_was_gone_stays_disabled(fixture: ScheduleFixture) -> None:
    feed_id = fixture.subscribe("/feed.xml", Answer(document(fixture)))
    fixture.site.script("/feed.xml", Answer("gone", status=410))
    fixture.check(feed_id)
    for disabled in (False, True):
        fixture.services.feeds.subscriptions.update(fixture.user.id, feed_id, {"disabled": disabled})
    fixture.site.serve("/feed.xml", document(fixture))

    assert fixture.check(feed_id).disabled


def test_a_successful_refresh_leaves_a_feed_disabled_that_its_user_disabled(fixture: ScheduleFixture) -> None:
    feed_id = fixture.subscribe("/feed.xml", Answer(document(fixture)))
    fixture.site.script("/feed.xml", ERROR)
    fixture.check(feed_id)
    fixture.services.feeds.subscriptions.update(fixture.user.id, feed_id, {"disabled": True})
    fixture.site.serve("/feed.xml", document(fixture))

    assert fixture.check(feed_id).disabled


def test_an_interval_of_the_user_overrides_all_but_retry_after(fixture: ScheduleFixture) -> None:
    text = document(fixture, extra="<ttl>600</ttl><skipDays><day>Wednesday</day><day>Thursday</day></skipDays>")
    headers = {"Cache-Control": "max-age=80000"}
    feed_id = fixture.subscribe("/feed.xml", Answer(text, headers=headers), check_interval_minutes=15)

    assert is_about(fixture.wait_of(fixture.feed(feed_id)), 15 * MINUTE)
    assert is_about(fixture.wait_of(fixture.check(feed_id)), 15 * MINUTE)
    fixture.site.serve("/feed.xml", text, headers={**headers, "Retry-After": "3600"})
    assert is_about(fixture.wait_of(fixture.check(feed_id)), HOUR)


def test_a_new_interval_changes_the_next_check_at_once(fixture: ScheduleFixture) -> None:
    feed_id = fixture.subscribe("/feed.xml", Answer(document(fixture, extra="<ttl>600</ttl>")))
    fixture.now = Instant(fixture.now + 10 * MINUTE)

    waits = []
    for minutes in (30, 5, 0):
        fixture.services.feeds.subscriptions.update(fixture.user.id, feed_id, {"check_interval_minutes": minutes})
        waits.append(fixture.wait_of(fixture.feed(feed_id)))

    assert is_about(waits[0], 20 * MINUTE)
    assert waits[1] == 0
    assert is_about(waits[2], 590 * MINUTE)


@pytest.mark.slow
@pytest.mark.parametrize("settings", [{"polling_scheduler": "adaptive"}], indirect=True)
def test_feeds_imported_together_are_checked_at_different_times(fixture: ScheduleFixture) -> None:
    fixture.import_(*(fixture.site.url(f"/{number}.xml") for number in range(30)))
    for number in range(30):
        fixture.site.serve(f"/{number}.xml", "<rss version='2.0'><channel><title>Silent</title></channel></rss>")
    assert all(feed.next_check_at == START for feed in fixture.feeds())

    fixture.poll()

    waits = sorted(fixture.wait_of(feed) for feed in fixture.feeds())
    assert waits[0] < 30 * MINUTE < waits[-1] <= HOUR
    fixture.now = Instant(fixture.now + 200 * DAY)
    fixture.poll()
    assert all(21 * HOUR < fixture.wait_of(feed) <= DAY for feed in fixture.feeds())


def test_an_outage_counts_as_no_error_of_a_feed(fixture: ScheduleFixture, capsys: pytest.CaptureFixture[str]) -> None:
    nowhere = free_port()
    fixture.import_(*(f"http://127.0.0.{number}:{nowhere}/feed.xml" for number in range(2, 10)))

    for _ in range(3):
        fixture.poll()
        for feed in fixture.feeds():
            assert (feed.failed_checks, feed.parsing_error_count, feed.parsing_error_message) == (0, 0, "")
            assert 0 < fixture.wait_of(feed) <= 2 * MINUTE
        fixture.now = Instant(fixture.now + 2 * MINUTE)
    # An answer, be it an error, shows that the network is up.
    fixture.import_(fixture.site.script("/feed.xml", ERROR))
    fixture.poll()

    output = capsys.readouterr().out
    assert output.count("network is down") == output.count("network is up again") == 1
    assert output.count("feed failed") - output.count("[debug    ] feed failed") <= 3
    assert [feed.failed_checks for feed in fixture.feeds()] == [1] + [0] * 8


def test_an_unreachable_host_becomes_an_error_after_two_days(fixture: ScheduleFixture) -> None:
    """With a handful of feeds, nobody else answers to show that it is not the network."""
    nowhere = free_port()
    fixture.import_(*(f"http://127.0.0.{number}:{nowhere}/feed.xml" for number in range(2, 5)))
    fixture.poll()
    fixture.poll()
    assert [feed.parsing_error_message for feed in fixture.feeds()] == [""] * 3

    fixture.now = Instant(fixture.now + 2 * DAY + MINUTE)
    fixture.poll()

    assert [feed.failed_checks for feed in fixture.feeds()] == [1] * 3
    assert all(feed.parsing_error_message for feed in fixture.feeds())


def test_a_host_unreachable_while_others_respond_is_an_error(fixture: ScheduleFixture) -> None:
    fixture.import_(
        *(fixture.site.url(f"/{number}.xml") for number in range(4)), f"http://127.0.0.9:{free_port()}/a.xml"
    )
    fixture.site.serve("/0.xml", document(fixture))

    fixture.poll()

    assert sorted(feed.failed_checks for feed in fixture.feeds()) == [0, 1, 1, 1, 1]
