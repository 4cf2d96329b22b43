"""Creates, changes and deletes labels, and gives them to entries."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence

from tidings.base.errors import InvalidInput, NotFound
from tidings.base.messages import Message, msg
from tidings.base.text import normalize_for_search
from tidings.domain.accounts.users import User
from tidings.domain.entries.entries import EntryStatus
from tidings.domain.entries.labels import Label, validate_color, validate_name, validate_position
from tidings.domain.entries.manual_order import moved
from tidings.domain.entries.state_changes import StateChange
from tidings.engine.database import Database, Read, Write
from tidings.query.errors import QueryError
from tidings.query.model import Id, IdField, Text, TextField, leaves
from tidings.query.names import is_name
from tidings.query.parser import parse
from tidings.services.clock import Clock
from tidings.services.entries.entries import lock_entries, owned_entry, write_states
from tidings.services.listeners import Listeners
from tidings.storage.entries import counters, duplicates, entries, labels
from tidings.storage.feeds import categories


class Labels:
    def __init__(self, database: Database, clock: Clock, listeners: Listeners) -> None:
        self._database = database
        self._clock = clock
        self._listeners = listeners

    def create(self, user_id: int, name: str, color: str = "") -> Label:
        """Create a label and return it. Raises InvalidInput for a name that is invalid or taken, and for a colour."""
        name, color = validate_name(name), validate_color(color)
        with self._database.writing() as db:
            _ensure_free(db, user_id, name)
            return Label(labels.add(db, user_id, name, normalize_for_search(name), color), user_id, name, color)

    def update(
        self,
        user_id: int,
        label_id: int,
        *,
        name: str | None = None,
        color: str | None = None,
        position: int | None = None,
    ) -> None:
        """Change a label; None keeps a value.

        position: its place among the user's labels, counted from 1; the others make room. Beyond the end means last.
        Raises NotFound, and InvalidInput for a name that is invalid or taken, a colour, and a position below 1.
        """
        with self._database.writing() as db:
            labels.lock_all(db, user_id)
            known = owned_label(db, user_id, label_id)
            name = known.name if name is None else validate_name(name)
            color = known.color if color is None else validate_color(color)
            key = normalize_for_search(name)
            if key != normalize_for_search(known.name):
                _ensure_free(db, user_id, name)
            if (name, color) != (known.name, known.color):
                labels.change(db, user_id, label_id, name=name, name_key=key, color=color)
            if position is not None:
                by_id = {label.id: label for label in labels.list_all(db, user_id)}
                in_order = moved(list(by_id), label_id, validate_position(position))
                labels.set_order(db, user_id, [by_id[one] for one in in_order])

    def delete(self, user_id: int, label_id: int) -> None:
        """Delete a label. Its entries stay. Raises NotFound."""
        with self._database.writing() as db:
            # In the same order as changes of entries: in another order, the two transactions would deadlock.
            counters.lock_all(db, user_id)
            owned_label(db, user_id, label_id)
            labels.detach_all(db, user_id, label_id, now=self._clock())
            labels.remove(db, user_id, label_id)

    def uses(self, db: Read, label: Label) -> list[Message]:
        """Return what uses a label, as parts of a sentence: views and rules that name it or give it to entries."""
        kept = self._listeners.queries_of(db, label.user_id)
        return [one.owner for one in kept if label.id in one.label_ids or _is_named(label, one.query)]

    def change(
        self, user_id: int, entry_ids: Sequence[int], *, add: Iterable[str] = (), remove: Iterable[str] = ()
    ) -> None:
        """Give labels to entries, and take labels from them, by name.

        Entries that are not the user's, labels to remove that do not exist, and names of categories are ignored.
        A label to add is created. Raises InvalidInput for a name that is invalid.
        """
        to_add = {normalize_for_search(name): name for name in map(validate_name, add)}
        to_remove = {normalize_for_search(name) for name in remove}
        with self._database.writing() as db:
            mine = lock_entries(db, user_id, entry_ids)
            if not mine:
                return
            names = {key: name for key, name in to_add.items() if categories.by_key(db, user_id, key) is None}
            locked = labels.ensure(db, user_id, names, to_remove)
            labels.attach(db, user_id, [locked[key] for key in names], mine)
            if removed := [locked[key] for key in to_remove if key in locked]:
                labels.detach(db, user_id, removed, mine, now=self._clock())

    def update_entries(
        self,
        user: User,
        entry_ids: Sequence[int],
        *,
        add: Collection[int] = (),
        remove: Collection[int] = (),
        status: EntryStatus | None = None,
        starred: bool | None = None,
        hidden: bool | None = None,
    ) -> None:
        """Give labels to entries and take labels from them, hide them from the global lists or show them there again,
        and set their status or star, all in one transaction.

        Entries that are not the user's are ignored. Raises InvalidInput, with add_labels or remove_labels as its field,
        for labels that are not.
        """
        now = self._clock()
        with self._database.writing() as db:
            mine = lock_entries(db, user.id, entry_ids)
            locked = labels.lock(db, user.id, [*add, *remove])
            _refuse_unknown(add, locked, "add_labels")
            _refuse_unknown(remove, locked, "remove_labels")
            if not mine:
                return
            labels.attach(db, user.id, sorted(set(add)), mine)
            if remove:
                labels.detach(db, user.id, sorted(set(remove)), mine, now=now)
            if hidden is not None:
                entries.set_hidden(db, user.id, mine, hidden=hidden)
            if status is not None or starred is not None:
                # Last, so that an entry that is saved because of its star has its labels.
                write_states(db, user, StateChange(user.id, mine, status, starred), now, self._listeners)

    def set_of_entry(
        self, user_id: int, entry_id: int, label_ids: Collection[int], new_name: str = "", new_color: str = ""
    ) -> None:
        """Give an entry exactly these labels. Ids of labels that are not the user's are ignored.

        new_name: a label to give as well, which is created, with new_color, if there is none; "" for none. Raises
        NotFound for the entry, and InvalidInput for a name that is invalid or belongs to a category, and for a colour.
        """
        name, color = validate_name(new_name) if new_name.strip() else "", validate_color(new_color)
        with self._database.writing() as db:
            (entry_id,) = duplicates.originals_or_selves(db, user_id, [entry_id])
            counters.lock(db, user_id, [owned_entry(db, user_id, entry_id).feed_id])
            owned_entry(db, user_id, entry_id)
            wanted = set(label_ids)
            if name:
                _ensure_no_category(db, user_id, name)
                wanted.add(_id_of(db, user_id, name, color))
            present = {label.id for label in labels.of_entries(db, user_id, [entry_id]).get(entry_id, ())}
            labels.attach(db, user_id, labels.lock(db, user_id, wanted - present), [entry_id])
            if surplus := sorted(present - wanted):
                labels.detach(db, user_id, surplus, [entry_id], now=self._clock())


def _id_of(db: Write, user_id: int, name: str, color: str) -> int:
    """Return the id of a label, which is created with this colour if there is none."""
    key = normalize_for_search(name)
    labels.add_missing(db, user_id, {key: name}, color)
    label = labels.by_key(db, user_id, key)
    # Labels are deleted by transactions that hold the counters, as the caller does.
    assert label is not None
    return label.id


def owned_label(db: Read, user_id: int, label_id: int) -> Label:
    """Return a label of the user. Raises NotFound."""
    label = labels.get(db, user_id, label_id)
    if label is None:
        raise unknown_label(label_id)
    return label


def _is_named(label: Label, query: str) -> bool:
    """Return whether a query asks for the label by name or id. A query for any label does not."""
    try:
        found = [*leaves(parse(query))]
    except QueryError:
        return False
    names = (leaf for leaf in found if isinstance(leaf, Text) and leaf.field is TextField.LABEL and leaf.words)
    return Id(IdField.LABEL, label.id) in found or any(is_name(leaf, label.name) for leaf in names)


def check_owned(db: Read, user_id: int, label_ids: Collection[int], *, field: str) -> None:
    """Raise InvalidInput, with the name of a field, if one of the labels is not the user's."""
    if label_ids:
        _refuse_unknown(label_ids, labels.owned(db, user_id, label_ids), field)


def _refuse_unknown(label_ids: Iterable[int], owned: Collection[int], field: str) -> None:
    if unknown := sorted(set(label_ids).difference(owned)):
        raise InvalidInput(unknown_label(unknown[0]).text, field=field)


def unknown_label(label_id: int) -> NotFound:
    return NotFound(msg("There is no label {id}.", id=label_id))


def _ensure_free(db: Write, user_id: int, name: str) -> None:
    if labels.by_key(db, user_id, normalize_for_search(name)) is not None:
        raise InvalidInput(msg("You already have a label called {name}.", name=repr(name)), field="name")
    _ensure_no_category(db, user_id, name)


def _ensure_no_category(db: Write, user_id: int, name: str) -> None:
    if categories.by_key(db, user_id, normalize_for_search(name)) is not None:
        text = msg(
            "You have a category called {name}: choose another name, since apps could not tell the two apart.",
            name=repr(name),
        )
        raise InvalidInput(text, field="name")
