"""Marks: each sets a state, and a repeated request changes nothing."""

from __future__ import annotations

import time
from typing import Any

import pytest

from clients.library import Library
from fever.apps import FeverApp, sign_in
from support.people import Person
from tidings.base.times import SECOND
from tidings.storage.schema import entries as rows

pytestmark = pytest.mark.slow

EARLY, LATE = 1_000_000_000, 4_000_000_000


PLACES = ("form", "query", "get")


@pytest.fixture(params=[PLACES[0], *(pytest.param(place, marks=pytest.mark.long) for place in PLACES[1:])])
def app(request: pytest.FixtureRequest, alice: Person) -> FeverApp:
    """An app that sends marks as a form, in the query of a POST, or with GET."""
    return sign_in(alice, marks_in=request.param)


def state(person: Person, entry_id: int) -> tuple[str, bool]:
    entry = person.get(f"/v1/entries/{entry_id}")
    return entry["status"], entry["starred"]


@pytest.mark.parametrize("place", PLACES)
def test_a_mark_is_sent_in_a_form_in_the_query_or_with_get(alice: Person, library: Library, place: str) -> None:
    app = sign_in(alice, place, marks_in=place)
    unread = app.unread()

    app.mark(mark="item", id=library.entry, **{"as": "saved"})
    app.mark(mark="feed", id=library.feed, before=LATE, **{"as": "read"})

    assert state(alice, library.entry) == ("read", True)
    assert app.unread() == [library.listened]
    app.mark(unread_recently_read=1)
    assert set(unread) <= set(app.unread())


@pytest.mark.parametrize(
    ("word", "wanted"),
    [("read", ("read", False)), ("unread", ("unread", False)), ("saved", ("unread", True)),
     ("unsaved", ("unread", False))],
)  # fmt: skip
def test_a_mark_sets_and_never_toggles(
    alice: Person, library: Library, app: FeverApp, word: str, wanted: tuple[str, bool]
) -> None:
    app.mark(mark="item", id=library.entry, **{"as": word})
    assert state(alice, library.entry) == wanted
    changed_at = alice.get(f"/v1/entries/{library.entry}")["changed_at"]

    app.mark(mark="item", id=library.entry, **{"as": word})

    assert state(alice, library.entry) == wanted
    assert alice.get(f"/v1/entries/{library.entry}")["changed_at"] == changed_at


def test_star_and_read_mark_are_independent(alice: Person, library: Library, app: FeverApp) -> None:
    app.mark(mark="item", id=library.starred, **{"as": "unread"})
    assert state(alice, library.starred) == ("unread", True)
    app.mark(mark="item", id=library.starred, **{"as": "unsaved"})
    assert state(alice, library.starred) == ("unread", False)


def test_queries_of_the_same_request_see_the_mark(library: Library, app: FeverApp) -> None:
    found = app.get("&saved_item_ids", fields={"mark": "item", "as": "unsaved", "id": library.starred})

    assert found["saved_item_ids"] == ""


def test_an_unknown_item_gets_the_usual_answer(alice: Person, library: Library, app: FeverApp) -> None:
    before = alice.entries()

    for number in (library.unknown, 0, -5, 2**63):
        assert app.mark(mark="item", id=number, **{"as": "saved"})["auth"] == 1
        assert app.mark(mark="feed", id=number or 77777, before=LATE, **{"as": "read"})["auth"] == 1
        assert app.mark(mark="group", id=number or 77777, before=LATE, **{"as": "read"})["auth"] == 1

    assert alice.entries() == before


@pytest.mark.parametrize(("kind", "name"), [("feed", "feed"), ("group", "category")])
def test_a_feed_or_a_group_is_marked(alice: Person, library: Library, app: FeverApp, kind: str, name: str) -> None:
    app.mark(mark=kind, id=getattr(library, name), before=int(time.time()) + 5, **{"as": "read"})

    assert app.unread() == [library.listened]
    assert state(alice, library.starred) == ("read", True)


@pytest.mark.parametrize("before", [LATE, 2**63 - 1, 10**24, "", "0", "4000000000.5"])
def test_group_0_is_everything(library: Library, app: FeverApp, before: Any) -> None:
    app.mark(mark="group", id=0, before=before, **{"as": "read"})

    assert app.unread() == []
    assert library.entry


def test_group_minus_1_is_nothing(library: Library, app: FeverApp) -> None:
    app.mark(mark="group", id=-1, before=LATE, **{"as": "read"})

    assert len(app.unread()) == 3
    assert library.entry


