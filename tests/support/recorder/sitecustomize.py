"""Imported by each Python that starts with this folder on its path: records the SQL that a service executes.

RECORD_STATEMENTS: the file that gets each new statement as one line of JSON, its engine first.
"""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

from sqlalchemy import Engine, event

_seen: set[str] = set()


@event.listens_for(Engine, "before_cursor_execute")
def record(_connection: Any, _cursor: Any, statement: str, *_: Any) -> None:
    if statement not in _seen:
        _seen.add(statement)
        with Path(os.environ["RECORD_STATEMENTS"]).open("a", encoding="utf-8") as file:
            file.write(json.dumps(statement) + "\n")
