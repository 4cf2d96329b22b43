"""Annotations of fields for the OpenAPI document, beyond their types.

Decoding does not check them: the services do, with messages of their own.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Annotated, TypeVar

from msgspec import Meta

from tidings.http.endpoints import Media

T = TypeVar("T")

# Refused if missing, null or empty. The default None lets the service report it.
Required = Annotated[T | None, Meta(extra_json_schema={"required": True})]
# The body of a form with one file.
FILE_FORM = Media(
    "multipart/form-data",
    {"type": "object", "properties": {"file": {"type": "string", "format": "binary"}}, "required": ["file"]},
)
# A time in RFC 3339.
Timestamp = Annotated[str, Meta(extra_json_schema={"format": "date-time"})]


def one_of(words: Iterable[str]) -> Meta:
    """Return the annotation of a field with these values."""
    return Meta(extra_json_schema={"enum": [*words]})


def up_to(maximum: float, *, minimum: float = 0) -> Meta:
    """Return the annotation of a number in a range, both ends included."""
    return Meta(extra_json_schema={"minimum": minimum, "maximum": maximum})
