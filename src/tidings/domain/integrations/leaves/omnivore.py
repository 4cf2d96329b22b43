"""Omnivore, and what speaks its language: the service closed in 2024, its software is run by others.

API: https://github.com/omnivore-app/omnivore (GraphQL: saveUrl)
"""

from __future__ import annotations

from typing import Annotated

from tidings.domain.events import Event
from tidings.domain.integrations.asking import complaint, labels, link, member, post_json, taken
from tidings.domain.integrations.fields import ServiceSettings, address, secret, tags
from tidings.domain.integrations.leaf import Refused, Steps

NAME = "omnivore"
TITLE = "Omnivore"
SAVES = True
NOTIFIES = False

SAVE = (
    "mutation SaveUrl($input: SaveUrlInput!) { saveUrl(input: $input)"
    " { ... on SaveSuccess { url clientRequestId } ... on SaveError { errorCodes message } } }"
)


class Settings(ServiceSettings, frozen=True, kw_only=True):
    url: Annotated[str, address("GraphQL address", "Such as https://omnivore.example.org/api/graphql.")] = ""
    api_key: Annotated[str, secret("API key", "In Omnivore: Settings, API keys.")] = ""
    tags: Annotated[str, tags()] = ""


def deliver(settings: Settings, event: Event) -> Steps:
    entry = link(event)
    saved = {
        "clientRequestId": event.delivery_id,  # a UUID; the same at every try, so that a repeat is known as one
        "source": "api",
        "url": entry.url,
        "labels": [{"name": tag} for tag in labels(settings.tags)],
    }
    question = {"query": SAVE, "variables": {"input": saved}}
    answer = yield post_json(settings.url, question, {"Authorization": settings.api_key})
    taken(answer, TITLE)
    wrong = complaint(answer, "errors.message", "data.saveUrl.message", "data.saveUrl.errorCodes")
    if wrong:
        raise Refused(f"{TITLE} has not saved it, and says: {wrong}.")
    member(answer, TITLE, "data.saveUrl.url", "data.saveUrl.clientRequestId")
