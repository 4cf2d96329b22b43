"""Liferea as Debian ships it, with its source "Google Reader API". Installed if that is possible."""

from __future__ import annotations

from pathlib import Path

import pytest

from clients.desktop import eventually, require
from clients.liferea import NEXT_UNREAD, TOGGLE_STAR, Liferea, liferea
from support.people import Person
from support.publisher import Publisher

pytestmark = pytest.mark.slow


@pytest.fixture(autouse=True)
def _installed() -> None:
    require("liferea")


@pytest.fixture
def password(alice: Person, site: Publisher) -> str:
    """And three entries, of which one is read and another starred."""
    alice.has_feed(site, ["Rain", "Sun", "Wind"], category_id=alice.has_category("Weather")["id"])
    ids = {entry["title"]: entry["id"] for entry in alice.entries()}
    alice.put("/v1/entries", {"entry_ids": [ids["Sun"]], "status": "read"})
    alice.put("/v1/entries", {"entry_ids": [ids["Wind"]], "starred": True})
    created: str = alice.post("/v1/api-passwords", {"name": "Liferea"})["password"]
    return created


def states(person: Person) -> dict[str, tuple[str, bool]]:
    return {entry["title"]: (entry["status"], entry["starred"]) for entry in person.entries()}


def wait_for_items(reader: Liferea) -> None:
    eventually(lambda: set(reader.items()) == {"Rain", "Sun", "Wind"}, reader.items)


def test_it_shows_the_entries_and_tells_what_it_marks(alice: Person, password: str, tmp_path: Path) -> None:
    with liferea(alice, password, tmp_path) as reader:
        wait_for_items(reader)
        assert reader.items() == {"Rain": (False, False), "Sun": (True, False), "Wind": (False, True)}

        def unread() -> set[str]:
            return {title for title, (status, _) in states(alice).items() if status == "unread"}

        def starred() -> set[str]:
            return {title for title, (_, is_starred) in states(alice).items() if is_starred}

        # Reads one at a time.
        eventually(lambda: _pressed(reader, NEXT_UNREAD) and len(unread()) < 2, unread)
        # Of the one that it shows, whichever that is.
        before = starred()
        reader.press(TOGGLE_STAR)
        eventually(lambda: starred() != before, starred)
        eventually(lambda: _pressed(reader, NEXT_UNREAD) and not unread(), unread)


def test_a_wrong_password_gets_nothing(alice: Person, password: str, tmp_path: Path) -> None:
    (stored,) = alice.get("/v1/api-passwords")
    with liferea(alice, f"{password}x", tmp_path) as reader:
        eventually(lambda: "abcdefg" in reader.folders() and _has_started(reader), reader.items)
        assert reader.items() == {}
    assert alice.get("/v1/api-passwords") == [stored]


def _has_started(reader: Liferea) -> bool:
    return (reader.home / ".local/share/liferea/liferea.db").exists()


def _pressed(reader: Liferea, key: str) -> bool:
    reader.press(key)
    return True
