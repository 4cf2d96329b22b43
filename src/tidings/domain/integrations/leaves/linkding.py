"""Linkding keeps bookmarks.

API: https://linkding.link/api/
"""

from __future__ import annotations

from typing import Annotated

from tidings.domain.events import Event
from tidings.domain.integrations.asking import below, labels, link, post_json, taken
from tidings.domain.integrations.fields import ServiceSettings, address, flag, secret, tags
from tidings.domain.integrations.leaf import Steps

NAME = "linkding"
TITLE = "Linkding"
SAVES = True
NOTIFIES = False


class Settings(ServiceSettings, frozen=True, kw_only=True):
    url: Annotated[str, address("Address", "Of your Linkding, such as https://links.example.org.")] = ""
    token: Annotated[str, secret("API token", "In Linkding: Settings, Integrations.")] = ""
    tags: Annotated[str, tags()] = ""
    unread: Annotated[bool, flag("Mark as unread")] = False


def deliver(settings: Settings, event: Event) -> Steps:
    entry = link(event)
    saved = {
        "url": entry.url,
        "title": entry.title,
        "tag_names": [tag.replace(" ", "-") for tag in labels(settings.tags)],  # its tags have no blanks
        "unread": settings.unread,
    }
    answer = yield post_json(
        below(settings.url, "/api/bookmarks/"), saved, {"Authorization": f"Token {settings.token}"}
    )
    taken(answer, TITLE)
