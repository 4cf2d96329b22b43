"""How responses of the API show feeds to a caller."""

from __future__ import annotations

from enum import Enum

from msgspec import Struct
from msgspec.structs import replace

from tidings.api.fields import ALL_FIELDS, Fields


class MissingIcon(Enum):
    """The value of `icon` of a feed that has none."""

    NULL = "null"
    """As the contract says."""
    OBJECT = "object"
    """An object with icon_id 0, as Miniflux sends it, for apps that fail at null."""


class FeedStyle(Struct, frozen=True):
    """How a caller sees feeds. Handlers that return feeds have a parameter of this type."""

    missing_icon: MissingIcon = MissingIcon.NULL
    hides_secrets: bool = False
    """The credentials with which feeds are fetched are empty: the caller's API key may not change them either."""
    fields: Fields = ALL_FIELDS
    """Of a list of feeds."""

    def with_fields(self, fields: Fields) -> FeedStyle:
        return replace(self, fields=fields) if fields.names else self


PLAIN = FeedStyle()
