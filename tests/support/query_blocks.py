"""Divides a statement into its queries, and says whose rows each of them reads."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator

_IS_QUERY = re.compile(r"\s*(?:SELECT|WITH|VALUES|INSERT|UPDATE|DELETE)\b")
_SET_OPERATION = re.compile(r"\b(?:UNION ALL|UNION|EXCEPT|INTERSECT)\b")


def queries(sql: str) -> Iterator[str]:
    """Yield each query of a statement by itself: subqueries, common table expressions, and what is around them."""
    outer, inner = _without_subqueries(sql, 0)[:2]
    for one in (*inner, outer):
        yield from _SET_OPERATION.split(one)


def _without_subqueries(sql: str, start: int) -> tuple[str, list[str], int]:
    """Return the text up to the closing parenthesis, the queries taken out of it, and where it ends."""
    text, inner, place = "", [], start
    while place < len(sql) and sql[place] != ")":
        if sql[place] == "'":
            end = sql.index("'", place + 1) + 1
            text, place = text + sql[place:end], end
        elif sql[place] == "(":
            part, of_part, end = _without_subqueries(sql, place + 1)
            inner += of_part
            if _IS_QUERY.match(part):
                inner.append(part)
                part = "query"
            text, place = f"{text}({part})", end + 1
        else:
            text, place = text + sql[place], place + 1
    return text, inner, place


def tables_without_user(sql: str, owned: Collection[str]) -> set[str]:
    """Return the tables, by the names they have in the statement, whose rows its queries read of any user.

    owned: the tables with a `user_id`. A table is of one user if its query compares its `user_id` with anything.
    """
    names = "|".join(sorted(owned))
    table = re.compile(rf"(?:\b(?:FROM|JOIN|UPDATE)|,) \(*({names})\b(?!\.)(?: AS (\w+))?")
    found = set()
    for query in queries(sql):
        aliases = {alias or name for name, alias in table.findall(query)}
        found |= {alias for alias in aliases if not _compares_user(query, alias, is_alone=len(aliases) == 1)}
    return found


def _compares_user(query: str, alias: str, *, is_alone: bool) -> bool:
    column = rf"(?:\b{alias}\.|(?<![.\w]))user_id\b" if is_alone else rf"\b{alias}\.user_id\b"
    return re.search(rf"{column} (?:=|IN|>)|= \+?{column}", query) is not None
