"""How a setting is declared: what `options` is written in."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeVar

PREFIX = "TIDINGS_"

Value = TypeVar("Value")
# Makes the text of a default out of the settings declared before it.
Derive = Callable[[Mapping[str, Any]], str]


@dataclass(frozen=True, slots=True)
class Option:
    """One setting, as an operator sees it.

    default: what one would have to write to get the default; a sentence where it depends on the machine or on
    another setting; None where leaving it out means "none".
    mask: makes of a secret what may be shown of it; None for what is no secret.
    """

    name: str
    parse: Callable[[str], Any]
    help: str
    allowed: str
    default: str | None
    derive: Derive | None
    mask: Callable[[str], str] | None
    has_file_variant: bool

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
    help: str,  # noqa: A002  (it is what the reader of a declaration expects)
    *,
    allowed: str,
    default: str | None = None,
    derive: Derive | None = None,
    mask: Callable[[str], str] | None = None,
    has_file_variant: bool = False,
) -> Value:
    """Typed as the value it will hold, so that a declaration reads like any other field."""
    declared = {
        "parse": parse,
        "help": help,
        "allowed": allowed,
        "default": default,
        "derive": derive,
        "mask": mask,
        "has_file_variant": mask is not None or has_file_variant,
    }
    made: Value = field(metadata=declared, repr=mask is None)
    return made
