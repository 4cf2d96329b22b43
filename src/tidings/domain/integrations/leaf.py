"""What a leaf is: one service that events are handed to, written without touching the world.

A leaf is a module in `leaves/` with

    NAME = "linkding"       as in the API and in the database
    TITLE = "Linkding"      as people know it
    SAVES = True            entries can be saved to it: it gets save_entry
    NOTIFIES = False        it is told of new entries: it gets new_entries

    class Settings(ServiceSettings, frozen=True, kw_only=True): …
                            every member with a default, and a field: `domain.integrations.fields`

    def deliver(settings: Settings, event: Event) -> Steps: …

`deliver` yields requests and is sent their answers; when it returns, the event is delivered. It raises `Refused`
when the service does not take the event. Time limits, redirects (not followed) and the address guard are the
business of whoever runs it. A leaf whose service is not reached by requests of ours leaves `deliver` out; then
`services.delivering` is given a function for it that is called in a thread.

More functions, for leaves that need them:

    def receiver(settings: Settings, feed: Feed) -> str     where events about this feed go: those with the same
                                                            receiver go out in order. "" for: nowhere, nothing is sent
    def shown(receiver: str) -> str                         the same as its owner may see it, without secrets
    def check(settings: Settings) -> None                   InvalidInput for what the fields alone cannot tell
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping
from types import ModuleType
from typing import Any
from urllib.parse import urlsplit

import msgspec
from msgspec import Struct

from tidings.domain.errors import TidingsError
from tidings.domain.events import Event
from tidings.domain.feeds import Feed
from tidings.domain.integrations.fields import Field, fields_of
from tidings.domain.wording import Words


class Outgoing(Struct, frozen=True):
    """A request. url: http or https; credentials go into headers."""

    method: str
    url: str
    headers: dict[str, str]
    body: bytes = b""

    def __repr__(self) -> str:
        """Without what may be secret: requests end up in logs and traces."""
        return f"Outgoing({self.method} {urlsplit(self.url).hostname})"


class Answer(Struct, frozen=True):
    """headers: names in lower case. body: the beginning, at most 64 kB."""

    status: int
    headers: Mapping[str, str]
    body: bytes = b""


Steps = Generator[Outgoing, Answer, None]
Deliver = Callable[[Any, Event], Steps]


class Refused(TidingsError):
    """The service answered, and did not take the event.

    message: for the user, without secrets. is_final: the service will never take anything from us again, so the
    integration is to be switched off.
    """

    code = "refused"
    worth_retrying = True

    def __init__(self, message: Words, *, is_final: bool = False) -> None:
        super().__init__(message)
        self.is_final = is_final


class Leaf(Struct, frozen=True):
    """A leaf's module, seen from outside. deliver: None for one that is called in a thread."""

    name: str
    title: str
    saves: bool
    notifies: bool
    settings: type[Struct]
    fields: tuple[Field, ...]
    deliver: Deliver | None
    receiver: Callable[[Any, Feed], str]
    shown: Callable[[str], str]
    check: Callable[[Any], None]

    def read(self, settings: str | bytes) -> Any:
        """settings: as stored, a JSON object; members that are not known any more are passed over."""
        return msgspec.json.decode(settings, type=self.settings)


def leaf_of(module: ModuleType) -> Leaf:
    return Leaf(
        name=module.NAME,
        title=module.TITLE,
        saves=module.SAVES,
        notifies=module.NOTIFIES,
        settings=module.Settings,
        fields=fields_of(module.Settings),
        deliver=getattr(module, "deliver", None),
        receiver=getattr(module, "receiver", lambda settings, feed: module.NAME),  # noqa: ARG005
        shown=getattr(module, "shown", lambda receiver: module.TITLE),  # noqa: ARG005
        check=getattr(module, "check", lambda settings: None),  # noqa: ARG005
    )


def accepted(answer: Answer, title: str) -> None:
    """Refused for a status of 400 or above, in words for the user. title: what people call the service."""
    if answer.status >= 400:
        words: Words = _STATUS_WORDS.get(answer.status, "{title} answers with status {status}.")
        raise Refused(words.format(title=title, status=answer.status))


_STATUS_WORDS: dict[int, Words] = {
    400: "{title} does not understand what it was sent (400).",
    401: "{title} does not accept the credentials (401). Check what is set for it.",
    403: "{title} does not let us in (403). Check what is set for it, and what these credentials are allowed to do.",
    404: "{title} has nothing at this address (404). Check the address.",
    405: "{title} does not take this kind of request at this address (405). Check the address.",
    409: "{title} has something else in the place of it (409).",
    410: "{title} is gone from this address for good (410).",
    413: "{title} finds what it was sent too large (413).",
    422: "{title} finds a mistake in what it was sent (422). Check what is set for it.",
    429: "{title} finds that we come too often (429).",
    500: "{title} has a fault (500).",
    502: "{title} has a fault behind its front door (502).",
    503: "{title} is out of service at the moment (503).",
    504: "{title} waits in vain for a machine behind it (504).",
}
