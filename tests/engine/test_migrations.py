"""What the engines assume of every table, whichever migration made it."""

from __future__ import annotations

from sqlalchemy import text

from tidings.engine.database import Database

# A short text of another type would be sorted by the locale of the server, too.
_SORTED_BY_LOCALE = text(
    "SELECT table_name, column_name FROM information_schema.columns JOIN information_schema.tables"
    " USING (table_schema, table_name)"
    " WHERE table_schema = current_schema() AND table_type = 'BASE TABLE'"
    " AND data_type IN ('text', 'character varying', 'character')"
    " AND table_name <> 'alembic_version' AND coalesce(collation_name, '') <> 'C' ORDER BY 1, 2"
)
_SORTED_DIFFERENTLY = text(
    "SELECT name, sql FROM sqlite_master WHERE type IN ('table', 'index') AND sql LIKE '% COLLATE %' ORDER BY 1"
)
# Nothing sorts by it.
_UNSORTED = frozenset({("labels", "color")})


def test_texts_are_compared_by_code_point_on_both_engines(database: Database, engine: str) -> None:
    """Each migration declares its columns again, and may forget the collation."""
    with database.reading() as db:
        wrong = db.tuples(_SORTED_BY_LOCALE if engine == "postgresql" else _SORTED_DIFFERENTLY)

    assert {(table, column) for table, column in wrong} <= _UNSORTED
