"""Deliveries, from the outbox to a receiver that does what receivers do."""

from __future__ import annotations

import asyncio
import json
import subprocess
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta

import pytest
from sqlalchemy import select
from structlog.testing import capture_logs

from support.outbox import Hook, MovableClock, deliver, delivery_queue, hook, is_signed, text_of
from support.publisher import CERTIFICATE, Answer, Cut, Drop, Hang, Publisher, ReceivedRequest, Reply
from support.replication import until
from tidings.base.times import SECOND, Instant
from tidings.deliveries import sample_events
from tidings.deliveries.events import QueueLimits, ReceiverQueue, fair_share
from tidings.deliveries.queue import DeliveryQueue
from tidings.deliveries.retries import RetryPolicy
from tidings.deliveries.store import outbox
from tidings.deliveries.tables import integrations, webhooks
from tidings.deliveries.tables import receivers as receiver_table
from tidings.engine.database import Database
from tidings.services.clock import system_clock, time_zone

pytestmark = pytest.mark.slow

DAY = timedelta(days=1)


# Long enough that what waits goes out in between, on a busy machine, too.
AFTER_A_SECOND = RetryPolicy(first_wait=timedelta(seconds=0.05), event_waits=(timedelta(seconds=1),) * 3)


def all_are(webhook: Hook, state: str) -> bool:
    return set(webhook.states()) == {state}


def attempts_of(webhook: Hook) -> list[int]:
    """Return how often each delivery was attempted, oldest first."""
    return [shown.delivery.attempts for shown in webhook.all()]


def fail_at(text: str, reply: Reply) -> Callable[[ReceivedRequest], Reply]:
    """Return a receiver that takes every event except this one."""
    return lambda seen: reply if text_of(seen) == text else Answer()


def test_events_arrive_in_order_and_signed(database: Database, site: Publisher) -> None:
    webhook = hook(database, site.serve("/hook"))
    webhook.post(*(f"{number}" for number in range(20)))

    deliver(delivery_queue(database), lambda: all_are(webhook, "delivered"))

    assert [text_of(seen) for seen in site.requests] == webhook.posted
    assert all(is_signed(seen) for seen in site.requests)
    ids = [seen.headers["x-service-delivery"] for seen in site.requests]
    assert ids == [shown.delivery.delivery_id for shown in webhook.all()]


@pytest.mark.one_engine
def test_the_request_is_as_documented(database: Database, site: Publisher) -> None:
    site.serve("/hook")
    webhook = hook(database, site.url("/hook?a=%20b&c").replace("//", "//ada:p%40ss@"))
    webhook.post("one")

    deliver(delivery_queue(database), lambda: all_are(webhook, "delivered"))

    (seen,) = site.requests
    assert (seen.method, seen.path) == ("POST", "/hook?a=%20b&c")
    assert seen.body == b'{"event_type": "new_entries", "text": "one"}'
    assert seen.headers["content-length"] == str(len(seen.body))
    assert seen.headers["content-type"] == "application/json"
    assert seen.headers["user-agent"] == "Tidings/test"
    assert seen.headers["x-service-event-type"] == seen.headers["x-miniflux-event-type"] == "new_entries"
    assert seen.headers["authorization"] == "Basic YWRhOnBAc3M="
    assert seen.headers["host"] == site.origin.removeprefix("http://")


@pytest.mark.one_engine
def test_openssl_computes_the_same_signature(database: Database, site: Publisher) -> None:
    webhook = hook(database, site.serve("/hook"), secret="s3cret")
    webhook.post("Übergrößenträger ✓")

    deliver(delivery_queue(database), lambda: all_are(webhook, "delivered"))

    (seen,) = site.requests
    payload = subprocess.run(
        ["openssl", "dgst", "-sha256", "-hmac", "s3cret", "-r"], input=seen.body, capture_output=True, check=True
    )
    assert payload.stdout.decode().split()[0] == seen.headers["x-service-signature"]


