"""Imports, which a process of a web worker runs."""

from __future__ import annotations

from sqlalchemy import Column, ForeignKey, Table

from tidings.engine.columns import instant, metadata, number, words

account_imports = Table(
    "account_imports",
    metadata,
    Column("user_id", ForeignKey("users.id", ondelete="CASCADE"), primary_key=True),
    words("token", None, "Of the process that runs it; a later one has another."),
    words("source", None, "tidings, miniflux, freshrss …"),
    words("origin", "", "Name of the file, or address of the server."),
    words("state", None, "waiting, asking, running, done, failed, interrupted or expired."),
    number("steps_done"),
    number("steps_total", 0, "0 while unknown."),
    instant("started_at"),
    instant("renewed_at", comment="Unless it is renewed within a minute, its process has ended."),
    instant("finished_at", nullable=True),
    words("report", "", "JSON: what was done; while it asks, what it would change. Empty before."),
    words("error", "", "Why it failed."),
    words("error_form", "", "JSON: template and values of error; empty: English alone."),
    comment="The last import of each user.",
)
