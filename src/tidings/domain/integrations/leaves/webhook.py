"""The webhook: events as they are, signed, to an address of the user's own (spec/api.md, section 6).

docs/webhooks.md tells the other side how to receive them.
"""

from __future__ import annotations

import base64
import hashlib
import hmac
from typing import Annotated
from urllib.parse import unquote, urlsplit, urlunsplit

from tidings.domain.events import Event
from tidings.domain.feeds import Feed
from tidings.domain.integrations.fields import ServiceSettings, address, made, receiving
from tidings.domain.integrations.leaf import Outgoing, Refused, Steps, accepted
from tidings.domain.wording import Words

NAME = "webhook"
TITLE = "Webhook"
SAVES = True
NOTIFIES = True

_RECEIVER: Words = "The receiver"


class Settings(ServiceSettings, frozen=True, kw_only=True):
    """secret: 64 hex digits."""

    url: Annotated[str, receiving(address("Address", "Where events are sent.", needed=False))] = ""
    secret: Annotated[str, made("Secret", "What is sent is signed with it.")] = ""


def deliver(settings: Settings, event: Event) -> Steps:
    """410 says that nobody wants to hear from us again."""
    address, credentials = _apart(event.receiver)
    signature = signed(event.body, settings.secret)
    answer = yield Outgoing(
        "POST",
        address,
        {
            "Content-Type": "application/json",
            **credentials,
            "X-Service-Signature": signature,
            "X-Service-Event-Type": event.type,
            "X-Service-Delivery": event.delivery_id,
            # Receivers that were written for Miniflux look for these.
            "X-Miniflux-Signature": signature,
            "X-Miniflux-Event-Type": event.type,
        },
        event.body,
    )
    if answer.status == 410:
        raise Refused("The receiver answers that it is gone for good (410).", is_final=True)
    accepted(answer, _RECEIVER)


def signed(body: bytes, secret: str) -> str:
    """HMAC-SHA256 of the raw body, lower-case hex. An empty secret signs as well (spec/behaviour.md, 17.3)."""
    return hmac.new(secret.encode(), body, hashlib.sha256).hexdigest()


def receiver(settings: Settings, feed: Feed) -> str:
    """The feed's own address comes first; "" when there is none at all."""
    return feed.webhook_url or settings.url


def shown(receiver: str) -> str:
    """Without the credentials in it."""
    return _apart(receiver)[0]


def _apart(address: str) -> tuple[str, dict[str, str]]:
    """The address without user name and password, and the header that they become."""
    parts = urlsplit(address)
    userinfo, at, host = parts.netloc.rpartition("@")
    if not at:
        return address, {}
    name, _, password = userinfo.partition(":")
    credentials = f"{unquote(name)}:{unquote(password)}".encode()
    header = "Basic " + base64.b64encode(credentials).decode()
    return urlunsplit(parts._replace(netloc=host)), {"Authorization": header}
