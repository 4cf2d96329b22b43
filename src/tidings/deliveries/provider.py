"""A provider: one service that receives events, written without I/O.

A provider is a module in `providers/` with

    NAME = "linkding"       as in the API and in the database
    TITLE = "Linkding"      as shown to users; a message if it is to be translated
    EVENTS = frozenset({SAVE_ENTRY})
                            names of the events that it receives, of those in `deliveries.events.EVENTS`

    class Settings(ServiceSettings, frozen=True, kw_only=True): …
                            every member with a default, and a field: `deliveries.fields`

    def deliver(settings: Settings, event: Event) -> RequestSequence: …

`deliver` yields requests and is sent the responses; when it returns, the event is delivered. It raises
`DeliveryRefused` if the service does not accept the event. The caller sets time limits, does not follow redirects, and
applies the address guard. A provider whose service is not called by HTTP requests leaves `deliver` out; then
`deliveries.attempts` calls a function for it in a thread.

Optional functions:

    def receiver(settings: Settings, feed: Feed) -> str     returns the receiver of events about this feed; events with
                                                            the same receiver are sent in order. "" sends nothing
    def describe_receiver(receiver: str) -> Message         returns the same without secrets, as its owner may see it
    def check(settings: Settings) -> None                   raises InvalidInput for errors that involve several fields
"""

from __future__ import annotations

from collections.abc import Callable, Generator
from types import ModuleType
from typing import Any

import msgspec
from msgspec import Struct

from tidings.base.errors import TidingsError
from tidings.base.messages import Message, msg, verbatim
from tidings.deliveries.events import Event
from tidings.deliveries.fields import SettingField, fields_of
from tidings.domain.feeds.feeds import Feed
from tidings.net.post import ServiceRequest, ServiceResponse

RequestSequence = Generator[ServiceRequest, ServiceResponse, None]
DeliverFunction = Callable[[Any, Event], RequestSequence]


class DeliveryRefused(TidingsError):
    """The service responded, and did not accept the event.

    message: for the user, without secrets. disables_integration: the service will never accept an event again, so
    the integration must be disabled.
    """

    code = "refused"
    is_retryable = True

    def __init__(self, message: Message, *, disables_integration: bool = False) -> None:
        super().__init__(message)
        self.disables_integration = disables_integration


class Provider(Struct, frozen=True):
    """A provider's module as a value."""

    name: str
    title: Message
    events: frozenset[str]
    """Names of the events that it receives."""
    settings: type[Struct]
    fields: tuple[SettingField, ...]
    deliver: DeliverFunction | None
    """None for a provider that is called in a thread."""
    receiver: Callable[[Any, Feed], str]
    describe_receiver: Callable[[str], Message]
    check: Callable[[Any], None]

    def read_settings(self, settings: str | bytes) -> Any:
        """Returns the provider's settings. settings: the stored JSON object; unknown members are ignored."""
        return msgspec.json.decode(settings, type=self.settings)


def provider_from_module(module: ModuleType) -> Provider:
    """Returns the provider that the module declares, with defaults for the optional functions."""
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


def raise_for_status(response: ServiceResponse, title: str | Message) -> None:
    """Raises DeliveryRefused for a status of 400 or above. title: the service's name for the user."""
    if response.status >= 400:
        message = _STATUS_MESSAGES.get(response.status, msg("{title} responds with status {status}."))
        raise DeliveryRefused(message.with_values(title=title, status=response.status))


_STATUS_MESSAGES: dict[int, Message] = {
    400: msg("{title} does not understand the request (400)."),
    401: msg("{title} does not accept the credentials (401). Check its settings."),
    403: msg("{title} denies access (403). Check its settings, and what these credentials are allowed to do."),
    404: msg("{title} has nothing at this address (404). Check the address."),
    405: msg("{title} does not take this kind of request at this address (405). Check the address."),
    409: msg("{title} reports a conflict with something that it has already (409)."),
    410: msg("{title} is permanently gone from this address (410)."),
    413: msg("{title} refuses the request as too large (413)."),
    422: msg("{title} refuses the request as invalid (422). Check its settings."),
    429: msg("{title} limits the number of requests (429)."),
    500: msg("{title} has an internal error (500)."),
    502: msg("{title} gets no valid response from a server behind it (502)."),
    503: msg("{title} is not available at the moment (503)."),
    504: msg("{title} gets no response in time from a server behind it (504)."),
}
