"""What a stream of events tells, from where it resumes, and when it ends."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack
from datetime import UTC, datetime, timedelta

import pytest

from support.event_reader import Event, EventReader, reading_events
from support.people import PASSWORD, Person, basic, call
from support.publisher import Publisher
from support.running import RunningService
from support.visitors import Visitor
from tidings.live.hub import MAX_STREAMS_OF_USER
from tidings.storage.accounts import change_log

pytestmark = pytest.mark.slow


@pytest.fixture
def stack() -> Iterator[ExitStack]:
    with ExitStack() as stack:
        yield stack


def key(person: Person) -> dict[str, str]:
    return {"X-Auth-Token": person.token}


@pytest.fixture
def events(alice: Person, stack: ExitStack) -> EventReader:
    """A stream of Alice that is ready."""
    reader = stack.enter_context(reading_events(alice.service.url, key(alice)))
    reader.until("ready")
    return reader


def test_new_entries_are_told_with_the_counts_of_their_feed(
    alice: Person, site: Publisher, events: EventReader
) -> None:
    feed = alice.has_feed(site, ["One", "Two"])

    told = events.changes()
    while "entries" not in told:
        told = events.changes()

    assert (told["entries"]["count"], told["entries"]["new"]) == (2, 2)
    assert {one["id"] for one in told["entries"]["listed"]} == {one["id"] for one in alice.entries()}
    assert all(one["new"] and one["status"] == "unread" for one in told["entries"]["listed"])
    assert told["counts"] == [{"id": feed["id"], "unread": 2, "read": 0}]


def test_a_changed_state_is_told(alice: Person, site: Publisher, stack: ExitStack) -> None:
    feed = alice.has_feed(site, ["One", "Two"])
    first = alice.entries()[0]["id"]
    events = stack.enter_context(reading_events(alice.service.url, key(alice)))
    events.until("ready")

    alice.put("/v1/entries", {"entry_ids": [first], "status": "read"})

    told = events.changes()
    assert told["entries"] == {
        "count": 1,
        "new": 0,
        "listed": [{"id": first, "status": "read", "feed_id": feed["id"]}],
    }
    assert told["counts"] == [{"id": feed["id"], "unread": 1, "read": 1}]


def test_a_feed_that_fails_is_told_with_its_error(alice: Person, site: Publisher, stack: ExitStack) -> None:
    feed = alice.has_feed(site, ["One"])
    events = stack.enter_context(reading_events(alice.service.url, key(alice)))
    events.until("ready")
    site.serve(feed["feed_url"].removeprefix(site.url("")), b"", status=500)

    assert alice.call("PUT", f"/v1/feeds/{feed['id']}/refresh").status == 500

    (told,) = events.changes()["feeds"]["listed"]
    assert told["id"] == feed["id"]
    assert told["parsing_error_count"] == 1
    assert "500" in told["parsing_error_message"]


def test_lists_that_have_changed_are_named_and_a_removed_feed_is_told(
    alice: Person, site: Publisher, stack: ExitStack
) -> None:
    feed = alice.has_feed(site, ["One"])
    events = stack.enter_context(reading_events(alice.service.url, key(alice)))
    events.until("ready")

    alice.has_category("Weather")
    assert events.changes() == {"lists": ["categories"]}

    alice.delete(f"/v1/feeds/{feed['id']}")
    assert events.changes()["feeds"] == {"count": 1, "listed": [{"id": feed["id"], "removed": True}]}


def test_a_burst_is_one_event_with_the_newest_entries(alice: Person, site: Publisher, events: EventReader) -> None:
    alice.has_feed(site, [f"Entry {number}" for number in range(150)])

    told = events.changes()
    while "entries" not in told:
        told = events.changes()

    assert (told["entries"]["count"], told["entries"]["new"]) == (150, 150)
    listed = [one["id"] for one in told["entries"]["listed"]]
    assert len(listed) == 100
    assert listed == sorted(listed, reverse=True)


def test_a_stream_resumes_after_the_last_event(alice: Person, stack: ExitStack) -> None:
    with reading_events(alice.service.url, key(alice)) as events:
        before = events.until("ready").id
        alice.has_category("One")
        last = events.until("changes").id
    alice.has_category("Two")

    resumed = stack.enter_context(reading_events(alice.service.url, key(alice), since=last))
    first = resumed.next()
    assert first is not None
    assert (first.name, first.data) == ("changes", {"lists": ["categories"]})
    assert resumed.next() == Event("ready", first.id, {})

    # With nothing in between, there is nothing to tell; and the query says the same as the header.
    path = f"/v1/events?since={first.id}"
    again = stack.enter_context(reading_events(alice.service.url, key(alice), path=path))
    assert again.next() == Event("ready", first.id, {})
    assert before not in (last, first.id)


def test_a_client_that_was_away_for_too_long_is_told_to_begin_again(alice: Person, stack: ExitStack) -> None:
    with reading_events(alice.service.url, key(alice)) as events:
        old = events.until("ready").id
    with alice.service.services.database.writing() as db:
        change_log.restart_all(db)

    events = stack.enter_context(reading_events(alice.service.url, key(alice), since=old))

    reset = events.next()
    assert reset is not None
    assert reset.name == "reset"
    alice.has_category("After")
    assert events.changes() == {"lists": ["categories"]}


@pytest.mark.parametrize("since", ["nonsense", "AAAA", "é"])
def test_an_id_that_is_none_is_refused(since: str, alice: Person) -> None:
    answer = call(alice.service.url, "GET", "/v1/events", headers={**key(alice), "Last-Event-ID": since})

    assert answer.status == 400
    assert "as you received it" in answer.error


def test_another_user_hears_nothing_and_cannot_use_an_id(alice: Person, bob: Person, stack: ExitStack) -> None:
    events = stack.enter_context(reading_events(alice.service.url, key(alice)))
    id_ = events.until("ready").id
    of_bob = stack.enter_context(reading_events(bob.service.url, key(bob)))
    of_bob.until("ready")

    bob.has_category("Mine")
    assert of_bob.changes() == {"lists": ["categories"]}

    assert events.is_silent()
    assert call(bob.service.url, "GET", "/v1/events", headers={**key(bob), "Last-Event-ID": id_}).status == 400


def test_a_stream_ends_when_its_key_is_revoked_and_tells_nothing_more(alice: Person, stack: ExitStack) -> None:
    created = alice.post("/v1/api-keys", {"description": "Live"})
    events = stack.enter_context(reading_events(alice.service.url, {"X-Auth-Token": created["token"]}))
    events.until("ready")

    alice.delete(f"/v1/api-keys/{created['id']}")
    alice.has_category("Secret")

    assert events.next() is None


def token_that_expires_soon(person: Person) -> str:
    for lasts_s in (2, 20, 60):
        until = (datetime.now(UTC) + timedelta(seconds=lasts_s)).isoformat()
        token: str = person.post("/v1/api-keys", {"description": f"Of {lasts_s} s", "expires_at": until})["token"]
        # On a busy machine, it may have expired by now.
        if call(person.service.url, "GET", "/v1/me", headers={"X-Auth-Token": token}).status == 200:
            return token
    raise AssertionError("a key of a minute expired before it was used")


def test_a_stream_ends_when_its_key_expires(alice: Person, stack: ExitStack) -> None:
    events = stack.enter_context(reading_events(alice.service.url, {"X-Auth-Token": token_that_expires_soon(alice)}))

    while (event := events.next()) is not None:
        assert event.name == "ready"


def test_a_stream_ends_with_the_account(cast_person: Person, stack: ExitStack) -> None:
    events = stack.enter_context(reading_events(cast_person.service.url, key(cast_person)))
    events.until("ready")

    cast_person.service.services.accounts.users.remove(cast_person.user.username)

    assert events.next() is None


@pytest.fixture
def cast_person(bob: Person) -> Person:
    return bob


def test_a_stream_of_a_password_ends_when_the_password_changes(alice: Person, stack: ExitStack) -> None:
    headers = basic(alice.user.username)
    events = stack.enter_context(reading_events(alice.service.url, headers))
    events.until("ready")

    alice.put(f"/v1/users/{alice.id}", {"password": f"{PASSWORD}-2"}, status=201)
    alice.has_category("After")

    assert events.next() is None


def test_pages_get_events_by_their_session_and_none_after_it_has_ended(
    service: RunningService, alice: Person, stack: ExitStack
) -> None:
    reader = Visitor(service, alice)
    reader.sign_in()
    cookies = {"Cookie": "; ".join(f"{name}={value}" for name, value in reader.cookies.items())}
    events = stack.enter_context(reading_events(service.url, cookies, path="/events"))
    events.until("ready")

    alice.has_category("Weather")
    assert events.changes() == {"lists": ["categories"]}

    reader.post("/sign-out")
    alice.has_category("More")
    assert events.next() is None
    # What tells a browser that there are no more events; it would follow a redirect to the sign-in page.
    assert call(service.url, "GET", "/events", headers=cookies | {"Accept": "text/event-stream"}).status == 204
    assert call(service.url, "GET", "/events", headers=cookies).status == 303


def test_one_user_cannot_take_all_connections(alice: Person, bob: Person, stack: ExitStack) -> None:
    for _ in range(MAX_STREAMS_OF_USER):
        stack.enter_context(reading_events(alice.service.url, key(alice))).until("ready")

    refused = alice.call("GET", "/v1/events")

    assert refused.status == 429
    assert int(refused.headers["retry-after"]) > 0
    assert refused.headers["x-error-code"] == "too-many-streams"
    stack.enter_context(reading_events(bob.service.url, key(bob))).until("ready")


def test_an_id_is_a_cursor_of_sync_and_a_cursor_is_an_id(alice: Person, stack: ExitStack) -> None:
    before = alice.get("/v1/sync")["next_cursor"]
    events = stack.enter_context(reading_events(alice.service.url, key(alice), since=before))
    assert events.next() == Event("ready", before, {})

    alice.has_category("Weather")
    after = events.until("changes").id

    assert alice.get("/v1/sync", cursor=before)["categories"] is not None
    assert alice.get("/v1/sync", cursor=after)["categories"] is None
