"""Cubox keeps articles to read them later.

API: https://help.cubox.cc/save/api
"""

from __future__ import annotations

from typing import Annotated

from tidings.domain.events import Event
from tidings.domain.integrations.asking import complaint, given, labels, link, post_json, taken
from tidings.domain.integrations.fields import ServiceSettings, address, line, tags
from tidings.domain.integrations.leaf import Refused, Steps

NAME = "cubox"
TITLE = "Cubox"
SAVES = True
NOTIFIES = False

DONE = ("", "200")


class Settings(ServiceSettings, frozen=True, kw_only=True):
    api_link: Annotated[
        str, address("API link", "In Cubox: Settings, Extensions & Automation, API Extension.", is_secret=True)
    ] = ""
    folder: Annotated[str, line("Folder", "The inbox when it is empty.")] = ""
    tags: Annotated[str, tags()] = ""


def deliver(settings: Settings, event: Event) -> Steps:
    entry = link(event)
    saved = given(type="url", content=entry.url, title=entry.title, folder=settings.folder, tags=labels(settings.tags))
    answer = yield post_json(settings.api_link, saved, {})
    taken(answer, TITLE)
    if complaint(answer, "code") not in DONE:
        raise Refused(f"{TITLE} has not saved it, and says: {complaint(answer, 'message', 'code')}.")
