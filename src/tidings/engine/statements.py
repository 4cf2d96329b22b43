"""Statements, and parts of them, in which the engines differ: upserts, lists as one parameter, many rows, locks.

upsert                                 INSERT … ON CONFLICT, the same on both engines
in_list, each_of                       pass a list as one parameter
ids_of                                 gathers ids into a list for each_of
joined_ids                             reads ids as one text
advisory_lock, try_advisory_locks,
lock_rows, lockable_together,
limit_waits                            take locks that PostgreSQL needs, and SQLite, with one writer at a time, does not
take_ids, insert_rows, insert_stored   insert many rows, whose ids are reserved in advance
references_planned_once                lets PostgreSQL insert and delete many rows faster
select_by_hash, select_by_date         look up many entries at once

With one placeholder per value, each length of a list would be another statement, compiled and planned again, and SQLite
limits the number of placeholders. Where SQLite has to choose between the list and an index on the user, it needs the
placeholders (`in_`): it cannot know how long a list in one parameter is.

One statement per row costs more than the row itself. PostgreSQL inserts from arrays, one for each column. COPY is no
faster, and a client that is suspended in the middle of it keeps its locks: the server waits for it without a time-out,
while the wait for the arrays of a prepared statement counts as idle in a transaction. SQLite inserts as fast as it can
write the indexes.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import lru_cache
from typing import Any

import msgspec
from sqlalchemy import (
    BindParameter,
    ColumnElement,
    Dialect,
    Executable,
    Integer,
    Select,
    Table,
    Text,
    TextualSelect,
    bindparam,
    func,
    literal_column,
    select,
    text,
    true,
)
from sqlalchemy.dialects.postgresql import Insert, insert
from sqlalchemy.ext.compiler import compiles
from sqlalchemy.sql.functions import FunctionElement
from sqlalchemy.types import UserDefinedType

from tidings.engine import distribution, postgresql
from tidings.engine.columns import is_placed_by_user
from tidings.engine.database import Read, Write, is_distributed, is_sqlite

# From so many rows on, planning the look-ups of foreign keys takes longer than two round trips.
_MANY_ROWS = 10

# Upsert

Condition = Callable[[Any, Any], ColumnElement[bool]]
NewValues = Callable[[Any, Any], Mapping[str, ColumnElement[Any]]]


def upsert(
    table: Table, key: Sequence[str], *, update: Sequence[str] | NewValues = (), where: Condition | None = None
) -> Insert:
    """Return an INSERT; where a row with the same key exists, the columns named by `update` are set in that row.

    key: the columns of a primary key or of a unique index. Without `update` the row stays as it is.
    update: names of columns that take the new row's values, or a function that returns the values by column, given
        the columns of the row that exists and of the new one.
    where: a condition on the columns of the existing row and of the new one; the row is updated only if it holds.
    Both engines compile the ON CONFLICT of PostgreSQL: SQLite took over its syntax.
    """
    statement = insert(table)
    names: list[Any] = [*key]
    if "user_id" in table.c and "user_id" not in key:
        names[-1] = _with_owner(table, key[-1])
    if not update:
        return statement.on_conflict_do_nothing(index_elements=names)
    new = statement.excluded
    condition = where(table.c, new) if where else None
    values = update(table.c, new) if callable(update) else {name: new[name] for name in update}
    return statement.on_conflict_do_update(index_elements=names, set_=values, where=condition)


class _with_owner(FunctionElement[Any]):  # noqa: N801 - named like an SQL function
    """The last column of a key, followed by the owner where a table is distributed: all of its keys end with it."""

    inherit_cache = True

    def __init__(self, table: Table, name: str) -> None:
        super().__init__(table.c[name])
        self.table = table
        self.name = name


@compiles(_with_owner)
def _last_of_key(element: _with_owner, compiler: Any, **_options: Any) -> str:
    spreads = postgresql.is_distributed(compiler.dialect) and is_placed_by_user(element.table)
    return f"{element.name}, user_id" if spreads else element.name


# Lists


def in_list(column: ColumnElement[Any], parameter: str) -> ColumnElement[Any]:
    """Return the condition that a column's value is in the list of a parameter: numbers or texts, possibly none."""
    kind = _NumberList() if isinstance(column.type, Integer) else _TextList()
    return _in_list(column, bindparam(parameter, type_=kind))


