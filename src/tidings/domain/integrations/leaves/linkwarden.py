"""Linkwarden keeps bookmarks and copies of their pages.

API: https://docs.linkwarden.app/api/api-introduction (POST /api/v1/links)
"""

from __future__ import annotations

from typing import Annotated

from tidings.domain.events import Event
from tidings.domain.integrations.asking import bearer, below, given, labels, link, post_json, taken
from tidings.domain.integrations.fields import ServiceSettings, address, line, secret, tags
from tidings.domain.integrations.leaf import Steps

NAME = "linkwarden"
TITLE = "Linkwarden"
SAVES = True
NOTIFIES = False

LONGEST_TITLE = 2048
LONGEST_TAG = 50
CONFLICT = 409


class Settings(ServiceSettings, frozen=True, kw_only=True):
    url: Annotated[str, address("Address", "Of your Linkwarden, such as https://cloud.linkwarden.app.")] = ""
    token: Annotated[str, secret("Access token", "In Linkwarden: Settings, Access tokens.")] = ""
    collection: Annotated[str, line("Collection", "Its name; it is made when there is none.")] = ""
    tags: Annotated[str, tags()] = ""


def deliver(settings: Settings, event: Event) -> Steps:
    entry = link(event)
    saved = given(
        url=entry.url,
        name=entry.title[:LONGEST_TITLE],
        tags=[{"name": tag[:LONGEST_TAG]} for tag in labels(settings.tags)],
        collection={"name": settings.collection} if settings.collection else None,
    )
    answer = yield post_json(below(settings.url, "/api/v1/links"), saved, bearer(settings.token))
    taken(answer, TITLE, CONFLICT)  # it is there already
