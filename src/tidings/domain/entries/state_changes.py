"""Changes of status and star, and the states that several of them lead to."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from msgspec import Struct

from tidings.domain.entries.entries import EntryStatus

# A user and an entry.
EntryKey = tuple[int, int]


class StateChange(Struct, frozen=True):
    """A change of the entries of a user. None leaves status or star as it is."""

    user_id: int
    entry_ids: Sequence[int]
    status: EntryStatus | None = None
    starred: bool | None = None
    toggles_star: bool = False
    """Whether to reverse the star of each entry; `starred` is None then."""
    is_repeatable: bool = False
    """Whether removed entries, and those that have the state already, stay as they are."""

    def skips(self, state: EntryState) -> bool:
        """Return whether an entry stays as it is, so that the time of its last change stays as well."""
        return self.is_repeatable and (state.status == EntryStatus.REMOVED or self.apply(state) == state)

    def apply(self, state: EntryState) -> EntryState:
        """Return the state of an entry after the change. No change folds an entry: that is no status to be set."""
        starred = state.starred if self.starred is None else self.starred
        is_kept = self.status is None or self.status is EntryStatus.FOLDED
        return EntryState(state.status if is_kept else int(self.status or 0), starred ^ self.toggles_star)


class EntryState(Struct, frozen=True):
    status: int
    starred: bool


class AppliedChanges(Struct, frozen=True):
    """What changes did."""

    found: Sequence[int]
    """How many entries of each change belong to its user."""
    read: Mapping[int, Sequence[int]]
    """The entries that were unread and are read now, by user."""
    starred: Mapping[int, Sequence[int]]
    """The entries that had no star and have one now, by user."""


def apply_all(
    changes: Iterable[StateChange], states: Mapping[EntryKey, EntryState]
) -> tuple[dict[EntryKey, EntryState], list[int]]:
    """Return the new states of all entries that changes name, and how many entries of each change exist.

    changes: applied in this order. states: the states of the entries that exist, by their owner and id.
    """
    new: dict[EntryKey, EntryState] = {}
    found = []
    for change in changes:
        keys = {key for entry_id in change.entry_ids if (key := (change.user_id, entry_id)) in states}
        for key in keys:
            state = new.get(key) or states[key]
            if not change.skips(state):
                new[key] = change.apply(state)
        found.append(len(keys))
    return new, found
