"""Linkwarden keeps bookmarks and copies of their pages.

API: https://docs.linkwarden.app/api/api-introduction (POST /api/v1/links)
"""

from __future__ import annotations

from typing import Annotated

from tidings.deliveries.events import SAVE_ENTRY, Event
from tidings.deliveries.provider import RequestSequence, ServiceSettings, address, line, secret, tags
from tidings.deliveries.requests import (
    all_tags,
    bearer_auth,
    entry_with_url,
    expect_success,
    join_path,
    post_json,
    without_empty,
)

NAME = "linkwarden"
TITLE = "Linkwarden"
EVENTS = frozenset({SAVE_ENTRY})

MAX_TITLE = 2048
MAX_TAG = 50
CONFLICT = 409


class Settings(ServiceSettings, frozen=True, kw_only=True):
    url: Annotated[str, address("Address", "Your Linkwarden server, such as https://cloud.linkwarden.app.")] = ""
    token: Annotated[str, secret("Access token", "In Linkwarden: Settings, Access tokens.")] = ""
    collection: Annotated[str, line("Collection", "Its name; it is created if it does not exist.")] = ""
    tags: Annotated[str, tags()] = ""


def deliver(settings: Settings, event: Event) -> RequestSequence:
    entry = entry_with_url(event)
    saved = without_empty(
        url=entry.url,
        name=entry.title[:MAX_TITLE],
        tags=[{"name": tag[:MAX_TAG]} for tag in all_tags(settings.tags, entry)],
        collection={"name": settings.collection} if settings.collection else None,
    )
    response = yield post_json(join_path(settings.url, "/api/v1/links"), saved, bearer_auth(settings.token))
    expect_success(response, TITLE, CONFLICT)  # the link exists already
