"""Gotify, a server of one's own, shows notifications on telephones and in browsers.

API: https://gotify.net/api-docs (POST /message), https://gotify.net/docs/msgextras
"""

from __future__ import annotations

from typing import Annotated

from tidings.deliveries.events import NEW_ENTRIES, Event
from tidings.deliveries.notification_text import notification
from tidings.deliveries.provider import RequestSequence, ServiceSettings, address, choice, flag, secret
from tidings.deliveries.requests import expect_success, join_path, post_json
from tidings.domain.feeds.feeds import Feed

NAME = "gotify"
TITLE = "Gotify"
EVENTS = frozenset({NEW_ENTRIES})

MAX_TEXT = 3_000
PRIORITIES = tuple(map(str, range(11)))


class Settings(ServiceSettings, frozen=True, kw_only=True):
    url: Annotated[str, address("Address", "Your Gotify server, such as https://push.example.org.")] = ""
    token: Annotated[str, secret("Application token", "In Gotify: Apps, Create application.")] = ""
    priority: Annotated[
        str, choice("Priority", *PRIORITIES, help="From 4 on it makes a sound, from 8 on it also pops up.")
    ] = "5"
    all_feeds: Annotated[bool, flag("For all feeds", "Otherwise only for entries of which a rule notifies.")] = True


def receiver(settings: Settings, feed: Feed) -> str:  # noqa: ARG001 - feeds have no switch for it
    return NAME if settings.all_feeds else ""


def deliver(settings: Settings, event: Event) -> RequestSequence:
    payload = notification(event.new_entries, max_length=MAX_TEXT)
    # Gotify refuses a message without text.
    message = {"title": payload.title, "message": payload.text or payload.title, "priority": int(settings.priority)}
    if payload.url:
        message["extras"] = {"client::notification": {"click": {"url": payload.url}}}
    response = yield post_json(join_path(settings.url, "/message"), message, {"X-Gotify-Key": settings.token})
    expect_success(response, TITLE)
