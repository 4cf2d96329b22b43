"""Readeck keeps the readable part of pages.

API: https://readeck.org/en/docs/ and /docs/api on every installation (POST /bookmarks, which responds with 202)
"""

from __future__ import annotations

from typing import Annotated

from tidings.deliveries.events import SAVE_ENTRY, Event
from tidings.deliveries.provider import RequestSequence, ServiceSettings, address, secret, tags
from tidings.deliveries.requests import all_tags, bearer_auth, entry_with_url, expect_success, join_path, post_json

NAME = "readeck"
TITLE = "Readeck"
EVENTS = frozenset({SAVE_ENTRY})


class Settings(ServiceSettings, frozen=True, kw_only=True):
    url: Annotated[str, address("Address", "Your Readeck server, such as https://read.example.org.")] = ""
    token: Annotated[str, secret("API token", "In Readeck: Profile, API tokens; it needs write permission.")] = ""
    tags: Annotated[str, tags()] = ""


def deliver(settings: Settings, event: Event) -> RequestSequence:
    entry = entry_with_url(event)
    saved = {"url": entry.url, "title": entry.title, "labels": all_tags(settings.tags, entry)}
    response = yield post_json(join_path(settings.url, "/api/bookmarks"), saved, bearer_auth(settings.token))
    expect_success(response, TITLE)
