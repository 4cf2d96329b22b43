"""Espial keeps bookmarks.

API: https://github.com/jonschoning/espial#api (POST /api/add)
"""

from __future__ import annotations

from typing import Annotated

from tidings.deliveries.events import SAVE_ENTRY, Event
from tidings.deliveries.provider import RequestSequence, ServiceSettings, address, flag, secret, tags
from tidings.deliveries.requests import all_tags, entry_with_url, expect_success, join_path, post_json

NAME = "espial"
TITLE = "Espial"
EVENTS = frozenset({SAVE_ENTRY})


class Settings(ServiceSettings, frozen=True, kw_only=True):
    url: Annotated[str, address("Address", "Your Espial server, such as https://espial.example.org.")] = ""
    api_key: Annotated[str, secret("API key", "In Espial: Account settings, API key.")] = ""
    tags: Annotated[str, tags()] = ""
    private: Annotated[bool, flag("Visible only to you")] = True
    unread: Annotated[bool, flag("Mark as unread")] = True


def deliver(settings: Settings, event: Event) -> RequestSequence:
    entry = entry_with_url(event)
    saved = {
        "url": entry.url,
        "title": entry.title,
        # Spaces separate the tags, so a tag must not contain one.
        "tags": " ".join(tag.replace(" ", "-") for tag in all_tags(settings.tags, entry)),
        "private": settings.private,
        "toread": settings.unread,
    }
    response = yield post_json(
        join_path(settings.url, "/api/add"), saved, {"Authorization": f"ApiKey {settings.api_key}"}
    )
    expect_success(response, TITLE)
