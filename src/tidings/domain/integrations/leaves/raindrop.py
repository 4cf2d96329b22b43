"""Raindrop.io keeps bookmarks.

API: https://developer.raindrop.io/v1/raindrops/single (Create raindrop)
"""

from __future__ import annotations

from typing import Annotated

from tidings.domain.events import Event
from tidings.domain.integrations.asking import bearer, labels, link, post_json, taken
from tidings.domain.integrations.fields import ServiceSettings, number, secret, tags
from tidings.domain.integrations.leaf import Steps

NAME = "raindrop"
TITLE = "Raindrop.io"
SAVES = True
NOTIFIES = False


class Settings(ServiceSettings, frozen=True, kw_only=True):
    token: Annotated[str, secret("Test token", "Of an app made at https://app.raindrop.io/settings/integrations.")] = ""
    collection_id: Annotated[int, number("Collection", "The number in its address; 0 for none.")] = 0
    tags: Annotated[str, tags()] = ""


def deliver(settings: Settings, event: Event) -> Steps:
    entry = link(event)
    saved = {"link": entry.url, "title": entry.title, "tags": labels(settings.tags), "pleaseParse": {}}
    if settings.collection_id:
        saved["collection"] = {"$id": settings.collection_id}
    answer = yield post_json("https://api.raindrop.io/rest/v1/raindrop", saved, bearer(settings.token))
    taken(answer, TITLE)
