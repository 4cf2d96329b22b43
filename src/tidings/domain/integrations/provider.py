"""A provider: one service that receives events, written without I/O.

A provider is a module in `providers/` with

    NAME = "linkding"       as in the API and in the database
    TITLE = "Linkding"      as people know it; a message when it is to be translated
    EVENTS = frozenset({SAVE_ENTRY})
                            names of the events that it gets, of those in `domain.deliveries.events.EVENTS`

    class Settings(ServiceSettings, frozen=True, kw_only=True): …
                            every member with a default, and a field: `domain.integrations.fields`

    def deliver(settings: Settings, event: Event) -> RequestSequence: …

`deliver` yields requests and is sent the responses; when it returns, the event is delivered. It raises
`DeliveryRefused` when the service does not take the event. The caller sets time limits, does not follow redirects, and
applies the address guard. A provider whose service is not reached by HTTP requests leaves `deliver` out; then
`services.deliveries.attempts` calls a function for it in a thread.

Optional functions:

    def receiver(settings: Settings, feed: Feed) -> str     where events about this feed go: those with the same
                                                            receiver go out in order. "" for: nowhere, nothing is sent
    def describe_receiver(receiver: str) -> Message                the same as its owner may see it, without secrets
    def check(settings: Settings) -> None                   InvalidInput for what the fields alone cannot tell
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping
from types import ModuleType
from typing import Any
from urllib.parse import urlsplit

import msgspec
from msgspec import Struct

from tidings.domain.deliveries.events import Event
from tidings.domain.errors import TidingsError
from tidings.domain.feeds.feeds import Feed
from tidings.domain.integrations.fields import SettingField, fields_of
from tidings.domain.messages import Message, msg, verbatim


class ProviderRequest(Struct, frozen=True):
    """A request. url: http or https; credentials go into headers."""

    method: str
    url: str
    headers: dict[str, str]
    body: bytes = b""

    def __repr__(self) -> str:
        """Without what may be secret: requests end up in logs and traces."""
        return f"Outgoing({self.method} {urlsplit(self.url).hostname})"


class ProviderResponse(Struct, frozen=True):
    """headers: names in lower case. body: the beginning, at most 64 kB."""

    status: int
    headers: Mapping[str, str]
    body: bytes = b""


RequestSequence = Generator[ProviderRequest, ProviderResponse, None]
DeliverFunction = Callable[[Any, Event], RequestSequence]


class DeliveryRefused(TidingsError):
    """The service answered, and did not take the event.

    message: for the user, without secrets. disables_integration: the service never accepts another event, so the
    integration is to be switched off.
    """

    code = "refused"
    is_retryable = True

    def __init__(self, message: Message, *, disables_integration: bool = False) -> None:
        super().__init__(message)
        self.disables_integration = disables_integration


class Provider(Struct, frozen=True):
    """A provider's module as a value.

    events: names of those it gets. deliver: None for one that is called in a thread.
    """

    name: str
    title: Message
    events: frozenset[str]
    settings: type[Struct]
    fields: tuple[SettingField, ...]
    deliver: DeliverFunction | None
    receiver: Callable[[Any, Feed], str]
    describe_receiver: Callable[[str], Message]
    check: Callable[[Any], None]

    def read_settings(self, settings: str | bytes) -> Any:
        """settings: as stored, a JSON object; members that are not known any more are passed over."""
        return msgspec.json.decode(settings, type=self.settings)


def provider_from_module(module: ModuleType) -> Provider:
    title = module.TITLE if isinstance(module.TITLE, Message) else verbatim(module.TITLE)
    return Provider(
        name=module.NAME,
        title=title,
        events=frozenset(module.EVENTS),
        settings=module.Settings,
        fields=fields_of(module.Settings),
        deliver=getattr(module, "deliver", None),
        receiver=getattr(module, "receiver", lambda settings, feed: module.NAME),  # noqa: ARG005
        describe_receiver=getattr(module, "describe_receiver", lambda receiver: title),  # noqa: ARG005
        check=getattr(module, "check", lambda settings: None),  # noqa: ARG005
    )


def raise_for_status(response: ProviderResponse, title: str | Message) -> None:
    """Raises DeliveryRefused for a status of 400 or above. title: the service's name for the user."""
    if response.status >= 400:
        message = _STATUS_MESSAGES.get(response.status, msg("{title} answers with status {status}."))
        raise DeliveryRefused(message.with_values(title=title, status=response.status))


_STATUS_MESSAGES: dict[int, Message] = {
    400: msg("{title} does not understand what it was sent (400)."),
    401: msg("{title} does not accept the credentials (401). Check what is set for it."),
    403: msg(
        "{title} does not let us in (403). Check what is set for it, and what these credentials are allowed to do."
    ),
    404: msg("{title} has nothing at this address (404). Check the address."),
    405: msg("{title} does not take this kind of request at this address (405). Check the address."),
    409: msg("{title} has something else in the place of it (409)."),
    410: msg("{title} is gone from this address for good (410)."),
    413: msg("{title} finds what it was sent too large (413)."),
    422: msg("{title} finds a mistake in what it was sent (422). Check what is set for it."),
    429: msg("{title} finds that we come too often (429)."),
    500: msg("{title} has a fault (500)."),
    502: msg("{title} has a fault behind its front door (502)."),
    503: msg("{title} is out of service at the moment (503)."),
    504: msg("{title} waits in vain for a machine behind it (504)."),
}
