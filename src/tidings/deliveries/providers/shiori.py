"""Shiori keeps bookmarks and copies of their pages.

API: https://github.com/go-shiori/shiori/blob/master/docs/API.md (and /swagger/index.html of an installation)
"""

from __future__ import annotations

from typing import Annotated

from tidings.base.messages import msg
from tidings.deliveries.events import SAVE_ENTRY, Event
from tidings.deliveries.provider import (
    DeliveryRefused,
    RequestSequence,
    ServiceSettings,
    address,
    flag,
    line,
    secret,
    tags,
)
from tidings.deliveries.requests import (
    all_tags,
    bearer_auth,
    entry_with_url,
    expect_success,
    join_path,
    post_json,
    required_text,
)

NAME = "shiori"
TITLE = "Shiori"
EVENTS = frozenset({SAVE_ENTRY})


class Settings(ServiceSettings, frozen=True, kw_only=True):
    url: Annotated[str, address("Address", "Your Shiori server, such as https://shiori.example.org.")] = ""
    username: Annotated[str, line("Username", required=True)] = ""
    password: Annotated[str, secret("Password")] = ""
    tags: Annotated[str, tags()] = ""
    archive: Annotated[bool, flag("Keep a copy of the page")] = False


def deliver(settings: Settings, event: Event) -> RequestSequence:
    entry = entry_with_url(event)
    credentials = {"username": settings.username, "password": settings.password, "remember_me": False}
    response = yield post_json(join_path(settings.url, "/api/v1/auth/login"), credentials, {})
    if response.status == 400:  # where other services use 401
        raise DeliveryRefused(
            msg("{title} does not accept the credentials (400). Check username and password.", title=TITLE)
        )
    # Before version 1.7 the token was in `message`.
    token = required_text(response, TITLE, "token", "message.token")
    saved = {
        "url": entry.url,
        "title": entry.title,
        "tags": [{"name": tag} for tag in all_tags(settings.tags, entry)],
        "createArchive": settings.archive,
    }
    response = yield post_json(join_path(settings.url, "/api/bookmarks"), saved, bearer_auth(token))
    expect_success(response, TITLE)
