"""Betula keeps bookmarks and shares them with the Fediverse.

It has no API for this: we fill in its form, as https://betula.mycorrhiza.wiki/ lets bookmarklets do.
"""

from __future__ import annotations

from typing import Annotated

from tidings.domain.events import Event
from tidings.domain.integrations.asking import below, labels, link, post_form, taken
from tidings.domain.integrations.fields import ServiceSettings, address, choice, secret, tags
from tidings.domain.integrations.leaf import Refused, Steps

NAME = "betula"
TITLE = "Betula"
SAVES = True
NOTIFIES = False

SEE_OTHER = 303


class Settings(ServiceSettings, frozen=True, kw_only=True):
    url: Annotated[str, address("Address", "Of your Betula, such as https://links.example.org.")] = ""
    token: Annotated[str, secret("Token", "The value of the cookie betula-token in a browser that is signed in.")] = ""
    tags: Annotated[str, tags()] = ""
    visibility: Annotated[str, choice("Visibility", "public", "unlisted", "private")] = "public"


def deliver(settings: Settings, event: Event) -> Steps:
    entry = link(event)
    fields = {
        "url": entry.url,
        "title": entry.title,
        "tags": ",".join(labels(settings.tags)),
        "visibility": settings.visibility,
    }
    answer = yield post_form(below(settings.url, "/save-link"), fields, {"Cookie": f"betula-token={settings.token}"})
    if answer.status == SEE_OTHER and "login" in answer.headers.get("location", ""):
        raise Refused(f"{TITLE} asks us to sign in. Set a new token.")
    taken(answer, TITLE, SEE_OTHER)  # to the new bookmark; 200 when it was there already
