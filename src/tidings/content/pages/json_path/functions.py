"""The functions of filters. Source: RFC 9535, section 2.4."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import lru_cache
from types import MappingProxyType
from typing import Any, Final

from tidings.content.errors import InvalidRule
from tidings.content.pages.json_path.evaluation import NOTHING, Function, Run
from tidings.content.rules.regex import MAX_PROGRAM_STEPS, Regex, compile_regex

# Work of a search, its expression's size times bytes of text, that counts as one step.
_WORK_PER_STEP: Final = 200
# A dot outside of brackets, and what may hide one.
_DOT: Final = re.compile(r"\\.|\[(?:\\.|[^\]\\])*\]|\.", re.DOTALL)


def _length(value: Any, _run: Run) -> Any:
    return len(value) if isinstance(value, str | list | dict) else NOTHING


def _count(nodes: Iterator[Any], run: Run) -> int:
    count = 0
    for _ in nodes:
        run.spend(1)
        count += 1
    return count


def _value(nodes: Iterator[Any], _run: Run) -> Any:
    found = next(nodes, NOTHING)
    return found if next(nodes, NOTHING) is NOTHING else NOTHING


def _match(text: Any, expression: Any, run: Run) -> bool:
    return _is_found(text, expression, run, is_whole=True)


def _search(text: Any, expression: Any, run: Run) -> bool:
    return _is_found(text, expression, run, is_whole=False)


def _is_found(text: Any, expression: Any, run: Run, *, is_whole: bool) -> bool:
    """Return whether an expression matches. One that is not usable, from the document perhaps, matches nothing."""
    if not isinstance(text, str) or not isinstance(expression, str):
        return False
    try:
        regex = compile_expression(expression, is_whole=is_whole)
    except InvalidRule:
        run.spend(MAX_PROGRAM_STEPS // 2)
        return False
    # Those of a document are all compiled.
    run.spend(1 + regex.program_steps // 2 + len(text) * regex.program_steps // _WORK_PER_STEP)
    return regex.is_found_in(text)


@lru_cache(64)
def compile_expression(source: str, *, is_whole: bool) -> Regex:
    """Return an I-Regexp. Raises InvalidRule.

    What RE2 knows beyond that, such as `\\d` and `(?i)`, is allowed. Source: RFC 9485, section 5.
    """
    inner = _DOT.sub(lambda found: "[^\\n\\r]" if found[0] == "." else found[0], source)
    # For the error, which shows it.
    compile_regex(source or "()")
    return compile_regex(rf"\A(?:{inner})\z" if is_whole else f"(?:{inner})")


FUNCTIONS: Final[Mapping[str, Function]] = MappingProxyType(
    {
        "length": Function(1, _length),
        "count": Function(1, _count, takes_nodes=True),
        "match": Function(2, _match, is_logical=True),
        "search": Function(2, _search, is_logical=True),
        "value": Function(1, _value, takes_nodes=True),
    }
)
