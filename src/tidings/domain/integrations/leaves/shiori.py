"""Shiori keeps bookmarks and copies of their pages.

API: https://github.com/go-shiori/shiori/blob/master/docs/API.md, and /swagger/index.html on a Shiori that shows it
"""

from __future__ import annotations

from typing import Annotated

from tidings.domain.events import Event
from tidings.domain.integrations.asking import bearer, below, labels, link, member, post_json, taken
from tidings.domain.integrations.fields import ServiceSettings, address, flag, line, secret, tags
from tidings.domain.integrations.leaf import Refused, Steps

NAME = "shiori"
TITLE = "Shiori"
SAVES = True
NOTIFIES = False


class Settings(ServiceSettings, frozen=True, kw_only=True):
    url: Annotated[str, address("Address", "Of your Shiori, such as https://shiori.example.org.")] = ""
    username: Annotated[str, line("Username", needed=True)] = ""
    password: Annotated[str, secret("Password")] = ""
    tags: Annotated[str, tags()] = ""
    archive: Annotated[bool, flag("Keep a copy of the page")] = False


def deliver(settings: Settings, event: Event) -> Steps:
    entry = link(event)
    credentials = {"username": settings.username, "password": settings.password, "remember_me": False}
    answer = yield post_json(below(settings.url, "/api/v1/auth/login"), credentials, {})
    if answer.status == 400:  # what others say with 401
        raise Refused(f"{TITLE} does not accept the credentials (400). Check username and password.")
    # Until version 1.7 the token lay within a message.
    token = member(answer, TITLE, "token", "message.token")
    saved = {
        "url": entry.url,
        "title": entry.title,
        "tags": [{"name": tag} for tag in labels(settings.tags)],
        "createArchive": settings.archive,
    }
    answer = yield post_json(below(settings.url, "/api/bookmarks"), saved, bearer(token))
    taken(answer, TITLE)
