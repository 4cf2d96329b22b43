"""Messages for people, collected from the source: every string that becomes `Words` (`tidings.domain.wording`).

    InvalidInput(f"title: too long, {MAX:,} characters at most.")  ─►  "too long, %(max)s characters at most."

What is annotated says where messages are: parameters and members (strings that are handed to them), variables and
members with a value, dicts (their values), and functions (what they return). A field's name in front goes: pages have
labels. A message that is neither a string nor known to be `Words` already is an `Unread`.
"""

from __future__ import annotations

import ast
import re
from collections import Counter
from collections.abc import Iterator, Mapping
from collections.abc import Set as AbstractSet
from itertools import product
from pathlib import Path

from msgspec import Struct

import tidings
from support.takers import House, Module, is_words

SOURCE = Path(tidings.__file__).parent
# Where messages are made. Pages say theirs in words of their own; commands and settings speak to who runs the service.
RINGS = ("domain", "storage", "net", "services", "http", "notifier.py")
_FIELD = re.compile(r"(?:[a-z][a-z0-9_.]*|%\(\w+\)s): (?=\S)")
_FORMAT = re.compile(r"\{(\w+)\}")
_VALUE = re.compile(r"%\((\w+)\)s")
_STOP = re.compile(r"[\w)][.?!]\Z")


class Wording(Struct, frozen=True):
    """file: below `src/tidings`. text: with %(name)s for each value."""

    file: str
    text: str


class Unread(Exception):
    """What stands where a message is expected is none that can be collected."""


def sources() -> dict[str, str]:
    """Of all modules in which messages are made, by their place below `src/tidings`."""
    places = (SOURCE / ring for ring in RINGS)
    files = (file for place in places for file in ([place] if place.is_file() else sorted(place.rglob("*.py"))))
    return {file.relative_to(SOURCE).as_posix(): file.read_text(encoding="utf-8") for file in files}


def collected(given: Mapping[str, str] | None = None) -> list[Wording]:
    """In the order of files; each shape once. Unread when something cannot be. given: instead of `sources`."""
    house = House(sources() if given is None else given)
    found: dict[str, Wording] = {}
    for module in house.modules.values():
        for expression in _expressions(house, module):
            for text in _texts(expression, house.known | module.names, module):
                text = _distinct(_without_field(text))
                if _says_something(text):
                    found.setdefault(shape(text), Wording(module.file, text))
    return list(found.values())


def shape(text: str) -> str:
    """Whatever the values are called."""
    return _VALUE.sub("%s", text)


def sentences(file: str, text: str) -> Iterator[str]:
    """Whatever looks like one in a module, as messages are written: whole strings that are no documentation."""
    module = Module(file, text)
    for node in _strings(module.tree):
        yield from filter(_is_sentence, map(_without_field, _texts(node, frozenset(), module)))


def _is_sentence(text: str) -> bool:
    """Three words at least, and a stop; no expression."""
    return text.count(" ") > 1 and _STOP.search(text) is not None and "\\" not in text


def _strings(node: ast.AST) -> Iterator[ast.expr]:
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.JoinedStr):
            yield child
        elif isinstance(child, ast.Constant):
            if isinstance(child.value, str) and not isinstance(node, ast.Expr):
                yield child
        else:
            yield from _strings(child)


def _expressions(house: House, module: Module) -> Iterator[ast.expr]:
    """Whatever becomes words, in the order of the source."""
    for node in ast.walk(module.tree):
        match node:
            case ast.Call(func=ast.Attribute(attr="append", value=ast.Name(id=name)), args=[text]):
                if name in module.names:
                    yield text
            case ast.Call():
                places = house.taken_by(house.key_of(module, node.func))
                for name, place in places.items():
                    yield from node.args[place : place + 1]
                    yield from (word.value for word in node.keywords if word.arg == name)
            case ast.AnnAssign(value=ast.expr() as value) if is_words(node.annotation):
                yield from value.values if isinstance(value, ast.Dict) else (value,)
            case ast.FunctionDef() | ast.AsyncFunctionDef() if is_words(node.returns):
                yield from (one.value for one in _own(node) if isinstance(one, ast.Return) and one.value is not None)


def _own(function: ast.AST) -> Iterator[ast.AST]:
    """Of a function, without those inside it."""
    for child in ast.iter_child_nodes(function):
        if not isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
            yield child
            yield from _own(child)


