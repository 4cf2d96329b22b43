"""Instapaper keeps articles to read them later.

API: https://www.instapaper.com/api/simple
"""

from __future__ import annotations

from typing import Annotated

from tidings.base.messages import msg
from tidings.deliveries.events import SAVE_ENTRY, Event
from tidings.deliveries.provider import DeliveryRefused, RequestSequence, ServiceSettings, line, secret
from tidings.deliveries.requests import basic_auth, entry_with_url, expect_success, post_form

NAME = "instapaper"
TITLE = "Instapaper"
EVENTS = frozenset({SAVE_ENTRY})


class Settings(ServiceSettings, frozen=True, kw_only=True):
    username: Annotated[str, line("Username or email address", required=True)] = ""
    password: Annotated[str, secret("Password", "Leave it empty if your account has none.", required=False)] = ""


def deliver(settings: Settings, event: Event) -> RequestSequence:
    entry = entry_with_url(event)
    credentials = basic_auth(settings.username, settings.password)
    response = yield post_form(
        "https://www.instapaper.com/api/add", {"url": entry.url, "title": entry.title}, credentials
    )
    if response.status == 403:  # where other services use 401
        raise DeliveryRefused(
            msg("{title} does not accept the credentials (403). Check username and password.", title=TITLE)
        )
    expect_success(response, TITLE)