def in_joined_group(column: ColumnElement[Any], parameter: str) -> ColumnElement[Any]:
    """Return the condition that a joined row's user is in a group of `lockable_together`.

    The join says it already. But where rows are distributed by user, a statement that locks rows has to name the
    users of each table: from the list of one table nothing is concluded for the others. Elsewhere it holds for any row.
    """
    return if_distributed(in_list(column, parameter), true())


def joined_ids(page: Select[Any] | TextualSelect) -> Select[Any]:
    """Return the SELECT of the ids of a page, in its order, as one text with commas; NULL without any.

    page: selects one column. The database joins them: as rows, each id takes four times as long.
    """
    return select(joined(page.subquery().c[0]))


def joined(ids: ColumnElement[int]) -> ColumnElement[str]:
    """Return the aggregate of ids in any order as one text with commas; NULL without any."""
    # The comma as SQL: a value is written into the text at each execution, and the driver could not be given the text.
    comma: Any = literal_column("','")
    return func.aggregate_strings(_as_text(ids), comma)


def split_ids(joined: str | None) -> list[int]:
    """Return the ids of a text of `joined_ids`."""
    return msgspec.json.decode(f"[{joined or ''}]", type=list[int])


class _as_text(FunctionElement[Any]):  # noqa: N801 - named like an SQL function
    """A number as text, converted only where joining does not: on SQLite the conversion takes a fifth of the time."""

    inherit_cache = True
    type = Text()


@compiles(_as_text)
def _number_itself(element: _as_text, compiler: Any, **options: Any) -> str:
    return str(compiler.process(element.clauses, **options))


@compiles(_as_text, "postgresql")
def _as_text_on_postgresql(element: _as_text, compiler: Any, **options: Any) -> str:
    return f"CAST({compiler.process(element.clauses, **options)} AS text)"


class _NumberList(UserDefinedType[Iterable[int]]):
    cache_ok = True

    def bind_processor(self, dialect: Dialect) -> Callable[[Any], Any]:
        # As SQL text: drivers would examine each value.
        form = "{%s}" if dialect.name == "postgresql" else "[%s]"
        return lambda values: form % ",".join([str(value) for value in values])


class _TextList(UserDefinedType[Iterable[str]]):
    cache_ok = True

    def bind_processor(self, dialect: Dialect) -> Callable[[Any], Any]:
        if dialect.name == "postgresql":
            return list
        return lambda values: msgspec.json.encode(list(values)).decode()


class _in_list(FunctionElement[Any]):  # noqa: N801 - named like an SQL function
    """Whether a value is in a list of ids.

    It is not declared as a boolean: SQLAlchemy would append `= 1`, and SQLite would not start from the list.
    """

    inherit_cache = True


@compiles(_in_list)
def _in_list_by_json(element: _in_list, compiler: Any, **options: Any) -> str:
    column, values = (compiler.process(clause, **options) for clause in element.clauses)
    return f"{column} IN (SELECT value FROM json_each({values}))"  # noqa: S608 - a parameter


@compiles(_in_list, "postgresql")
def _in_list_on_postgresql(element: _in_list, compiler: Any, **options: Any) -> str:
    column, values = element.clauses
    kind = "bigint" if isinstance(values.type, _NumberList) else "text"
    return f"{compiler.process(column, **options)} = ANY (CAST({compiler.process(values, **options)} AS {kind}[]))"


class each_of(FunctionElement[Any]):  # noqa: N801 - named like an SQL function
    """The numbers of a list, as rows with one column: `each_of(number_list("ids")).table_valued("value")`.

    The list is a parameter (`number_list`), or made by `ids_of` from the rows of a table before it in the FROM.
    """

    inherit_cache = True


