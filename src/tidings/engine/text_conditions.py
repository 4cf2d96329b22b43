"""Conditions on texts that mean the same on both engines, whatever the locale of the PostgreSQL database."""

from __future__ import annotations

from typing import Any

from sqlalchemy import Text
from sqlalchemy.ext.compiler import compiles
from sqlalchemy.sql.functions import FunctionElement


class ascii_lower(FunctionElement[str]):  # noqa: N801 - named like an SQL function
    """ascii_lower(text): the text with A to Z in lower case, and nothing else changed."""

    inherit_cache = True
    type = Text()


@compiles(ascii_lower, "sqlite")
def _ascii_lower_on_sqlite(element: ascii_lower, compiler: Any, **options: Any) -> str:
    return f"lower({compiler.process(element.clauses, **options)})"


@compiles(ascii_lower, "postgresql")
def _ascii_lower_on_postgresql(element: ascii_lower, compiler: Any, **options: Any) -> str:
    return f'lower(({compiler.process(element.clauses, **options)}) COLLATE "C")'


class contains(FunctionElement[bool]):  # noqa: N801
    """contains(text, part): whether the part is in the text, letter by letter."""

    inherit_cache = True


@compiles(contains, "sqlite")
def _contains_on_sqlite(element: contains, compiler: Any, **options: Any) -> str:
    text, part = (compiler.process(clause, **options) for clause in element.clauses)
    return f"instr({text}, {part}) > 0"


@compiles(contains, "postgresql")
def _contains_on_postgresql(element: contains, compiler: Any, **options: Any) -> str:
    text, part = (compiler.process(clause, **options) for clause in element.clauses)
    return f"strpos({text}, {part}) > 0"