def _texts(node: ast.expr, known: AbstractSet[str], module: Module) -> list[str]:
    """The messages that an expression may give: several where it chooses, none where it hands on what is known."""
    match node:
        case ast.Constant(value=str(text)):
            return [_FORMAT.sub(r"%(\1)s", text.replace("%", "%%"))]
        case ast.Constant():
            return []
        case ast.JoinedStr(values=values):
            return ["".join(parts) for parts in product(*(_parts(one, known, module) for one in values))]
        case ast.BinOp(left=left, op=ast.Add(), right=right):
            return ["".join(pair) for pair in product(_texts(left, known, module), _texts(right, known, module))]
        case ast.IfExp(body=body, orelse=other):
            return _texts(body, known, module) + _texts(other, known, module)
        case ast.BoolOp(values=values):
            return [text for one in values for text in _texts(one, known, module)]
        case ast.Tuple(elts=several) | ast.List(elts=several):
            texts = [one for one in several if isinstance(one, ast.Constant | ast.JoinedStr | ast.Tuple)]
            return [text for one in texts for text in _texts(one, known, module)]
        case ast.Call(func=ast.Attribute(attr="get", value=table), args=[_, default]) if _is_known(table, known):
            return _texts(default, known, module)
    if _is_known(node, known):
        return []
    raise Unread(f"{module.file}:{node.lineno}: {ast.unparse(node)}")


def _is_known(node: ast.expr, known: AbstractSet[str]) -> bool:
    """Whether it is words already, or made of some."""
    match node:
        case ast.Name(id=name):
            return name in known
        case ast.Attribute(attr=name, value=value):
            return name in known or _is_known(value, known)
        case ast.Call(func=function, args=arguments):
            return _is_known(function, known) or any(_is_known(one, known) for one in arguments)
        case ast.Subscript(value=value):
            return _is_known(value, known)
        case ast.GeneratorExp(generators=[first]):
            return _is_known(first.iter, known)
    return False


def _parts(node: ast.expr, known: AbstractSet[str], module: Module) -> list[str]:
    """Of an f-string: text, or a value by its name. Text within a value is part of the message."""
    match node:
        case ast.Constant(value=str(text)):
            return [text.replace("%", "%%")]
        case ast.FormattedValue(value=ast.IfExp(body=body, orelse=other)):
            return [one for choice in (body, other) for one in _parts(_as_value(choice), known, module)]
        case ast.FormattedValue(value=ast.BoolOp(op=ast.Or(), values=values)):
            return [one for choice in values for one in _parts(_as_value(choice), known, module)]
        case ast.FormattedValue(value=ast.JoinedStr() as inner):
            return _texts(inner, known, module)
        case ast.FormattedValue(value=value):
            return [f"%({_called(value)})s"]
    raise Unread(f"{module.file}:{node.lineno}: {ast.unparse(node)}")


def _as_value(node: ast.expr) -> ast.expr:
    return (
        node if isinstance(node, ast.Constant) else ast.FormattedValue(node, -1, None, lineno=node.lineno, col_offset=0)
    )


def _called(node: ast.expr) -> str:
    """A name for a value: the last one in the expression that says what it is."""
    match node:
        case ast.Name(id=name) | ast.Attribute(attr=name):
            return name.strip("_").lower()
        case (
            ast.Call(func=ast.Attribute(attr="join"), args=[inner]) | ast.Call(func=ast.Name(id="map"), args=[_, inner])
        ):
            return _called(inner)
        case ast.Call(func=ast.Attribute(value=inner)) | ast.Call(func=inner):
            return _called(inner)
        case ast.Subscript(slice=ast.Constant(value=str(name))):
            return name
        case ast.Subscript(value=inner) | ast.BinOp(left=inner):
            return _called(inner)
    return "value"


def _distinct(text: str) -> str:
    """The second value of a name is called so: near, near_2."""
    seen: Counter[str] = Counter()

    def renamed(found: re.Match[str]) -> str:
        seen[found[1]] += 1
        return found[0] if seen[found[1]] == 1 else f"%({found[1]}_{seen[found[1]]})s"

    return _VALUE.sub(renamed, text)


def _without_field(text: str) -> str:
    return _FIELD.sub("", text, count=1) if _FIELD.match(text) else text


def _says_something(text: str) -> bool:
    return bool(re.search("[A-Za-z]{2}", _VALUE.sub("", text)))
