"""Connections and transactions, alike on SQLite and PostgreSQL.

`Database.reading()` gives a `Read`, `Database.writing()` a `Write`; every other function of this ring takes one of
them first. A write is one transaction: it commits when its block ends, and nothing of it stays when the block raises.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from typing import Any, TypeVar

from msgspec import Struct
from sqlalchemy import (
    Column,
    Connection,
    CursorResult,
    Engine,
    Executable,
    RowMapping,
    Table,
    literal,
    select,
)
from sqlalchemy.exc import DBAPIError, IntegrityError

from tidings import metrics
from tidings.domain.errors import InvalidInput, StoreUnavailable
from tidings.storage import engines

_ONE = select(literal(1))

R = TypeVar("R", bound=Struct)


def columns(table: Table, record: type[Struct]) -> list[Column[Any]]:
    """The columns of a table that a record has fields for, in the record's order."""
    return [table.c[name] for name in record.__struct_fields__]


class Read:
    """A consistent view: what one snapshot of the database holds."""

    def __init__(self, connection: Connection) -> None:
        self.connection = connection

    def rows(self, statement: Executable, /, **parameters: Any) -> Sequence[RowMapping]:
        return self.connection.execute(statement, parameters).mappings().all()

    def row(self, statement: Executable, /, **parameters: Any) -> RowMapping | None:
        return self.connection.execute(statement, parameters).mappings().first()

    def tuples(self, statement: Executable, /, **parameters: Any) -> Sequence[Any]:
        return self.connection.execute(statement, parameters).all()

    def all(self, record: type[R], statement: Executable, /, **parameters: Any) -> list[R]:
        """One record a row: the statement selects the record's fields in their order (`columns`)."""
        return [record(*row) for row in self.connection.execute(statement, parameters)]

    def one(self, record: type[R], statement: Executable, /, **parameters: Any) -> R | None:
        found = self.connection.execute(statement, parameters).first()
        return None if found is None else record(*found)

    def scalar(self, statement: Executable, /, **parameters: Any) -> Any:
        return self.connection.execute(statement, parameters).scalar()

    def scalars(self, statement: Executable, /, **parameters: Any) -> list[Any]:
        return list(self.connection.execute(statement, parameters).scalars())


class Write(Read):
    """One transaction."""

    def run(self, statement: Executable, /, **parameters: Any) -> int:
        """How many rows it changed."""
        result: CursorResult[Any] = self.connection.execute(statement, parameters)
        return result.rowcount

    def run_many(self, statement: Executable, parameters: Sequence[Mapping[str, Any]], /) -> None:
        if parameters:
            self.connection.execute(statement, parameters)

    def insert_many(self, statement: Executable, rows: Sequence[Mapping[str, Any]], /) -> list[int]:
        """statement: returns the id in the order of its rows, which this gives back."""
        return list(self.connection.execute(statement, rows).scalars()) if rows else []

    def insert(self, statement: Executable, /, **parameters: Any) -> int:
        """The id of the new row."""
        result: CursorResult[Any] = self.connection.execute(statement, parameters)
        assert result.inserted_primary_key is not None
        return int(result.inserted_primary_key[0])


class Database:
    """url: as in TIDINGS_DATABASE_URL; pool_size: connections this process may hold."""

    def __init__(self, url: str, *, pool_size: int = 8) -> None:
        self.url = engines.driver_url(url)
        self.is_sqlite = self.url.get_backend_name() == "sqlite"
        if self.is_sqlite:
            self._reader = engines.sqlite(self.url, pool_size)
            self._writer = engines.sqlite(self.url, 1, is_writer=True)
        else:
            self._writer = engines.postgresql(self.url, pool_size)
            # A read is mostly one statement: BEGIN and COMMIT around it would triple its round trips.
            self._reader = self._writer.execution_options(isolation_level="AUTOCOMMIT")
        # SQLite has one writer at a time: our own threads queue here, where waiting costs nothing.
        self._turn = threading.Lock()

    @property
    def engine(self) -> Engine:
        return self._writer

    @contextmanager
    def reading(self) -> Iterator[Read]:
        started = time.perf_counter()
        with _translated(), self._reader.connect() as connection:
            yield Read(connection)
        metrics.read(time.perf_counter() - started)

    @contextmanager
    def writing(self) -> Iterator[Write]:
        asked = begun = time.perf_counter()
        try:
            with self._turn if self.is_sqlite else nullcontext(), _translated(), self._writer.begin() as connection:
                begun = time.perf_counter()
                yield Write(connection)
        finally:
            metrics.wrote(time.perf_counter() - begun, waited=begun - asked)

    def prepare_file(self) -> None:
        """What stays with an SQLite file, said once before its first table.

        Not for every connection: both ask for the write lock, and a new reader would wait for whoever writes.
        """
        if self.is_sqlite:
            with self.outside_transaction() as raw:
                raw.execute("PRAGMA auto_vacuum = INCREMENTAL")
                raw.execute("PRAGMA journal_mode = WAL")

    @contextmanager
    def outside_transaction(self) -> Iterator[Any]:
        """SQLite's own connection, for what is refused inside of one."""
        with _translated(), self._reader.connect() as connection:
            raw = connection.connection.driver_connection
            assert raw is not None
            raw.rollback()
            yield raw

    def ping(self) -> None:
        """StoreUnavailable when the database does not answer."""
        with self.reading() as db:
            db.scalar(_ONE)

    def close(self) -> None:
        self._reader.dispose()
        self._writer.dispose()


@contextmanager
def _translated() -> Iterator[None]:
    """What a caller can act on; a mistake of ours travels on as it is."""
    try:
        yield
    except IntegrityError as error:
        raise InvalidInput("Somebody else changed the same thing at this moment: look again, then repeat.") from error
    except DBAPIError as error:
        if error.connection_invalidated or _out_of_reach(error):
            raise StoreUnavailable("The database does not answer at the moment; try again shortly.") from error
        raise


def _out_of_reach(error: DBAPIError) -> bool:
    text = str(error.orig).lower()
    signs = (
        "database is locked",
        "unable to open",
        "disk i/o error",
        "disk is full",
        "connection",
        "readonly database",
    )
    return type(error).__name__ == "OperationalError" and any(sign in text for sign in signs)
