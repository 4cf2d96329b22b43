"""Records what the service acknowledged, as claims about the database that must hold after any fault.

    a writer ─► request ─► 2xx       acknowledged: the fact has exactly this value
                        ─► 4xx       refused: nothing changed (it is an error, since writers send valid requests only)
                        ─► no response  in doubt: the old value or the new one, and the fact is not changed any more

A request whose response was lost may still be executed later, for instance by a process that was suspended.
A writer therefore never changes a fact again after it came into doubt.
"""

from __future__ import annotations

import json
import time
from collections import Counter
from collections.abc import Hashable, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

Value = int | str | bool | None
Key = tuple[str, Hashable]
ABSENT: Value = None


@dataclass(frozen=True)
class Change:
    """How a request changes a fact. kind: such as "starred". name: identifies the fact, such as the entry's id."""

    kind: str
    name: Hashable
    value: Value

    @property
    def key(self) -> Key:
        return self.kind, self.name


@dataclass(frozen=True)
class Loss:
    """A claim that does not hold. check: the row of the report that counts it."""

    check: str
    what: str


@dataclass
class Ledger:
    """Facts and the values that each may have. path: a line is written to this file before the writer continues."""

    path: Path
    acknowledged: Counter[str] = field(default_factory=Counter)
    doubtful: Counter[str] = field(default_factory=Counter)
    refused: list[str] = field(default_factory=list)
    _allowed: dict[Key, set[Value]] = field(default_factory=dict)
    _in_doubt: set[Key] = field(default_factory=set)
    _groups: list[tuple[tuple[Change, ...], tuple[Value, ...]]] = field(default_factory=list)

    def acknowledge(self, *changes: Change) -> None:
        """Record that the service returned 2xx."""
        self._write("acknowledged", changes)
        for change in changes:
            self.acknowledged[change.kind] += 1
            self._allowed[change.key] = {change.value}

    def doubt(self, *changes: Change) -> None:
        """Record that there was no response, or a 5xx: all of the changes happened, or none of them."""
        self._write("in doubt", changes)
        before = tuple(self.value(*change.key) for change in changes)
        for change, old in zip(changes, before, strict=True):
            self.doubtful[change.kind] += 1
            self._allowed[change.key] = {old, change.value}
            self._in_doubt.add(change.key)
        if len(changes) > 1:
            self._groups.append((changes, before))

    def refuse(self, answer: str, *changes: Change) -> None:
        """Record that the service returned 4xx to a valid request."""
        self._write(f"refused: {answer}", changes)
        self.refused.append(f"{answer}: {', '.join(f'{c.kind} {c.name}' for c in changes)}")

    def value(self, kind: str, name: Hashable) -> Value:
        """Return the value of a fact; ABSENT if it is unknown or in doubt."""
        values = self._allowed.get((kind, name), {ABSENT})
        return next(iter(values)) if len(values) == 1 else ABSENT

    def is_settled(self, kind: str, name: Hashable) -> bool:
        """Return whether a writer may change the fact."""
        return (kind, name) not in self._in_doubt

    def losses(self, found: Mapping[str, Mapping[Hashable, Value]]) -> Iterable[Loss]:
        """Yield the losses. found: facts in the database by kind and name; a missing name is ABSENT."""
        yield from (Loss("refused", text) for text in self.refused)
        for (kind, name), values in self._allowed.items():
            actual = found[kind].get(name, ABSENT)
            if actual not in values:
                wanted = " or ".join(sorted(map(repr, values)))
                yield Loss(kind, f"{kind} of {name}: {wanted} was acknowledged, {actual!r} is there")
        for changes, before in self._groups:
            yield from _half_done(changes, before, found)

    def _write(self, outcome: str, changes: Iterable[Change]) -> None:
        facts = [[change.kind, change.name, change.value] for change in changes]
        with self.path.open("a", encoding="utf-8") as file:
            file.write(json.dumps({"at": time.time(), "outcome": outcome, "facts": facts}) + "\n")


def _half_done(
    changes: tuple[Change, ...], before: tuple[Value, ...], found: Mapping[str, Mapping[Hashable, Value]]
) -> Iterable[Loss]:
    """Yield a loss if only some changes of a request were stored. Facts that had the new value before are ignored."""
    changed = [(change, old) for change, old in zip(changes, before, strict=True) if change.value != old]
    done = [change for change, _ in changed if found[change.kind].get(change.name, ABSENT) == change.value]
    if 0 < len(done) < len(changed):
        kinds = ", ".join(sorted({change.kind for change, _ in changed}))
        yield Loss("half-written", f"one request, {kinds}: {len(done)} of {len(changed)} changes are there")
