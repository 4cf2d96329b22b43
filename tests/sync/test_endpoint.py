"""GET /v1/sync (docs/sync.md)."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import insert, update

from support.people import Person
from support.publisher import Publisher
from sync.device import Device
from tidings.base.times import DAY, MINUTE, Instant
from tidings.engine.database import Database
from tidings.services import Services
from tidings.services.sync_cursor import NOTHING, Cursor, Stage, read_cursor
from tidings.storage.accounts import change_log
from tidings.storage.accounts.change_log import Point
from tidings.storage.feeds import categories
from tidings.storage.schema import changes, list_versions
from tidings.sync import store
from tidings.sync.sync import KEPT, MAX_ROWS, remove_old

PAGE = Path(__file__).parents[2] / "docs" / "sync.md"


def device(person: Person, **query: Any) -> Device:
    def ask(cursor: str) -> dict[str, Any] | None:
        answer = person.call("GET", "/v1/sync", cursor=cursor, **query)
        assert answer.status in (200, 410), answer
        return dict(answer.json()) if answer.status == 200 else None

    return Device(ask)


def test_a_client_has_everything_and_then_what_changes(alice: Person, site: Publisher) -> None:
    feed = alice.has_feed(site, ["One", "Two"])
    phone = device(alice)
    phone.sync()
    assert phone.feeds[feed["id"]]["title"] == feed["title"]
    assert {entry["title"] for entry in phone.entries.values()} == {"One", "Two"}
    assert phone.settings["username"] == alice.user.username

    (first, *_) = alice.entries()
    label = alice.post("/v1/labels", {"title": "Later"})
    alice.put("/v1/entries", {"entry_ids": [first["id"]], "status": "read", "add_labels": [label["id"]]})
    received = phone.received
    phone.sync()
    assert phone.received == received + 1
    assert phone.entries[first["id"]]["status"] == "read"
    assert phone.entries[first["id"]]["label_ids"] == [label["id"]]
    assert [one["title"] for one in phone.small["labels"]] == ["Later"]

    alice.delete(f"/v1/feeds/{feed['id']}")
    alice.delete(f"/v1/labels/{label['id']}")
    phone.sync()
    assert (phone.feeds, phone.entries, phone.small["labels"]) == ({}, {}, [])
    assert phone.times_begun == 0


def test_a_client_that_reads_all_pages_is_in_step_at_the_end(alice: Person, site: Publisher) -> None:
    alice.has_feed(site, ["One", "Two"])
    phone = device(alice, limit=1)
    assert phone.read_page()

    alice.has_category("New")
    phone.sync()

    assert [one["title"] for one in phone.small["categories"]] == ["All", "New"]


def test_a_response_without_news_is_small_and_keeps_the_cursor(alice: Person, site: Publisher) -> None:
    alice.has_feed(site)
    phone = device(alice)
    phone.sync()

    answer = alice.call("GET", "/v1/sync", cursor=phone.cursor)

    assert len(answer.body) < 400
    assert answer.json()["next_cursor"] == phone.cursor
    assert (answer.json()["has_more"], answer.json()["settings"]) == (False, None)


def test_only_the_members_that_were_asked_for_are_sent(alice: Person, site: Publisher) -> None:
    alice.has_feed(site)
    for entry in alice.get("/v1/sync", fields="status, starred")["entries"]:
        assert entry.keys() == {"id", "status", "starred"}
    whole = alice.get("/v1/sync")["entries"][0]
    listed = alice.entries()[0]
    assert listed.keys() - whole.keys() == {"feed", "labels"}
    assert whole.keys() - listed.keys() == {"label_ids"}


def test_the_example_of_the_handbook_is_what_is_sent(alice: Person, site: Publisher) -> None:
    path, shown = re.findall(r"^    GET (\S+)\n\n((?:    .*\n)+)", PAGE.read_text(encoding="utf-8"), re.MULTILINE)[0]
    alice.has_feed(site, ["Rain tomorrow"])

    received = alice.get(path)

    example = json.loads(shown.replace(", …", "").replace("…", ""))
    assert list(example) == list(received)
    assert [example["removed"], *map(list, example["entries"])] == [
        received["removed"],
        *map(list, received["entries"]),
    ]
    for kind in ("feeds", "categories"):
        assert example[kind][0].keys() <= received[kind][0].keys()


@pytest.mark.one_engine
def test_the_client_of_the_handbook_stays_in_step(alice: Person, site: Publisher, tmp_path: Path) -> None:
    (script,) = re.findall(r"^```python\n(.+?)^```", PAGE.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)
    kept = tmp_path / "copy.json"

    def run() -> dict[str, Any]:
        environment = {"READER_URL": alice.service.url, "READER_KEY": alice.token}
        subprocess.run([sys.executable, "-c", script], cwd=tmp_path, env=environment, check=True, timeout=60)
        copy: dict[str, Any] = json.loads(kept.read_text())
        return copy

    feed, other = (alice.has_feed(site, [name]) for name in ("One", "Two"))
    assert {one["title"] for one in run()["entries"].values()} == {"One", "Two"}

    (entry,) = alice.entries(feed_id=feed["id"])
    alice.put("/v1/entries", {"entry_ids": [entry["id"]], "starred": True})
    alice.delete(f"/v1/feeds/{other['id']}")
    expected = {"id": entry["id"], "feed_id": feed["id"], "title": "One", "status": "unread", "starred": True}
    assert run()["entries"] == {str(entry["id"]): expected}

    lost = read_cursor(json.loads(kept.read_text())["cursor"], alice.id).until
    ahead = Point(lost.number + 9, 5)
    kept.write_text(json.dumps({"cursor": Cursor(ahead, ahead).encode(alice.id), "feeds": {}, "entries": {}}))
    assert run()["entries"] == {str(entry["id"]): expected}, "it begins again after 410"


@pytest.mark.parametrize(
    ("query", "field"),
    [
        ({"cursor": "x"}, "cursor"),
        ({"cursor": "é"}, "cursor"),
        ({"cursor": "A" * 63}, "cursor"),
        ({"limit": 0}, "limit"),
        ({"limit": 1001}, "limit"),
        ({"fields": "status,colour"}, "fields"),
    ],
)
@pytest.mark.one_engine
def test_bad_input_is_named(alice: Person, query: dict[str, Any], field: str) -> None:
    answer = alice.call("GET", "/v1/sync", **query)
    assert (answer.status, answer.error.partition(":")[0]) == (400, field)
    if field == "fields":
        assert "colour" in answer.error


def test_a_cursor_of_another_user_is_refused(alice: Person, bob: Person) -> None:
    cursor = alice.get("/v1/sync")["next_cursor"]
    answer = bob.call("GET", "/v1/sync", cursor=cursor)
    assert answer.status == 400
    assert bob.call("GET", "/v1/sync", cursor=cursor[:-1] + ("A" if cursor[-1] != "A" else "B")).status == 400


def test_a_cursor_that_the_log_does_not_know_is_gone(alice: Person) -> None:
    known = read_cursor(alice.get("/v1/sync")["next_cursor"], alice.id)
    for point in (Point(known.until.number, known.until.version ^ 1), Point(known.until.number + 5, 3)):
        for cursor in (
            Cursor(point, point),
            Cursor(known.until, point, Stage.ENTRIES, 4),
            Cursor(NOTHING, point),
        ):
            answer = alice.call("GET", "/v1/sync", cursor=cursor.encode(alice.id))
            assert answer.status == 410
            assert answer.headers["x-error-code"] == "cursor-expired"


def test_a_client_that_was_away_too_long_begins_again(alice: Person, services: Services) -> None:
    def forget(after: Instant) -> None:
        with services.database.writing() as db:
            remove_old(db, Instant(services.clock() + after), 10**6)

    phone, tablet = device(alice), device(alice)
    phone.sync()
    alice.has_category()
    tablet.sync()
    forget(Instant(KEPT.days * DAY - MINUTE))
    phone.sync()
    assert phone.times_begun == 0, "it is kept as long as it should be"
    alice.has_category()

    forget(Instant((KEPT.days + 1) * DAY))
    tablet.sync()
    assert tablet.times_begun == 1
    assert len(tablet.small["categories"]) == 3
    phone.cursor = tablet.cursor
    forget(Instant((KEPT.days + 2) * DAY))
    phone.sync()
    assert phone.times_begun == 0, "the last change is kept for those who have it"


def test_a_change_is_kept_while_it_was_the_last_one(alice: Person, services: Services) -> None:
    """A client that was in step until a few days ago goes on, however long nothing had happened before."""
    phone = device(alice)
    phone.sync()
    long_ago = Instant(services.clock() - 10 * KEPT.days * DAY)
    with services.database.writing() as db:
        db.run(update(changes).where(changes.c.user_id == alice.id).values(made_at=long_ago))
    alice.has_category()
    with services.database.writing() as db:
        remove_old(db, services.clock(), 10**6)

    phone.sync()

    assert phone.times_begun == 0
    assert len(phone.small["categories"]) == 2


def test_the_log_of_a_user_has_a_greatest_size(alice: Person, bob: Person, services: Services) -> None:
    for _ in range(9):
        alice.has_category()
    with services.database.writing() as db:
        limited = [store.remove_old(db, Instant(0), 5, 2) for _ in range(9)]
    assert max(limited) == 2
    with services.database.reading() as db:
        assert len(change_log.rows(db, alice.id, 0, limit=100)) == 5
        assert change_log.last_point(db, bob.id) is not None


def test_a_client_that_was_away_for_long_goes_in_steps(alice: Person, services: Services, site: Publisher) -> None:
    feed = alice.has_feed(site)
    phone = device(alice)
    phone.sync()
    last = read_cursor(phone.cursor, alice.id).until.number
    added = range(last + 1, last + MAX_ROWS + 100)
    row = {"user_id": alice.id, "made_at": services.clock(), "objects": f'{{"feeds":[{feed["id"]}]}}'}
    with services.database.writing() as db:
        db.run_many(insert(changes), [{**row, "number": number, "version": number} for number in added])
        db.run(update(list_versions).where(list_versions.c.user_id == alice.id).values(number=added[-1]))
    alice.has_category("Later")
    received = phone.received

    assert phone.read_page(), "there is more"
    phone.sync()

    assert [one["title"] for one in phone.small["categories"]] == ["All", "Later"]
    assert phone.received == received + 2, "once in each step"


def test_a_transaction_that_is_open_is_neither_missed_nor_repeated(alice: Person, services: Services) -> None:
    """On PostgreSQL, another one of the same user that began after it commits before it. SQLite has one at a time."""
    database: Database = services.database
    phone = device(alice)
    phone.sync()
    is_written, may_commit = threading.Event(), threading.Event()

    def titles() -> set[str]:
        phone.sync()
        return {one["title"] for one in phone.small["categories"]}

    def write_slowly() -> None:
        with database.writing() as db:
            categories.add(db, alice.id, title="Slow", title_key="slow", hide_globally=False)
            is_written.set()
            may_commit.wait(60)

    slow = threading.Thread(target=write_slowly)
    slow.start()
    assert is_written.wait(60)
    quick = set() if database.is_sqlite else {"Quick"}
    if quick:
        alice.has_category("Quick")
    assert titles() == {"All", *quick}
    may_commit.set()
    slow.join(60)
    assert titles() == {"All", "Slow", *quick}
    assert alice.get("/v1/sync", cursor=phone.cursor)["categories"] is None


def test_overlapping_writers_miss_and_repeat_nothing(alice: Person, services: Services) -> None:
    phone, seen = device(alice), list[int]()
    phone.sync()

    def write(number: int) -> None:
        for step in range(10):
            with services.database.writing() as db:
                name = f"{number}-{step}"
                categories.add(db, alice.id, title=name, title_key=name, hide_globally=False)

    writers = [threading.Thread(target=write, args=[number]) for number in range(4)]
    for writer in writers:
        writer.start()
    while any(writer.is_alive() for writer in writers):
        phone.sync()
        seen.append(len(phone.small["categories"]))
    for writer in writers:
        writer.join()
    phone.sync()

    assert len(phone.small["categories"]) == 41
    assert seen == sorted(seen)
    with services.database.reading() as db:
        numbers = [row.point.number for row in change_log.rows(db, alice.id, 0, limit=1000)]
    assert numbers == list(range(numbers[0], numbers[0] + len(numbers))), "each has the next number"