@compiles(each_of)
def _each_of_json(element: each_of, compiler: Any, **options: Any) -> str:
    return f"json_each({compiler.process(element.clauses, **options)})"


@compiles(each_of, "postgresql")
def _each_of_array(element: each_of, compiler: Any, **options: Any) -> str:
    return f"LATERAL (SELECT unnest(CAST({compiler.process(element.clauses, **options)} AS bigint[])) AS value)"


def number_list(parameter: str) -> BindParameter[Any]:
    """Return the parameter of a list of numbers."""
    return bindparam(parameter, type_=_NumberList())


class ids_of(FunctionElement[Any]):  # noqa: N801 - named like an SQL function
    """The aggregate of ids in any order as a list for `each_of`."""

    inherit_cache = True


@compiles(ids_of)
def _ids_as_json(element: ids_of, compiler: Any, **options: Any) -> str:
    return f"json_group_array({compiler.process(element.clauses, **options)})"


@compiles(ids_of, "postgresql")
def _ids_as_array(element: ids_of, compiler: Any, **options: Any) -> str:
    return f"array_agg({compiler.process(element.clauses, **options)})"


class if_distributed(FunctionElement[Any]):  # noqa: N801 - named like an SQL function
    """if_distributed(condition, other): the condition where rows are distributed by user, elsewhere the other one."""

    inherit_cache = True


@compiles(if_distributed)
def _elsewhere(element: if_distributed, compiler: Any, **options: Any) -> str:
    here, elsewhere = element.clauses
    chosen = here if postgresql.is_distributed(compiler.dialect) else elsewhere
    return str(compiler.process(chosen, **options))


# Locks

_take_advisory_lock = select(func.pg_advisory_xact_lock(bindparam("number")))
# Each number is tried once: the condition is computed for each row that the function returns, and for nothing else.
_try_advisory_locks = text(
    "SELECT number FROM unnest(CAST(:numbers AS integer[])) AS number"
    " WHERE pg_try_advisory_xact_lock(CAST(:kind AS integer), number)"
)


def advisory_lock(db: Write, number: int) -> None:
    """Take the advisory lock of this number until the transaction ends; waits while another transaction holds it."""
    if not is_sqlite(db.connection):
        db.scalar(_take_advisory_lock, number=number)


def try_advisory_locks(db: Write, kind: int, numbers: Sequence[int]) -> set[int]:
    """Take the advisory locks of this kind and these numbers, except those that other transactions hold.

    Never waits. Kind and numbers have 32 bits. Returns the numbers of the locks that are held until the transaction
    ends.
    """
    if is_sqlite(db.connection) or not numbers:
        return set(numbers)
    return set(db.scalars(_try_advisory_locks, kind=kind, numbers=list(numbers)))


def lock_rows(db: Write, statement: Executable, /, **parameters: Any) -> None:
    """Run a SELECT … FOR UPDATE for its locks alone. Later statements see what others committed before the lock."""
    if not is_sqlite(db.connection):
        db.scalars(statement, **parameters)


def lockable_together(db: Read, users: Iterable[int]) -> list[list[int]]:
    """Return users in groups whose rows one SELECT … FOR UPDATE may lock; those of a group in ascending order.

    All are one group; where rows are distributed by user, those of a shard are one. The groups are in the same order
    for all transactions.
    """
    wanted = sorted(set(users))
    if len(wanted) < 2 or not is_distributed(db.connection):
        return [wanted] if wanted else []
    of_shard: defaultdict[int, list[int]] = defaultdict(list)
    for user, place in distribution.places_of(db, wanted).items():
        of_shard[place.shard].append(user)
    return [sorted(of_shard[shard]) for shard in sorted(of_shard)]


