"""Pushover shows notifications on telephones and desktops.

API: https://pushover.net/api
"""

from __future__ import annotations

from typing import Annotated

from tidings.base.messages import msg
from tidings.deliveries.events import NEW_ENTRIES, Event
from tidings.deliveries.notification_text import notification
from tidings.deliveries.provider import DeliveryRefused, RequestSequence, ServiceSettings, choice, flag, line, secret
from tidings.deliveries.requests import error_text, expect_success, post_json, without_empty
from tidings.domain.feeds.feeds import Feed

NAME = "pushover"
TITLE = "Pushover"
EVENTS = frozenset({NEW_ENTRIES})

MAX_TEXT = 1024
MAX_TITLE = 250
MAX_URL = 512
# The priority at which the user must confirm a notification. It is repeated after `retry` seconds for `expire` seconds.
EMERGENCY = 2
REPEATED = {"retry": 60, "expire": 3600}


class Settings(ServiceSettings, frozen=True, kw_only=True):
    token: Annotated[
        str, secret("Application token", "From an application that you create at https://pushover.net/apps/build.")
    ] = ""
    user: Annotated[str, secret("User key", "Shown at https://pushover.net when you are signed in.")] = ""
    device: Annotated[str, line("Device", "Leave it empty for all devices.")] = ""
    priority: Annotated[str, choice("Priority", "-2", "-1", "0", "1", "2", help="2 has to be confirmed.")] = "0"
    all_feeds: Annotated[bool, flag("For all feeds", "Otherwise only for feeds that have Pushover switched on.")] = (
        False
    )


def receiver(settings: Settings, feed: Feed) -> str:
    """Return the priority."""
    if feed.pushover_enabled:
        return str(feed.pushover_priority)
    return settings.priority if settings.all_feeds else ""


def deliver(settings: Settings, event: Event) -> RequestSequence:
    payload, priority = notification(event.new_entries, max_length=MAX_TEXT), int(event.receiver)
    message = without_empty(
        token=settings.token,
        user=settings.user,
        device=settings.device,
        title=payload.title[:MAX_TITLE],
        message=payload.text,
        url=payload.url if len(payload.url) <= MAX_URL else "",
        priority=priority,
    )
    if priority == EMERGENCY:
        message |= REPEATED
    response = yield post_json("https://api.pushover.net/1/messages.json", message, {})
    if response.status == 400:
        if errors := error_text(response, "errors"):
            raise DeliveryRefused(
                msg("{title} does not accept it (400), and says: {complaint}.", title=TITLE, complaint=errors)
            )
        raise DeliveryRefused(msg("{title} does not accept it (400), and gives no reason.", title=TITLE))
    expect_success(response, TITLE)
