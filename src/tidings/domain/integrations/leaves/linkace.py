"""LinkAce keeps bookmarks. From its version 2 on.

API: https://api-docs.linkace.org/ (POST /api/v2/links)
"""

from __future__ import annotations

from typing import Annotated

from tidings.domain.events import Event
from tidings.domain.integrations.asking import Unsendable, bearer, below, labels, link, post_json, taken
from tidings.domain.integrations.fields import ServiceSettings, address, choice, flag, line, secret, tags
from tidings.domain.integrations.leaf import Steps

NAME = "linkace"
TITLE = "LinkAce"
SAVES = True
NOTIFIES = False

VISIBILITIES = {"public": 1, "internal": 2, "private": 3}


class Settings(ServiceSettings, frozen=True, kw_only=True):
    url: Annotated[str, address("Address", "Of your LinkAce, such as https://links.example.org.")] = ""
    token: Annotated[str, secret("API token", "In LinkAce: User settings, API tokens.")] = ""
    tags: Annotated[str, tags()] = ""
    lists: Annotated[str, line("Lists", "With commas between them.")] = ""
    visibility: Annotated[str, choice("Visible to", *VISIBILITIES)] = "private"
    check_disabled: Annotated[bool, flag("Do not check whether the page is still there")] = False


def deliver(settings: Settings, event: Event) -> Steps:
    entry = link(event)
    saved = {
        "url": entry.url,
        "title": entry.title,
        "tags": labels(settings.tags),
        "lists": labels(settings.lists),
        "visibility": VISIBILITIES[settings.visibility],
        "check_disabled": settings.check_disabled,
    }
    answer = yield post_json(below(settings.url, "/api/v2/links"), saved, bearer(settings.token))
    if answer.status == 422:
        raise Unsendable(f"{TITLE} does not take it (422): most often the link is there already.")
    taken(answer, TITLE)
