"""Connections and transactions, alike on SQLite and PostgreSQL.

`Database.reading()` gives a `Read`, `Database.writing()` a `Write`; every other function of this ring takes one of
them first. A write is one transaction: it commits when its block ends, and nothing of it stays when the block raises.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import lru_cache
from operator import itemgetter
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
from sqlalchemy.exc import IntegrityError, SQLAlchemyError

from tidings import metrics
from tidings.domain.errors import InvalidInput, StoreUnavailable
from tidings.domain.messages import msg
from tidings.storage.engine import database_errors, engines
from tidings.storage.engine.database_errors import Cause, CauseLog
from tidings.storage.engine.engines import Engines, FileReplaced

_ONE = select(literal(1))
_causes = CauseLog()

R = TypeVar("R", bound=Struct)


def columns(table: Table, record: type[Struct]) -> list[Column[Any]]:
    """The columns of a table that a record has fields for, in the record's order."""
    return [table.c[name] for name in record.__struct_fields__]


@lru_cache(maxsize=1024)
def _maker(record: type[R], names: tuple[str, ...]) -> Callable[[Any], R]:
    """Return what makes a record of a row: every field from the column of its name, wherever that stands.

    Fields without a column keep their default; TypeError for one that has none. What goes where is worked out once
    for a statement: a record made by keyword takes four times as long, and a claim makes hundreds of feeds.
    """
    fields = record.__struct_fields__
    found = tuple(name for name in fields if name in names)
    places = [names.index(name) for name in found]
    if found != fields[: len(found)]:
        return lambda row: record(**{name: row[place] for name, place in zip(found, places, strict=True)})
    if places == list(range(len(names))):
        return lambda row: record(*row)
    if len(places) == 1:
        return lambda row: record(row[places[0]])
    pick = itemgetter(*places)
    return lambda row: record(*pick(row))


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
        """One record a row: the statement selects the record's fields by name (`columns`), and nothing else."""
        found = self.connection.execute(statement, parameters)
        make = self._only(record, tuple(found.keys()))
        return [make(row) for row in found]

    def one(self, record: type[R], statement: Executable, /, **parameters: Any) -> R | None:
        found = self.connection.execute(statement, parameters)
        make = self._only(record, tuple(found.keys()))
        row = found.first()
        return None if row is None else make(row)

    def joined(self, record: type[R], statement: Executable, /, **parameters: Any) -> list[tuple[R, Any]]:
        """As `all`, for a statement that selects more: each record with its row, where that has a name."""
        found = self.connection.execute(statement, parameters)
        make = _maker(record, tuple(found.keys()))
        return [(make(row), row) for row in found]

    @staticmethod
    def _only(record: type[R], names: tuple[str, ...]) -> Callable[[Any], R]:
        if surplus := set(names).difference(record.__struct_fields__):
            raise TypeError(f"{record.__name__} has no field for {sorted(surplus)}")
        return _maker(record, names)

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
        self._engines = Engines(url, pool_size)
        self.url = self._engines.url
        self.is_sqlite = self._engines.is_sqlite

    @property
    def kind(self) -> str:
        """As in its address: sqlite or postgresql."""
        return self.url.get_backend_name()

    @property
    def engine(self) -> Engine:
        return self._engines.writer

    @contextmanager
    def reading(self) -> Iterator[Read]:
        started = time.perf_counter()
        with _translated(), self._engines.reader.connect() as connection:
            yield Read(connection)
        metrics.record_database_read(time.perf_counter() - started)

    @contextmanager
    def writing(self) -> Iterator[Write]:
        asked = begun = time.perf_counter()
        try:
            with self._queue(), _translated(), self._engines.writer.begin() as connection:
                begun = time.perf_counter()
                yield Write(connection)
        finally:
            metrics.record_database_write(time.perf_counter() - begun, waited=begun - asked)

    @contextmanager
    def _queue(self) -> Iterator[None]:
        """Where there is one writer at a time, our own threads wait here, no longer than `engines.BUSY_TIMEOUT_S`."""
        turn = self._engines.turn
        if turn is None:
            yield
            return
        if not turn.acquire(timeout=engines.BUSY_TIMEOUT_S):
            raise _unavailable(Cause("", f"other threads kept writing for {engines.BUSY_TIMEOUT_S} s"))
        try:
            yield
        finally:
            turn.release()

    def prepare_file(self) -> None:
        """Once, before the first table."""
        with _translated():
            self._engines.prepare_file()

    @contextmanager
    def outside_transaction(self) -> Iterator[Any]:
        """SQLite's own connection, for what is refused inside of a transaction."""
        with _translated(), self._engines.outside_transaction() as raw:
            yield raw

    def ping(self) -> None:
        """StoreUnavailable when the database does not answer."""
        with self.reading() as db:
            db.scalar(_ONE)

    def close(self) -> None:
        self._engines.close()


@contextmanager
def _translated() -> Iterator[None]:
    """What a caller can act on; a mistake of ours travels on as it is."""
    try:
        yield
    except IntegrityError as error:
        raise InvalidInput(
            msg("Somebody else changed the same thing at this moment: look again, then repeat.")
        ) from error
    except (*database_errors.DRIVER_ERRORS, SQLAlchemyError, FileReplaced) as error:
        cause = database_errors.cause_of(error)
        if cause is None:
            raise
        raise _unavailable(cause) from error


def _unavailable(cause: Cause) -> StoreUnavailable:
    _causes.say(cause)
    return StoreUnavailable(msg("The database does not answer at the moment; try again shortly."), reason=cause.reason)
