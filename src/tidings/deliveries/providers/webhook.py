"""The webhook: sends signed events to a URL that the user sets.

docs/webhooks.md describes the requests for receivers.
"""

from __future__ import annotations

import base64
import hashlib
import hmac
from typing import Annotated
from urllib.parse import unquote, urlsplit, urlunsplit

from tidings.base.messages import Message, msg, verbatim
from tidings.deliveries import events
from tidings.deliveries.events import Event
from tidings.deliveries.provider import (
    DeliveryRefused,
    RequestSequence,
    ServiceSettings,
    address,
    generated,
    raise_for_status,
    with_credentials,
)
from tidings.domain.feeds.feeds import Feed
from tidings.net.post import ServiceRequest

NAME = "webhook"
TITLE = "Webhook"
EVENTS = frozenset(events.EVENTS)

_RECEIVER = msg("The receiver")


class Settings(ServiceSettings, frozen=True, kw_only=True):
    """The settings of the webhook."""

    url: Annotated[str, with_credentials(address("Address", "Where events are sent.", required=False))] = ""
    secret: Annotated[str, generated("Secret", "Used to sign what is sent.")] = ""
    """64 hex digits."""


def deliver(settings: Settings, event: Event) -> RequestSequence:
    """Sends the event. A status of 410 disables the integration."""
    url, credentials = _split_credentials(event.receiver)
    signature = sign(event.body, settings.secret)
    response = yield ServiceRequest(
        "POST",
        url,
        {
            "Content-Type": "application/json",
            **credentials,
            "X-Service-Signature": signature,
            "X-Service-Event-Type": event.type,
            "X-Service-Delivery": event.delivery_id,
            # Receivers written for Miniflux read these headers.
            "X-Miniflux-Signature": signature,
            "X-Miniflux-Event-Type": event.type,
        },
        event.body,
    )
    if response.status == 410:
        raise DeliveryRefused(msg("The receiver answers that it is permanently gone (410)."), disables_integration=True)
    raise_for_status(response, _RECEIVER)


def sign(body: bytes, secret: str) -> str:
    """Return the HMAC-SHA256 of the raw body in lower-case hex, even for an empty secret (docs/webhooks.md)."""
    return hmac.new(secret.encode(), body, hashlib.sha256).hexdigest()


def receiver(settings: Settings, feed: Feed) -> str:
    """Return the feed's URL, or else the user's; "" if there is none."""
    return feed.webhook_url or settings.url


def describe_receiver(receiver: str) -> Message:
    """Return the URL without its credentials."""
    return verbatim(_split_credentials(receiver)[0])


def _split_credentials(url: str) -> tuple[str, dict[str, str]]:
    """Return the URL without user name and password, and the headers that contain them."""
    parts = urlsplit(url)
    userinfo, at, host = parts.netloc.rpartition("@")
    if not at:
        return url, {}
    name, _, password = userinfo.partition(":")
    credentials = f"{unquote(name)}:{unquote(password)}".encode()
    header = "Basic " + base64.b64encode(credentials).decode()
    return urlunsplit(parts._replace(netloc=host)), {"Authorization": header}
