"""How the API shows that a feed has no icon."""

from __future__ import annotations

from enum import Enum


class MissingIcon(Enum):
    """The value of `icon` of a feed that has none. Handlers that return feeds have a parameter of this type."""

    NULL = "null"
    """As the contract says."""
    OBJECT = "object"
    """An object with icon_id 0, as Miniflux sends it, for apps that fail at null."""
