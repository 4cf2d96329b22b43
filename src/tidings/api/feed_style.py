"""How responses of the API show feeds to a caller."""

from __future__ import annotations

from enum import Enum

from msgspec import Struct


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


PLAIN = FeedStyle()
