"""Espial keeps bookmarks.

API: https://github.com/jonschoning/espial#api (POST /api/add)
"""

from __future__ import annotations

from typing import Annotated

from tidings.domain.events import Event
from tidings.domain.integrations.asking import below, labels, link, post_json, taken
from tidings.domain.integrations.fields import ServiceSettings, address, flag, secret, tags
from tidings.domain.integrations.leaf import Steps

NAME = "espial"
TITLE = "Espial"
SAVES = True
NOTIFIES = False


class Settings(ServiceSettings, frozen=True, kw_only=True):
    url: Annotated[str, address("Address", "Of your Espial, such as https://espial.example.org.")] = ""
    api_key: Annotated[str, secret("API key", "In Espial: Account settings, API key.")] = ""
    tags: Annotated[str, tags()] = ""
    private: Annotated[bool, flag("Visible to you alone")] = True
    unread: Annotated[bool, flag("Mark as unread")] = True


def deliver(settings: Settings, event: Event) -> Steps:
    entry = link(event)
    saved = {
        "url": entry.url,
        "title": entry.title,
        # Its tags have no blanks: those stand between them.
        "tags": " ".join(tag.replace(" ", "-") for tag in labels(settings.tags)),
        "private": settings.private,
        "toread": settings.unread,
    }
    answer = yield post_json(below(settings.url, "/api/add"), saved, {"Authorization": f"ApiKey {settings.api_key}"})
    taken(answer, TITLE)
