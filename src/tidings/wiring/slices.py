"""The table of contents of the slices: a new one is a line here. Its folder says the rest, in the module `wiring`."""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from pathlib import Path
from typing import Any

import tidings
from tidings.wiring.slice import Slice

# Folders, in the order in which their services are built: what a slice reads from `Joins`, one above it has set.
NAMES = (
    "sign_in",
    "views",
    "list_settings",
    "deliveries",
    "rules",
    # After rules: what they star or label is not folded.
    "duplicates",
    "history",
    "newsletters",
    "live_opml",
    "old_unread",
    "bridges",
    "archives",
    "snooze",
    "websub",
    "sites",
    "media",
    "sync",
    "live",
    "maintenance",
)

SLICES: Mapping[str, Slice[Any]] = {name: import_module(f"tidings.{name}.wiring").SLICE for name in NAMES}

# The folders of their templates; not every slice has one.
TEMPLATES = {name: Path(tidings.__file__).parent / name / "templates" for name in NAMES}
