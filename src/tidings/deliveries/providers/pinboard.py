"""Pinboard keeps bookmarks.

API: https://pinboard.in/api/ (posts/add; every method is a GET)
"""

from __future__ import annotations

from typing import Annotated
from urllib.parse import urlencode

from tidings.base.messages import msg
from tidings.deliveries.events import SAVE_ENTRY, Event
from tidings.deliveries.provider import DeliveryRefused, RequestSequence, ServiceSettings, flag, secret, tags
from tidings.deliveries.requests import all_tags, entry_with_url, error_text, expect_success
from tidings.net.post import ServiceRequest

NAME = "pinboard"
TITLE = "Pinboard"
EVENTS = frozenset({SAVE_ENTRY})

MAX_TITLE = 255
DONE = "done"


class Settings(ServiceSettings, frozen=True, kw_only=True):
    token: Annotated[str, secret("API token", "From https://pinboard.in/settings/password: name:NNNN.")] = ""
    tags: Annotated[str, tags()] = ""
    unread: Annotated[bool, flag("Mark as unread")] = True
    shared: Annotated[bool, flag("Visible to everyone")] = False


def deliver(settings: Settings, event: Event) -> RequestSequence:
    entry = entry_with_url(event)
    query = {
        "auth_token": settings.token,
        "format": "json",
        "url": entry.url,
        "description": entry.title[:MAX_TITLE],
        # Spaces separate the tags, so a tag must not contain one.
        "tags": " ".join(tag.replace(" ", "-") for tag in all_tags(settings.tags, entry)),
        "toread": "yes" if settings.unread else "no",
        "shared": "yes" if settings.shared else "no",
    }
    response = yield ServiceRequest("GET", "https://api.pinboard.in/v1/posts/add?" + urlencode(query), {})
    expect_success(response, TITLE)
    result = error_text(response, "result_code")
    if not result:
        raise DeliveryRefused(
            msg("{title} did not save it, and Tidings does not understand its response.", title=TITLE)
        )
    if result != DONE:
        raise DeliveryRefused(msg("{title} did not save it, and says: {complaint}.", title=TITLE, complaint=result))
