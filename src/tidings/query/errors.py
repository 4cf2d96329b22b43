"""The error of the query language."""

from __future__ import annotations

from tidings.base.errors import InvalidField
from tidings.base.messages import Message, join_sentences, msg


class QueryError(InvalidField):
    """A query that cannot be read.

    position: where in the query it stops making sense, in characters counted from 0. expected: what should be there,
    a part of a sentence. reason: why that is not there, a sentence; None if it is obvious.
    """

    code = "invalid-query"

    def __init__(self, position: int, expected: Message, reason: Message | None = None) -> None:
        problem = msg(
            "cannot be read from character {number} on: expected {expected}.", number=position + 1, expected=expected
        )
        super().__init__("query", join_sentences(problem, reason) if reason else problem)
        self.position = position
        self.expected = expected
        self.reason = reason
