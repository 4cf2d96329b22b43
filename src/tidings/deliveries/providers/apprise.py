"""Apprise sends notifications to about a hundred services: Telegram, Matrix, Discord, Slack, mail and others.

Its library sends the messages (`deliveries.apprise`). Service URLs: https://appriseit.com/services/
"""

from __future__ import annotations

from typing import Annotated

from tidings.deliveries.events import NEW_ENTRIES
from tidings.deliveries.provider import ServiceSettings, text
from tidings.domain.feeds.feeds import Feed

NAME = "apprise"
TITLE = "Apprise"
EVENTS = frozenset({NEW_ENTRIES})


class Settings(ServiceSettings, frozen=True, kw_only=True):
    urls: Annotated[
        str,
        text("Service URLs", "One per line, such as tgram://token/chat; see https://appriseit.com.", is_secret=True),
    ] = ""


def receiver(settings: Settings, feed: Feed) -> str:
    """Return whether the feed's own URLs or the user's apply. The URLs are secret, and read when an event is sent."""
    if feed.apprise_service_urls.strip():
        return f"feed {feed.id}"
    return "all" if settings.urls.strip() else ""


def service_urls(text_of_urls: str) -> list[str]:
    """Return the URLs, which are separated by spaces or line breaks; many of them contain commas."""
    return text_of_urls.split()
