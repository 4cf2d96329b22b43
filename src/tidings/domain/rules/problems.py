"""Faults in rules: collected while reading a whole text, so that one bad rule does not hide the others."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, TypeVar

from tidings.domain.errors import InvalidRule
from tidings.domain.wording import Words

# Far above any list a person keeps; a guard for the memory and time of the poller.
MAX_TEXT_CHARS: Final = 200_000

T = TypeVar("T")
Problems = list[InvalidRule]


def attempt(read: Callable[[], T], *, problems: Problems, field: str, number: int = 0) -> T | None:
    """What read returns. When it finds a fault, None, and the fault with its place is added to problems.

    number: 0 where the whole text is one rule.
    """
    try:
        return read()
    except InvalidRule as error:
        problems.append(placed(error, field=field, number=number))
        return None


def placed(error: InvalidRule, *, field: str, number: int) -> InvalidRule:
    """The same finding, naming the rule. Its cause is kept."""
    message: Words = f"Rule {number}: {error.message}" if number else error.message
    finding = InvalidRule(message, field=field, number=number or 1)
    finding.__cause__ = error
    return finding


def refuse(problems: Problems) -> None:
    """Raise the first one, if any."""
    if problems:
        raise problems[0]


def is_too_long(text: str, *, field: str, problems: Problems) -> bool:
    if len(text) <= MAX_TEXT_CHARS:
        return False
    problems.append(InvalidRule(f"The rules are longer than {MAX_TEXT_CHARS} characters.", field=field))
    return True
