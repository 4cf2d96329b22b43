"""Raindrop.io keeps bookmarks.

API: https://developer.raindrop.io/v1/raindrops/single (Create raindrop)
"""

from __future__ import annotations

from typing import Annotated

from tidings.deliveries.events import SAVE_ENTRY, Event
from tidings.deliveries.provider import RequestSequence, ServiceSettings, number, secret, tags
from tidings.deliveries.requests import all_tags, bearer_auth, entry_with_url, expect_success, post_json

NAME = "raindrop"
TITLE = "Raindrop.io"
EVENTS = frozenset({SAVE_ENTRY})


class Settings(ServiceSettings, frozen=True, kw_only=True):
    token: Annotated[
        str, secret("Test token", "From an app that you create at https://app.raindrop.io/settings/integrations.")
    ] = ""
    collection_id: Annotated[int, number("Collection", "The number in its address; 0 for none.")] = 0
    tags: Annotated[str, tags()] = ""


def deliver(settings: Settings, event: Event) -> RequestSequence:
    entry = entry_with_url(event)
    saved = {"link": entry.url, "title": entry.title, "tags": all_tags(settings.tags, entry), "pleaseParse": {}}
    if settings.collection_id:
        saved["collection"] = {"$id": settings.collection_id}
    response = yield post_json("https://api.raindrop.io/rest/v1/raindrop", saved, bearer_auth(settings.token))
    expect_success(response, TITLE)
