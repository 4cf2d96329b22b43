"""Cubox keeps articles to read them later.

API: https://help.cubox.cc/save/api
"""

from __future__ import annotations

from typing import Annotated

from tidings.base.messages import msg
from tidings.deliveries.events import SAVE_ENTRY, Event
from tidings.deliveries.provider import DeliveryRefused, RequestSequence, ServiceSettings, address, line, tags
from tidings.deliveries.requests import all_tags, entry_with_url, error_text, expect_success, post_json, without_empty

NAME = "cubox"
TITLE = "Cubox"
EVENTS = frozenset({SAVE_ENTRY})

DONE = ("", "200")


class Settings(ServiceSettings, frozen=True, kw_only=True):
    api_link: Annotated[
        str, address("API link", "In Cubox: Settings, Extensions & Automation, API Extension.", is_secret=True)
    ] = ""
    folder: Annotated[str, line("Folder", "Leave it empty for the inbox.")] = ""
    tags: Annotated[str, tags()] = ""


def deliver(settings: Settings, event: Event) -> RequestSequence:
    entry = entry_with_url(event)
    saved = without_empty(
        type="url", content=entry.url, title=entry.title, folder=settings.folder, tags=all_tags(settings.tags, entry)
    )
    response = yield post_json(settings.api_link, saved, {})
    expect_success(response, TITLE)
    if error_text(response, "code") not in DONE:
        raise DeliveryRefused(
            msg(
                "{title} did not save it, and says: {complaint}.",
                title=TITLE,
                complaint=error_text(response, "message", "code"),
            )
        )
