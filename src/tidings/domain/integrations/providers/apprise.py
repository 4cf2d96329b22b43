"""Apprise speaks to a hundred services that show messages: Telegram, Matrix, Discord, Slack, mail and the rest.

Its own library does the sending (`services.deliveries.apprise`). Addresses: https://appriseit.com/services/
"""

from __future__ import annotations

from typing import Annotated

from tidings.domain.deliveries.events import NEW_ENTRIES
from tidings.domain.feeds.feeds import Feed
from tidings.domain.integrations.fields import ServiceSettings, text

NAME = "apprise"
TITLE = "Apprise"
EVENTS = frozenset({NEW_ENTRIES})


class Settings(ServiceSettings, frozen=True, kw_only=True):
    urls: Annotated[
        str, text("Service URLs", "One a line, such as tgram://token/chat; https://appriseit.com.", is_secret=True)
    ] = ""


def receiver(settings: Settings, feed: Feed) -> str:
    """Which of the two, and not the addresses, which are secret: they are looked up when it goes out."""
    if feed.apprise_service_urls.strip():
        return f"feed {feed.id}"
    return "all" if settings.urls.strip() else ""


def service_urls(text_of_urls: str) -> list[str]:
    """One a line, or with blanks between them; commas belong to many of them."""
    return text_of_urls.split()
