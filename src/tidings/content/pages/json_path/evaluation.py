"""Evaluates paths and filters. Each evaluation has a budget of steps: a short path may ask for any amount of work.

Source: RFC 9535, sections 2.3 to 2.5.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from enum import StrEnum
from itertools import islice
from typing import Any, Final

from msgspec import Struct

from tidings.base.messages import msg
from tidings.content.errors import PageUnreadable

# Values that a path may find. Those beyond are left out.
MAX_VALUES: Final = 100_000
# Values that are looked at on the way, those that filters compare as well: about half a second.
MAX_STEPS: Final = 2_000_000


class Nothing:
    """The type of `NOTHING`."""


# The value of a query that finds none, which is not null. Source: RFC 9535, section 2.4.1.
NOTHING: Final = Nothing()


class Run:
    """One evaluation: the root of its paths, and the steps that are left."""

    def __init__(self, root: Any, source: str) -> None:
        self.root = root
        self._source = source
        self._left = MAX_STEPS

    def spend(self, steps: int) -> None:
        """Count steps. Raises PageUnreadable if they are too many."""
        self._left -= steps
        if self._left < 0:
            raise PageUnreadable(
                msg(
                    "The path {path} would look at more than {max:,} values here. One with fewer .. and filters may "
                    "find the same.",
                    path=self._source[:200],
                    max=MAX_STEPS,
                )
            )


class Operator(StrEnum):
    EQUAL = "=="
    NOT_EQUAL = "!="
    AT_MOST = "<="
    AT_LEAST = ">="
    LESS = "<"
    GREATER = ">"


class Query(Struct, frozen=True):
    """A path in a filter."""

    steps: tuple[Step, ...]
    is_relative: bool
    """Whether it begins at the value that is tested (`@`), rather than at the root."""

    @property
    def is_singular(self) -> bool:
        """Whether it finds one value at most, whatever the document. Source: section 2.3.5.1."""
        return _is_singular(self.steps)

    def nodes(self, current: Any, run: Run) -> Iterator[Any]:
        return _walk(self.steps, current if self.is_relative else run.root, run)

    def value(self, current: Any, run: Run) -> Any:
        """Return what a singular query finds, or NOTHING."""
        return next(self.nodes(current, run), NOTHING)

    def holds(self, current: Any, run: Run) -> bool:
        return self.value(current, run) is not NOTHING


class Literal(Struct, frozen=True):
    constant: Any

    def value(self, _current: Any, _run: Run) -> Any:
        return self.constant


class Function(Struct, frozen=True):
    """A function of filters."""

    parameters: int
    apply: Callable[..., Any]
    """Called with the arguments and the run."""
    takes_nodes: bool = False
    """Whether its argument is all that a query finds, rather than a value."""
    is_logical: bool = False
    """Whether its result is a condition, rather than a value."""


class Call(Struct, frozen=True):
    function: Function
    arguments: tuple[Operand, ...]

    def value(self, current: Any, run: Run) -> Any:
        if self.function.takes_nodes:
            given = [one.nodes(current, run) for one in self.arguments if isinstance(one, Query)]
        else:
            given = [one.value(current, run) for one in self.arguments]
        return self.function.apply(*given, run)

    def holds(self, current: Any, run: Run) -> bool:
        return bool(self.value(current, run))


class Comparison(Struct, frozen=True):
    left: Operand
    operator: Operator
    right: Operand

    def holds(self, current: Any, run: Run) -> bool:
        return _compared(self.left.value(current, run), self.operator, self.right.value(current, run), run)


class All(Struct, frozen=True):
    """Conditions joined by `&&`."""

    conditions: tuple[Condition, ...]

    def holds(self, current: Any, run: Run) -> bool:
        return all(one.holds(current, run) for one in self.conditions)


class AnyOf(Struct, frozen=True):
    """Conditions joined by `||`."""

    conditions: tuple[Condition, ...]

    def holds(self, current: Any, run: Run) -> bool:
        return any(one.holds(current, run) for one in self.conditions)


class Not(Struct, frozen=True):
    condition: Condition

    def holds(self, current: Any, run: Run) -> bool:
        return not self.condition.holds(current, run)


Operand = Literal | Query | Call
Condition = Comparison | Query | Call | All | AnyOf | Not


class Filter(Struct, frozen=True):
    condition: Condition


# The selectors of a step: a name, an index, a slice, a filter, or None for all.
Choice = str | int | slice | Filter | None


class Step(Struct, frozen=True):
    """One step of a path."""

    choices: tuple[Any, ...]
    """Each a `Choice`."""
    is_descendant: bool
    """Whether it looks at any depth (`..`)."""
    end: int
    """Where it ends in the text of the path."""


class JsonPath(Struct, frozen=True):
    """A path, compiled."""

    source: str
    steps: tuple[Step, ...]

    @property
    def keys(self) -> tuple[str | int, ...] | None:
        """The names and indexes of a path that finds one value at most; None for another one."""
        return tuple(step.choices[0] for step in self.steps) if _is_singular(self.steps) else None


class FailedStep(Struct, frozen=True):
    """The first step of a path that finds nothing."""

    reached: str
    """The path up to there."""
    missing: str
    """The step."""
    found: tuple[str, ...]
    """The names that are there instead; "a list of 12" for a list."""


def find(path: JsonPath, value: Any) -> list[Any]:
    """Return the values at the path, at most MAX_VALUES. Raises PageUnreadable if that takes too many steps."""
    return list(islice(_walk(path.steps, value, Run(value, path.source)), MAX_VALUES))


def first_failure(path: JsonPath, value: Any) -> FailedStep | None:
    """Return the first step that finds nothing; None if all find something. Raises as `find`."""
    run = Run(value, path.source)
    values, end = [value], 0
    for step in path.steps:
        following = list(islice(_after(step, iter(values), run), MAX_VALUES))
        if not following:
            return FailedStep(path.source[:end] or "$", path.source[end : step.end], _names(values))
        values, end = following, step.end
    return None


def names_in(value: Any) -> tuple[str, ...]:
    """Return the names of an object, or a description of another value."""
    if isinstance(value, dict):
        return tuple(str(name)[:60] for name in islice(value, 30))
    if isinstance(value, list):
        return (f"a list of {len(value)}",)
    return (type(value).__name__ if value is not None else "null",)


def _is_singular(steps: tuple[Step, ...]) -> bool:
    return all(
        not step.is_descendant and len(step.choices) == 1 and isinstance(step.choices[0], str | int) for step in steps
    )


def _names(values: list[Any]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(name for value in values[:5] for name in names_in(value)))


def _walk(steps: tuple[Step, ...], start: Any, run: Run) -> Iterator[Any]:
    values = iter((start,))
    for step in steps:
        values = _after(step, values, run)
    return values


def _after(step: Step, values: Iterator[Any], run: Run) -> Iterator[Any]:
    for value in values:
        run.spend(1)
        for each in _with_descendants(value, run) if step.is_descendant else (value,):
            for choice in step.choices:
                yield from _chosen(each, choice, run)


def _with_descendants(value: Any, run: Run) -> Iterator[Any]:
    """Yield the value and all in it, in document order. A stack, since JSON may be nested deeper than calls."""
    stack = [value]
    while stack:
        each = stack.pop()
        yield each
        if isinstance(each, dict):
            run.spend(len(each))
            stack.extend(reversed(each.values()))
        elif isinstance(each, list):
            run.spend(len(each))
            stack.extend(reversed(each))


def _chosen(value: Any, choice: Choice, run: Run) -> Iterator[Any]:
    if isinstance(value, dict):
        return _chosen_in_object(value, choice, run)
    return _chosen_in_list(value, choice, run) if isinstance(value, list) else iter(())


def _chosen_in_object(value: dict[str, Any], choice: Choice, run: Run) -> Iterator[Any]:
    if choice is None:
        yield from value.values()
    elif isinstance(choice, Filter):
        yield from _passing(value.values(), choice, run)
    elif isinstance(choice, str) and choice in value:
        yield value[choice]


def _chosen_in_list(value: list[Any], choice: Choice, run: Run) -> Iterator[Any]:
    if choice is None:
        yield from value
    elif isinstance(choice, Filter):
        yield from _passing(value, choice, run)
    elif isinstance(choice, slice):
        # A step of 0 selects nothing. Source: section 2.3.4.2.2.
        if choice.step != 0:
            yield from (value[number] for number in range(*choice.indices(len(value))))
    elif isinstance(choice, int) and -len(value) <= choice < len(value):
        yield value[choice]


def _passing(values: Iterable[Any], choice: Filter, run: Run) -> Iterator[Any]:
    for each in values:
        run.spend(1)
        if choice.condition.holds(each, run):
            yield each


def _compared(left: Any, operator: Operator, right: Any, run: Run) -> bool:
    """Compare two values. Source: section 2.3.5.2.2."""
    match operator:
        case Operator.EQUAL:
            return _is_equal(left, right, run)
        case Operator.NOT_EQUAL:
            return not _is_equal(left, right, run)
        case Operator.LESS:
            return _is_less(left, right)
        case Operator.GREATER:
            return _is_less(right, left)
        case Operator.AT_MOST:
            return _is_less(left, right) or _is_equal(left, right, run)
        case Operator.AT_LEAST:
            return _is_less(right, left) or _is_equal(left, right, run)


def _is_less(left: Any, right: Any) -> bool:
    is_comparable = (isinstance(left, str) and isinstance(right, str)) or (_is_number(left) and _is_number(right))
    return is_comparable and bool(left < right)


def _is_number(value: Any) -> bool:
    # In Python, true is a number.
    return isinstance(value, int | float) and not isinstance(value, bool)


def _is_equal(left: Any, right: Any, run: Run) -> bool:
    """Compare with a stack, since JSON may be nested deeper than calls, and without taking true for 1."""
    pairs = [(left, right)]
    while pairs:
        one, other = pairs.pop()
        run.spend(1)
        if isinstance(one, list) and isinstance(other, list):
            if len(one) != len(other):
                return False
            run.spend(len(one))
            pairs.extend(zip(one, other, strict=True))
        elif isinstance(one, dict) and isinstance(other, dict):
            if one.keys() != other.keys():
                return False
            run.spend(len(one))
            pairs.extend((one[name], other[name]) for name in one)
        elif not _is_same(one, other):
            return False
    return True


def _is_same(one: Any, other: Any) -> bool:
    are_equal_by_value = (_is_number(one) and _is_number(other)) or (isinstance(one, str) and isinstance(other, str))
    return bool(one == other) if are_equal_by_value else one is other
