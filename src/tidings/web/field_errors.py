"""Errors shown next to the fields of a form."""

from __future__ import annotations

import re
from collections.abc import Mapping

from msgspec import Struct

from tidings.base.errors import InvalidInput, TidingsError
from tidings.base.messages import verbatim
from tidings.query import QueryError
from tidings.web.message_translation import translated

# Messages that begin with a name keep its case: "ada is the only administrator".
_NAME_FIRST = re.compile(r"\{(?!text\})")


def field_error(
    error: TidingsError, *, field: str = "", prefix: str = "", renamed: Mapping[str, str] | None = None
) -> InvalidInput:
    """Return the error for a form, without the name of the API's field: the form shows it next to a labelled field.

    field: used when the error does not name a field. prefix: removed from the field's name, as in `linkding.url`.
    renamed: API name to form name, where they differ.
    """
    named = ((error.field or "") if isinstance(error, InvalidInput) else "").removeprefix(prefix)
    problem = error.problem if isinstance(error, InvalidInput) else error.text
    message = translated(problem)
    if not _NAME_FIRST.match(problem.template):
        message = message[:1].upper() + message[1:]
    return InvalidInput(verbatim(message), field=(renamed or {}).get(named, named) or field)


class WrongPlace(Struct, frozen=True):
    """A query that cannot be read, split at the place where it is wrong."""

    before: str
    wrong: str
    """The word there; "" at the end of the query."""
    after: str
    selection: str
    """Start and end of the word as JavaScript counts characters, "6 11"; it selects the word in its field."""

    @classmethod
    def of(cls, query: str, error: InvalidInput) -> WrongPlace | None:
        """Return the place of an error; None for one about the whole query."""
        if not isinstance(error, QueryError):
            return None
        before = query[: error.position]
        wrong = (query[error.position :].split(maxsplit=1) or [""])[0]
        start = _utf16_length(before)
        return cls(before, wrong, query[len(before) + len(wrong) :], f"{start} {start + _utf16_length(wrong)}")


def _utf16_length(text: str) -> int:
    return len(text.encode("utf-16-le", "surrogatepass")) // 2
