"""Notion keeps everything: here a bookmark is put at the end of a page.

API: https://developers.notion.com/reference/patch-block-children
"""

from __future__ import annotations

from typing import Annotated
from urllib.parse import quote

from tidings.domain.events import Event
from tidings.domain.integrations.asking import bearer, link, post_json, taken
from tidings.domain.integrations.fields import ServiceSettings, line, secret
from tidings.domain.integrations.leaf import Refused, Steps

NAME = "notion"
TITLE = "Notion"
SAVES = True
NOTIFIES = False

VERSION = "2022-06-28"
LONGEST_TEXT = 2000


class Settings(ServiceSettings, frozen=True, kw_only=True):
    token: Annotated[str, secret("Integration secret", "From https://www.notion.so/my-integrations.")] = ""
    page_id: Annotated[
        str, line("Page", "The 32 digits at the end of its address; share it with the integration.", needed=True)
    ] = ""


def deliver(settings: Settings, event: Event) -> Steps:
    entry = link(event)
    caption = [{"type": "text", "text": {"content": entry.title[:LONGEST_TEXT]}}]
    bookmark = {"object": "block", "type": "bookmark", "bookmark": {"url": entry.url, "caption": caption}}
    answer = yield post_json(
        f"https://api.notion.com/v1/blocks/{quote(settings.page_id, safe='')}/children",
        {"children": [bookmark]},
        {**bearer(settings.token), "Notion-Version": VERSION},
        method="PATCH",
    )
    if answer.status == 404:
        raise Refused(f"{TITLE} has no such page (404), or has not shared it with the integration.")
    taken(answer, TITLE)
