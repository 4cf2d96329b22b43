"""When a chapter or a line of a transcript begins, as publishers' JSON files give it."""

from __future__ import annotations

from typing import Any, Final

_MAX_S: Final = 10**7


def start_seconds(value: Any) -> float | None:
    """Returns the seconds; None unless `value` is a number from 0 to several hundred days."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= _MAX_S:
        return None
    return float(value)
