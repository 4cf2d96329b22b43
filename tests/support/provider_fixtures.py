"""Sends a sample event to a service on loopback, with the same code as the worker."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import parse_qsl, urlsplit

import msgspec

from support.publisher import Answer, Publisher
from tidings.base.times import Instant
from tidings.deliveries import events, sample_events
from tidings.deliveries.attempts import DeliveryOutcome, EventSender
from tidings.deliveries.events import Event
from tidings.deliveries.registry import REGISTRY
from tidings.domain.entries.entries import Entry
from tidings.domain.feeds.categories import Category
from tidings.domain.feeds.feeds import Feed
from tidings.net.post import Sender, ServiceRequest
from tidings.net.post import ServiceResponse as Answered
from tidings.services.clock import system_clock

AT = Instant(1_790_000_000 * 1_000_000)
SHOWN = "2026-09-21T14:13:20Z"
DELIVERY = "5f0c9b1e-4f6c-4d38-9a56-0c6d3b6f2a11"
URL = "https://weather.example/rain?a=1&b=%C3%A9"
TITLE = 'Rain "tomorrow" & <more>'


@dataclass(frozen=True)
class SentRequest:
    """A received request. origin: "" for the service on loopback, else the origin on the internet that it was sent to.

    body: JSON and forms are parsed; anything else is text.
    """

    method: str
    origin: str
    path: str
    headers: Mapping[str, str]
    body: Any

    @property
    def query(self) -> dict[str, str]:
        return dict(parse_qsl(urlsplit(self.path).query, keep_blank_values=True))


class RedirectingSender(Sender):
    """A sender that redirects every request to one origin, and records the original ones."""

    def __init__(self, origin: str) -> None:
        super().__init__(user_agent="Tidings/test", allow_private_networks=True)
        self._origin = origin
        self.origins: list[str] = []

    async def send(self, outgoing: ServiceRequest) -> Answered:
        parts = urlsplit(outgoing.url)
        origin = f"{parts.scheme}://{parts.netloc}"
        self.origins.append("" if origin == self._origin else origin)
        return await super().send(
            msgspec.structs.replace(outgoing, url=self._origin + outgoing.url.removeprefix(origin))
        )


def saved(
    url: str = URL, title: str = TITLE, content: str = "<p>Take an umbrella.</p>", labels: Sequence[str] = ()
) -> Event:
    """Return the event of a user saving an entry."""
    feed = events.feed_payload(a_feed(), Category(3, 7, "Sky", hide_globally=False), format_time=_show)
    payload = events.entry_payload(_entry(1, title, url), content, [], labels, minutes=1, format_time=_show)
    return _event(events.SAVE_ENTRY, events.EVENTS[events.SAVE_ENTRY].body(feed, payload))


def news(*titles: str, receiver: str = "", feed: Feed | None = None) -> Event:
    """Return the event of new entries. titles: the oldest first."""
    source = events.feed_payload(feed or a_feed(), Category(3, 7, "Sky", hide_globally=False), format_time=_show)
    payloads = [
        events.entry_payload(
            _entry(number, title, f"https://weather.example/{number}"), "", [], minutes=1, format_time=_show
        )
        for number, title in enumerate(titles, 1)
    ]
    (body,) = events.new_entries_bodies(source, payloads)
    return _event(events.NEW_ENTRIES, body, receiver)


def a_feed(**fields: Any) -> Feed:
    usual = {"id": 5, "title": "Weather notes", "site_url": "https://weather.example/", "ntfy_enabled": False}
    return msgspec.structs.replace(sample_events.sample_feed(7, AT), **{**usual, "pushover_enabled": False, **fields})


def hand_over(
    site: Publisher, name: str, settings: Mapping[str, Any], event: Event, **more: Any
) -> tuple[DeliveryOutcome, list[SentRequest]]:
    """Deliver an event. Returns the outcome and the requests that the service received. more: of EventSender."""

    async def run() -> tuple[DeliveryOutcome, list[str]]:
        sender = RedirectingSender(site.origin)
        attempts = EventSender(sender, system_clock, **{"timeout_s": 30, **more})
        try:
            return await attempts.send(REGISTRY[name], json.dumps(settings), event), sender.origins
        finally:
            await attempts.close()

    site.forget_requests()
    outcome, origins = asyncio.run(run())
    received = [
        SentRequest(
            seen.method, origin, seen.path, seen.headers, _content(seen.headers.get("content-type", ""), seen.body)
        )
        for seen, origin in zip(site.requests, origins, strict=True)
    ]
    return outcome, received


def says(value: Any, status: int = 200) -> Answer:
    """Return a JSON response."""
    return Answer(json.dumps(value), status=status, headers={"Content-Type": "application/json"})


def _content(kind: str, body: bytes) -> Any:
    if kind == "application/json":
        return json.loads(body)
    if kind == "application/x-www-form-urlencoded":
        return dict(parse_qsl(body.decode(), keep_blank_values=True, strict_parsing=True))
    return body.decode()


def _entry(number: int, title: str, url: str) -> Entry:
    return Entry(
        id=number,
        user_id=7,
        feed_id=5,
        category_id=3,
        status=0,
        starred=False,
        published_at=AT,
        created_at=AT,
        changed_at=AT,
        hash=bytes(32),
        reading_time=1,
        title=title,
        url=url,
        author="Ada",
        comments_url="",
        language="en",
        share_code="",
        tags='["rain","sky"]',
        hidden=False,
    )


def _event(kind: str, body: bytes, receiver: str = "") -> Event:
    return Event(type=kind, delivery_id=DELIVERY, attempt=1, receiver=receiver, body=body, at=AT)


def _show(instant: Instant) -> str:
    assert instant == AT
    return SHOWN
