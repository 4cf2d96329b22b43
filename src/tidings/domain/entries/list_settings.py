"""Order and layout of a single list."""

from __future__ import annotations

from msgspec import Struct


class ListSetting(Struct, frozen=True):
    """How a list is shown, on all devices of its user."""

    list: str
    """unread, starred, history or shared; or f, c or l and the id of a feed, category or label; or v and a view's."""
    direction: str = ""
    """asc or desc; empty: as everywhere."""
    density: str = ""
    """How its page lists entries; empty for the device's setting."""
