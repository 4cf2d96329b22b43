"""Saved views: queries that a user has given a name, and the rules for them."""

from __future__ import annotations

from typing import Final

from msgspec import Struct

from tidings.base.errors import InvalidInput
from tidings.base.messages import msg
from tidings.base.text import reject_nul
from tidings.domain.entries.entries import Direction, Order

# A view is a line in the sidebar of every page, where it is counted.
MAX_VIEWS: Final = 100
# Names are indexed, as those of labels.
MAX_NAME: Final = 200
# Orders by time: pages continue after an entry of the page before.
ORDERS: Final = (Order.PUBLISHED_AT, Order.CREATED_AT, Order.CHANGED_AT)
DENSITIES: Final = ("", "compact", "comfortable", "cards", "magazine", "stream")
ICONS: Final = (
    "filter", "search", "star", "tag", "folder", "feeds", "article", "play", "comments", "save", "history", "person",
)  # fmt: skip


class SavedView(Struct, frozen=True):
    """A query with a name, listed in the sidebar."""

    id: int
    user_id: int
    name: str
    query: str
    """As its user wrote it."""
    order: str = Order.PUBLISHED_AT.value
    direction: str = Direction.DESC.value
    density: str = ""
    """How its page lists entries: compact, comfortable, cards, magazine or stream; empty for the device's setting."""
    icon: str = ICONS[0]
    position: int = 0
    """Its place among the views, from 1 on."""
    in_apps: bool = False
    """Apps of the Google Reader API see it as a label."""
    is_home: bool = False
    """The first page after signing in."""

    @property
    def key(self) -> str:
        """The name of its count in pages."""
        return f"v{self.id}"

    @property
    def path(self) -> str:
        """The path of its page."""
        return f"/views/{self.id}"


def validate_view_name(name: str) -> str:
    """Return the name on one line and without surrounding blanks.

    Raises InvalidInput if it is blank, too long or holds a NUL.
    """
    name = " ".join(reject_nul(name, field="name").split())
    if not name:
        raise InvalidInput(msg("A view needs a name: give a text with at least one visible character."), field="name")
    if len(name) > MAX_NAME:
        raise InvalidInput(msg("This name is too long: {max} characters at most.", max=MAX_NAME), field="name")
    return name
