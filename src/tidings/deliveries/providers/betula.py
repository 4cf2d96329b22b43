"""Betula keeps bookmarks and shares them with the Fediverse.

It lacks an API for this: the provider submits its form, as the bookmarklets of https://betula.mycorrhiza.wiki/ do.
"""

from __future__ import annotations

from typing import Annotated

from tidings.base.messages import msg
from tidings.deliveries.events import SAVE_ENTRY, Event
from tidings.deliveries.provider import DeliveryRefused, RequestSequence, ServiceSettings, address, choice, secret, tags
from tidings.deliveries.requests import all_tags, entry_with_url, expect_success, join_path, post_form

NAME = "betula"
TITLE = "Betula"
EVENTS = frozenset({SAVE_ENTRY})

SEE_OTHER = 303


class Settings(ServiceSettings, frozen=True, kw_only=True):
    url: Annotated[str, address("Address", "Your Betula server, such as https://links.example.org.")] = ""
    token: Annotated[str, secret("Token", "The value of the betula-token cookie in a browser that is signed in.")] = ""
    tags: Annotated[str, tags()] = ""
    visibility: Annotated[str, choice("Visibility", "public", "unlisted", "private")] = "public"


def deliver(settings: Settings, event: Event) -> RequestSequence:
    entry = entry_with_url(event)
    fields = {
        "url": entry.url,
        "title": entry.title,
        "tags": ",".join(all_tags(settings.tags, entry)),
        "visibility": settings.visibility,
    }
    response = yield post_form(
        join_path(settings.url, "/save-link"), fields, {"Cookie": f"betula-token={settings.token}"}
    )
    if response.status == SEE_OTHER and "login" in response.headers.get("location", ""):
        raise DeliveryRefused(msg("{title} asks for a sign-in. Set a new token.", title=TITLE))
    expect_success(response, TITLE, SEE_OTHER)  # redirects to the new bookmark; 200 if it existed already
