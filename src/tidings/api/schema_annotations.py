"""What the OpenAPI document tells of a field beyond its type.

Nothing of this is checked where the field is read: the use cases do that, in words of their own.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Annotated, TypeVar

from msgspec import Meta

T = TypeVar("T")

# Missing, null and empty are the same to whoever reads it, and refused.
Needed = Annotated[T | None, Meta(extra_json_schema={"needed": True})]
# RFC 3339, as `moments` shows it.
Moment = Annotated[str, Meta(extra_json_schema={"format": "date-time"})]


def one_of(words: Iterable[str]) -> Meta:
    return Meta(extra_json_schema={"enum": [*words]})


def up_to(most: float, *, least: float = 0) -> Meta:
    return Meta(extra_json_schema={"minimum": least, "maximum": most})
