"""Run by Alembic, on the connection that `storage.migrate` opened."""

from __future__ import annotations

from alembic import context

connection = context.config.attributes["connection"]
# Without metadata, Alembic refuses to write migrations: this ring does not know the tables of the slices, which would
# be dropped. A test compares all tables with what the migrations make of a database.
context.configure(connection=connection, target_metadata=None)
with context.begin_transaction():
    context.run_migrations()
