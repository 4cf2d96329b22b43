"""Rules on text that every noun shares."""

from __future__ import annotations

from tidings.domain.errors import InvalidInput


def reject_control_characters(value: str, *, field: str) -> str:
    """PostgreSQL cannot store NUL, and no name means one."""
    if "\0" in value:
        raise InvalidInput(f"{field} holds a NUL character: remove it.", field=field)
    return value


def searchable(value: str) -> str:
    """For comparing without case."""
    return value.strip().casefold()
