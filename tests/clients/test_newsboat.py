"""newsboat as Debian ships it, at a terminal. Skipped where it is not on the PATH and cannot be installed."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path

import pytest

from clients import newsboat as boat
from clients.library import Library, numbered, subscribe
from clients.newsboat import newsboat
from clients.terminal import ENTER, Terminal
from support.people import Person
from support.publisher import Publisher

pytestmark = pytest.mark.slow

BACK = "q"
RELOAD_ALL = "R"
SELECT_TAG = "t"
MARK_FEED_READ = "A"
TOGGLE_READ = "N"
EDIT_FLAGS = "\x05"


@pytest.fixture(autouse=True)
def _installed() -> None:
    try:
        boat.program()
    except boat.NewsboatMissing as error:
        pytest.skip(str(error))


def eventually(holds: Callable[[], bool], screen: Terminal, within_s: float = 180) -> None:
    """newsboat tells the service in the background."""
    deadline = time.monotonic() + within_s
    while not holds():
        assert time.monotonic() < deadline, f"the service was not told; the screen:\n{screen.text}"
        time.sleep(0.05)


def status(person: Person, entry_id: int) -> str:
    word: str = person.get(f"/v1/entries/{entry_id}")["status"]
    return word


def reload(screen: Terminal) -> None:
    screen.see(r"The Weather", r"The Talks")
    screen.type(RELOAD_ALL)
    screen.see(r"\(\d/3\) The Weather", r"\(\d/1\) The Talks")


def press_until(screen: Terminal, key: str, pattern: str) -> None:
    """Press the key every half second until a line matches: newsboat ignores keys during a reload, and says nothing."""

    def is_there() -> bool:
        if screen.line_with(pattern) is None:
            screen.type(key)
            time.sleep(0.5)
        return screen.line_with(pattern) is not None

    eventually(is_there, screen)


def choose(screen: Terminal, pattern: str) -> None:
    """The line of a list that matches, by its number at the beginning."""
    number = int(screen.see(rf"^ *\d+ .*{pattern}").split()[0])
    screen.type(boat.HOME + boat.DOWN * (number - 1) + ENTER)


def open_feed(screen: Terminal, title: str) -> None:
    """Choose a feed, again if another one was opened: at the end of a reload, newsboat ignores some of the keys."""
    choose(screen, title)
    while title not in screen.see(r"Articles in feed"):
        screen.type(BACK)
        screen.see(r"Your feeds")
        choose(screen, title)


def open_article(screen: Terminal, title: str) -> None:
    choose(screen, title)
    screen.see(rf"^Title: {title}")


def test_feeds_are_shown_with_their_unread_counts(alice: Person, library: Library, tmp_path: Path) -> None:
    with newsboat(alice, tmp_path) as screen:
        reload(screen)
        screen.see(r"^ +\d N +\(2/3\) The Weather$", r"^ +\d N +\(1/1\) The Talks$")

        open_feed(screen, "The Weather")
        screen.see(r" N  Sep 28 .*Rain tomorrow$", r"\d    Sep 28 .*Sun today$", r" N  Sep 28 .*Wind yesterday$")


def test_categories_are_tags(alice: Person, library: Library, tmp_path: Path) -> None:
    with newsboat(alice, tmp_path) as screen:
        reload(screen)
        press_until(screen, SELECT_TAG, r"Select Tag")
        screen.see(r"News \(1\)")
        choose(screen, r"Podcasts \(1\)")
        screen.see(r"tag .Podcasts.", r"The Talks")
        assert not screen.line_with("The Weather"), screen.text


@pytest.mark.parametrize("ending", ["", "/"])
def test_reading_an_article_marks_it_read(alice: Person, library: Library, tmp_path: Path, ending: str) -> None:
    with newsboat(alice, tmp_path, f'miniflux-url "{alice.service.url}{ending}"') as screen:
        reload(screen)
        open_feed(screen, "The Weather")
        open_article(screen, "Rain tomorrow")
        screen.see(r"^Feed: The Weather", r"^Author: Dr\. Cloud", r"^Date: Mon, 28 Sep 2026 10:00:00", r"All of it\.")
        screen.type(BACK)
        screen.see(r"\d    Sep 28 .*Rain tomorrow$")

        eventually(lambda: status(alice, library.entry) == "read", screen)
        assert alice.get("/v1/feeds/counters")["unreads"][str(library.feed)] == 1


def test_an_article_can_be_made_unread_again(alice: Person, library: Library, tmp_path: Path) -> None:
    with newsboat(alice, tmp_path) as screen:
        reload(screen)
        open_feed(screen, "The Weather")
        open_article(screen, "Sun today")
        screen.type(BACK)
        screen.see(r"Articles in feed")
        screen.type(TOGGLE_READ)
        screen.see(r" N  Sep 28 .*Sun today$")

        eventually(lambda: status(alice, library.starred) == "unread", screen)


def test_a_feed_can_be_marked_read(alice: Person, library: Library, tmp_path: Path) -> None:
    with newsboat(alice, tmp_path) as screen:
        reload(screen)
        open_feed(screen, "The Weather")
        screen.type(MARK_FEED_READ)

        eventually(lambda: alice.get("/v1/entries", status="unread")["total"] == 1, screen)
        assert status(alice, library.listened) == "unread"


def test_changes_by_another_client_are_shown_after_a_reload(alice: Person, library: Library, tmp_path: Path) -> None:
    with newsboat(alice, tmp_path) as screen:
        reload(screen)
        screen.see(r"\(2/3\) The Weather")
        alice.put(f"/v1/feeds/{library.feed}/mark-all-as-read")
        alice.put("/v1/entries", {"entry_ids": [library.starred], "status": "unread"})

        press_until(screen, RELOAD_ALL, r"\(1/3\) The Weather")


def test_the_newest_hundred_entries_of_a_long_feed_are_shown(alice: Person, site: Publisher, tmp_path: Path) -> None:
    subscribe(alice, site, numbered(130), "Long")
    with newsboat(alice, tmp_path) as screen:
        screen.see(r"Long")
        screen.type(RELOAD_ALL)
        screen.see(r"\(100/100\) Long")
        open_feed(screen, "Long")
        screen.see(r"^ +1 N .*Number 130$")


def test_a_wrong_password_is_reported(alice: Person, library: Library, tmp_path: Path) -> None:
    with newsboat(alice, tmp_path, 'miniflux-password "wrong"') as screen:
        screen.see(r"configured any feeds|[Aa]uthentication failed")


def star(screen: Terminal, title: str) -> None:
    """From the list of articles, and back to it."""
    open_article(screen, title)
    screen.type(EDIT_FLAGS)
    screen.see(r"^Flags:")
    screen.type("s" + ENTER)
    screen.see(r"^Title:")
    screen.type(BACK)
    screen.see(r"Articles in feed")


def test_starring_an_article(alice: Person, library: Library, tmp_path: Path) -> None:
    if not boat.supports_setting("miniflux-flag-star"):
        pytest.skip("this newsboat keeps its flags to itself: telling the service came after 2.21")
    with newsboat(alice, tmp_path, 'miniflux-flag-star "s"', f'miniflux-token "{alice.token}"') as screen:
        reload(screen)
        screen.see(r"/1\) Starred items")
        open_feed(screen, "The Weather")
        star(screen, "Rain tomorrow")
        eventually(lambda: alice.get(f"/v1/entries/{library.entry}")["starred"] is True, screen)

        # Starred already, and it stays so: newsboat looks before it asks for a flip.
        star(screen, "Sun today")
        star(screen, "Wind yesterday")
        eventually(lambda: alice.get("/v1/entries", starred="true")["total"] == 3, screen)

        screen.type(BACK)
        screen.type(RELOAD_ALL)
        screen.see(r"/3\) Starred items")
