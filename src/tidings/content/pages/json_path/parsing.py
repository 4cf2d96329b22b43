"""Reads the text of a path, and says at which character it is wrong. Source: RFC 9535, appendix A."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Final

from tidings.base.errors import InvalidInput
from tidings.base.messages import Message, msg
from tidings.content.errors import InvalidRule
from tidings.content.pages.json_path.evaluation import (
    All,
    AnyOf,
    Call,
    Choice,
    Comparison,
    Condition,
    Filter,
    Function,
    JsonPath,
    Literal,
    Not,
    Operand,
    Operator,
    Query,
    Step,
)
from tidings.content.pages.json_path.functions import FUNCTIONS, compile_expression

# Parentheses, filters and functions inside each other.
MAX_NESTING: Final = 20
# Source: section 2.1; numbers that are exact everywhere.
MAX_INTEGER: Final = (1 << 53) - 1

_NAME: Final = re.compile(r"[A-Za-z_\u0080-\U0010ffff-][\w\u0080-\U0010ffff-]*")
_INTEGER: Final = re.compile(r"0|-?[1-9][0-9]*")
_NUMBER: Final = re.compile(r"-?(?:0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]+)?")
_BLANK: Final = re.compile(r"[ \t\n\r]*")
_STRING: Final = re.compile(r"'(?:[^'\\]|\\.)*'|\"(?:[^\"\\]|\\.)*\"", re.DOTALL)
_ESCAPE: Final = re.compile(
    r"\\(?:u([dD][89abAB][0-9A-Fa-f]{2})\\u([dD][c-fC-F][0-9A-Fa-f]{2})|u([0-9A-Fa-f]{4})|(.))", re.DOTALL
)
_ESCAPED: Final = {"n": "\n", "t": "\t", "r": "\r", "b": "\b", "f": "\f", "/": "/", "\\": "\\"}
_CONTROL: Final = re.compile(r"[\x00-\x1f]")
_WORD: Final = re.compile(r"[a-z][a-z0-9_]*")
_CONSTANTS: Final = {"true": True, "false": False, "null": None}
_OPERATOR: Final = re.compile("|".join(Operator))


def parse_path(text: str) -> JsonPath:
    """Return the path. Raises InvalidInput, which says at which character it is wrong."""
    return _Parser(text).path()


class _Parser:
    def __init__(self, text: str) -> None:
        self._text = text
        self._position = 0
        self._depth = 0

    # Paths

    def path(self) -> JsonPath:
        self._skip_blank()
        first: tuple[Step, ...] = ()
        if self._at("$") or self._at("@"):
            self._position += 1
        elif self._next and self._next not in ".[":
            # A name alone, as in `posts` and `meta.title`.
            first = (Step((self._shorthand(),), is_descendant=False, end=self._position),)
        steps = (*first, *self._steps())
        self._skip_blank()
        if self._next:
            raise self._wrong(msg("a step begins with . or ["))
        return JsonPath(self._text, steps)

    def _steps(self) -> Iterator[Step]:
        """Yield steps, and stop behind the last one."""
        while True:
            behind = self._position
            self._skip_blank()
            if not self._at(".") and not self._at("["):
                self._position = behind
                return
            is_descendant = self._take("..")
            if not is_descendant:
                self._take(".")
            choices = self._bracketed() if self._at("[") else (self._shorthand(),)
            yield Step(choices, is_descendant, self._position)

    def _shorthand(self) -> str | None:
        if self._take("*"):
            return None
        return self._match(_NAME, msg("a name or * is expected"))[0]

    def _bracketed(self) -> tuple[Choice, ...]:
        self._take("[")
        choices: list[Choice] = []
        while True:
            self._skip_blank()
            choices.append(self._choice())
            self._skip_blank()
            if self._take("]"):
                return tuple(choices)
            if not self._take(","):
                raise self._wrong(msg("] is expected"))

    def _choice(self) -> Choice:
        if self._take("*"):
            return None
        if self._take("?"):
            with self._nested():
                return Filter(self._any_of())
        if self._next in ("'", '"'):
            return self._string()
        start = self._integer()
        behind = self._position
        self._skip_blank()
        if self._at(":"):
            return self._slice(start)
        self._position = behind
        if start is None:
            raise self._wrong(msg("a quoted name, a number, a range, a filter or * is expected"))
        return start

    def _slice(self, start: int | None) -> slice:
        numbers = [start]
        while len(numbers) < 3 and self._take(":"):
            self._skip_blank()
            numbers.append(self._integer())
            behind = self._position
            self._skip_blank()
            if not self._at(":"):
                self._position = behind
        return slice(*numbers, *[None] * (3 - len(numbers)))

    def _integer(self) -> int | None:
        found = _INTEGER.match(self._text, self._position)
        if found is None:
            return None
        if len(found[0]) > 17 or abs(int(found[0])) > MAX_INTEGER:
            raise self._wrong(msg("the number is too large"))
        self._position = found.end()
        return int(found[0])

    def _string(self) -> str:
        found = _STRING.match(self._text, self._position)
        if found is None:
            raise self._wrong(msg("the quotation mark is never closed"))
        if control := _CONTROL.search(found[0]):
            self._position = found.start() + control.start()
            raise self._wrong(msg("a tab or the end of a line is written as an escape"))
        quote, inside, begin = found[0][0], found[0][1:-1], found.start() + 1

        def unescaped(escape: re.Match[str]) -> str:
            high, low, code, single = escape.groups()
            if high:
                return chr(0x10000 + ((int(high, 16) & 0x3FF) << 10 | int(low, 16) & 0x3FF))
            if code and not 0xD800 <= int(code, 16) < 0xE000:
                return chr(int(code, 16))
            if single == quote or single in _ESCAPED:
                return _ESCAPED.get(single, single)
            self._position = begin + escape.start()
            raise self._wrong(msg("this escape is unknown"))

        value = _ESCAPE.sub(unescaped, inside)
        self._position = found.end()
        return value

    # Filters

    def _any_of(self) -> Condition:
        conditions = [self._all_of()]
        while self._take_after_blank("||"):
            conditions.append(self._all_of())
        return conditions[0] if len(conditions) == 1 else AnyOf(tuple(conditions))

    def _all_of(self) -> Condition:
        conditions = [self._condition()]
        while self._take_after_blank("&&"):
            conditions.append(self._condition())
        return conditions[0] if len(conditions) == 1 else All(tuple(conditions))

    def _condition(self) -> Condition:
        self._skip_blank()
        if self._take("!"):
            self._skip_blank()
            return Not(self._in_parentheses() if self._at("(") else self._test(self._position, self._operand()))
        if self._at("("):
            return self._in_parentheses()
        begin = self._position
        left = self._operand()
        self._skip_blank()
        operator = _OPERATOR.match(self._text, self._position)
        if operator is None:
            return self._test(begin, left)
        self._check_comparable(begin, left)
        self._position = operator.end()
        self._skip_blank()
        begin = self._position
        right = self._operand()
        self._check_comparable(begin, right)
        return Comparison(left, Operator(operator[0]), right)

    def _in_parentheses(self) -> Condition:
        self._take("(")
        with self._nested():
            condition = self._any_of()
        if not self._take_after_blank(")"):
            raise self._wrong(msg(") is expected"))
        return condition

    def _operand(self) -> Operand:
        """Read a value, a query or a call."""
        if self._at("@") or self._at("$"):
            is_relative = self._at("@")
            self._position += 1
            return Query(tuple(self._steps()), is_relative)
        if self._next in ("'", '"'):
            return Literal(self._string())
        if word := _WORD.match(self._text, self._position):
            return self._named(word)
        number = self._match(_NUMBER, msg("@, $, a value or a function is expected"))
        is_whole = number[1] is None and number[2] is None
        return Literal(int(number[0]) if is_whole else float(number[0]))

    def _named(self, word: re.Match[str]) -> Operand:
        if self._text[word.end() : word.end() + 1] != "(" and word[0] in _CONSTANTS:
            self._position = word.end()
            return Literal(_CONSTANTS[word[0]])
        function = FUNCTIONS.get(word[0])
        if function is None:
            raise self._wrong(msg("{name} is unknown; functions are {known}", name=word[0], known=", ".join(FUNCTIONS)))
        self._position = word.end()
        if not self._take("("):
            raise self._wrong(msg("( is expected"))
        with self._nested():
            return self._call(word, function)

    def _call(self, word: re.Match[str], function: Function) -> Call:
        arguments: list[Operand] = []
        begin = self._position
        while not self._take_after_blank(")"):
            if arguments and not self._take(","):
                raise self._wrong(msg(") is expected"))
            self._skip_blank()
            begin = self._position
            arguments.append(self._argument(begin, function))
        if len(arguments) != function.parameters:
            self._position = word.start()
            raise self._wrong(msg("{name}() needs {count} values", name=word[0], count=function.parameters))
        if function.is_logical and isinstance(pattern := arguments[1], Literal):
            self._check_expression(begin, pattern.constant, is_whole=word[0] == "match")
        return Call(function, tuple(arguments))

    def _argument(self, begin: int, function: Function) -> Operand:
        argument = self._operand()
        if not function.takes_nodes:
            self._check_comparable(begin, argument)
        elif not isinstance(argument, Query):
            self._position = begin
            raise self._wrong(msg("a path with @ or $ is expected"))
        return argument

    def _check_comparable(self, begin: int, operand: Operand) -> None:
        """Raise InvalidInput for what is not one value."""
        if isinstance(operand, Query) and not operand.is_singular:
            self._position = begin
            raise self._wrong(msg("this path may find several values, and one is needed"))
        if isinstance(operand, Call) and operand.function.is_logical:
            self._position = begin
            raise self._wrong(msg("the result of this function is a condition, and cannot be compared"))

    def _test(self, begin: int, operand: Operand) -> Condition:
        """Return an operand that is a condition by itself."""
        if isinstance(operand, Query) or (isinstance(operand, Call) and operand.function.is_logical):
            return operand
        self._position = begin
        raise self._wrong(msg("a value alone is not a condition: compare it"))

    def _check_expression(self, begin: int, source: Any, *, is_whole: bool) -> None:
        if not isinstance(source, str):
            return
        try:
            compile_expression(source, is_whole=is_whole)
        except InvalidRule as error:
            raise InvalidInput(
                msg(
                    "the path cannot be read at character {position}: {problem}",
                    position=begin + 1,
                    problem=error.text,
                )
            ) from error

    # Characters

    @property
    def _next(self) -> str:
        return self._text[self._position : self._position + 1]

    def _at(self, sign: str) -> bool:
        return self._text.startswith(sign, self._position)

    def _take(self, sign: str) -> bool:
        is_there = self._at(sign)
        self._position += len(sign) if is_there else 0
        return is_there

    def _take_after_blank(self, sign: str) -> bool:
        self._skip_blank()
        return self._take(sign)

    def _skip_blank(self) -> None:
        blank = _BLANK.match(self._text, self._position)
        assert blank is not None
        self._position = blank.end()

    def _match(self, pattern: re.Pattern[str], problem: Message) -> re.Match[str]:
        found = pattern.match(self._text, self._position)
        if found is None:
            raise self._wrong(problem)
        self._position = found.end()
        return found

    @contextmanager
    def _nested(self) -> Iterator[None]:
        self._depth += 1
        if self._depth > MAX_NESTING:
            raise self._wrong(msg("it is nested too deeply"))
        yield
        self._depth -= 1

    def _wrong(self, problem: Message) -> InvalidInput:
        return InvalidInput(
            msg(
                "the path cannot be read at character {position}: {problem}.",
                position=self._position + 1,
                problem=problem,
            )
        )
