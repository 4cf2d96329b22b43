"""Readwise Reader keeps articles to read them later.

API: https://readwise.io/reader_api (Document CREATE)
"""

from __future__ import annotations

from typing import Annotated

from tidings.deliveries.events import SAVE_ENTRY, Event
from tidings.deliveries.provider import RequestSequence, ServiceSettings, choice, flag, secret, tags
from tidings.deliveries.requests import all_tags, entry_with_url, expect_success, post_json, without_empty

NAME = "readwise"
TITLE = "Readwise Reader"
EVENTS = frozenset({SAVE_ENTRY})


class Settings(ServiceSettings, frozen=True, kw_only=True):
    token: Annotated[str, secret("Access token", "From https://readwise.io/access_token.")] = ""
    tags: Annotated[str, tags()] = ""
    location: Annotated[str, choice("Save to", "new", "later", "archive", "feed")] = "new"
    send_content: Annotated[bool, flag("Also send the article", "Otherwise Readwise fetches it itself.")] = False


def deliver(settings: Settings, event: Event) -> RequestSequence:
    entry = entry_with_url(event)
    saved = without_empty(
        url=entry.url,
        title=entry.title,
        author=entry.author,
        published_date=entry.published_at,
        location=settings.location,
        tags=all_tags(settings.tags, entry),
        saved_using="Tidings",
        html=entry.content if settings.send_content else "",
    )
    response = yield post_json("https://readwise.io/api/v3/save/", saved, {"Authorization": f"Token {settings.token}"})
    expect_success(response, TITLE)
