"""Notion keeps notes and pages: this provider appends a bookmark to a page.

API: https://developers.notion.com/reference/patch-block-children
"""

from __future__ import annotations

from typing import Annotated
from urllib.parse import quote

from tidings.base.messages import msg
from tidings.deliveries.events import SAVE_ENTRY, Event
from tidings.deliveries.provider import DeliveryRefused, RequestSequence, ServiceSettings, line, secret
from tidings.deliveries.requests import bearer_auth, entry_with_url, expect_success, post_json

NAME = "notion"
TITLE = "Notion"
EVENTS = frozenset({SAVE_ENTRY})

VERSION = "2022-06-28"
MAX_TEXT = 2000


class Settings(ServiceSettings, frozen=True, kw_only=True):
    token: Annotated[str, secret("Integration secret", "From https://www.notion.so/my-integrations.")] = ""
    page_id: Annotated[
        str, line("Page", "The 32 digits at the end of its address; share it with the integration.", required=True)
    ] = ""


def deliver(settings: Settings, event: Event) -> RequestSequence:
    entry = entry_with_url(event)
    caption = [{"type": "text", "text": {"content": entry.title[:MAX_TEXT]}}]
    bookmark = {"object": "block", "type": "bookmark", "bookmark": {"url": entry.url, "caption": caption}}
    response = yield post_json(
        f"https://api.notion.com/v1/blocks/{quote(settings.page_id, safe='')}/children",
        {"children": [bookmark]},
        {**bearer_auth(settings.token), "Notion-Version": VERSION},
        method="PATCH",
    )
    if response.status == 404:
        raise DeliveryRefused(
            msg("{title} has no such page (404), or has not shared it with the integration.", title=TITLE)
        )
    expect_success(response, TITLE)