def limit_waits(db: Write, seconds: float) -> None:
    """Let statements of the transaction wait this long for a lock; then they raise StoreUnavailable."""
    if not is_sqlite(db.connection):
        if is_distributed(db.connection):
            # Otherwise the limit is the coordinator's alone, while the locks are those of the nodes.
            db.connection.exec_driver_sql("SET LOCAL citus.propagate_set_commands TO 'local'")
        db.connection.exec_driver_sql(f"SET LOCAL lock_timeout = {round(seconds * 1000)}")


# Many rows

_last_id = text("SELECT seq FROM sqlite_sequence WHERE name = :name")
# Finding the sequence takes ten times as long as reading it, so it is found once for all ids.
_next_ids = text(
    "WITH serial AS MATERIALIZED (SELECT CAST(pg_get_serial_sequence(:name, 'id') AS regclass) AS sequence)"
    " SELECT nextval(sequence) FROM serial, generate_series(1, :count)"
)


def take_ids(db: Write, table: Table, count: int) -> list[int]:
    """Return `count` ids for new rows, ascending. Known in advance, the ids need not be returned row by row.

    SQLite has one writer at a time, and continues from the largest id that was ever inserted.
    """
    if is_sqlite(db.connection):
        last = int(db.scalar(_last_id, name=table.name) or 0)
        return list(range(last + 1, last + 1 + count))
    return sorted(db.scalars(_next_ids, name=table.name, count=count))


def insert_rows(db: Write, table: Table, rows: Sequence[Mapping[str, Any]]) -> None:
    """Insert rows.

    rows: all with the same columns in the same order. Columns that are missing get their defaults.
    """
    if rows:
        names = list(rows[0])
        insert_stored(db, table, names, _bind_values(db, table, names, rows))


def insert_stored(db: Write, table: Table, names: Sequence[str], bound: Sequence[tuple[Any, ...]]) -> None:
    """Insert rows whose values are as the database stores them: compressed texts as bytes. names: the columns."""
    if is_sqlite(db.connection):
        placeholders = ", ".join("?" * len(names))
        db.connection.exec_driver_sql(f"INSERT INTO {table.name} ({', '.join(names)}) VALUES ({placeholders})", bound)  # noqa: S608 - names from our schema
    else:
        columns = tuple(list(column) for column in zip(*bound, strict=True))
        with references_planned_once(db, len(bound)):
            db.connection.exec_driver_sql(_insert_arrays(db.connection.dialect, table, tuple(names)), columns)


@contextmanager
def references_planned_once(db: Write, rows: int = _MANY_ROWS) -> Iterator[None]:
    """Let PostgreSQL plan what foreign keys look up once, instead of for each row that is inserted or deleted inside.

    Planning takes several times as long as looking up a row. The statements inside are planned for any values as well,
    so they find rows by key alone. rows: their number, if it is known; for a few it is not worth the round trips.
    """
    is_first = rows >= _MANY_ROWS and not db.plans_once and postgresql.may_plan_once(db.connection.dialect)
    if is_first:
        postgresql.plan_once_in_transaction(db.connection)
        db.plans_once = True
    yield
    # After an error the transaction is rolled back, and the setting with it.
    if is_first:
        postgresql.plan_each_time_in_transaction(db.connection)
        db.plans_once = False


def select_by_hash(
    db: Read,
    statement: str,
    pairs: Iterable[tuple[int, bytes]],
    *,
    names: tuple[str, str] = ("feed_id", "hash"),
    parameters: Sequence[Any] = (),
) -> Sequence[Any]:
    """Run a SELECT that reads pairs of an id and a hash from the table expression `wanted`. names: of its columns.

    Pairs instead of two lists, because each feed has hashes of its own. SQLite allows 32,766 parameters.
    parameters: further ones of the statement, in its order.
    """
    wanted = list(pairs)
    if not wanted:
        return []
    if is_sqlite(db.connection):
        source = f"VALUES {', '.join(['(?, ?)'] * len(wanted))}"
        values: tuple[Any, ...] = tuple(value for pair in wanted for value in pair)
    elif is_distributed(db.connection):
        source = _values(["bigint", "bytea"], ((str(id_), f"'\\x{hash_.hex()}'") for id_, hash_ in wanted))
        values = ()
    else:
        # Arrays as SQL text: the driver would examine each value.
        source = "SELECT * FROM unnest(%s::bigint[], %s::bytea[])"
        feed_ids = ",".join([str(feed_id) for feed_id, _ in wanted])
        hashes = ",".join([f'"\\\\x{hash_.hex()}"' for _, hash_ in wanted])
        values = (f"{{{feed_ids}}}", f"{{{hashes}}}")
    with_ = f"WITH wanted ({', '.join(names)}) AS ({source})"
    return db.connection.exec_driver_sql(f"{with_} {statement}", (*values, *parameters)).all()