@pytest.mark.parametrize(
    "trouble",
    [
        Answer("wait", status=429, headers={"Retry-After": "1"}),
        Answer("no", status=502),
        Answer("no", status=503),
        Answer("no", status=504),
        Answer("no", status=521),
        Cut("half an answer", after=3),
        Drop(),
    ],
    ids=lambda reply: str(reply)[:40],
)
def test_events_wait_in_order_for_a_receiver_that_takes_nothing(
    database: Database, site: Publisher, trouble: Reply
) -> None:
    webhook = hook(database, site.script("/hook", trouble, Answer("thanks")))
    webhook.post("first", "second")

    deliver(delivery_queue(database), lambda: all_are(webhook, "delivered"))

    assert [text_of(seen) for seen in site.requests] == ["first", "first", "second"]
    assert len({seen.headers["x-service-delivery"] for seen in site.requests}) == 2
    first, second = (shown.delivery for shown in webhook.all())
    assert (first.attempts, second.attempts, first.failed_tries) == (2, 1, 0)
    assert (first.last_status, first.last_error, first.last_response) == (200, "", "thanks")


@pytest.mark.parametrize(
    "trouble",
    [
        Answer("no", status=500),
        Answer("no", status=501),
        Answer("no", status=507),
        Answer("no", status=408),
        Answer("no", status=425),
        Hang(),
        Hang(after_head=True),
    ],
    ids=lambda reply: str(reply)[:40],
)
def test_an_event_that_fails_alone_is_repeated_after_the_events_behind_it(
    database: Database, site: Publisher, trouble: Reply
) -> None:
    webhook = hook(database, site.script("/hook", trouble, Answer("thanks")))
    clock = MovableClock()
    webhook.post("first", "second", "third", now=clock())
    # So long that the others are in time, on a busy machine, too.
    within_s = 30 if isinstance(trouble, Answer) else 6
    queue = delivery_queue(database, clock=clock, within_s=within_s)

    deliver(queue, lambda: webhook.states() == ["pending", "delivered", "delivered"])
    clock.move(timedelta(seconds=1))
    deliver(queue, lambda: all_are(webhook, "delivered"))

    assert [text_of(seen) for seen in site.requests] == ["first", "second", "third", "first"]
    ids = [seen.headers["x-service-delivery"] for seen in site.requests]
    assert ids[3] == ids[0]
    first = webhook.all()[0].delivery
    assert (first.attempts, first.failed_tries, first.retry_at) == (2, 1 if isinstance(trouble, Answer) else 3, None)
    assert webhook.settings()["last_error"] == ""


@pytest.mark.parametrize("status", [400, 401, 403, 404, 405, 409, 413, 415, 422])
def test_an_event_that_is_refused_is_given_up_after_one_attempt(
    database: Database, site: Publisher, status: int
) -> None:
    webhook = hook(database, site.script("/hook", Answer("not this one", status=status), Answer()))
    webhook.post("bad", "good")

    deliver(delivery_queue(database), lambda: webhook.states() == ["failed", "delivered"])

    assert [text_of(seen) for seen in site.requests] == ["bad", "good"]
    bad = webhook.all()[0]
    assert (bad.delivery.last_status, bad.delivery.last_response, bad.next_attempt_at) == (status, "not this one", None)


