"""Errors shown next to the fields of a form."""

from __future__ import annotations

import re
from collections.abc import Mapping

from tidings.base.errors import InvalidInput, TidingsError
from tidings.base.messages import verbatim
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
