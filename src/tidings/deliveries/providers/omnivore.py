"""Omnivore and compatible services: the original service closed in 2024, its software can be self-hosted.

API: https://github.com/omnivore-app/omnivore (GraphQL: saveUrl)
"""

from __future__ import annotations

from typing import Annotated

from tidings.base.messages import msg
from tidings.deliveries.events import SAVE_ENTRY, Event
from tidings.deliveries.provider import DeliveryRefused, RequestSequence, ServiceSettings, address, secret, tags
from tidings.deliveries.requests import all_tags, entry_with_url, error_text, expect_success, post_json, required_text

NAME = "omnivore"
TITLE = "Omnivore"
EVENTS = frozenset({SAVE_ENTRY})

SAVE = (
    "mutation SaveUrl($input: SaveUrlInput!) { saveUrl(input: $input)"
    " { ... on SaveSuccess { url clientRequestId } ... on SaveError { errorCodes message } } }"
)


class Settings(ServiceSettings, frozen=True, kw_only=True):
    url: Annotated[str, address("GraphQL address", "Such as https://omnivore.example.org/api/graphql.")] = ""
    api_key: Annotated[str, secret("API key", "In Omnivore: Settings, API keys.")] = ""
    tags: Annotated[str, tags()] = ""


def deliver(settings: Settings, event: Event) -> RequestSequence:
    entry = entry_with_url(event)
    saved = {
        "clientRequestId": event.delivery_id,  # a UUID, the same for every attempt, so that Omnivore recognizes a retry
        "source": "api",
        "url": entry.url,
        "labels": [{"name": tag} for tag in all_tags(settings.tags, entry)],
    }
    request = {"query": SAVE, "variables": {"input": saved}}
    response = yield post_json(settings.url, request, {"Authorization": settings.api_key})
    expect_success(response, TITLE)
    error = error_text(response, "errors.message", "data.saveUrl.message", "data.saveUrl.errorCodes")
    if error:
        raise DeliveryRefused(msg("{title} did not save it, and says: {complaint}.", title=TITLE, complaint=error))
    required_text(response, TITLE, "data.saveUrl.url", "data.saveUrl.clientRequestId")
