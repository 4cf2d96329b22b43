"""Several changes of status and star, applied in their order."""

from __future__ import annotations

from tidings.domain.entries.entries import EntryStatus
from tidings.domain.entries.state_changes import EntryState, StateChange, apply_all

ALICE, BOB = 1, 2
UNREAD = EntryState(int(EntryStatus.UNREAD), False)


def test_the_star_is_toggled_as_often_as_it_is_asked_for() -> None:
    toggle = StateChange(ALICE, [7], toggles_star=True)

    assert apply_all([toggle, toggle], {(ALICE, 7): UNREAD})[0] == {(ALICE, 7): UNREAD}
    assert apply_all([toggle] * 3, {(ALICE, 7): UNREAD})[0] == {(ALICE, 7): EntryState(0, True)}


def test_a_later_change_follows_an_earlier_one() -> None:
    star = StateChange(ALICE, [7], starred=True)
    toggle = StateChange(ALICE, [7], toggles_star=True)

    assert apply_all([star, toggle], {(ALICE, 7): UNREAD})[0] == {(ALICE, 7): EntryState(0, False)}
    assert apply_all([toggle, star], {(ALICE, 7): UNREAD})[0] == {(ALICE, 7): EntryState(0, True)}


def test_what_a_change_does_not_name_stays() -> None:
    read = StateChange(ALICE, [7], EntryStatus.READ)

    assert apply_all([read], {(ALICE, 7): EntryState(0, True)})[0] == {(ALICE, 7): EntryState(1, True)}


def test_an_entry_that_is_listed_twice_is_toggled_once() -> None:
    toggle = StateChange(ALICE, [7, 7], toggles_star=True)

    assert apply_all([toggle], {(ALICE, 7): UNREAD}) == ({(ALICE, 7): EntryState(0, True)}, [1])


def test_entries_of_others_and_missing_ones_are_neither_changed_nor_counted() -> None:
    changes = [StateChange(ALICE, [7, 8], starred=True), StateChange(BOB, [7], starred=True)]

    new, found = apply_all(changes, {(ALICE, 7): UNREAD, (BOB, 9): UNREAD})

    assert (new, found) == ({(ALICE, 7): EntryState(0, True)}, [1, 0])
