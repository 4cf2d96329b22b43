"""Snoozed entries: read until their day, unread again then, and never in between."""

from __future__ import annotations

import asyncio
import time
from datetime import UTC, datetime, timedelta

import pytest
from sqlalchemy import update

from support.people import Person
from support.publisher import Publisher
from support.visitors import Visitor
from tidings.base.errors import InvalidInput
from tidings.base.times import DAY, HOUR, Instant, from_datetime
from tidings.services.clock import system_clock
from tidings.services.listeners import Listeners
from tidings.snooze.snooze import Snooze
from tidings.snooze.times import parse_until
from tidings.snooze.worker import SnoozeWorker
from tidings.storage.schema import snoozed_entries

NOW = from_datetime(datetime(2026, 11, 27, 15, 0, tzinfo=UTC))


def day(days: int) -> str:
    return (datetime.now(UTC).date() + timedelta(days=days)).isoformat()


def id_of(person: Person, title: str) -> int:
    return int(next(entry["id"] for entry in person.entries() if entry["title"] == title))


def make_due(person: Person) -> None:
    """Let all that the user has snoozed be due."""
    with person.service.services.database.writing() as db:
        due = update(snoozed_entries).where(snoozed_entries.c.user_id == person.id)
        db.run(due.values(until=Instant(system_clock() - 1)))


def wake(person: Person) -> None:
    """Do what the worker does."""
    Snooze(person.service.services.database, system_clock, Listeners()).wake()


def unread(person: Person) -> list[str]:
    return sorted(entry["title"] for entry in person.entries(status="unread"))


def wait_until_unread(person: Person, title: str) -> None:
    end = time.monotonic() + 60
    while title not in unread(person) and time.monotonic() < end:
        time.sleep(0.05)


def listed(person: Person) -> list[int]:
    return [one["entry_id"] for one in person.get("/v1/entries/snooze")]


def test_a_snoozed_entry_is_read_until_its_day_and_then_unread(alice: Person, bob: Person, site: Publisher) -> None:
    feed = alice.has_feed(site, ["Rain", "Snow"])
    bob.has_feed(site)
    rain = id_of(alice, "Rain")
    cursor = alice.get("/v1/sync")["next_cursor"]

    shown = alice.put(f"/v1/entries/{rain}/snooze", {"until": day(3)}, status=201)

    assert shown == {"entry_id": rain, "until": f"{day(3)}T06:00:00Z"}
    assert alice.get("/v1/entries/snooze") == [shown]
    assert unread(alice) == ["Snow"]
    assert alice.get("/v1/feeds/counters")["unreads"] == {str(feed["id"]): 1}
    changed = alice.get("/v1/sync", cursor=cursor)
    assert [(one["title"], one["status"]) for one in changed["entries"]] == [("Rain", "read")]
    wake(alice)
    assert unread(alice) == ["Snow"]

    make_due(alice)
    wake(alice)

    assert unread(alice) == ["Rain", "Snow"]
    assert alice.get("/v1/feeds/counters")["unreads"] == {str(feed["id"]): 2}
    changed = alice.get("/v1/sync", cursor=changed["next_cursor"])
    assert [(one["title"], one["status"]) for one in changed["entries"]] == [("Rain", "unread")]
    assert listed(alice) == []
    assert len(unread(bob)) == 2


def test_a_worker_brings_due_entries_back(alice: Person, site: Publisher) -> None:
    alice.has_feed(site, ["Rain"])
    alice.put(f"/v1/entries/{id_of(alice, 'Rain')}/snooze", {"until": day(3)}, status=201)
    make_due(alice)

    async def work_until_back() -> None:
        stop = asyncio.Event()
        worker = SnoozeWorker(Snooze(alice.service.services.database, system_clock, Listeners()))
        running = asyncio.create_task(worker.run(stop))
        await asyncio.to_thread(wait_until_unread, alice, "Rain")
        stop.set()
        await running

    asyncio.run(work_until_back())

    assert unread(alice) == ["Rain"]
    assert listed(alice) == []


