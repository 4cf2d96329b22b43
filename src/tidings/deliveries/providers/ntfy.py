"""ntfy shows notifications on telephones and in browsers.

API: https://docs.ntfy.sh/publish/#publish-as-json
"""

from __future__ import annotations

from typing import Annotated

from tidings.deliveries.events import NEW_ENTRIES, Event
from tidings.deliveries.notification_text import notification
from tidings.deliveries.provider import RequestSequence, ServiceSettings, address, choice, flag, line, secret
from tidings.deliveries.requests import basic_auth, bearer_auth, expect_success, join_path, post_json, without_empty
from tidings.domain.feeds.feeds import Feed

NAME = "ntfy"
TITLE = "ntfy"
EVENTS = frozenset({NEW_ENTRIES})

MAX_TEXT = 3_000


class Settings(ServiceSettings, frozen=True, kw_only=True):
    url: Annotated[str, address("Address", "The ntfy server.")] = "https://ntfy.sh"
    topic: Annotated[str, line("Topic", "Used unless a feed has its own.", required=True)] = ""
    token: Annotated[str, secret("Access token", "If the topic is protected.", required=False)] = ""
    username: Annotated[str, line("Username", "Instead of a token.")] = ""
    password: Annotated[str, secret("Password", required=False)] = ""
    priority: Annotated[str, choice("Priority", "1", "2", "3", "4", "5", help="5 is the highest.")] = "3"
    all_feeds: Annotated[bool, flag("For all feeds", "Otherwise only for feeds that have ntfy switched on.")] = False


def receiver(settings: Settings, feed: Feed) -> str:
    """Return the priority and the topic."""
    if feed.ntfy_enabled:
        return f"{feed.ntfy_priority} {feed.ntfy_topic or settings.topic}"
    return f"{settings.priority} {settings.topic}" if settings.all_feeds else ""


def deliver(settings: Settings, event: Event) -> RequestSequence:
    priority, _, topic = event.receiver.partition(" ")
    payload = notification(event.new_entries, max_length=MAX_TEXT)
    message = without_empty(
        topic=topic, title=payload.title, message=payload.text, click=payload.url, priority=int(priority)
    )
    credentials = {}
    if settings.token:
        credentials = bearer_auth(settings.token)
    elif settings.username:
        credentials = basic_auth(settings.username, settings.password)
    response = yield post_json(join_path(settings.url, "/"), message, credentials)
    expect_success(response, TITLE)
