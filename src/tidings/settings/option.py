"""The declaration of a setting, as `options` uses it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeVar

PREFIX = "TIDINGS_"

Value = TypeVar("Value")
# Returns the text of a default; takes the values of the settings declared before it.
Derive = Callable[[Mapping[str, Any]], str]


@dataclass(frozen=True, slots=True)
class Option:
    """One setting, with its documentation."""

    name: str
    parse: Callable[[str], Any]
    help: str
    allowed: str
    default: str | None
    """Text of the default value; a description if it depends on the machine or on another setting; None without one."""
    derive: Derive | None
    """Return the default if it depends on something."""
    mask: Callable[[str], str] | None
    """Return the part of a secret that may be shown; None for a setting that is not secret."""
    has_file_variant: bool
    """Whether NAME_FILE may name a file that contains the value."""

    @property
    def field(self) -> str:
        return self.name.removeprefix(PREFIX).lower()

    @property
    def is_secret(self) -> bool:
        return self.mask is not None

    @property
    def file_variant(self) -> str:
        return f"{self.name}_FILE"


def option(
    parse: Callable[[str], Value],
    help: str,  # noqa: A002  (the name that readers of a declaration expect)
    *,
    allowed: str,
    default: str | None = None,
    derive: Derive | None = None,
    mask: Callable[[str], str] | None = None,
    has_file_variant: bool = False,
) -> Value:
    """Return a dataclass field with the declaration as metadata, typed as the value that it will hold."""
    declared = {
        "parse": parse,
        "help": help,
        "allowed": allowed,
        "default": default,
        "derive": derive,
        "mask": mask,
        "has_file_variant": mask is not None or has_file_variant,
    }
    created: Value = field(metadata=declared, repr=mask is None)
    return created