def test_several_entries_are_snoozed_until_a_time(alice: Person, bob: Person, site: Publisher) -> None:
    alice.has_feed(site, ["Rain", "Snow", "Hail"])
    bob.has_feed(site)
    strange = bob.entries()[0]["id"]
    rain, snow, hail = (id_of(alice, title) for title in ("Rain", "Snow", "Hail"))
    alice.put("/v1/entries", {"entry_ids": [hail], "status": "removed"}, status=204)
    alice.put(f"/v1/entries/{snow}/snooze", {"until": day(1)}, status=201)

    until = (datetime.now(UTC) + timedelta(days=5)).isoformat(timespec="seconds")
    found = alice.put("/v1/entries/snooze", {"entry_ids": [rain, snow, hail, strange], "until": until}, status=201)

    assert [one["entry_id"] for one in found] == sorted([rain, snow])
    assert {one["until"] for one in found} == {until.replace("+00:00", "Z")}
    assert sorted(listed(alice)) == sorted([rain, snow])
    assert unread(alice) == []
    assert len(unread(bob)) == 2


def test_a_day_begins_at_six_where_the_user_is(alice: Person, site: Publisher) -> None:
    alice.put(f"/v1/users/{alice.id}", {"timezone": "Asia/Tokyo"}, status=201)
    alice.has_feed(site, ["Rain"])

    shown = alice.put(f"/v1/entries/{id_of(alice, 'Rain')}/snooze", {"until": day(9)}, status=201)

    assert shown["until"] == f"{day(9)}T06:00:00+09:00"


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("2026-11-27", "is over"),
        ("2026-11-27T15:00:00Z", "is over"),
        ("1970-01-01", "is over"),
        ("2027-12-01", "within a year"),
        ("9999-12-31", "within a year"),
        ("0001-01-01", "is over"),
        ("2026-02-30", "send a day"),
        ("2026-12-01T25:00:00Z", "send a day"),
        ("2026-12-01T10:00:00", "send a day"),
        ("20261201", "send a day"),
        ("tomorrow", "send a day"),
        ("", "send a day"),
        ("9999-12-31T23:59:59-14:00", "within a year"),
    ],
)
def test_a_time_that_cannot_be_used_is_refused_with_a_reason(text: str, says: str) -> None:
    with pytest.raises(InvalidInput, match=says):
        parse_until(text, "Europe/Paris", NOW)


def test_times_are_read_exactly() -> None:
    assert parse_until("2026-11-28", "Europe/Paris", NOW) == NOW + 14 * HOUR
    assert parse_until("2026-11-28T06:00:00+01:00", "UTC", NOW) == NOW + 14 * HOUR
    assert parse_until("2026-11-28t05:00:00.000000z", "UTC", NOW) == NOW + 14 * HOUR
    assert parse_until("2027-11-28", "UTC", NOW) == NOW + 365 * DAY + 15 * HOUR


def test_errors_name_the_field_and_change_nothing(alice: Person, bob: Person, site: Publisher) -> None:
    alice.has_feed(site, ["Rain"])
    rain = id_of(alice, "Rain")

    for body in ({"until": "2020-01-01"}, {"until": "soon"}):
        assert alice.put(f"/v1/entries/{rain}/snooze", body, status=400)["error_message"].startswith("until: ")
    assert alice.put("/v1/entries/snooze", {"entry_ids": [], "until": day(1)}, status=400)
    assert alice.put("/v1/entries/snooze", {"entry_ids": [rain] * 1_001, "until": day(1)}, status=400)
    bob.put(f"/v1/entries/{rain}/snooze", {"until": day(1)}, status=404)
    bob.call("DELETE", f"/v1/entries/{rain}/snooze")

    assert unread(alice) == ["Rain"]
    assert listed(alice) == listed(bob) == []


@pytest.mark.parametrize("status", ["unread", "removed"])
def test_a_snooze_ends_when_its_entry_is_no_longer_read(alice: Person, site: Publisher, status: str) -> None:
    alice.has_feed(site, ["Rain"])
    rain = id_of(alice, "Rain")
    alice.put(f"/v1/entries/{rain}/snooze", {"until": day(1)}, status=201)

    alice.put("/v1/entries", {"entry_ids": [rain], "status": status}, status=204)
    alice.put("/v1/entries", {"entry_ids": [rain], "status": "read"}, status=204)

    assert listed(alice) == []
    make_due(alice)
    wake(alice)
    assert unread(alice) == []


