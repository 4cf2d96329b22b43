"""A schema as text, the same whatever the version of the engine."""

from __future__ import annotations

from sqlalchemy import text

from tidings.engine.database import Database, Read

_SQLITE = """
SELECT sql FROM sqlite_master
WHERE sql IS NOT NULL AND name NOT LIKE 'sqlite_%' AND name <> 'alembic_version'
ORDER BY tbl_name, type = 'index', name
"""
_TABLES = "SELECT relname FROM pg_class WHERE relkind = 'r' AND relnamespace = 'public'::regnamespace ORDER BY relname"
_COLUMNS = """
SELECT a.attname || ' ' || format_type(a.atttypid, a.atttypmod)
       || CASE WHEN c.collname NOT IN ('default') THEN ' COLLATE ' || quote_ident(c.collname) ELSE '' END
       || CASE WHEN a.attnotnull THEN ' NOT NULL' ELSE '' END
       || COALESCE(CASE WHEN a.attgenerated = '' THEN ' DEFAULT ' ELSE ' GENERATED AS ' END
                   || pg_get_expr(d.adbin, d.adrelid), '')
       || COALESCE(' -- ' || col_description(a.attrelid, a.attnum), '')
FROM pg_attribute a
LEFT JOIN pg_attrdef d ON d.adrelid = a.attrelid AND d.adnum = a.attnum
LEFT JOIN pg_collation c ON c.oid = a.attcollation
WHERE a.attrelid = CAST(:name AS regclass) AND a.attnum > 0 AND NOT a.attisdropped
ORDER BY a.attnum
"""
_CONSTRAINTS = """
SELECT conname || ' ' || pg_get_constraintdef(oid) FROM pg_constraint
WHERE conrelid = CAST(:name AS regclass) AND contype IN ('p', 'f', 'u', 'c') ORDER BY conname
"""
_INDEXES = "SELECT indexdef FROM pg_indexes WHERE tablename = :name ORDER BY indexname"


def described(database: Database) -> str:
    with database.reading() as db:
        return _sqlite(db) if database.is_sqlite else _postgresql(db)


def _sqlite(db: Read) -> str:
    return "".join(f"{_in_order(_tidy(statement))};\n\n" for statement in db.scalars(text(_SQLITE)))


def _in_order(statement: str) -> str:
    """Return a statement with its constraints sorted: a table that is made anew gets them in any order."""
    lines = statement.split("\n")
    places = [at for at, line in enumerate(lines) if line.startswith("    CONSTRAINT ")]
    if not places or places != list(range(places[0], places[0] + len(places))):
        return statement
    is_last = not lines[places[-1]].endswith(",")
    found = sorted(lines[at].removesuffix(",") for at in places)
    found = [*(f"{line}," for line in found[:-1]), found[-1] if is_last else f"{found[-1]},"]
    return "\n".join([*lines[: places[0]], *found, *lines[places[-1] + 1 :]])


def _postgresql(db: Read) -> str:
    parts = []
    for name in db.scalars(text(_TABLES)):
        if name != "alembic_version":
            lines = [
                line for query in (_COLUMNS, _CONSTRAINTS, _INDEXES) for line in db.scalars(text(query), name=name)
            ]
            parts.append("\n    ".join([f"TABLE {name}", *lines]) + "\n\n")
    return "".join(parts)


def _tidy(statement: str) -> str:
    return "\n".join(line.rstrip().replace("\t", "    ") for line in statement.splitlines() if line.strip())
