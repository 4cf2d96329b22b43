"""Statements that are compiled once for all databases of a test process: most tests have one of their own.

SQLAlchemy keeps what it has compiled for each engine, which takes half of the time of a short test on SQLite. Engines
of PostgreSQL take over connections as well (`kept_connections`).
"""

from __future__ import annotations

from typing import Any

import sqlalchemy
from sqlalchemy import Engine
from sqlalchemy.util import LRUCache

from support import kept_connections
from tidings.engine import database, postgresql

_CAPACITY = 3_000


class _CompiledStatements(LRUCache[Any, Any]):
    """What engines have compiled. A key begins with the engine's dialect, of which each engine has one of its own."""

    def get(self, key: Any, default: Any = None) -> Any:
        return super().get(_of_all_engines(key), default)

    def __setitem__(self, key: Any, compiled: Any) -> None:
        super().__setitem__(_of_all_engines(key), compiled)


def _of_all_engines(key: Any) -> Any:
    dialect, *others = key
    return (dialect.name, dialect.driver, postgresql.is_distributed(dialect), *others)


_compiled = _CompiledStatements(_CAPACITY)


def _create_engine(*arguments: Any, **options: Any) -> Engine:
    engine = sqlalchemy.create_engine(*arguments, **options)
    engine.update_execution_options(compiled_cache=_compiled)
    if engine.dialect.name == "postgresql":
        kept_connections.use(engine)
    return engine


def use() -> None:
    """Let all databases of this process share what is compiled."""
    for module in (database, postgresql):
        module.create_engine = _create_engine  # type: ignore[attr-defined]
