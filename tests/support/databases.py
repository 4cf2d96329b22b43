"""Databases for tests: one migrated template per engine, copied in milliseconds."""

from __future__ import annotations

import itertools
import shutil
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from functools import cached_property
from pathlib import Path
from typing import Protocol

from support.postgres import create_database, drop_database, fresh_database
from support.used_database import UsedDatabase
from tidings.engine.database import Database
from tidings.storage import migrate

# Several `PostgresDatabases` may share one server.
_numbers = itertools.count(1)


class Databases(Protocol):
    def empty(self) -> AbstractContextManager[str]: ...

    def migrated(self, *, is_alone: bool = False) -> AbstractContextManager[str]:
        """is_alone: nothing else is connected to the database, not even what will empty it."""


def _migrate(url: str, partitions: int = 0) -> None:
    database = Database(url)
    migrate.upgrade(database)
    if partitions:
        migrate.partition(database, partitions)
    database.close()


class SqliteDatabases:
    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._numbers = itertools.count(1)

    @contextmanager
    def empty(self) -> Iterator[str]:
        path = self._folder / f"{next(self._numbers)}.db"
        yield f"sqlite:///{path}"
        for leftover in self._folder.glob(f"{path.name}*"):
            leftover.unlink()

    @contextmanager
    def migrated(self, *, is_alone: bool = False) -> Iterator[str]:  # noqa: ARG002 - SQLite's always are
        with self.empty() as url:
            shutil.copyfile(self._template, url.removeprefix("sqlite:///"))
            yield url

    @cached_property
    def _template(self) -> Path:
        path = self._folder / "template.db"
        _migrate(f"sqlite:///{path}")
        return path


class PostgresDatabases:
    """Copies of one migrated template. A copy is emptied and used again: making one takes ten times as long.

    partitions: of the migrated databases, 0 for none. is_verified: whether emptied copies are compared with new ones.
    """

    def __init__(self, server: str, partitions: int = 0, *, is_verified: bool = False) -> None:
        self._server = server
        self._partitions = partitions
        self._is_verified = is_verified
        self._unused: list[UsedDatabase] = []

    def close(self) -> None:
        """Close the connections to databases that are not used now."""
        for database in self._unused:
            database.close()

    @contextmanager
    def empty(self) -> Iterator[str]:
        with fresh_database(self._server, f"test{next(_numbers)}") as url:
            yield url

    @contextmanager
    def migrated(self, *, is_alone: bool = False) -> Iterator[str]:
        database = self._unused.pop() if self._unused else self._copy()
        if is_alone:
            database.close()
        try:
            yield database.url
        finally:
            if database.restore():
                self._unused.append(database)
            else:
                database.close()
                drop_database(self._server, database.name)

    def _copy(self) -> UsedDatabase:
        name = f"test{next(_numbers)}"
        url = create_database(self._server, name, self._template)
        return UsedDatabase(name, url, is_verified=self._is_verified)

    @cached_property
    def _template(self) -> str:
        # Never dropped: it goes with the whole server.
        name = f"migrated{next(_numbers)}"
        _migrate(create_database(self._server, name), self._partitions)
        return name
