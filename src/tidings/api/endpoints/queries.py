"""The endpoint that explains a query of the query language."""

from __future__ import annotations

from typing import Any

import msgspec
from msgspec import Struct

from tidings.base.errors import InvalidInput
from tidings.domain.accounts.rights import KeyScope
from tidings.domain.accounts.users import User
from tidings.http.endpoints import Routes
from tidings.query import QueryError, normal_form, parse

routes = Routes("Queries")


class QueryText(Struct, frozen=True):
    query: str = ""


class QueryProblem(Struct, frozen=True):
    """position: where the query cannot be read any more, in characters from 0. expected: what should be there."""

    position: int
    expected: str


class QueryExplanation(Struct, frozen=True):
    """tree: how the query is understood; null if it cannot be read.

    normal_form: the query in its usual spelling, which has the same tree; null if it cannot be read.
    error: null if the query can be read.
    """

    tree: dict[str, Any] | None
    normal_form: str | None
    error: QueryProblem | None


@routes.post("/v1/query/explain", scope=KeyScope.READ, raises=(InvalidInput,))
def explain_query(caller: User, body: QueryText) -> QueryExplanation:  # noqa: ARG001 - for users only
    """Tell how a query is understood, or where it cannot be read. Nothing is searched."""
    try:
        tree = parse(body.query)
    except QueryError as error:
        expected = f"{error.expected}. {error.reason}" if error.reason else str(error.expected)
        return QueryExplanation(None, None, QueryProblem(error.position, expected))
    return QueryExplanation(msgspec.to_builtins(tree), normal_form(tree), None)
