"""One try to hand one event to one service, whatever comes of it."""

from __future__ import annotations

import asyncio
import base64
import re
from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractAsyncContextManager, nullcontext
from typing import Any
from urllib.parse import unquote

import structlog
from msgspec import MsgspecError, Struct

from tidings.domain import http_hints
from tidings.domain.deliveries import LONGEST_ERROR, LONGEST_EXCERPT
from tidings.domain.errors import TidingsError, TlsError
from tidings.domain.events import Event
from tidings.domain.integrations import Answer, Leaf, Outgoing, Refused
from tidings.domain.times import Instant
from tidings.domain.wording import Words
from tidings.net.connections import TRUST_ANYWAY
from tidings.net.sending import Sender
from tidings.services.clock import Clock

log = structlog.get_logger()

# For leaves that are not asked over HTTP: called in a thread; raises Refused when the service does not take the event.
Caller = Callable[[Any, Event], None]

# How many of them at the same time, in threads of their own: the database must not wait for those that hang.
MOST_CALLS = 4

# Less than this is found in any text by chance.
_SHORTEST_SECRET = 4
_HIDDEN = "***"
_INVISIBLE = re.compile(r"[\x00-\x08\x0b-\x1f\x7f]+")
_SECRET_HEADERS = re.compile("auth|token|key|secret|cookie|session", re.IGNORECASE)


class Outcome(Struct, frozen=True):
    """What came of a try.

    status: of the last answer, 0 when there was none. error: for the user; "" when the event was delivered.
    response: the beginning of the last answer. retry_after_s: what the service asked for, in seconds, if anything.
    is_final: it asks never to hear from us again. is_hopeless: this event is nothing for it, whenever it is tried.
    """

    status: int = 0
    error: Words = ""
    response: str = ""
    retry_after_s: int | None = None
    is_final: bool = False
    is_hopeless: bool = False

    @property
    def is_delivered(self) -> bool:
        return not self.error


class _Heard:
    """What was said during a try: for the excerpt, and to hide what must not be in it."""

    def __init__(self, leaf: Leaf, settings: Any, receiver: str) -> None:
        self.answer = Answer(0, {})
        secret = (getattr(settings, field.name) for field in leaf.fields if field.is_secret or field.is_made)
        self._secrets = {line.strip() for value in secret for line in str(value).splitlines()}
        self._secrets |= {*_credentials_in(receiver)}

    def sends(self, outgoing: Outgoing) -> None:
        values = (value for name, value in outgoing.headers.items() if _SECRET_HEADERS.search(name))
        # `Bearer 1234`: both the whole and what follows.
        self._secrets |= {part for value in values for part in (value, value.partition(" ")[2])}
        self._secrets |= {*_credentials_in(outgoing.url)}

    def hide(self, text: str) -> str:
        # The longest first: one may be a part of another.
        for secret in sorted((one for one in self._secrets if len(one) >= _SHORTEST_SECRET), key=len, reverse=True):
            text = text.replace(secret, _HIDDEN)
        return text

    def outcome(self, error: Words, *, is_final: bool, is_hopeless: bool, now: Instant) -> Outcome:
        asked = self.answer.headers.get("retry-after", "")
        excerpt = _INVISIBLE.sub(" ", self.hide(self.answer.body.decode("utf-8", "replace")))
        return Outcome(
            status=self.answer.status,
            error=_INVISIBLE.sub(" ", self.hide(error))[:LONGEST_ERROR],
            response=excerpt[:LONGEST_EXCERPT],
            retry_after_s=http_hints.retry_after_s(asked, now) if asked else None,
            is_final=is_final,
            is_hopeless=is_hopeless,
        )


class Attempts:
    """callers: by the name of the leaf. within_s: how long a try may take, all its requests together."""

    def __init__(
        self, sender: Sender, clock: Clock, *, callers: Mapping[str, Caller] | None = None, within_s: float = 10
    ) -> None:
        self._sender = sender
        self._clock = clock
        self._callers = callers or {}
        self._within_s = within_s
        self._calls = asyncio.Semaphore(MOST_CALLS)
        self._threads = ThreadPoolExecutor(MOST_CALLS, thread_name_prefix="caller")

    async def close(self) -> None:
        await self._sender.close()
        self._threads.shutdown(wait=False, cancel_futures=True)
        self._threads = ThreadPoolExecutor(MOST_CALLS, thread_name_prefix="caller")

    async def make(self, leaf: Leaf, settings: str, event: Event) -> Outcome:
        """settings: as stored."""
        try:
            known = leaf.read(settings)
        except MsgspecError:
            return Outcome(error=f"What is set for {leaf.title} cannot be read: set it up anew.")
        heard, error = _Heard(leaf, known, event.receiver), ""
        is_final = is_hopeless = False
        try:
            # Its time runs from when it has a place.
            async with self._place(leaf), asyncio.timeout(self._within_s):
                await self._hand_over(leaf, known, event, heard)
        except TimeoutError:
            error = _too_late(leaf, self._within_s)
        except Refused as refusal:
            error, is_final, is_hopeless = refusal.message, refusal.is_final, not refusal.worth_retrying
        except TidingsError as failure:
            error = _words(failure)
        except Exception as failure:
            log.exception("delivery made us fail", integration=leaf.name, delivery=event.delivery_id)
            error = _our_fault(failure)
        return heard.outcome(error, is_final=is_final, is_hopeless=is_hopeless, now=self._clock())

    def _place(self, leaf: Leaf) -> AbstractAsyncContextManager[None]:
        return self._calls if leaf.deliver is None else nullcontext()

    async def _hand_over(self, leaf: Leaf, settings: Any, event: Event, heard: _Heard) -> None:
        if leaf.deliver is None:
            # What hangs there is left behind with its thread; the try is over all the same.
            loop = asyncio.get_running_loop()
            await loop.run_in_executor(self._threads, self._callers[leaf.name], settings, event)
            return
        steps = leaf.deliver(settings, event)
        try:
            outgoing = next(steps)
            while True:
                heard.sends(outgoing)
                heard.answer = Answer(0, {})
                heard.answer = await self._sender.send(outgoing)
                outgoing = steps.send(heard.answer)
        except StopIteration:
            return


def _too_late(leaf: Leaf, within_s: float) -> Words:
    return f"{leaf.title} did not finish its answer within {within_s:g} seconds."


def _our_fault(failure: Exception) -> Words:
    return f"Tidings failed on this delivery ({type(failure).__name__}); please report it."


def _words(error: TidingsError) -> Words:
    # What a feed could be told to accept, an integration cannot.
    return error.message.removesuffix(f" {TRUST_ANYWAY}") if isinstance(error, TlsError) else error.message


def _credentials_in(address: str) -> Iterable[str]:
    """In every form in which somebody could repeat them."""
    userinfo = address.partition("://")[2].partition("/")[0].rpartition("@")[0]
    if userinfo:
        for part in (userinfo, userinfo.partition(":")[2]):
            yield from (part, unquote(part))
        yield base64.b64encode(unquote(userinfo).encode()).decode()
