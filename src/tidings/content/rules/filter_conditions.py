"""Filters as rows of conditions, for people who do not write expressions.

    EntryTitle=(?i)sponsored     EntryTitle  has      sponsored
    EntryAuthor=^Ada$            EntryAuthor matches  ^Ada$
    EntryDate=max-age:30d        EntryDate   older    30d
    EntryTitle                   line        is       EntryTitle       a line that is not a rule

`conditions_of` returns such rows for every text; `text_of` writes rules of the same meaning from them.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from tidings.base.conditions import Condition
from tidings.content.errors import InvalidRule
from tidings.content.rules.evaluation import RuleErrors
from tidings.content.rules.filters import DateKind, FilterField, read_filters

LINE: Final = "line"
"""The field of a line that is not a rule."""

# By comparison with literal text: what its expression has around the text.
_AROUND: Final = {"is": ("(?i)^", "$"), "begins": ("(?i)^", ""), "has": ("(?i)", ""), "has_exactly": ("", "")}
EXPRESSIONS: Final = ("has", "is", "begins", "has_exactly", "matches")
_DATES: Final = {
    "older": DateKind.MAX_AGE,
    "before": DateKind.BEFORE,
    "after": DateKind.AFTER,
    "between": DateKind.BETWEEN,
    "future": DateKind.FUTURE,
}
# Comparisons that need no value.
ALONE: Final = ("future",)
# By field: how it can be compared, the usual way first.
HOWS: Final[dict[str, tuple[str, ...]]] = {
    **{str(field): EXPRESSIONS for field in FilterField},
    FilterField.DATE.value: tuple(_DATES),
    LINE: ("is",),
}

_LINE_ENDS: Final = re.compile(r"[\r\n]+")
_SPECIAL: Final = r"\\.+*?()|\[\]{}^$"
_TO_ESCAPE: Final = re.compile(f"[{_SPECIAL}]")
_ESCAPED: Final = re.compile(rf"\\([{_SPECIAL}])")
_LITERAL: Final = re.compile(rf"(?:[^{_SPECIAL}]|\\[{_SPECIAL}])+")


def conditions_of(text: str) -> list[Condition]:
    """Return a row for each line that is not blank."""
    return [_condition(line.strip()) for line in text.split("\n") if line.strip()]


def text_of(conditions: Sequence[Condition]) -> str:
    """Return the rules of rows, one per line."""
    return "\n".join(map(line_of, conditions))


def line_of(condition: Condition) -> str:
    """Return the rule of a row. Line breaks in its value are blanks."""
    field, how, value = condition.field, condition.how, _LINE_ENDS.sub(" ", condition.value).strip()
    if field == LINE:
        return value
    if how in _DATES:
        return f"{field}={_DATES[how]}{f':{value}' if how not in ALONE else ''}"
    return f"{field}={expression_of(how, value)}"


def check(condition: Condition) -> None:
    """Raise InvalidRule for a row that is not a rule, or is one that can never match."""
    errors = RuleErrors()
    read_filters(line_of(condition), field="", errors=errors)
    for error in errors:
        # Without the number of the rule: there is only this one.
        raise error.__cause__ if isinstance(error.__cause__, InvalidRule) else error


def expression_of(how: str, value: str) -> str:
    """Return the expression that a text is compared with. Line breaks in the value are blanks."""
    value = _LINE_ENDS.sub(" ", value).strip()
    if how not in _AROUND:
        return value
    start, end = _AROUND[how]
    return start + _TO_ESCAPE.sub(r"\\\g<0>", value) + end


def condition_of(field: str, expression: str) -> Condition:
    """Return the row that says the same as an expression, in words if that is possible."""
    for how, (start, end) in _AROUND.items():
        literal = expression.removeprefix(start).removesuffix(end)
        if _LITERAL.fullmatch(literal):
            value = _ESCAPED.sub(r"\1", literal)
            if expression_of(how, value) == expression:
                return Condition(field, how, value)
    return Condition(field, "matches", expression)


def _condition(line: str) -> Condition:
    name, equals, value = map(str.strip, line.partition("="))
    if not equals or name not in HOWS or name == LINE:
        return Condition(LINE, "is", line)
    if name != FilterField.DATE:
        one = condition_of(name, value)
        return one if line_of(one) == f"{name}={value}" else Condition(LINE, "is", line)
    kind, _, limit = value.partition(":")
    for how, date_kind in _DATES.items():
        one = Condition(name, how, limit)
        if date_kind == kind and line_of(one) == f"{name}={value}":
            return one
    return Condition(LINE, "is", line)
