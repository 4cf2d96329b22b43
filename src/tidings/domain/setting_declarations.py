"""How a setting of a user or a feed is declared: once, as an annotated field of `User` or `Feed`.

    entry_swipe: Annotated[bool, Setting(Risk.NONE)] = True

The column, the response and the body in the API, the part of an archive, the attribute in OPML and the checks of values
are loops over these declarations (`declared`). A page adds what only a page needs: the label and the place in a form.
"""

from __future__ import annotations

from enum import Enum, auto
from typing import Any, Generic, TypeVar, get_args

import msgspec
from msgspec import Struct


class Risk(Enum):
    """What an untrusted value of a setting could do: decides whether an import asks before it applies one."""

    NONE = auto()
    """It changes how lists and pages look and work."""
    HIDES_ENTRIES = auto()
    """It hides entries of all feeds."""
    RUNS_ON_PAGES = auto()
    """It is loaded or run on the user's pages."""
    SENDS_DATA = auto()
    """It sends entries or requests to another host."""
    WEAKENS_SECURITY = auto()
    """It protects the user: no file may change it."""
    NAMES_USER = auto()
    """It identifies the user elsewhere: archives do not contain it."""


class Setting(Struct, frozen=True):
    """What is declared about a setting in addition to its name, type and default value."""

    risk: Risk
    comment: str | None = None
    """The comment of the column."""
    choices: tuple[str, ...] = ()
    """The values that a text may have; empty for any text."""
    range: tuple[float, float] | None = None
    """The smallest and the largest number that the API accepts."""


S = TypeVar("S", bound=Setting)


class Declared(Struct, Generic[S], frozen=True):
    """A setting with its declaration."""

    name: str
    """The name of the field, of the column, of the member in the API and of the field in forms."""
    type: Any
    """bool, str, int, float, or int | None."""
    default: Any
    setting: S


def declared(record: type[Struct], kind: type[S]) -> tuple[Declared[S], ...]:
    """Return the fields of a record that are settings, in order. kind: the type of their declarations."""
    found = []
    for field in msgspec.structs.fields(record):
        value_type, *notes = get_args(field.type) or (field.type,)
        found += [Declared(field.name, value_type, field.default, note) for note in notes if isinstance(note, kind)]
    return tuple(found)
