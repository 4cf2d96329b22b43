"""Collects the errors of a text of rules, so that one wrong rule does not hide the others."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, TypeVar

from tidings.base.messages import msg
from tidings.content.errors import InvalidRule, UnmatchableRule
from tidings.content.rules.budget import MAX_READING_S, RuleBudget

# Characters: far above real lists; limits memory and time of a poll.
MAX_TEXT_CHARS: Final = 200_000

T = TypeVar("T")


class RuleErrors(list[InvalidRule]):
    """The errors of the rules that are read together, and the processor time that reading them may still take.

    A text of 200,000 characters can have thousands of expressions that take milliseconds each to compile.
    """

    def __init__(self) -> None:
        super().__init__()
        self.budget = RuleBudget(MAX_READING_S)
        self.is_cut = False


def collect_error(read: Callable[[], T], *, errors: RuleErrors, field: str, number: int = 0) -> T | None:
    """Return the result of `read`; None if it raises InvalidRule, or if the rules before it took too long to read.

    The error is added to `errors` with its location. number: 0 if the whole text is one rule.
    """
    if errors.budget.is_used_up:
        if not errors.is_cut:
            problem = msg("this rule and those after it were left out: the rules take too long to read, use fewer.")
            errors.append(with_location(InvalidRule(problem), field=field, number=number))
            errors.is_cut = True
        return None
    try:
        with errors.budget:
            return read()
    except InvalidRule as error:
        errors.append(with_location(error, field=field, number=number))
        return None


def with_location(error: InvalidRule, *, field: str, number: int) -> InvalidRule:
    """Return the error with the field and number of its rule. Its cause is kept."""
    message = msg("Rule {number}: {problem}", number=number, problem=error.text) if number else error.text
    located = type(error)(message, field=field, number=number or 1)
    located.__cause__ = error
    return located


def raise_first(errors: RuleErrors) -> None:
    """Raise the first error, if any. Rules that merely match nothing are accepted."""
    for error in errors:
        if not isinstance(error, UnmatchableRule):
            raise error


def is_too_long(text: str, *, field: str, errors: RuleErrors) -> bool:
    """Return whether the text is too long; if it is, adds an error to `errors`."""
    if len(text) <= MAX_TEXT_CHARS:
        return False
    errors.append(InvalidRule(msg("The rules are longer than {max} characters.", max=MAX_TEXT_CHARS), field=field))
    return True