@pytest.mark.parametrize(("kind", "name"), [("feed", "feed"), ("group", "category"), ("group", "")])
def test_entries_stored_after_before_stay_unread(
    alice: Person, library: Library, app: FeverApp, kind: str, name: str
) -> None:
    """The time at which an entry was stored counts: an old article may arrive late."""
    number = getattr(library, name) if name else 0
    app.mark(mark=kind, id=number, before=EARLY, **{"as": "read"})
    assert len(app.unread()) == 3
    stored_at(alice, library.entry, EARLY * SECOND)

    app.mark(mark=kind, id=number, before=EARLY - 1, **{"as": "read"})
    assert len(app.unread()) == 3
    app.mark(mark=kind, id=number, before=EARLY, **{"as": "read"})

    assert library.entry not in app.unread()
    assert len(app.unread()) == 2


def stored_at(person: Person, entry_id: int, moment: int) -> None:
    with person.service.services.database.writing() as db:
        db.run(rows.update().where(rows.c.id == entry_id).values(created_at=moment))


def test_counts_follow_marks(alice: Person, library: Library, app: FeverApp) -> None:
    app.mark(mark="item", id=library.entry, **{"as": "read"})
    app.mark(mark="group", id=library.podcasts, before=LATE, **{"as": "read"})

    counts = alice.get("/v1/feeds/counters")
    assert counts["unreads"].get(str(library.feed)) == 1
    assert counts["unreads"].get(str(library.podcast), 0) == 0


def test_the_last_marks_can_be_undone_once(alice: Person, library: Library, app: FeverApp) -> None:
    unread = app.unread()
    app.mark(mark="item", id=library.entry, **{"as": "read"})
    app.mark(mark="group", id=0, before=LATE, **{"as": "read"})

    app.mark(unread_recently_read=1)

    # The library marked this one read in the 15 seconds before.
    assert app.unread() == sorted([*unread, library.starred])
    app.mark(mark="item", id=library.starred, **{"as": "read"})
    app.mark(unread_recently_read=1)
    app.mark(mark="item", id=library.starred, **{"as": "unread"})
    before = alice.entries(order="id")
    app.mark(unread_recently_read=1)
    assert alice.entries(order="id") == before


def test_undo_keeps_marks_made_over_fifteen_seconds_before_the_last(
    alice: Person, library: Library, app: FeverApp
) -> None:
    app.mark(mark="item", id=library.entry, **{"as": "read"})
    with alice.service.services.database.writing() as db:
        earlier = rows.c.changed_at - 16 * SECOND
        db.run(rows.update().where(rows.c.user_id == alice.id).values(changed_at=earlier))
    app.mark(mark="item", id=library.listened, **{"as": "read"})

    app.mark(unread_recently_read=1)

    assert state(alice, library.listened)[0] == "unread"
    assert state(alice, library.entry)[0] == "read"


def test_an_app_undoes_only_its_own_marks(alice: Person, library: Library, app: FeverApp) -> None:
    other = sign_in(alice, "other")
    other.mark(mark="item", id=library.entry, **{"as": "read"})

    app.mark(unread_recently_read=1)

    assert state(alice, library.entry)[0] == "read"


def test_many_items_are_marked_at_once(alice: Person, library: Library, app: FeverApp) -> None:
    ids = [*range(10_000_001, 10_002_001), library.entry]

    app.call(fields={"mark": "item", "as": "read", "id": ",".join(map(str, ids))})

    assert state(alice, library.entry)[0] == "read"


def test_an_invalid_mark_gets_400_and_changes_nothing(alice: Person, library: Library, app: FeverApp) -> None:
    before = alice.entries()
    for fields in (
        {"mark": "all", "as": "read", "id": 1},
        {"mark": "item", "as": "starred", "id": 1},
        {"mark": "item", "as": "", "id": 1},
        {"mark": "item", "as": "read"},
        {"mark": "item", "as": "read", "id": "x"},
        {"mark": "item", "as": "read", "id": ",".join(map(str, range(1, 10_002)))},
        {"mark": "feed", "as": "read"},
        {"mark": "feed", "as": "saved", "id": 1},
        {"mark": "group", "as": "unread", "id": 0},
        {"mark": "group", "as": "read", "id": 0, "before": "yesterday"},
    ):
        answer = app.call(fields=fields)

        assert answer.status == 400, fields
        assert answer.json()["auth"] == 1, fields
        assert answer.json()["error_message"], fields
    assert alice.entries() == before
    assert library.entry


def test_head_marks_nothing(alice: Person, library: Library, app: FeverApp) -> None:
    app.call(f"&mark=item&as=saved&id={library.entry}", method="HEAD", key_in="query")

    assert state(alice, library.entry) == ("unread", False)