def test_an_event_that_fails_alone_is_tried_four_times_in_fifteen_minutes(database: Database, site: Publisher) -> None:
    clock = MovableClock()
    webhook = hook(database, site.script("/hook", fail_at("bad", Answer("oops", status=500))))
    webhook.post("bad", "good", now=clock())
    queue = delivery_queue(database, clock=clock, retry_policy=RetryPolicy())

    begun, waits = clock(), []
    for attempt in range(1, 4):
        deliver(queue, lambda attempt=attempt: attempts_of(webhook) == [attempt, 1])  # type: ignore[misc]
        next_at = webhook.all()[0].next_attempt_at
        assert next_at is not None
        waits.append((next_at - begun) // SECOND)
        clock.move(timedelta(microseconds=next_at - clock()))
    deliver(queue, lambda: webhook.states() == ["failed", "delivered"])

    assert waits == [60, 300, 900]
    assert attempts_of(webhook) == [4, 1]
    assert webhook.all()[0].next_attempt_at is None
    with database.reading() as db:
        assert outbox.failed_counts(db, webhook.user_id) == {"webhook": 1}


def test_an_event_is_repeated_once_after_a_timeout(database: Database, site: Publisher) -> None:
    webhook = hook(database, site.script("/hook", fail_at("slow", Hang())))
    webhook.post("slow", "quick")

    # So long that the quick one is in time, on a busy machine, too.
    deliver(delivery_queue(database, within_s=6), lambda: webhook.states() == ["failed", "delivered"])

    assert attempts_of(webhook) == [2, 1]
    assert "did not finish" in webhook.all()[0].delivery.last_error


def test_an_event_that_was_given_up_is_tried_as_often_when_its_user_sends_it_again(
    database: Database, site: Publisher
) -> None:
    webhook = hook(database, site.script("/hook", fail_at("bad", Answer(status=500))))
    (id_,) = webhook.post("bad")
    queue = delivery_queue(database)
    deliver(queue, lambda: all_are(webhook, "failed"))

    with database.writing() as db:
        outbox.redeliver(db, webhook.user_id, id_, now=system_clock())
    deliver(queue, lambda: all_are(webhook, "failed"))

    assert attempts_of(webhook) == [8]


def test_a_user_can_have_an_event_that_stepped_aside_sent_now(database: Database, site: Publisher) -> None:
    clock = MovableClock()
    webhook = hook(database, site.script("/hook", Answer(status=500), Answer()))
    (id_,) = webhook.post("one", now=clock())
    queue = delivery_queue(database, clock=clock, retry_policy=RetryPolicy())
    deliver(queue, lambda: attempts_of(webhook) == [1])

    with database.writing() as db:
        outbox.redeliver(db, webhook.user_id, id_, now=clock())
    assert webhook.all()[0].next_attempt_at == clock()

    deliver(queue, lambda: all_are(webhook, "delivered"))


def test_a_new_event_does_not_wait_for_one_that_stepped_aside(database: Database, site: Publisher) -> None:
    clock = MovableClock()
    webhook = hook(database, site.script("/hook", fail_at("bad", Answer(status=500))))
    webhook.post("bad", now=clock())
    queue = delivery_queue(database, clock=clock, retry_policy=RetryPolicy())
    deliver(queue, lambda: attempts_of(webhook) == [1])

    webhook.post("good", now=clock())
    deliver(queue, lambda: webhook.states() == ["pending", "delivered"])

    assert attempts_of(webhook) == [1, 1]


def test_an_event_that_stepped_aside_waits_with_the_others_when_its_receiver_is_down(
    database: Database, site: Publisher
) -> None:
    site.script("/hook", Answer(status=500), Answer(), Answer(status=503), Answer(status=503), Answer())
    webhook = hook(database, site.url("/hook"))
    webhook.post("first", "second")

    deliver(delivery_queue(database, retry_policy=AFTER_A_SECOND), lambda: all_are(webhook, "delivered"))

    assert [text_of(seen) for seen in site.requests] == ["first", "second", "first", "first", "first"]
    assert webhook.all()[0].delivery.failed_tries == 1


def test_a_receiver_that_fails_at_every_event_gets_a_pause(database: Database, site: Publisher) -> None:
    clock = MovableClock()
    webhook = hook(database, site.script("/hook", Answer(status=500)))
    webhook.post(*(f"{number}" for number in range(40)), now=clock())
    queue = delivery_queue(database, clock=clock, retry_policy=RetryPolicy())

    deliver(queue, lambda: sum(attempts_of(webhook)) == 11)
    clock.move(timedelta(seconds=9))
    with database.reading() as db:
        assert not outbox.has_work(db, clock())
    clock.move(timedelta(seconds=1))
    deliver(queue, lambda: sum(attempts_of(webhook)) == 12)

    # It works again: nothing waits any more, except for the times of those that stepped aside.
    site.serve("/hook")
    clock.move(timedelta(minutes=1))
    deliver(queue, lambda: all_are(webhook, "delivered"))


@pytest.mark.one_engine
@pytest.mark.parametrize("status", [201, 204, 300, 304, 399])
def test_a_status_below_400_is_a_success_unless_it_redirects(database: Database, site: Publisher, status: int) -> None:
    site.serve("/hook", status=status)
    webhook = hook(database, site.url("/hook"))
    webhook.post("one")

    deliver(delivery_queue(database), lambda: all_are(webhook, "delivered"))

    assert webhook.all()[0].delivery.last_status == status


@pytest.mark.one_engine
@pytest.mark.parametrize("status", [307, 308])
def test_a_redirect_that_keeps_the_method_is_followed_on_the_same_host(
    database: Database, site: Publisher, status: int
) -> None:
    site.serve("/hook", status=status, headers={"Location": "/moved?to=here"})
    site.serve("/moved", status=status, headers={"Location": site.url("/here")})
    site.serve("/here", "thanks")
    webhook = hook(database, site.url("/hook").replace("//", "//ada:hush@"))
    webhook.post("one")

    deliver(delivery_queue(database), lambda: all_are(webhook, "delivered"))

    assert [seen.path for seen in site.requests] == ["/hook", "/moved?to=here", "/here"]
    assert {(seen.method, text_of(seen), seen.headers["authorization"]) for seen in site.requests} == {
        ("POST", "one", "Basic YWRhOmh1c2g=")
    }
    assert all(is_signed(seen) for seen in site.requests)
    assert webhook.all()[0].delivery.last_response == "thanks"


@pytest.mark.one_engine
@pytest.mark.parametrize("status", [301, 302, 303])
def test_a_redirect_that_changes_the_method_fails_and_names_the_new_address(
    database: Database, site: Publisher, status: int
) -> None:
    site.serve("/hook", status=status, headers={"Location": "/elsewhere"})
    webhook = hook(database, site.url("/hook"))
    webhook.post("one")

    deliver(delivery_queue(database), lambda: all_are(webhook, "failed"))

    assert {seen.path for seen in site.requests} == {"/hook"}
    assert site.url("/elsewhere") in webhook.all()[0].delivery.last_error
    assert site.url("/elsewhere") in webhook.settings()["last_error"]


@pytest.mark.one_engine
@pytest.mark.parametrize("status", [302, 307, 308])
def test_a_redirect_to_another_host_is_not_followed(database: Database, site: Publisher, status: int) -> None:
    with Publisher() as other:
        site.serve("/hook", status=status, headers={"Location": other.serve("/elsewhere")})
        webhook = hook(database, site.url("/hook"))
        webhook.post("one")

        deliver(delivery_queue(database), lambda: all_are(webhook, "failed"))

        assert other.requests == []
        assert other.url("/elsewhere") in webhook.all()[0].delivery.last_error


@pytest.mark.one_engine
def test_a_redirect_from_https_to_plain_http_is_not_followed(
    database: Database, monkeypatch: pytest.MonkeyPatch, site: Publisher
) -> None:
    monkeypatch.setenv("SSL_CERT_FILE", str(CERTIFICATE))
    with Publisher(tls=True) as secure:
        secure.serve("/hook", status=308, headers={"Location": site.serve("/hook")})
        webhook = hook(database, secure.url("/hook"))
        webhook.post("one")

        deliver(delivery_queue(database), lambda: all_are(webhook, "failed"))

    assert site.requests == []
    assert site.url("/hook") in webhook.all()[0].delivery.last_error


@pytest.mark.one_engine
def test_redirects_in_a_loop_end(database: Database, site: Publisher) -> None:
    site.serve("/hook", status=308, headers={"Location": "/hook"})
    webhook = hook(database, site.url("/hook"))
    webhook.post("one")

    deliver(delivery_queue(database), lambda: attempts_of(webhook)[0] > 0)

    assert "308" in webhook.all()[0].delivery.last_error


def test_a_receiver_that_was_down_gets_all_events_when_it_is_back(database: Database) -> None:
    with Publisher() as site:
        url = site.serve("/hook")
    webhook = hook(database, url)
    webhook.post("one", "two")
    queue = delivery_queue(database)

    deliver(queue, lambda: webhook.all()[0].delivery.attempts > 1)
    assert webhook.states() == ["pending", "pending"]
    assert "refuses the connection" in webhook.all()[0].delivery.last_error
    assert webhook.settings()["last_error"] == webhook.all()[0].delivery.last_error

    with Publisher(port=site.port) as back:
        back.serve("/hook")
        deliver(queue, lambda: all_are(webhook, "delivered"))
        assert [text_of(seen) for seen in back.requests] == ["one", "two"]
    assert webhook.settings()["last_error"] == ""


def test_retry_after_of_a_receiver_is_honoured(database: Database, site: Publisher) -> None:
    clock = MovableClock()
    webhook = hook(database, site.script("/hook", Answer(status=503, headers={"Retry-After": "3600"}), Answer()))
    (id_,) = webhook.post("one", now=clock())
    queue = delivery_queue(database, clock=clock)

    deliver(queue, lambda: webhook.all()[0].delivery.attempts == 1)

    with database.reading() as db:
        shown = outbox.get(db, webhook.user_id, id_)
        assert shown is not None
        assert shown.next_attempt_at == clock() + 3600 * 1_000_000
        assert not outbox.has_work(db, clock())
    clock.move(timedelta(hours=1))
    deliver(queue, lambda: all_are(webhook, "delivered"))


def test_an_event_is_given_up_after_a_day_and_the_next_one_is_sent(database: Database, site: Publisher) -> None:
    clock = MovableClock()
    webhook = hook(database, site.script("/hook", fail_at("bad", Answer("not now", status=503))))
    webhook.post("bad", "good", now=clock())
    queue = delivery_queue(database, clock=clock)

    deliver(queue, lambda: webhook.all()[0].delivery.attempts == 1)
    clock.move(DAY - timedelta(minutes=1))
    deliver(queue, lambda: webhook.all()[0].delivery.attempts == 2)
    assert webhook.states() == ["pending", "pending"]
    clock.move(timedelta(minutes=2))
    deliver(queue, lambda: webhook.states() == ["failed", "delivered"])

    bad = webhook.all()[0].delivery
    assert (bad.attempts, bad.last_status, bad.last_response) == (3, 503, "not now")
    assert webhook.all()[0].next_attempt_at is None


def test_a_receiver_that_was_down_for_a_day_loses_only_events_of_that_age(database: Database, site: Publisher) -> None:
    clock = MovableClock()
    webhook = hook(database, site.script("/hook", Answer(status=503)))
    webhook.post(*(f"old {number}" for number in range(50)), now=clock())
    queue = delivery_queue(database, clock=clock)
    deliver(queue, lambda: webhook.all()[0].delivery.attempts == 1)

    clock.move(DAY + timedelta(seconds=1))
    webhook.post("young", now=clock())
    deliver(queue, lambda: webhook.states()[:50] == ["failed"] * 50)

    assert webhook.states()[50] == "pending"
    # Not each of them had to be tried for that.
    assert sum(shown.delivery.attempts for shown in webhook.all()) < 10
    site.serve("/hook")
    clock.move(timedelta(hours=2))
    deliver(queue, lambda: webhook.states()[50] == "delivered")


def test_time_without_a_worker_does_not_count_towards_the_day(database: Database, site: Publisher) -> None:
    clock = MovableClock()
    webhook = hook(database, site.script("/hook", Answer(status=503), Answer()))
    webhook.post("one", now=clock())
    clock.move(2 * DAY)

    queue = delivery_queue(database, clock=clock)
    deliver(queue, lambda: webhook.all()[0].delivery.attempts == 1)
    assert webhook.states() == ["pending"]

    clock.move(timedelta(minutes=1))
    deliver(queue, lambda: all_are(webhook, "delivered"))


def test_410_disables_the_webhook_and_sets_its_error(database: Database, site: Publisher) -> None:
    webhook = hook(database, site.serve("/hook", "moved out", status=410))
    webhook.post("one", "two")

    deliver(delivery_queue(database), lambda: all_are(webhook, "failed"))

    assert len(site.requests) == 1
    settings = webhook.settings()
    assert not settings["enabled"]
    assert "410" in settings["last_error"]
    assert "switched off" in settings["last_error"]
    assert all("410" in shown.delivery.last_error for shown in webhook.all())


def test_410_from_the_url_of_one_feed_leaves_the_webhook_on(database: Database, site: Publisher) -> None:
    site.serve("/gone", status=410)
    webhook = hook(database, site.serve("/hook"))
    webhook.post("of a feed", receiver=site.url("/gone"))
    webhook.post("of the others")

    deliver(delivery_queue(database), lambda: webhook.states() == ["failed", "delivered"])

    assert webhook.settings()["enabled"]


def test_pending_events_of_a_disabled_webhook_are_not_sent(database: Database, site: Publisher) -> None:
    webhook = hook(database, site.serve("/hook"))
    webhook.post("one", "two")
    with database.writing() as db:
        db.run(webhooks.update().values(enabled=False))

    deliver(delivery_queue(database), lambda: all_are(webhook, "failed"))

    assert site.requests == []
    assert "switched off" in webhook.all()[1].delivery.last_error


def test_a_full_queue_drops_the_oldest_events_and_their_bodies(database: Database, site: Publisher) -> None:
    webhook = hook(database, site.script("/hook", Hang()))
    others = hook(database, site.serve("/other"))
    ids = webhook.post(*(f"{number}" for number in range(30)))
    others.post("one")

    with capture_logs() as logged:
        deliver(
            delivery_queue(database, within_s=60, limits=QueueLimits(max_deliveries=10)),
            lambda: all_are(others, "delivered") and webhook.states().count("failed") >= 20,
        )

    (line,) = [one for one in logged if one["event"] == "deliveries given up"]
    assert (line["log_level"], line["user"], line["integration"], line["count"]) == (
        "warning", webhook.user_id, "webhook", 20,
    )  # fmt: skip

    # The first may have been on its way.
    assert webhook.states() == ["pending", *["failed"] * 20, *["pending"] * 9]
    assert "oldest were given up" in webhook.all()[5].delivery.last_error
    with database.reading() as db:
        kept = [outbox.body(db, webhook.user_id, id_) is not None for id_ in ids]
    assert kept == [True, *[False] * 20, *[True] * 9]


def test_a_full_queue_keeps_the_event_that_is_being_sent_when_older_ones_stepped_aside(
    database: Database, site: Publisher
) -> None:
    is_sending, may_answer = threading.Event(), threading.Event()

    def answer(seen: ReceivedRequest) -> Reply:
        if text_of(seen) == "first":
            return Answer(status=500)
        if text_of(seen) == "second":
            is_sending.set()
            assert may_answer.wait(30)
        return Answer()

    webhook = hook(database, site.script("/hook", answer))
    webhook.post("first", "second", "third")
    queue = delivery_queue(database, within_s=60, limits=QueueLimits(max_deliveries=3))
    with ThreadPoolExecutor(1) as pool:
        done = pool.submit(deliver, queue, lambda: webhook.states()[1] != "pending")
        assert is_sending.wait(30)
        webhook.post("fourth", "fifth")
        until(lambda: webhook.states().count("failed") == 2)
        states = webhook.states()
        may_answer.set()
        done.result()

    assert states == ["failed", "pending", "failed", "pending", "pending"]
    assert webhook.states()[1] == "delivered"


def test_the_queues_of_a_user_are_limited_together_and_the_longest_give_up_first(
    database: Database, site: Publisher
) -> None:
    webhook = hook(database, site.script("/hook", Answer(status=503)))
    for number in range(4):
        webhook.post(*("x" for _ in range(10)), receiver=site.script(f"/long/{number}", Answer(status=503)))
    short = webhook.post("a", "b", receiver=site.script("/short", Answer(status=503)))
    others = hook(database, site.script("/others", Answer(status=503)))
    others.post(*("x" for _ in range(12)))

    with capture_logs() as logged:
        deliver(
            delivery_queue(database, limits=QueueLimits(max_deliveries_of_user=22)),
            lambda: webhook.states().count("failed") >= 20,
        )

    # Two of the short queue, and five of each other one.
    assert webhook.states() == [*["pending", *["failed"] * 5, *["pending"] * 4] * 4, "pending", "pending"]
    assert [shown.delivery.id for shown in webhook.all()][-2:] == short
    assert others.states() == ["pending"] * 12
    assert sum(line["count"] for line in logged if line["event"] == "deliveries given up") == 20


def test_the_queues_of_a_user_are_limited_together_in_bytes(database: Database, site: Publisher) -> None:
    webhook = hook(database, site.script("/hook", Answer(status=503)))
    for number in range(2):
        webhook.post(*("x" * 10_000 for _ in range(5)), receiver=site.script(f"/{number}", Answer(status=503)))

    deliver(
        delivery_queue(database, limits=QueueLimits(max_bytes_of_user=65_000)),
        lambda: webhook.states().count("failed") == 4,
    )

    assert webhook.states() == ["pending", "failed", "failed", "pending", "pending"] * 2


@pytest.mark.parametrize(
    ("sizes", "total", "share"),
    [([], 5, 0), ([3], 5, 3), ([9], 5, 5), ([1, 9, 9], 11, 5), ([2, 4, 9, 9], 16, 5), ([5, 5], 10, 5), ([1, 1], 0, 0)],
)
def test_a_fair_share_cuts_only_the_longest_queues(sizes: list[int], total: int, share: int) -> None:
    assert fair_share(sizes, total) == share
    assert sum(min(size, share) for size in sizes) <= total


def test_an_event_that_its_service_cannot_take_is_given_up_at_once(database: Database, site: Publisher) -> None:
    webhook = hook(database, "")
    settings = json.dumps({"url": site.url("/links"), "token": "8c1f"})
    good = sample_events.sample_event(
        "save_entry", "linkding", "", user_id=webhook.user_id, format_time=time_zone("UTC").format, now=system_clock()
    )
    site.serve("/links/api/bookmarks/", "{}", status=201)
    with database.writing() as db:
        row = {"user_id": webhook.user_id, "name": "linkding", "enabled": True, "settings": settings, "changed_at": 0}
        db.run(integrations.insert().values(**row))
        for number, body in enumerate(
            [good.body.replace(f"{sample_events.SITE}tidings-test".encode(), b""), good.body]
        ):
            outbox.add(
                db, webhook.user_id, delivery_id=f"{webhook.user_id}-{number}", integration="linkding",
                event_type="save_entry", receiver="linkding", feed_id=0, body=body, now=system_clock(),
            )  # fmt: skip

    deliver(delivery_queue(database), lambda: webhook.states() == ["failed", "delivered"])

    assert webhook.all()[0].delivery.attempts == 1
    assert "no address" in webhook.all()[0].delivery.last_error


def test_two_workers_share_receivers_and_keep_their_order(database: Database, site: Publisher) -> None:
    webhook = [hook(database, site.serve(f"/hook/{number}")) for number in range(12)]
    for number in range(25):
        for one in webhook:
            one.post(f"{number}")

    with ThreadPoolExecutor(2) as pool:
        done = [
            pool.submit(
                deliver,
                delivery_queue(database),
                lambda: all(all_are(one, "delivered") for one in webhook),
                max_concurrent=4,
            )
            for _ in range(2)
        ]
        for one_of_them in done:
            one_of_them.result()

    for number, one in enumerate(webhook):
        came = [text_of(seen) for seen in site.requests_for(f"/hook/{number}")]
        assert list(dict.fromkeys(came)) == one.posted


def test_the_queue_is_also_limited_in_bytes(database: Database, site: Publisher) -> None:
    webhook = hook(database, site.script("/hook", Answer(status=500)))
    webhook.post(*("x" * 10_000 for _ in range(10)))

    deliver(
        delivery_queue(database, limits=QueueLimits(max_bytes=35_000)),
        lambda: webhook.states().count("failed") == 7,
    )


def test_a_receiver_inside_the_network_is_refused_unless_the_operator_allows_it(
    database: Database, site: Publisher
) -> None:
    webhook = hook(database, site.serve("/hook"))
    webhook.post("one")

    deliver(delivery_queue(database, allow_private_networks=False), lambda: webhook.all()[0].delivery.attempts > 0)

    assert site.requests == []
    assert "TIDINGS_INTEGRATION_ALLOW_PRIVATE_NETWORKS" in webhook.all()[0].delivery.last_error
    assert webhook.states() == ["pending"]


@pytest.mark.one_engine
def test_secrets_in_a_response_are_not_stored(database: Database, site: Publisher) -> None:
    def echo(seen: ReceivedRequest) -> Reply:
        return Answer(f"you are {seen.headers['authorization']}, hunter2 or hunter%32?\0", status=400)

    site.script("/hook", echo)
    webhook = hook(database, site.url("/hook").replace("//", "//ada:hunter%32@"))
    webhook.post("one")

    deliver(delivery_queue(database), lambda: webhook.all()[0].delivery.attempts > 0)

    delivery = webhook.all()[0].delivery
    assert delivery.last_response == "you are ***, *** or ***? "
    assert "hunter" not in repr(delivery)


def test_hanging_receivers_do_not_delay_the_others(database: Database, site: Publisher) -> None:
    """More of them than there are places for receivers that failed lately."""
    site.script("/hang", Hang())
    hanging = [hook(database, site.url(f"/hang?{number}")) for number in range(6)]
    queue = delivery_queue(database, within_s=0.5)
    for one in hanging:
        one.post("never")
    deliver(
        queue,
        lambda: all(one.all()[0].delivery.attempts > 0 for one in hanging),
        max_concurrent=8,
        max_concurrent_failing=3,
    )

    queue = delivery_queue(database, within_s=45)
    fast = [hook(database, site.serve(f"/fast?{number}")) for number in range(10)]
    for one in fast:
        one.post(*(f"{number}" for number in range(10)))

    # Those that hang now take their places for longer than this may last.
    deliver(
        queue,
        lambda: all(all_are(one, "delivered") for one in fast),
        within_s=40,
        max_concurrent=8,
        max_concurrent_failing=3,
    )


def test_old_finished_deliveries_and_idle_receivers_are_deleted(database: Database, site: Publisher) -> None:
    webhook, idle = (
        hook(database, site.script("/hook", Answer(), Answer(status=500))),
        hook(database, site.serve("/idle")),
    )
    clock = MovableClock()
    idle.post("one", now=clock())
    webhook.post("one", "two", now=clock())
    queue = delivery_queue(database, clock=clock)
    deliver(queue, lambda: all_are(idle, "delivered") and webhook.all()[1].delivery.attempts > 0)
    later = Instant(clock() + 3600 * SECOND)

    with database.writing() as db:
        assert outbox.delete_finished(db, before=webhook.all()[0].delivery.created_at, limit=10) == 0
        assert outbox.delete_finished(db, before=later, limit=10) == 2
        assert outbox.remove_idle(db, now=later, limit=10) == 1
        assert outbox.remove_idle(db, now=later, limit=10) == 0

    assert webhook.states() == ["pending"]
    site.serve("/hook")
    clock.move(timedelta(hours=1))
    deliver(queue, lambda: all_are(webhook, "delivered"))


def test_claiming_from_an_empty_queue_writes_nothing(database: Database) -> None:
    queue = delivery_queue(database)
    with database.writing():
        # Nobody else could write now on SQLite: asking does not wait for that.
        assert queue.claim("somebody", limit=5, max_failing=5) == []


def test_an_expired_claim_can_be_claimed_by_another_worker(database: Database, site: Publisher) -> None:
    clock = MovableClock()
    webhook = hook(database, site.serve("/hook"))
    webhook.post("one", "two", now=clock())
    queue = delivery_queue(database, clock=clock)

    assert len(queue.claim("first", limit=5, max_failing=5)) == 1
    assert queue.claim("second", limit=5, max_failing=5) == []
    clock.move(timedelta(minutes=1))
    (claimed,) = queue.claim("second", limit=5, max_failing=5)

    with database.writing() as db:
        assert not outbox.renew(db, claimed.user_id, claimed.id, "first", clock())
        assert outbox.renew(db, claimed.user_id, claimed.id, "second", clock())


def test_a_claim_is_renewed_during_a_long_attempt(database: Database, site: Publisher) -> None:
    clock, lease = MovableClock(), timedelta(seconds=0.3)
    webhook = hook(database, site.script("/hook", Hang()))
    webhook.post("one", now=clock())
    begun = clock()

    def is_renewed() -> bool:
        if site.requests and clock() == begun:
            clock.move(timedelta(seconds=0.1))
        with database.reading() as db:
            until = db.scalar(select(receiver_table.c.claimed_until))
        return clock() > begun and until == clock() + lease // timedelta(microseconds=1)

    deliver(delivery_queue(database, clock=clock, lease=lease, within_s=60), is_renewed)


def test_a_receiver_that_is_claimed_again_before_its_last_turn_has_ended_is_served(
    database: Database, site: Publisher
) -> None:
    clock = MovableClock()  # no claim expires
    webhook = hook(database, site.serve("/hook"))
    webhook.post("first", now=clock())
    is_claimed_again = threading.Event()

    class SlowToEnd(DeliveryQueue):
        """Ends the first turn only when the receiver has been claimed for the next one."""

        def claim(self, worker: str, *, limit: int, max_failing: int) -> list[ReceiverQueue]:
            claimed = super().claim(worker, limit=limit, max_failing=max_failing)
            if claimed and site.requests:
                is_claimed_again.set()
            return claimed

        async def serve(self, queue: ReceiverQueue, worker: str) -> int:
            delivered = await super().serve(queue, worker)
            if not is_claimed_again.is_set():
                webhook.post("second", now=clock())
                await asyncio.to_thread(is_claimed_again.wait, 60)
            return delivered

    queue = delivery_queue(database, clock=clock, kind=SlowToEnd)
    deliver(queue, lambda: webhook.states() == ["delivered", "delivered"], within_s=60)


def test_users_with_the_same_receiver_do_not_wait_for_each_other(database: Database, site: Publisher) -> None:
    def accept_valid_secret(seen: ReceivedRequest) -> Reply:
        return Answer(status=500) if text_of(seen) == "bad" else Answer()

    url = site.script("/hook", accept_valid_secret)
    alice, bob = hook(database, url), hook(database, url)
    alice.post("bad")
    bob.post("good")

    deliver(delivery_queue(database, retry_policy=RetryPolicy()), lambda: all_are(bob, "delivered"))

    assert alice.states() == ["pending"]
