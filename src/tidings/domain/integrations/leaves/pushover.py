"""Pushover shows notifications on telephones and desktops.

API: https://pushover.net/api
"""

from __future__ import annotations

from typing import Annotated

from tidings.domain.events import Event
from tidings.domain.feeds import Feed
from tidings.domain.integrations.asking import complaint, given, post_json, taken
from tidings.domain.integrations.fields import ServiceSettings, choice, flag, line, secret
from tidings.domain.integrations.leaf import Refused, Steps
from tidings.domain.integrations.notices import notice

NAME = "pushover"
TITLE = "Pushover"
SAVES = False
NOTIFIES = True

LONGEST_TEXT = 1024
LONGEST_TITLE = 250
LONGEST_URL = 512
# Has to be confirmed: repeated every so many seconds, for so long.
EMERGENCY = 2
REPEATED = {"retry": 60, "expire": 3600}


class Settings(ServiceSettings, frozen=True, kw_only=True):
    token: Annotated[str, secret("Application token", "Of an application made at https://pushover.net/apps/build.")] = (
        ""
    )
    user: Annotated[str, secret("User key", "On your page at https://pushover.net.")] = ""
    device: Annotated[str, line("Device", "All of them when it is empty.")] = ""
    priority: Annotated[str, choice("Priority", "-2", "-1", "0", "1", "2", help="2 has to be confirmed.")] = "0"
    all_feeds: Annotated[bool, flag("Of every feed", "Otherwise of those alone that have Pushover switched on.")] = (
        False
    )


def receiver(settings: Settings, feed: Feed) -> str:
    """priority"""
    if feed.pushover_enabled:
        return str(feed.pushover_priority)
    return settings.priority if settings.all_feeds else ""


def deliver(settings: Settings, event: Event) -> Steps:
    told, priority = notice(event.news, longest=LONGEST_TEXT), int(event.receiver)
    message = given(
        token=settings.token,
        user=settings.user,
        device=settings.device,
        title=told.title[:LONGEST_TITLE],
        message=told.text,
        url=told.url if len(told.url) <= LONGEST_URL else "",
        priority=priority,
    )
    if priority == EMERGENCY:
        message |= REPEATED
    answer = yield post_json("https://api.pushover.net/1/messages.json", message, {})
    if answer.status == 400:
        raise Refused(f"{TITLE} does not take it (400), and says: {complaint(answer, 'errors') or 'nothing'}.")
    taken(answer, TITLE)
