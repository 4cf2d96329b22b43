"""Paths into JSON: RFC 9535 without filters and functions.

    $.posts[*]   posts   data.items[0]   $..article   $['a key'][1:5]   meta["first","second"]

A path of a field begins at the item; `$` and `@` at its beginning may be left out. Filters (`[?...]`) are refused: a
field's `capture` does most of what they are used for here, and they would need an evaluator of their own.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import islice
from typing import Any, Final

from msgspec import Struct

from tidings.base.errors import InvalidInput
from tidings.base.messages import Message, msg

# Values that one step may find.
MAX_VALUES: Final = 100_000

_NAME: Final = re.compile(r"[A-Za-z_\u0080-\U0010ffff-][\w\u0080-\U0010ffff-]*")
_SLICE: Final = re.compile(r"(-?\d+)?\s*:\s*(-?\d+)?(?:\s*:\s*(-?\d+)?)?")
_INDEX: Final = re.compile(r"-?\d+")
_BLANK: Final = re.compile(r"\s*")
_STRING: Final = re.compile(r"'(?:[^'\\]|\\.)*'|\"(?:[^\"\\]|\\.)*\"")
_ESCAPE: Final = re.compile(r"\\(u[0-9A-Fa-f]{4}|.)", re.DOTALL)
_ESCAPED: Final = {"n": "\n", "t": "\t", "r": "\r", "b": "\b", "f": "\f"}

# The selectors of a step: a name, an index, a slice, or None for all.
Choice = str | int | slice | None


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


class FailedStep(Struct, frozen=True):
    """The first step of a path that finds nothing."""

    reached: str
    """The path up to there."""
    missing: str
    """The step."""
    found: tuple[str, ...]
    """The names that are there instead; "a list of 12" for a list."""


def parse_path(text: str) -> JsonPath:
    """Return the path. Raises InvalidInput, which says at which character it is wrong."""
    position = _after_blank(text, 0)
    if text[position : position + 1] in ("$", "@"):
        position += 1
    elif position < len(text) and text[position] not in ".[":
        # A name alone, as in `posts` and `meta.title`.
        position = _after_blank(text, 0)
        choice, position = _shorthand(text, position)
        return JsonPath(text, (Step((choice,), is_descendant=False, end=position), *_steps(text, position)))
    return JsonPath(text, tuple(_steps(text, position)))


def find(path: JsonPath, value: Any) -> list[Any]:
    """Return the values at the path, at most MAX_VALUES."""
    values = [value]
    for step in path.steps:
        values = list(islice(_after(step, values), MAX_VALUES))
    return values


def first_failure(path: JsonPath, value: Any) -> FailedStep | None:
    """Return the first step that finds nothing; None if all find something."""
    values, end = [value], 0
    for step in path.steps:
        following = list(islice(_after(step, values), MAX_VALUES))
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


def _names(values: list[Any]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(name for value in values[:5] for name in names_in(value)))


def _steps(text: str, position: int) -> Iterator[Step]:
    while (position := _after_blank(text, position)) < len(text):
        is_descendant = text.startswith("..", position)
        if is_descendant:
            position += 2
        elif text[position] == ".":
            position += 1
        elif text[position] != "[":
            raise _wrong(position, msg("a step begins with . or ["))
        if text[position : position + 1] == "[":
            choices, position = _bracketed(text, position)
        else:
            choice, position = _shorthand(text, position)
            choices = (choice,)
        yield Step(choices, is_descendant, position)


def _shorthand(text: str, position: int) -> tuple[Choice, int]:
    if text[position : position + 1] == "*":
        return None, position + 1
    name = _NAME.match(text, position)
    if name is None:
        raise _wrong(position, msg("a name or * is expected"))
    return name[0], name.end()


def _bracketed(text: str, position: int) -> tuple[tuple[Choice, ...], int]:
    choices: list[Choice] = []
    while True:
        position = _after_blank(text, position + 1)
        choice, position = _choice(text, position)
        choices.append(choice)
        position = _after_blank(text, position)
        if text[position : position + 1] == "]":
            return tuple(choices), position + 1
        if text[position : position + 1] != ",":
            raise _wrong(position, msg("] is expected"))


def _choice(text: str, position: int) -> tuple[Choice, int]:
    if text[position : position + 1] == "*":
        return None, position + 1
    if text[position : position + 1] == "?":
        raise _wrong(position, msg("filters are not supported"))
    if part := _SLICE.match(text, position):
        numbers = [_number(position, each) if each else None for each in part.groups()]
        return slice(*numbers), part.end()
    if index := _INDEX.match(text, position):
        return _number(position, index[0]), index.end()
    if string := _STRING.match(text, position):
        return _ESCAPE.sub(_unescaped, string[0][1:-1]), string.end()
    raise _wrong(position, msg("a quoted name, a number, a range or * is expected"))


def _number(position: int, digits: str) -> int:
    if len(digits) > 9:
        raise _wrong(position, msg("the number is too large"))
    return int(digits)


def _unescaped(match: re.Match[str]) -> str:
    code = match[1]
    return chr(int(code[1:], 16)) if len(code) == 5 else _ESCAPED.get(code, code)


def _after_blank(text: str, position: int) -> int:
    blank = _BLANK.match(text, position)
    return blank.end() if blank else position


def _wrong(position: int, problem: Message) -> InvalidInput:
    return InvalidInput(
        msg("the path cannot be read at character {position}: {problem}.", position=position + 1, problem=problem)
    )


def _after(step: Step, values: list[Any]) -> Iterator[Any]:
    for value in values:
        for each in _with_descendants(value) if step.is_descendant else (value,):
            for choice in step.choices:
                yield from _chosen(each, choice)


def _with_descendants(value: Any) -> Iterator[Any]:
    """Yield the value and all in it, in document order. A stack, since JSON may be nested deeper than calls."""
    stack = [value]
    while stack:
        each = stack.pop()
        yield each
        if isinstance(each, dict):
            stack.extend(reversed(each.values()))
        elif isinstance(each, list):
            stack.extend(reversed(each))


def _chosen(value: Any, choice: Choice) -> Iterator[Any]:
    if isinstance(value, dict):
        if choice is None:
            yield from value.values()
        elif isinstance(choice, str) and choice in value:
            yield value[choice]
    elif isinstance(value, list):
        if choice is None:
            yield from value
        elif isinstance(choice, slice):
            # A step of 0 selects nothing. Source: RFC 9535, section 2.3.4.2.2.
            yield from () if choice.step == 0 else value[choice]
        elif isinstance(choice, int) and -len(value) <= choice < len(value):
            yield value[choice]
