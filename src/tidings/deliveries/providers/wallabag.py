"""Wallabag keeps articles to read them later.

API: https://doc.wallabag.org/developer/api/oauth/ and https://app.wallabag.it/api/doc (POST /api/entries)
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
    post_form,
    post_json,
    required_text,
    without_empty,
)

NAME = "wallabag"
TITLE = "Wallabag"
EVENTS = frozenset({SAVE_ENTRY})


class Settings(ServiceSettings, frozen=True, kw_only=True):
    url: Annotated[str, address("Address", "Your Wallabag server, such as https://app.wallabag.it.")] = ""
    client_id: Annotated[str, line("Client ID", "In Wallabag: API clients management.", required=True)] = ""
    client_secret: Annotated[str, secret("Client secret", "Shown next to the client ID.")] = ""
    username: Annotated[str, line("Username", required=True)] = ""
    password: Annotated[str, secret("Password")] = ""
    tags: Annotated[str, tags()] = ""
    only_url: Annotated[bool, flag("Send only the address", "Wallabag then fetches the article itself.")] = True


def deliver(settings: Settings, event: Event) -> RequestSequence:
    entry = entry_with_url(event)
    credentials = {
        "grant_type": "password",
        "client_id": settings.client_id,
        "client_secret": settings.client_secret,
        "username": settings.username,
        "password": settings.password,
    }
    response = yield post_form(join_path(settings.url, "/oauth/v2/token"), credentials, {})
    if response.status == 400:  # errors of OAuth: invalid_grant, invalid_client
        raise DeliveryRefused(
            msg("{title} does not accept the credentials (400). Check client, username and password.", title=TITLE)
        )
    token = required_text(response, TITLE, "access_token")
    content = "" if settings.only_url else entry.content
    saved = without_empty(
        url=entry.url, title=entry.title, content=content, tags=",".join(all_tags(settings.tags, entry))
    )
    response = yield post_json(join_path(settings.url, "/api/entries.json"), saved, bearer_auth(token))
    expect_success(response, TITLE)
