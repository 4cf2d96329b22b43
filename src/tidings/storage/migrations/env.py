"""Run by Alembic, on the connection that `storage.migrate` opened."""

from __future__ import annotations

from typing import Any

from alembic import context

from tidings.engine.search_tables import is_compared
from tidings.storage.schema import metadata


def _include(thing: Any, name: str | None, *_more: object) -> bool:
    return is_compared(thing, name, connection.dialect.name)


connection = context.config.attributes["connection"]
context.configure(
    connection=connection,
    target_metadata=metadata,
    render_as_batch=connection.dialect.name == "sqlite",
    compare_server_default=True,
    include_object=_include,
)
with context.begin_transaction():
    context.run_migrations()
