"""RSS Guard as Debian ships it (4.0), with its services "FreshRSS" and "Other". Installed if that is possible."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from clients.desktop import comes_true, eventually, require
from clients.rss_guard import (
    FRESHRSS,
    MARK_ALL_READ,
    NEXT_FEED,
    NEXT_UNREAD,
    OTHER,
    TOGGLE_STAR,
    UPDATE_ALL,
    RssGuard,
    rss_guard,
)
from greader.apps import App, label
from support.people import Person
from support.publisher import Publisher

pytestmark = pytest.mark.slow


@pytest.fixture(autouse=True)
def _installed() -> None:
    require("rssguard")


@pytest.fixture
def password(alice: Person, site: Publisher) -> str:
    """And three entries, of which one is read and another starred."""
    alice.has_feed(site, ["Rain", "Sun", "Wind"], category_id=alice.has_category("Weather")["id"])
    ids = {entry["title"]: entry["id"] for entry in alice.entries()}
    alice.put("/v1/entries", {"entry_ids": [ids["Sun"]], "status": "read"})
    alice.put("/v1/entries", {"entry_ids": [ids["Wind"]], "starred": True})
    created: str = alice.post("/v1/api-passwords", {"name": "RSS Guard"})["password"]
    return created


def states(person: Person) -> dict[str, tuple[bool, bool]]:
    return {entry["title"]: (entry["status"] == "read", entry["starred"]) for entry in person.entries()}


@pytest.mark.parametrize("kind", [FRESHRSS, OTHER], ids=["freshrss", "other"])
def test_it_shows_the_entries_and_tells_what_it_marks(alice: Person, password: str, tmp_path: Path, kind: int) -> None:
    with rss_guard(alice, password, tmp_path, kind) as reader:
        eventually(lambda: len(reader.items()) == 3, reader.log.read_text)
        assert shown(reader) == states(alice)
        assert {title: body for title, (_, _, body) in reader.items().items()} == {
            one["title"]: one["content"] for one in alice.entries()
        }
        assert set(reader.folders().values()) == {"Weather"}

        # Shows an entry, which is read by that, and stars the one that it shows, or takes the star away.
        before = shown(reader)
        press_until(reader, lambda: shown(reader) != before, NEXT_FEED, NEXT_UNREAD)
        stars = starred(reader)
        press_until(reader, lambda: starred(reader) != stars, NEXT_UNREAD, TOGGLE_STAR)
        _wait_until_synchronised(alice, reader)
        assert states(alice) != before

        press_until(reader, lambda: all(is_read for is_read, _ in shown(reader).values()), MARK_ALL_READ)
        _wait_until_synchronised(alice, reader)

        # What is starred elsewhere arrives there.
        alice.put("/v1/entries", {"entry_ids": [entry["id"] for entry in alice.entries()], "starred": True})
        _wait_until_synchronised(alice, reader)
        assert starred(reader) == {"Rain", "Sun", "Wind"}


@pytest.mark.parametrize("kind", [FRESHRSS, OTHER], ids=["freshrss", "other"])
def test_it_shows_the_labels_of_entries(alice: Person, password: str, tmp_path: Path, kind: int) -> None:
    """Giving one needs its menus, which no key opens; `test_app_sequences.py` has the requests."""
    app = App(alice).sign_in(password)
    ids = {entry["title"]: entry["id"] for entry in alice.entries()}
    app.post("edit-tag", [("i", str(ids["Rain"])), ("i", str(ids["Wind"])), ("a", label("To do"))])
    app.post("edit-tag", [("i", str(ids["Rain"])), ("a", label("Wet & cold"))])

    with rss_guard(alice, password, tmp_path, kind) as reader:
        expected = {"To do": {"Rain", "Wind"}, "Wet & cold": {"Rain"}}
        press_until(reader, lambda: reader.labels() == expected, UPDATE_ALL)


def test_a_wrong_password_gets_nothing(alice: Person, password: str, tmp_path: Path) -> None:
    with rss_guard(alice, f"{password}x", tmp_path, FRESHRSS) as reader:
        eventually(lambda: "Login failed" in reader.log.read_text(), reader.log.read_text)

        assert reader.items() == {}


def shown(reader: RssGuard) -> dict[str, tuple[bool, bool]]:
    return {title: (is_read, is_starred) for title, (is_read, is_starred, _) in reader.items().items()}


def starred(reader: RssGuard) -> set[str]:
    return {title for title, (_, is_starred) in shown(reader).items() if is_starred}


def _wait_until_synchronised(person: Person, reader: RssGuard) -> None:
    """It sends what it marked, and asks for what others did, with each update; only one runs at a time."""
    press_until(reader, lambda: shown(reader) == states(person), UPDATE_ALL)


def press_until(reader: RssGuard, holds: Callable[[], bool], *keys: str) -> None:
    """An update that just ends takes the selection away, so that a key may be without effect."""
    for _ in range(10):
        reader.press(*keys)
        if comes_true(holds, within_s=5):
            return
    raise AssertionError(f"{reader.items()}\n{reader.log.read_text()[-3000:]}")
