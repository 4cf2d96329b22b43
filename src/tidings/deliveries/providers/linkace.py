"""LinkAce keeps bookmarks. Version 2 or later is required.

API: https://api-docs.linkace.org/ (POST /api/v2/links)
"""

from __future__ import annotations

from typing import Annotated

from tidings.base.messages import msg
from tidings.deliveries.events import SAVE_ENTRY, Event
from tidings.deliveries.provider import RequestSequence, ServiceSettings, address, choice, flag, line, secret, tags
from tidings.deliveries.requests import (
    Undeliverable,
    all_tags,
    bearer_auth,
    entry_with_url,
    expect_success,
    join_path,
    post_json,
    split_tags,
)

NAME = "linkace"
TITLE = "LinkAce"
EVENTS = frozenset({SAVE_ENTRY})

VISIBILITIES = {"public": 1, "internal": 2, "private": 3}


class Settings(ServiceSettings, frozen=True, kw_only=True):
    url: Annotated[str, address("Address", "Your LinkAce server, such as https://links.example.org.")] = ""
    token: Annotated[str, secret("API token", "In LinkAce: User settings, API tokens.")] = ""
    tags: Annotated[str, tags()] = ""
    lists: Annotated[str, line("Lists", "Separated by commas.")] = ""
    visibility: Annotated[str, choice("Visible to", *VISIBILITIES)] = "private"
    check_disabled: Annotated[bool, flag("Do not check whether the page still exists")] = False


def deliver(settings: Settings, event: Event) -> RequestSequence:
    entry = entry_with_url(event)
    saved = {
        "url": entry.url,
        "title": entry.title,
        "tags": all_tags(settings.tags, entry),
        "lists": split_tags(settings.lists),
        "visibility": VISIBILITIES[settings.visibility],
        "check_disabled": settings.check_disabled,
    }
    response = yield post_json(join_path(settings.url, "/api/v2/links"), saved, bearer_auth(settings.token))
    if response.status == 422:
        raise Undeliverable(
            msg("{title} does not accept it (422): usually because it has this link already.", title=TITLE)
        )
    expect_success(response, TITLE)
