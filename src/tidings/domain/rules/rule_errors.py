"""Collects the errors of a text of rules, so that one wrong rule does not hide the others."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, TypeVar

from tidings.domain.errors import InvalidRule, UnmatchableRule
from tidings.domain.messages import msg

# Characters: far above real lists; limits memory and time of a poll.
MAX_TEXT_CHARS: Final = 200_000

T = TypeVar("T")
RuleErrors = list[InvalidRule]


def collect_error(read: Callable[[], T], *, errors: RuleErrors, field: str, number: int = 0) -> T | None:
    """Returns the result of `read`; None if it raises InvalidRule.

    The error is added to `errors` with its location. number: 0 if the whole text is one rule.
    """
    try:
        return read()
    except InvalidRule as error:
        errors.append(with_location(error, field=field, number=number))
        return None


def with_location(error: InvalidRule, *, field: str, number: int) -> InvalidRule:
    """Returns the error with the field and number of its rule. Its cause is kept."""
    message = msg("Rule {number}: {problem}", number=number, problem=error.text) if number else error.text
    located = type(error)(message, field=field, number=number or 1)
    located.__cause__ = error
    return located


def raise_first(errors: RuleErrors) -> None:
    """Raises the first error, if any. Rules that merely match nothing are accepted."""
    for error in errors:
        if not isinstance(error, UnmatchableRule):
            raise error


def is_too_long(text: str, *, field: str, errors: RuleErrors) -> bool:
    """Returns whether the text is too long; if it is, adds an error to `errors`."""
    if len(text) <= MAX_TEXT_CHARS:
        return False
    errors.append(InvalidRule(msg("The rules are longer than {max} characters.", max=MAX_TEXT_CHARS), field=field))
    return True
