"""Linkding keeps bookmarks.

API: https://linkding.link/api/
"""

from __future__ import annotations

from typing import Annotated

from tidings.deliveries.events import SAVE_ENTRY, Event
from tidings.deliveries.provider import RequestSequence, ServiceSettings, address, flag, secret, tags
from tidings.deliveries.requests import all_tags, entry_with_url, expect_success, join_path, post_json

NAME = "linkding"
TITLE = "Linkding"
EVENTS = frozenset({SAVE_ENTRY})


class Settings(ServiceSettings, frozen=True, kw_only=True):
    url: Annotated[str, address("Address", "Your Linkding server, such as https://links.example.org.")] = ""
    token: Annotated[str, secret("API token", "In Linkding: Settings, Integrations.")] = ""
    tags: Annotated[str, tags()] = ""
    unread: Annotated[bool, flag("Mark as unread")] = False


def deliver(settings: Settings, event: Event) -> RequestSequence:
    entry = entry_with_url(event)
    saved = {
        "url": entry.url,
        "title": entry.title,
        "tag_names": [
            tag.replace(" ", "-") for tag in all_tags(settings.tags, entry)
        ],  # its tags must not contain spaces
        "unread": settings.unread,
    }
    response = yield post_json(
        join_path(settings.url, "/api/bookmarks/"), saved, {"Authorization": f"Token {settings.token}"}
    )
    expect_success(response, TITLE)
