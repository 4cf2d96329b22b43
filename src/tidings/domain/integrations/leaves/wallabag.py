"""Wallabag keeps articles to read them later.

API: https://doc.wallabag.org/developer/api/oauth/ and https://app.wallabag.it/api/doc (POST /api/entries)
"""

from __future__ import annotations

from typing import Annotated

from tidings.domain.events import Event
from tidings.domain.integrations.asking import bearer, below, given, labels, link, member, post_form, post_json, taken
from tidings.domain.integrations.fields import ServiceSettings, address, flag, line, secret, tags
from tidings.domain.integrations.leaf import Refused, Steps

NAME = "wallabag"
TITLE = "Wallabag"
SAVES = True
NOTIFIES = False


class Settings(ServiceSettings, frozen=True, kw_only=True):
    url: Annotated[str, address("Address", "Of your Wallabag, such as https://app.wallabag.it.")] = ""
    client_id: Annotated[str, line("Client ID", "In Wallabag: API clients management.", needed=True)] = ""
    client_secret: Annotated[str, secret("Client secret", "Stands beside the client ID.")] = ""
    username: Annotated[str, line("Username", needed=True)] = ""
    password: Annotated[str, secret("Password")] = ""
    tags: Annotated[str, tags()] = ""
    only_url: Annotated[bool, flag("Send the address only", "Wallabag then fetches the article by itself.")] = True


def deliver(settings: Settings, event: Event) -> Steps:
    entry = link(event)
    credentials = {
        "grant_type": "password",
        "client_id": settings.client_id,
        "client_secret": settings.client_secret,
        "username": settings.username,
        "password": settings.password,
    }
    answer = yield post_form(below(settings.url, "/oauth/v2/token"), credentials, {})
    if answer.status == 400:  # as OAuth has it: invalid_grant, invalid_client
        raise Refused(f"{TITLE} does not accept the credentials (400). Check client, username and password.")
    token = member(answer, TITLE, "access_token")
    content = "" if settings.only_url else entry.content
    saved = given(url=entry.url, title=entry.title, content=content, tags=",".join(labels(settings.tags)))
    answer = yield post_json(below(settings.url, "/api/entries.json"), saved, bearer(token))
    taken(answer, TITLE)
