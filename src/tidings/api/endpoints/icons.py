"""Endpoints for the icons of feeds."""

from __future__ import annotations

import base64

from msgspec import Struct

from tidings.base.errors import InvalidInput, NotFound
from tidings.base.messages import verbatim
from tidings.content.icons import Icon
from tidings.domain.accounts.users import User
from tidings.http.endpoints import Routes
from tidings.services import Services
from tidings.services.feeds.feeds import owned_feed
from tidings.storage.feeds import icons

routes = Routes("Icons")


class IconOut(Struct, frozen=True):
    """data: the picture as a data URL without its scheme."""

    id: int
    data: str
    mime_type: str


@routes.get("/v1/feeds/{feed_id}/icon", raises=(InvalidInput, NotFound))
def get_feed_icon(caller: User, services: Services, feed_id: int) -> IconOut:
    """Get the icon of a feed. Returns 404 while none is known."""
    with services.reading() as db:
        feed = owned_feed(db, caller.id, feed_id)
        icon = icons.of_feed(db, caller.id, feed_id)
    if icon is None:
        raise NotFound(verbatim(f"No icon is known for feed {feed.id}."))
    return _icon_out(icon)


@routes.get("/v1/icons/{icon_id}", raises=(InvalidInput, NotFound))
def get_icon(caller: User, services: Services, icon_id: int) -> IconOut:
    """Get an icon of one of your feeds."""
    with services.reading() as db:
        icon = icons.get(db, caller.id, icon_id)
    if icon is None:
        raise NotFound(verbatim(f"There is no icon {icon_id}."))
    return _icon_out(icon)


def _icon_out(icon: Icon) -> IconOut:
    data = f"{icon.mime_type};base64,{base64.b64encode(icon.content).decode()}"
    return IconOut(id=icon.id, data=data, mime_type=icon.mime_type)
