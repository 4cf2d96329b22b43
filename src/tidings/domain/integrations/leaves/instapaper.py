"""Instapaper keeps articles to read them later.

API: https://www.instapaper.com/api/simple
"""

from __future__ import annotations

from typing import Annotated

from tidings.domain.events import Event
from tidings.domain.integrations.asking import basic, link, post_form, taken
from tidings.domain.integrations.fields import ServiceSettings, line, secret
from tidings.domain.integrations.leaf import Refused, Steps

NAME = "instapaper"
TITLE = "Instapaper"
SAVES = True
NOTIFIES = False


class Settings(ServiceSettings, frozen=True, kw_only=True):
    username: Annotated[str, line("Username or e-mail address", needed=True)] = ""
    password: Annotated[str, secret("Password", "Leave it empty if your account has none.", needed=False)] = ""


def deliver(settings: Settings, event: Event) -> Steps:
    entry = link(event)
    credentials = basic(settings.username, settings.password)
    answer = yield post_form(
        "https://www.instapaper.com/api/add", {"url": entry.url, "title": entry.title}, credentials
    )
    if answer.status == 403:  # what others say with 401
        raise Refused(f"{TITLE} does not accept the credentials (403). Check username and password.")
    taken(answer, TITLE)
