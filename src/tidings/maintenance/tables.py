"""Scheduled jobs, each run by one worker at a time."""

from __future__ import annotations

from sqlalchemy import Column, Table

from tidings.engine.columns import Words, instant, metadata, words

chores = Table(
    "chores",
    metadata,
    Column("name", Words, primary_key=True),
    instant("next_at", comment="When it is to be done again."),
    instant("claimed_until", nullable=True, comment="A worker is at it until then; who dies loses it."),
    words("claimed_by"),
    instant("finished_at", nullable=True, comment="When it was last done; null: never yet."),
    sqlite_with_rowid=False,
)
