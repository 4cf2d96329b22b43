"""Whose turn it is at a service that does one thing at a time for all processes."""

from __future__ import annotations

from sqlalchemy import Column, Table

from tidings.engine.columns import Words, instant, metadata, words

bridge_turns = Table(
    "bridge_turns",
    metadata,
    Column("name", Words, primary_key=True, comment="Of the service."),
    instant("taken_until", nullable=True, comment="It works until then; whoever dies loses the turn."),
    words("taken_by"),
    sqlite_with_rowid=False,
)
