"""Checks a database, and repairs what can be repaired: the file, references, owners, bodies, counters, search."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from msgspec import Struct

from tidings.base.errors import StoreUnavailable
from tidings.engine import errors, full_text
from tidings.engine.database import Database
from tidings.engine.integrity import damages, rebuild_indexes
from tidings.maintenance.store import consistency
from tidings.maintenance.store.consistency import Rule
from tidings.storage.accounts import change_log

AREAS = ("file", "references", "owners", "bodies", "counters", "search")


class Problem(Struct, frozen=True):
    """Something wrong with a database."""

    area: str
    """One of AREAS."""
    text: str
    """What is wrong, with numbers, for the operator."""
    is_repaired: bool = False


class IntegrityCheck:
    def __init__(self, database: Database) -> None:
        self._database = database

    def run(self, *, repair: bool, progress: Callable[[int, int], None]) -> Iterator[Problem]:
        """Yield all problems; with `repair`, repairs the ones that it can. progress: bodies read, and the total."""
        damaged = list(self._file(repair=repair))
        yield from damaged
        if any(not one.is_repaired for one in damaged):
            # Results from a damaged file are meaningless, and writing to it makes it worse.
            return
        with self._database.reading() as db:
            rules = consistency.rules(db)
        for rule in rules:
            yield from self._rule(rule, repair=repair)
        yield from self._bodies(repair=repair, progress=progress)
        yield from self._terms(repair=repair)

    def _file(self, *, repair: bool) -> Iterator[Problem]:
        damages = self._damages()
        is_repaired = False
        if damages and repair:
            try:
                with errors.without_log(), self._database.writing() as db:
                    rebuild_indexes(db)
                is_repaired = not self._damages()
            except StoreUnavailable:
                is_repaired = False
        for text in damages:
            yield Problem("file", text, is_repaired)

    def _damages(self) -> list[str]:
        try:
            with errors.without_log(), self._database.reading() as db:
                return damages(db)
        except StoreUnavailable as error:
            return [error.reason]

    def _rule(self, rule: Rule, *, repair: bool) -> Iterator[Problem]:
        with self._database.reading() as db:
            count = rule.count(db)
        if not count:
            return
        is_repaired = repair and rule.repair is not None
        if repair and rule.repair is not None:
            with self._database.writing() as write:
                rule.repair(write)
                change_log.restart_all(write)
        yield Problem(rule.area, f"{count} {rule.problem}", is_repaired)

    def _bodies(self, *, repair: bool, progress: Callable[[int, int], None]) -> Iterator[Problem]:
        with self._database.snapshot(of_all_users=True) as db:
            total = consistency.number_of_bodies(db)
            unreadable = consistency.unreadable_bodies(db, lambda read: progress(read, total))
        if not unreadable:
            return
        if repair:
            with self._database.writing() as write:
                consistency.empty_bodies(write, unreadable)
                change_log.restart_all(write)
        named = ", ".join(map(str, unreadable[:5])) + (" …" if len(unreadable) > 5 else "")
        yield Problem("bodies", f"{len(unreadable)} entries whose body is damaged (ids {named})", repair)

    def _terms(self, *, repair: bool) -> Iterator[Problem]:
        try:
            with errors.without_log(), self._database.writing() as db:
                full_text.check_structure(db)
        except StoreUnavailable as error:
            if repair:
                with self._database.writing() as db:
                    consistency.reindex(db)
            yield Problem("search", f"the search index is damaged: {error.reason}", repair)
