"""Messages about new entries: Gotify, ntfy, Pushover, and Apprise in its sandboxed process."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping

import msgspec
import pytest

from support.entry_fixtures import FeedFixture
from support.processes import is_running
from support.provider_fixtures import a_feed, hand_over, news, says
from support.publisher import Answer, Hang, Publisher
from tidings.base.errors import InvalidInput
from tidings.deliveries.apprise import AppriseSender
from tidings.deliveries.events import FailureKind
from tidings.deliveries.notification_text import notification
from tidings.deliveries.provider import DeliveryRefused
from tidings.deliveries.providers.apprise import Settings
from tidings.deliveries.registry import REGISTRY
from tidings.engine.database import Database
from tidings.net.guard import AddressGuard
from tidings.storage.feeds import feeds

pytestmark = pytest.mark.slow

SETTING = "TIDINGS_INTEGRATION_ALLOW_PRIVATE_NETWORKS"
BASIC = "Basic YWRhOnBhc3M="


def receiver(name: str, settings: Mapping[str, object], **fields: object) -> str:
    leaf = REGISTRY[name]
    return leaf.receiver(leaf.read_settings(msgspec.json.encode(settings)), a_feed(**fields))


# Gotify, ntfy and Pushover


def test_gotify_gets_a_message_that_opens_the_entry(site: Publisher) -> None:
    site.script("/push/message", says({"id": 25}), says({"error": "Unauthorized"}, 401))
    settings = {"url": f"{site.origin}/push/", "token": "A-1", "priority": "8"}
    event = news("Rain tomorrow", receiver=receiver("gotify", settings))

    outcome, (request,) = hand_over(site, "gotify", settings, event)

    assert outcome.is_delivered
    assert (request.method, request.path, request.headers["x-gotify-key"]) == ("POST", "/push/message", "A-1")
    assert request.body == {
        "title": "Weather notes",
        "message": "Rain tomorrow",
        "priority": 8,
        "extras": {"client::notification": {"click": {"url": "https://weather.example/1"}}},
    }
    outcome, _ = hand_over(site, "gotify", settings, event)
    assert "Gotify does not accept the credentials (401)" in outcome.error_text


def test_gotify_announces_all_feeds_unless_only_rules_notify() -> None:
    assert receiver("gotify", {}) != ""
    assert receiver("gotify", {"all_feeds": False}) == ""


def test_ntfy_gets_json_with_the_priority_and_topic_of_the_feed(site: Publisher) -> None:
    site.script("/", says({"id": "x"}))
    settings = {"url": site.origin, "topic": "all", "token": "tk_1"}
    receiver_settings = receiver("ntfy", settings, ntfy_enabled=True, ntfy_priority=5, ntfy_topic="rain")

    outcome, (request,) = hand_over(site, "ntfy", settings, news("Rain tomorrow", receiver=receiver_settings))

    assert outcome.is_delivered
    assert (request.method, request.path, request.headers["authorization"]) == ("POST", "/", "Bearer tk_1")
    assert request.body == {
        "topic": "rain",
        "title": "Weather notes",
        "message": "Rain tomorrow",
        "click": "https://weather.example/1",
        "priority": 5,
    }


def test_ntfy_with_a_password_and_several_entries(site: Publisher) -> None:
    site.script("/", says({"error": "forbidden"}, 403))
    settings = {"url": site.origin, "topic": "all", "username": "ada", "password": "pass", "all_feeds": True}

    outcome, (request,) = hand_over(site, "ntfy", settings, news("One", "Two", receiver=receiver("ntfy", settings)))

    assert request.headers["authorization"] == BASIC
    assert request.body == {
        "topic": "all",
        "title": "Weather notes: 2 new entries",
        "message": "Two\nOne",
        "click": "https://weather.example/",
        "priority": 3,
    }
    assert "403" in outcome.error_text


def test_pushover_gets_what_an_emergency_needs(site: Publisher) -> None:
    site.script("/1/messages.json", says({"status": 1}), says({"status": 0, "errors": ["user key is invalid"]}, 400))
    settings = {"token": "app-1", "user": "user-1", "device": "phone"}
    receiver_settings = receiver("pushover", settings, pushover_enabled=True, pushover_priority=2)

    outcome, (request,) = hand_over(site, "pushover", settings, news("Rain tomorrow", receiver=receiver_settings))

    assert outcome.is_delivered
    assert (request.origin, request.path) == ("https://api.pushover.net", "/1/messages.json")
    assert request.body == {
        "token": "app-1",
        "user": "user-1",
        "device": "phone",
        "title": "Weather notes",
        "message": "Rain tomorrow",
        "url": "https://weather.example/1",
        "priority": 2,
        "retry": 60,
        "expire": 3600,
    }
    outcome, _ = hand_over(site, "pushover", settings, news("Rain tomorrow", receiver=receiver_settings))
    assert "user key is invalid" in outcome.error_text


@pytest.mark.parametrize("name", ["ntfy", "pushover"])
def test_only_feeds_with_notifications_enabled_are_announced(name: str) -> None:
    assert receiver(name, {"topic": "t"}) == ""
    assert receiver(name, {"topic": "t"}, **{f"{name}_enabled": True}) != ""
    assert receiver(name, {"topic": "t", "all_feeds": True}) != ""


def test_a_notification_has_as_many_titles_as_fit() -> None:
    many = notification(news(*(f"Number {number}" for number in range(30))).new_entries)
    short = notification(news("x" * 50, "y" * 50, "z" * 50).new_entries, max_length=110)

    assert many.title.endswith(": 30 new entries")
    assert many.text.splitlines()[0] == "Number 29"
    assert many.text.splitlines()[-1] == "… and 20 more"
    assert short.text == "z" * 50 + "\n" + "y" * 50


# Apprise


@pytest.fixture(scope="module")
def unguarded() -> Iterator[AppriseSender]:
    """May reach this machine."""
    created = AppriseSender(None, guard=AddressGuard(allow_private_networks=True, setting=SETTING), timeout_s=60)  # type: ignore[arg-type]
    yield created
    created.close()


@pytest.fixture(scope="module")
def guarded() -> Iterator[AppriseSender]:
    """As an operator has it who has set nothing."""
    created = AppriseSender(None, guard=AddressGuard(setting=SETTING), timeout_s=60)  # type: ignore[arg-type]
    yield created
    created.close()


def local(site: Publisher, path: str, host: str = "127.0.0.1") -> str:
    return f"json://{host}:{site.port}{path}"


def test_apprise_announces_new_entries(unguarded: AppriseSender, site: Publisher) -> None:
    site.serve("/bell")

    unguarded.send(Settings(urls=local(site, "/bell")), news("One", "Two"))

    (seen,) = site.requests
    assert seen.json()["title"] == "Weather notes: 2 new entries"
    assert seen.json()["message"] == (
        "Two\nhttps://weather.example/2\nOne\nhttps://weather.example/1\nhttps://weather.example/"
    )


def test_a_refusal_names_the_service_and_not_its_url(unguarded: AppriseSender, site: Publisher) -> None:
    site.serve("/bell/s3cret", status=401)

    with pytest.raises(DeliveryRefused) as refused:
        unguarded.send(Settings(urls=local(site, "/bell/s3cret")), news("One"))

    assert refused.value.message.startswith("Service URL 1 (json://): ")
    assert "401" in refused.value.message
    assert "s3cret" not in refused.value.message
    assert refused.value.kind is FailureKind.EVENT


def test_a_service_that_cannot_be_reached_is_told_from_one_that_refuses(unguarded: AppriseSender) -> None:
    with Publisher() as site:
        url = local(site, "/bell")

    with pytest.raises(DeliveryRefused) as refused:
        unguarded.send(Settings(urls=url), news("One"))

    assert refused.value.kind is FailureKind.RECEIVER


def test_a_retry_skips_urls_that_were_already_notified(unguarded: AppriseSender, site: Publisher) -> None:
    site.serve("/well")
    site.script("/ill", Answer(status=503), Answer())
    settings, event = Settings(urls=f"{local(site, '/well')}\n{local(site, '/ill')}"), news("One")

    with pytest.raises(DeliveryRefused, match=r"Service URL 2 \(json://\)"):
        unguarded.send(settings, event)
    unguarded.send(settings, event)

    assert len(site.requests_for("/well")) == 1
    assert len(site.requests_for("/ill")) == 2


def test_a_hanging_service_times_out(site: Publisher) -> None:
    site.script("/slow", Hang())
    impatient = AppriseSender(None, guard=AddressGuard(allow_private_networks=True), timeout_s=3)  # type: ignore[arg-type]
    try:
        with pytest.raises(DeliveryRefused, match=r"did not finish|json://"):
            impatient.send(Settings(urls=local(site, "/slow?rto=60")), news("One"))
        site.serve("/slow")
        impatient.check_urls(local(site, "/slow"), field="urls")
    finally:
        impatient.close()


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost", "2130706433", "0x7f000001", "0.0.0.0", "[::1]", "127.1"])
def test_addresses_of_this_machine_are_not_reached(host: str, guarded: AppriseSender, site: Publisher) -> None:
    site.serve("/bell")

    with pytest.raises(DeliveryRefused) as refused:
        guarded.send(Settings(urls=local(site, "/bell", host)), news("One"))

    assert site.requests == []
    assert SETTING in refused.value.message or "understand" in refused.value.message


def test_mail_uses_the_same_guard(guarded: AppriseSender, site: Publisher) -> None:
    with pytest.raises(DeliveryRefused):
        guarded.send(Settings(urls=f"mailto://u:p@127.1:{site.port}/?to=ada@example.org&from=u@example.org"), news("x"))

    assert site.connections == 0


@pytest.mark.parametrize(
    "url",
    [
        *("dbus://", "gnome://", "glib://", "macosx://", "windows://", "syslog://", "blink1://", "growl://127.0.0.1"),
        *(
            "rsyslog://127.0.0.1",
            "mqtt://127.0.0.1/t",
            "file:///etc/passwd",
            "exec://ls",
            "nonsense",
            "https://a.example/",
        ),
        "vapid://ada@example.org/x/?keyfile=/etc/passwd",
    ],
)
def test_an_address_of_this_machine_is_refused_when_it_is_set(url: str, guarded: AppriseSender) -> None:
    with pytest.raises(InvalidInput, match=r"^apprise\.urls: Service URL 2") as refused:
        guarded.check_urls(
            f"tgram://123456789:abcdefghijklmnopqrstuvwxyzabcdefghi/12315544/\n{url}", field="apprise.urls"
        )

    assert refused.value.field == "apprise.urls"


ATTEMPTS = [
    "socket.create_connection(('127.0.0.1', 1))",
    "socket.create_connection(('localhost', 1))",
    "socket.socket().connect_ex(('127.0.0.1', 1))",
    "socket.socket().connect(('127.1', 1))",
    "socket.socket(socket.AF_UNIX).connect('/run/docker.sock')",
    "socket.socket(type=socket.SOCK_DGRAM).sendto(b'x', ('10.0.0.1', 514))",
    "socket.socket(type=socket.SOCK_DGRAM).sendmsg([b'x'], [], 0, ('10.0.0.1', 514))",
    "socket.socket().bind(('', 0))",
    "open('/etc/hostname').read()",
    "open('/usr/../etc/passwd').read()",
    "open('/tmp/x', 'w')",
    "__import__('os').open('/etc/hostname', 0)",
    "__import__('os').listdir('/etc')",
    "__import__('os').system('true')",
    "__import__('os').execv('/bin/true', ['true'])",
    "__import__('os').fork()",
    "__import__('os').remove('/tmp/x')",
    "__import__('subprocess').run(['true'])",
    "__import__('sqlite3').connect(':memory:')",
    "__import__('ctypes').CDLL(None)",
]
SANDBOXED = """
import json, socket, sys
from tidings.net.guard import AddressGuard
from tidings.deliveries.apprise_process import Sandbox, readable_paths

