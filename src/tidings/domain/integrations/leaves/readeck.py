"""Readeck keeps the readable part of pages.

API: https://readeck.org/en/docs/ and /docs/api on every Readeck (POST /bookmarks, answered by 202)
"""

from __future__ import annotations

from typing import Annotated

from tidings.domain.events import Event
from tidings.domain.integrations.asking import bearer, below, labels, link, post_json, taken
from tidings.domain.integrations.fields import ServiceSettings, address, secret, tags
from tidings.domain.integrations.leaf import Steps

NAME = "readeck"
TITLE = "Readeck"
SAVES = True
NOTIFIES = False


class Settings(ServiceSettings, frozen=True, kw_only=True):
    url: Annotated[str, address("Address", "Of your Readeck, such as https://read.example.org.")] = ""
    token: Annotated[str, secret("API token", "In Readeck: Profile, API tokens; it has to be able to write.")] = ""
    tags: Annotated[str, tags()] = ""


def deliver(settings: Settings, event: Event) -> Steps:
    entry = link(event)
    saved = {"url": entry.url, "title": entry.title, "labels": labels(settings.tags)}
    answer = yield post_json(below(settings.url, "/api/bookmarks"), saved, bearer(settings.token))
    taken(answer, TITLE)
