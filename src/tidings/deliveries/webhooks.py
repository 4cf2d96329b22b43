"""Webhooks as values: which events each user's webhooks get, and about which entries.

A user has any number of them. The main one is the webhook among the integrations, which the API has by contract.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Final

import msgspec
from msgspec import Struct

from tidings.base.errors import InvalidField
from tidings.base.messages import Message, decode_message, msg
from tidings.base.text import reject_nul
from tidings.base.times import Instant
from tidings.deliveries.events import EVENTS, MAIN_EVENTS
from tidings.deliveries.providers import webhook
from tidings.query import parse

# Of a user, the main one included: every event of the user looks at all of them.
MAX_WEBHOOKS: Final = 20
MAX_NAME_CHARS: Final = 100
# Feeds, and categories, that one names.
MAX_NAMED: Final = 1_000

WEBHOOK: Final = webhook.NAME
MAIN_NAME: Final = "Webhook"
_SEPARATOR: Final = ":"

_decode_names = lru_cache(maxsize=1024)(msgspec.json.Decoder(tuple[str, ...]).decode)
_decode_ids = lru_cache(maxsize=1024)(msgspec.json.Decoder(tuple[int, ...]).decode)


class Webhook(Struct, frozen=True):
    """One row of `webhooks`."""

    id: int
    user_id: int
    name: str
    is_main: bool
    enabled: bool
    settings: str
    events: str
    feed_ids: str
    category_ids: str
    query: str
    changed_at: Instant
    last_error: str
    last_error_form: str

    @property
    def key(self) -> str:
        """What deliveries and queues call it, where they name an integration."""
        return WEBHOOK if self.is_main else f"{WEBHOOK}{_SEPARATOR}{self.id}"

    @property
    def event_names(self) -> tuple[str, ...]:
        return _decode_names(self.events)

    @property
    def feeds(self) -> tuple[int, ...]:
        return _decode_ids(self.feed_ids)

    @property
    def categories(self) -> tuple[int, ...]:
        return _decode_ids(self.category_ids)

    @property
    def has_places(self) -> bool:
        """Whether it is limited to feeds and categories."""
        return bool(self.feeds or self.categories)

    @property
    def own(self) -> webhook.Settings:
        """Its address and its secret. Raises MsgspecError."""
        return msgspec.json.decode(self.settings, type=webhook.Settings)

    @property
    def error(self) -> Message:
        """`last_error` as a message that can be rendered in any language."""
        return decode_message(self.last_error, self.last_error_form)

    def __repr__(self) -> str:
        """Leaves out the secret."""
        return f"Webhook({self.id})"


class WebhookFields(Struct, frozen=True, kw_only=True):
    """What a user decides about a webhook, besides its address and secret."""

    name: str = ""
    events: tuple[str, ...] = MAIN_EVENTS
    feed_ids: tuple[int, ...] = ()
    category_ids: tuple[int, ...] = ()
    query: str = ""

    @classmethod
    def of(cls, hook: Webhook) -> WebhookFields:
        return cls(
            name=hook.name,
            events=hook.event_names,
            feed_ids=hook.feeds,
            category_ids=hook.categories,
            query=hook.query,
        )

    def checked(self) -> WebhookFields:
        """Return the fields in the form in which they are stored. Raises InvalidField, for a query QueryError.

        Whether feeds, categories and views are the user's is checked by the caller.
        """
        name = " ".join(reject_nul(self.name, field="name").split())
        if not name:
            raise InvalidField("name", msg("a webhook needs one."))
        if len(name) > MAX_NAME_CHARS:
            raise InvalidField("name", msg("use at most {max} characters.", max=MAX_NAME_CHARS))
        if not self.events:
            raise InvalidField("events", msg("choose at least one."))
        for one in self.events:
            if one not in EVENTS:
                problem = msg("{value} is not one of {values}.", value=repr(one[:40]), values=", ".join(EVENTS))
                raise InvalidField("events", problem)
        for field, ids in (("feed_ids", self.feed_ids), ("category_ids", self.category_ids)):
            if len(ids) > MAX_NAMED:
                raise InvalidField(field, msg("choose at most {max}.", max=MAX_NAMED))
        parse(reject_nul(self.query, field="query"))
        return WebhookFields(
            name=name,
            events=tuple(one for one in EVENTS if one in self.events),
            feed_ids=tuple(dict.fromkeys(self.feed_ids)),
            category_ids=tuple(dict.fromkeys(self.category_ids)),
            query=self.query.strip(),
        )


def is_webhook(key: str) -> bool:
    """Return whether the key of an integration is a webhook's."""
    return key.partition(_SEPARATOR)[0] == WEBHOOK


def id_in(key: str) -> int | None:
    """Return the id in the key of a webhook; None for the main one."""
    number = key.partition(_SEPARATOR)[2]
    return int(number) if number else None


def encode(values: Sequence[str] | Sequence[int]) -> str:
    """Return a list as it is stored."""
    return msgspec.json.encode(values).decode()