sys.dont_write_bytecode = True
sys.addaudithook(Sandbox(AddressGuard(), readable_paths()))
import json.tool  # what Python still has to import, it may read
for attempt in json.loads(sys.argv[1]):
    try:
        exec(attempt)
    except PermissionError as error:
        print("blocked")
    else:
        print("went through")
"""


@pytest.fixture(scope="module")
def outcomes() -> list[str]:
    """Return the outcome of each attempt, made one after another in a sandboxed process."""
    done = subprocess.run(
        [sys.executable, "-c", SANDBOXED, json.dumps(ATTEMPTS)], check=True, capture_output=True, text=True
    )
    return done.stdout.splitlines()


@pytest.mark.parametrize("attempt", ATTEMPTS)
def test_the_sandbox_blocks_the_attempt(attempt: str, outcomes: list[str]) -> None:
    assert len(outcomes) == len(ATTEMPTS)
    assert outcomes[ATTEMPTS.index(attempt)] == "blocked"


def test_private_addresses_are_reported_when_they_are_set(guarded: AppriseSender) -> None:
    with pytest.raises(InvalidInput, match=SETTING):
        guarded.check_urls("jsons://10.0.0.1/bell", field="urls")
    for url in (
        "discord://4174216298/JHMHI8qBe7bk2ZwO5U711o3dV_js",
        "slack://T1JJ3T3L2/A1BRTD4JD/TIiajkdnlazkcOXrIdevi7FQ",
        "mailtos://ada:pass@mail.example.org?to=bob@example.org",
    ):
        guarded.check_urls(url, field="urls")


def test_the_process_is_replaced_when_it_dies_and_ends_with_us(site: Publisher) -> None:
    site.serve("/bell")
    created = AppriseSender(None, guard=AddressGuard(allow_private_networks=True), timeout_s=60)  # type: ignore[arg-type]
    try:
        created.send(Settings(urls=local(site, "/bell")), news("One"))
        (first,) = created._pool.pids
        os.kill(first, signal.SIGKILL)
        wait_until_gone(first)
        created.send(Settings(urls=local(site, "/bell")), news("Two"))
        (second,) = created._pool.pids
        assert second != first
    finally:
        created.close()
    wait_until_gone(second)
    assert len(site.requests) == 2


def wait_until_gone(process: int, within_s: float = 180) -> None:
    """Gone, or a zombie that nobody has asked about yet."""
    deadline = time.monotonic() + within_s
    while is_running(process):
        assert time.monotonic() < deadline
        time.sleep(0.02)


def test_a_feed_has_its_own_urls(database: Database, site: Publisher) -> None:
    site.serve("/own")
    feed_fixture = FeedFixture.create(database)
    created = AppriseSender(database, guard=AddressGuard(allow_private_networks=True), timeout_s=60)
    feed = a_feed(id=feed_fixture.feed_id, user_id=feed_fixture.user_id, apprise_service_urls=local(site, "/own"))
    receiver_settings = REGISTRY["apprise"].receiver(Settings(urls="json://elsewhere.example"), feed)
    with database.writing() as db:
        feeds.change(db, feed_fixture.user_id, feed_fixture.feed_id, apprise_service_urls=local(site, "/own"))
    try:
        created.send(Settings(urls="json://elsewhere.example"), news("One", receiver=receiver_settings, feed=feed))
    finally:
        created.close()

    assert [seen.path for seen in site.requests] == ["/own"]
    assert "json" not in receiver_settings
