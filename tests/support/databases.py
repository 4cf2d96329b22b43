"""Databases for tests: one migrated template per engine and run, copied in milliseconds."""

from __future__ import annotations

import itertools
import os
import shutil
import zlib
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from functools import cached_property
from pathlib import Path
from typing import Protocol

from support import kept_connections, shared
from support.postgres import create_database, drop_database, fresh_database
from support.used_database import UsedDatabase
from tidings.engine.database import Database
from tidings.storage import migrate

# Several `PostgresDatabases`, and all processes of a run, may share one server.
_numbers = itertools.count(1)


def _new_name() -> str:
    return f"test{os.getpid()}x{next(_numbers)}"


class Databases(Protocol):
    def empty(self) -> AbstractContextManager[str]: ...

    def migrated(self, *, is_alone: bool = False) -> AbstractContextManager[str]:
        """is_alone: nothing else is connected to the database, not even what will empty it."""


def _migrate(url: str) -> None:
    database = Database(url)
    migrate.upgrade(database)
    database.close()


def _migrated_file(folder: Path) -> str:
    path = folder / "migrated.db"
    _migrate(f"sqlite:///{path}")
    return str(path)


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
        return Path(shared.once("sqlite", _migrated_file) if shared.folder() else _migrated_file(self._folder))


class PostgresDatabases:
    """Copies of one migrated template. A copy is emptied and used again: making one takes ten times as long.

    is_verified: whether emptied copies are compared with new ones.
    """

    def __init__(self, server: str, *, is_verified: bool = False) -> None:
        self._server = server
        self._is_verified = is_verified
        self._unused: list[UsedDatabase] = []

    def close(self) -> None:
        """Close the connections to databases that are not used now."""
        for database in self._unused:
            database.close()

    @contextmanager
    def empty(self) -> Iterator[str]:
        with fresh_database(self._server, _new_name()) as url:
            yield url

    @contextmanager
    def migrated(self, *, is_alone: bool = False) -> Iterator[str]:
        database = self._unused.pop() if self._unused else self._copy()
        if is_alone:
            database.close()
        else:
            kept_connections.keep(database.url)
        try:
            yield database.url
        finally:
            if database.restore():
                self._unused.append(database)
            else:
                database.close()
                drop_database(self._server, database.name)

    def _copy(self) -> UsedDatabase:
        name = _new_name()
        url = create_database(self._server, name, self._template)
        return UsedDatabase(name, url, is_verified=self._is_verified)

    @cached_property
    def _template(self) -> str:
        if not shared.folder():
            return self._migrated()
        server = zlib.crc32(self._server.encode())
        return shared.once(f"migrated-{server}", lambda _: self._migrated())

    def _migrated(self) -> str:
        # Never dropped: it goes with the whole server.
        name = _new_name()
        _migrate(create_database(self._server, name))
        return name
