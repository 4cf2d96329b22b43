"""The table of saved views."""

from __future__ import annotations

from sqlalchemy import Table, UniqueConstraint

from tidings.engine.columns import flag, key, metadata, number, owner, words

views = Table(
    "views",
    metadata,
    key(),
    owner(),
    words("name", None),
    words("name_key", None, "Case-folded: names are compared without case everywhere."),
    words("query", comment="As its user wrote it; empty for all entries."),
    words("entry_order", "published_at", "By which time its entries are sorted."),
    words("direction", "desc"),
    words("density", comment="How densely its page lists entries; empty for the device's setting."),
    words("icon", "filter", "Name of a drawing."),
    number("position", 0, "Place in the sidebar, from 1 on."),
    flag("in_apps", comment="Apps of the Google Reader API see it as a label."),
    flag("is_home", comment="The first page after signing in; of one view at most."),
    UniqueConstraint("user_id", "name_key"),
    sqlite_autoincrement=True,
    comment="Queries to which users gave a name.",
)