def test_a_star_does_not_end_a_snooze(alice: Person, site: Publisher) -> None:
    alice.has_feed(site, ["Rain"])
    rain = id_of(alice, "Rain")
    alice.put(f"/v1/entries/{rain}/snooze", {"until": day(1)}, status=201)

    alice.put(f"/v1/entries/{rain}/bookmark", status=204)
    alice.put("/v1/entries", {"entry_ids": [rain], "status": "read"}, status=204)

    assert listed(alice) == [rain]


def test_ending_a_snooze_marks_the_entry_unread(alice: Person, site: Publisher) -> None:
    alice.has_feed(site, ["Rain", "Snow"])
    rain, snow = id_of(alice, "Rain"), id_of(alice, "Snow")
    alice.put("/v1/entries", {"entry_ids": [snow], "status": "read"}, status=204)
    alice.put(f"/v1/entries/{rain}/snooze", {"until": day(1)}, status=201)

    for entry_id in (rain, snow):
        alice.delete(f"/v1/entries/{entry_id}/snooze")

    assert unread(alice) == ["Rain"]
    assert listed(alice) == []


def test_deleting_the_history_keeps_snoozed_entries(alice: Person, site: Publisher) -> None:
    alice.has_feed(site, ["Rain", "Snow"])
    rain = id_of(alice, "Rain")
    alice.put("/v1/entries", {"entry_ids": [id_of(alice, "Snow")], "status": "read"}, status=204)
    alice.put(f"/v1/entries/{rain}/snooze", {"until": day(300)}, status=201)

    alice.put("/v1/flush-history", status=202)

    assert [entry["title"] for entry in alice.entries()] == ["Rain"]
    assert listed(alice) == [rain]


def test_a_feed_takes_its_snoozed_entries_along(alice: Person, site: Publisher) -> None:
    feed = alice.has_feed(site, ["Rain"])
    alice.put(f"/v1/entries/{id_of(alice, 'Rain')}/snooze", {"until": day(1)}, status=201)

    alice.delete(f"/v1/feeds/{feed['id']}")

    assert listed(alice) == []


# Pages


def test_the_menu_snoozes_and_the_notice_undoes_it(alice: Person, reader: Visitor, site: Publisher) -> None:
    alice.has_feed(site, ["Rain", "Snow"])
    rain = id_of(alice, "Rain")
    assert f"/entries/{rain}/snooze" in reader.page(f"/unread/{rain}")

    reader.post(f"/entries/{rain}/snooze", choice="week", day="", back="/unread")

    page = reader.page("/unread")
    assert "Unread again on" in page
    assert [one["until"][:10] for one in alice.get("/v1/entries/snooze")] == [day(7)]
    assert "Rain" in reader.page("/snoozed")
    moment = page.partition('name="moment" value="')[2].partition('"')[0]
    reader.post("/entries/undo", moment=moment, back="/unread")
    assert listed(alice) == []
    assert unread(alice) == ["Rain", "Snow"]


def test_the_page_takes_a_day_and_says_why_it_does_not(alice: Person, reader: Visitor, site: Publisher) -> None:
    alice.has_feed(site, ["Rain"])
    rain = id_of(alice, "Rain")
    assert "Nothing is snoozed" in reader.page("/snoozed")

    reader.post(f"/entries/{rain}/snooze", day="2020-01-01", back="/unread")
    assert "choose a later one" in reader.page("/unread")
    assert listed(alice) == []

    reader.post(f"/entries/{rain}/snooze", day=day(2), back="/unread")
    assert [one["until"][:10] for one in alice.get("/v1/entries/snooze")] == [day(2)]
    reader.post(f"/entries/{rain}/snooze/end", back="/snoozed")
    assert unread(alice) == ["Rain"]
