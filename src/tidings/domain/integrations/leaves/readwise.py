"""Readwise Reader keeps articles to read them later.

API: https://readwise.io/reader_api (Document CREATE)
"""

from __future__ import annotations

from typing import Annotated

from tidings.domain.events import Event
from tidings.domain.integrations.asking import given, labels, link, post_json, taken
from tidings.domain.integrations.fields import ServiceSettings, choice, flag, secret, tags
from tidings.domain.integrations.leaf import Steps

NAME = "readwise"
TITLE = "Readwise Reader"
SAVES = True
NOTIFIES = False


class Settings(ServiceSettings, frozen=True, kw_only=True):
    token: Annotated[str, secret("Access token", "From https://readwise.io/access_token.")] = ""
    tags: Annotated[str, tags()] = ""
    location: Annotated[str, choice("Where it goes", "new", "later", "archive", "feed")] = "new"
    send_content: Annotated[bool, flag("Send the article too", "Otherwise Readwise fetches it by itself.")] = False


def deliver(settings: Settings, event: Event) -> Steps:
    entry = link(event)
    saved = given(
        url=entry.url,
        title=entry.title,
        author=entry.author,
        published_date=entry.published_at,
        location=settings.location,
        tags=labels(settings.tags),
        saved_using="Tidings",
        html=entry.content if settings.send_content else "",
    )
    answer = yield post_json("https://readwise.io/api/v3/save/", saved, {"Authorization": f"Token {settings.token}"})
    taken(answer, TITLE)
