"""What went wrong, told beside a field of a form."""

from __future__ import annotations

from collections.abc import Mapping

from tidings.domain.errors import InvalidInput, TidingsError
from tidings.domain.messages import verbatim
from tidings.web.message_translation import translated


def plain(error: TidingsError, *, field: str = "", renamed: Mapping[str, str] | None = None) -> InvalidInput:
    """Without the name of the API's field in front: it stands beside a field that has a label.

    field: where it belongs when the error names none. renamed: fields that the form calls otherwise.
    """
    named = error.field if isinstance(error, InvalidInput) else ""
    message = translated(error.problem if isinstance(error, InvalidInput) else error.text)
    return InvalidInput(verbatim(message[:1].upper() + message[1:]), field=(renamed or {}).get(named, named) or field)
