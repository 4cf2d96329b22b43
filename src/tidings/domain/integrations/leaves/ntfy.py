"""ntfy shows notifications on telephones and in browsers.

API: https://docs.ntfy.sh/publish/#publish-as-json
"""

from __future__ import annotations

from typing import Annotated

from tidings.domain.events import Event
from tidings.domain.feeds import Feed
from tidings.domain.integrations.asking import basic, bearer, below, given, post_json, taken
from tidings.domain.integrations.fields import ServiceSettings, address, choice, flag, line, secret
from tidings.domain.integrations.leaf import Steps
from tidings.domain.integrations.notices import notice

NAME = "ntfy"
TITLE = "ntfy"
SAVES = False
NOTIFIES = True

LONGEST_TEXT = 3_000


class Settings(ServiceSettings, frozen=True, kw_only=True):
    url: Annotated[str, address("Address", "Of the ntfy server.")] = "https://ntfy.sh"
    topic: Annotated[str, line("Topic", "Unless a feed has one of its own.", needed=True)] = ""
    token: Annotated[str, secret("Access token", "If the topic is protected.", needed=False)] = ""
    username: Annotated[str, line("Username", "Instead of a token.")] = ""
    password: Annotated[str, secret("Password", needed=False)] = ""
    priority: Annotated[str, choice("Priority", "1", "2", "3", "4", "5", help="5 is the loudest.")] = "3"
    all_feeds: Annotated[bool, flag("Of every feed", "Otherwise of those alone that have ntfy switched on.")] = False


def receiver(settings: Settings, feed: Feed) -> str:
    """priority, topic"""
    if feed.ntfy_enabled:
        return f"{feed.ntfy_priority} {feed.ntfy_topic or settings.topic}"
    return f"{settings.priority} {settings.topic}" if settings.all_feeds else ""


def deliver(settings: Settings, event: Event) -> Steps:
    priority, _, topic = event.receiver.partition(" ")
    told = notice(event.news, longest=LONGEST_TEXT)
    message = given(topic=topic, title=told.title, message=told.text, click=told.url, priority=int(priority))
    credentials = {}
    if settings.token:
        credentials = bearer(settings.token)
    elif settings.username:
        credentials = basic(settings.username, settings.password)
    answer = yield post_json(below(settings.url, "/"), message, credentials)
    taken(answer, TITLE)
