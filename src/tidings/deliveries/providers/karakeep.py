"""Karakeep, which was called Hoarder, keeps bookmarks and copies of their pages.

API: https://docs.karakeep.app/api/create-a-new-bookmark and …/attach-tags-to-a-bookmark
"""

from __future__ import annotations

from typing import Annotated

from tidings.deliveries.events import SAVE_ENTRY, Event
from tidings.deliveries.provider import RequestSequence, ServiceSettings, address, secret, tags
from tidings.deliveries.requests import (
    all_tags,
    bearer_auth,
    entry_with_url,
    expect_success,
    join_path,
    post_json,
    required_text,
)

NAME = "karakeep"
TITLE = "Karakeep"
EVENTS = frozenset({SAVE_ENTRY})

MAX_TITLE = 1000


class Settings(ServiceSettings, frozen=True, kw_only=True):
    url: Annotated[str, address("Address", "Your Karakeep server, such as https://keep.example.org.")] = ""
    api_key: Annotated[str, secret("API key", "In Karakeep: User settings, API keys.")] = ""
    tags: Annotated[str, tags()] = ""


def deliver(settings: Settings, event: Event) -> RequestSequence:
    entry = entry_with_url(event)
    bookmarks, key = join_path(settings.url, "/api/v1/bookmarks"), bearer_auth(settings.api_key)
    saved = {"type": "link", "url": entry.url, "title": entry.title[:MAX_TITLE]}
    response = yield post_json(bookmarks, saved, key)
    number = required_text(response, TITLE, "id")
    if wanted := all_tags(settings.tags, entry):
        response = yield post_json(f"{bookmarks}/{number}/tags", {"tags": [{"tagName": tag} for tag in wanted]}, key)
        expect_success(response, TITLE)
