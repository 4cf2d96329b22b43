"""The list of the settings pages, which stands next to each of them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from msgspec import Struct

from tidings.base.messages import Message, msg


class MenuItem(Struct, frozen=True):
    """A page in the list."""

    path: str
    title: Message
    after: str = ""
    """For a page of a slice, the path of the page that it follows; "" for the end."""
    is_for_admins: bool = False
    group: Message | None = None
    """The head above it and the pages that follow, up to the next head."""
    icon: str = ""
    """Of the page's line in the menu of the button "Add feed"; "" for pages that add no feeds."""
    copies: str = ""
    """For a button in that menu instead of a page: it posts to `path`, and the text of the first element of the answer
    that this selector finds is copied. Without scripts, or without such an element, the answer is shown."""
    needs: Callable[[Mapping[type, Any]], bool] = lambda _services: True
    """Return whether the page is of use with the settings of the service, given the services of slices by type."""


CORE_ITEMS = (
    MenuItem("/settings", msg("Account"), group=msg("You")),
    MenuItem("/settings/security", msg("Password and sessions")),
    MenuItem("/settings/reading", msg("Reading"), group=msg("Reading")),
    MenuItem("/view", msg("Appearance")),
    MenuItem("/settings/shortcuts", msg("Keyboard shortcuts")),
    MenuItem("/settings/filters", msg("Filters")),
    MenuItem("/settings/custom", msg("Your own styles")),
    MenuItem("/settings/apps", msg("Connect an app"), group=msg("Apps and services")),
    MenuItem("/settings/api-keys", msg("API keys")),
    MenuItem("/settings/api-passwords", msg("API passwords")),
    MenuItem("/list-links", msg("Lists as feeds")),
    MenuItem("/shared", msg("Shared by me")),
    MenuItem("/statistics", msg("Statistics"), group=msg("Tidings")),
    MenuItem("/users", msg("Users"), is_for_admins=True),
    MenuItem("/about", msg("About")),
)


def settings_menu(more: Iterable[MenuItem]) -> list[MenuItem]:
    """Return the list with the pages of slices at their places. Raises ValueError for a place after an unknown page."""
    items = list(CORE_ITEMS)
    for item in more:
        place = [one.path for one in items].index(item.after) + 1 if item.after else len(items)
        items.insert(place, item)
    return items
