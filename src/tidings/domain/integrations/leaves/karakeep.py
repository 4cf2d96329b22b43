"""Karakeep, which was called Hoarder, keeps bookmarks and copies of their pages.

API: https://docs.karakeep.app/api/create-a-new-bookmark and …/attach-tags-to-a-bookmark
"""

from __future__ import annotations

from typing import Annotated

from tidings.domain.events import Event
from tidings.domain.integrations.asking import bearer, below, labels, link, member, post_json, taken
from tidings.domain.integrations.fields import ServiceSettings, address, secret, tags
from tidings.domain.integrations.leaf import Steps

NAME = "karakeep"
TITLE = "Karakeep"
SAVES = True
NOTIFIES = False

LONGEST_TITLE = 1000


class Settings(ServiceSettings, frozen=True, kw_only=True):
    url: Annotated[str, address("Address", "Of your Karakeep, such as https://keep.example.org.")] = ""
    api_key: Annotated[str, secret("API key", "In Karakeep: User settings, API keys.")] = ""
    tags: Annotated[str, tags()] = ""


def deliver(settings: Settings, event: Event) -> Steps:
    entry = link(event)
    bookmarks, key = below(settings.url, "/api/v1/bookmarks"), bearer(settings.api_key)
    saved = {"type": "link", "url": entry.url, "title": entry.title[:LONGEST_TITLE]}
    answer = yield post_json(bookmarks, saved, key)
    number = member(answer, TITLE, "id")
    if wanted := labels(settings.tags):
        answer = yield post_json(f"{bookmarks}/{number}/tags", {"tags": [{"tagName": tag} for tag in wanted]}, key)
        taken(answer, TITLE)
