"""Reads an SQLite file that another program wrote, or that was crafted to exhaust this one."""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final
from urllib.parse import quote

from tidings.engine.sqlite_file import UnreadableFile

# Seconds of processor time inside SQLite for a file; one of 1 GB takes some ten.
MAX_CPU_S: Final = 300.0
# Steps of a statement between two looks at the clock: about a millisecond.
_STEPS: Final = 10_000
# Maximum bytes of a text or a blob. Entries are much smaller.
_MAX_VALUE: Final = 64 * 2**20
# Depth of an expression, terms of a compound SELECT, columns: more than any table of a reader has.
_LIMITS: Final = {
    sqlite3.SQLITE_LIMIT_LENGTH: _MAX_VALUE,
    sqlite3.SQLITE_LIMIT_EXPR_DEPTH: 50,
    sqlite3.SQLITE_LIMIT_COMPOUND_SELECT: 2,
    sqlite3.SQLITE_LIMIT_COLUMN: 200,
    sqlite3.SQLITE_LIMIT_ATTACHED: 0,
}
# Nothing else happens in the statements of a reader. Views, and what triggers or rules of a table would do, name
# themselves as the source of an action, and are refused.
_ALLOWED: Final = frozenset({sqlite3.SQLITE_SELECT, sqlite3.SQLITE_READ, sqlite3.SQLITE_FUNCTION})
_PRAGMAS: Final = frozenset({"table_xinfo", "quick_check"})
# Values of `hidden` in table_xinfo: a column that is stored. Others are computed by an expression when they are read.
_STORED: Final = 0


class ForeignFile:
    """A SQLite file of another reader, opened read-only.

    Texts may be damaged: bytes that are not UTF-8 are replaced. Raises UnreadableFile.
    Only what tables store is read: views, virtual tables and computed columns can stand for any amount of work.
    cpu_s: seconds of processor time inside SQLite.
    """

    def __init__(self, path: Path, *, cpu_s: float = MAX_CPU_S) -> None:
        self._cpu_limit_s = cpu_s
        self._left_s = cpu_s
        self._entered_s = 0.0
        try:
            self._connection = sqlite3.connect(f"file:{quote(str(path))}?mode=ro", uri=True)
        except sqlite3.Error as error:
            raise UnreadableFile(str(error)) from error
        # What expressions of the file could call is limited to harmless functions, and constraints are not computed.
        for pragma in ("trusted_schema = OFF", "cell_size_check = ON", "ignore_check_constraints = ON"):
            self._connection.execute(f"PRAGMA {pragma}")
        for limit, most in _LIMITS.items():
            self._connection.setlimit(limit, most)
        self._connection.set_authorizer(_authorize)
        self._connection.set_progress_handler(self._is_over, _STEPS)
        self._connection.row_factory = sqlite3.Row
        self._connection.text_factory = lambda text: text.decode("utf-8", "replace")

    def close(self) -> None:
        self._connection.close()

    def rows(self, statement: str) -> Iterator[dict[str, Any]]:
        """Yield the rows of a query, by the names of their columns. Raises UnreadableFile."""
        cursor: Iterator[sqlite3.Row] | None = None
        while True:
            self._entered_s = time.thread_time()
            try:
                cursor = cursor or self._connection.execute(statement)
                row = next(cursor, None)
            except sqlite3.Error as error:
                raise UnreadableFile(self._reason(error)) from error
            finally:
                # Only what SQLite does counts, not what the caller does with a row.
                self._left_s -= time.thread_time() - self._entered_s
            if row is None:
                return
            yield dict(row)

    def columns(self, table: str) -> set[str]:
        """Return the names of a table's columns; none if the table does not exist.

        Raises UnreadableFile, including for a view, a virtual table, or a table with computed columns.
        """
        columns = list(self.rows(f"PRAGMA table_xinfo({table})"))
        kinds = list(self.rows(f"SELECT type, rootpage FROM sqlite_schema WHERE lower(name) = '{table}'"))  # noqa: S608 - ours
        if columns and not any(kind["type"] == "table" and kind["rootpage"] for kind in kinds):
            raise UnreadableFile(f"{table} is not a table")
        if computed := [str(column["name"]) for column in columns if column["hidden"] != _STORED]:
            raise UnreadableFile(f"column {computed[0][:50]} of table {table} is computed, not stored")
        return {str(column["name"]) for column in columns}

    def damage(self) -> str:
        """Return what SQLite finds wrong with the file first, "" if nothing."""
        (found,) = next(self.rows("PRAGMA quick_check(1)")).values()
        return "" if found == "ok" else str(found)

    def _is_over(self) -> bool:
        """Called by SQLite every few steps; True ends the statement."""
        return time.thread_time() - self._entered_s > self._left_s

    def _reason(self, error: sqlite3.Error) -> str:
        if getattr(error, "sqlite_errorcode", 0) == sqlite3.SQLITE_INTERRUPT:
            return f"reading it takes more than {self._cpu_limit_s:g} s"
        return str(error)


def _authorize(action: int, name: str | None, _detail: str | None, _database: str | None, source: str | None) -> int:
    """Decide whether SQLite may run an action. source: the view or trigger that causes it."""
    is_allowed = source is None and (action in _ALLOWED or (action == sqlite3.SQLITE_PRAGMA and name in _PRAGMAS))
    return sqlite3.SQLITE_OK if is_allowed else sqlite3.SQLITE_DENY
