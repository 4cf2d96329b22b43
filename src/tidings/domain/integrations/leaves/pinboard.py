"""Pinboard keeps bookmarks.

API: https://pinboard.in/api/ (posts/add; every method is a GET)
"""

from __future__ import annotations

from typing import Annotated
from urllib.parse import urlencode

from tidings.domain.events import Event
from tidings.domain.integrations.asking import complaint, labels, link, taken
from tidings.domain.integrations.fields import ServiceSettings, flag, secret, tags
from tidings.domain.integrations.leaf import Outgoing, Refused, Steps

NAME = "pinboard"
TITLE = "Pinboard"
SAVES = True
NOTIFIES = False

LONGEST_TITLE = 255
DONE = "done"


class Settings(ServiceSettings, frozen=True, kw_only=True):
    token: Annotated[str, secret("API token", "From https://pinboard.in/settings/password: name:NNNN.")] = ""
    tags: Annotated[str, tags()] = ""
    unread: Annotated[bool, flag("Mark as unread")] = True
    shared: Annotated[bool, flag("Visible to everybody")] = False


def deliver(settings: Settings, event: Event) -> Steps:
    entry = link(event)
    query = {
        "auth_token": settings.token,
        "format": "json",
        "url": entry.url,
        "description": entry.title[:LONGEST_TITLE],
        # Its tags have no blanks: those stand between them.
        "tags": " ".join(tag.replace(" ", "-") for tag in labels(settings.tags)),
        "toread": "yes" if settings.unread else "no",
        "shared": "yes" if settings.shared else "no",
    }
    answer = yield Outgoing("GET", "https://api.pinboard.in/v1/posts/add?" + urlencode(query), {})
    taken(answer, TITLE)
    result = complaint(answer, "result_code")
    if result != DONE:
        raise Refused(f"{TITLE} has not saved it, and says: {result or 'nothing that we understand'}.")