def select_by_date(
    db: Read, statement: str, wanted: Iterable[tuple[int, int, int]], *, parameters: Sequence[Any] = ()
) -> Sequence[Any]:
    """Run a SELECT that reads ids of users and feeds, and dates, from the table expression `wanted`.

    Its columns are user_id, feed_id and published_at. Their number is not limited. parameters: as of `select_by_hash`.
    """
    rows = list(wanted)
    if not rows:
        return []
    values: tuple[str, ...]
    if is_sqlite(db.connection):
        source = "SELECT value ->> 0, value ->> 1, value ->> 2 FROM json_each(?)"
        values = (msgspec.json.encode(rows).decode(),)
    elif is_distributed(db.connection):
        source, values = _values(["bigint"] * 3, (map(str, row) for row in rows)), ()
    else:
        source = "SELECT * FROM unnest(%s::bigint[], %s::bigint[], %s::bigint[])"
        values = tuple(f"{{{','.join(map(str, column))}}}" for column in zip(*rows, strict=True))
    with_ = f"WITH wanted (user_id, feed_id, published_at) AS ({source})"
    return db.connection.exec_driver_sql(f"{with_} {statement}", (*values, *parameters)).all()


def _values(types: Sequence[str], rows: Iterable[Iterable[str]]) -> str:
    """Return the VALUES of numbers and hashes, for a distributed PostgreSQL.

    The nodes get them with the statement. What a function in FROM returns is sent to all of them before, as a file.
    types: of the columns. rows: as SQL.
    """
    first, *others = rows
    typed = [f"CAST({value} AS {type_})" for value, type_ in zip(first, types, strict=True)]
    return "VALUES " + ", ".join(f"({', '.join(row)})" for row in (typed, *others))


def _bind_values(
    db: Write, table: Table, names: Sequence[str], rows: Sequence[Mapping[str, Any]]
) -> list[tuple[Any, ...]]:
    """Return the rows as driver parameters, converted by the column types as SQLAlchemy does for any statement."""
    processors = _bind_processors(db.connection.dialect, table, tuple(names))
    bound = []
    for row in rows:
        values = list(row.values())
        for index, process in processors:
            values[index] = process(values[index])
        bound.append(tuple(values))
    return bound


@lru_cache(maxsize=64)
def _bind_processors(dialect: Dialect, table: Table, names: tuple[str, ...]) -> list[tuple[int, Callable[[Any], Any]]]:
    """Return the index of each column whose values are converted, with the conversion."""
    processors = (table.c[name].type.dialect_impl(dialect).bind_processor(dialect) for name in names)
    return [(index, process) for index, process in enumerate(processors) if process is not None]


@lru_cache(maxsize=64)
def _insert_arrays(dialect: Dialect, table: Table, names: tuple[str, ...]) -> str:
    """Return the INSERT of rows that are passed as an array for each column."""
    # %b: as binary values. The driver takes four times as long to write them as text. In FROM, `unnest` would write all
    # rows to a temporary table first.
    types = [table.c[name].type.compile(dialect).partition(" COLLATE ")[0] for name in names]
    arrays = ", ".join(f"unnest(%b::{type_}[])" for type_ in types)
    return f"INSERT INTO {table.name} ({', '.join(names)}) SELECT {arrays}"
