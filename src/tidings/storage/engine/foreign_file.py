"""Reads an SQLite file that another program wrote."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import quote

from tidings.storage.engine.sqlite_file import UnreadableFile


class ForeignFile:
    """Open read-only. Texts may be damaged: bytes that are no UTF-8 are replaced. Raises UnreadableFile."""

    def __init__(self, path: Path) -> None:
        try:
            self._connection = sqlite3.connect(f"file:{quote(str(path))}?mode=ro", uri=True)
        except sqlite3.Error as error:
            raise UnreadableFile(str(error)) from error
        # What views and triggers of the file could call is limited to harmless functions.
        self._connection.execute("PRAGMA trusted_schema = OFF")
        self._connection.row_factory = sqlite3.Row
        self._connection.text_factory = lambda text: text.decode("utf-8", "replace")

    def close(self) -> None:
        self._connection.close()

    def rows(self, statement: str) -> Iterator[dict[str, Any]]:
        """Yields the rows of a query, by the names of their columns. Raises UnreadableFile."""
        try:
            for row in self._connection.execute(statement):
                yield dict(row)
        except sqlite3.Error as error:
            raise UnreadableFile(str(error)) from error

    def columns(self, table: str) -> set[str]:
        """Returns the names of a table's columns; none if there is no such table. Raises UnreadableFile."""
        return {row["name"] for row in self.rows(f"PRAGMA table_info({table})")}

    def damage(self) -> str:
        """Returns what SQLite finds wrong with the file first, "" if nothing."""
        (found,) = next(self.rows("PRAGMA quick_check(1)")).values()
        return "" if found == "ok" else str(found)
