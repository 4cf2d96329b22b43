"""The endpoint at which messages are delivered. The secret at the end of the path is the credential.

POST /mail/{secret}   a message as it is (RFC 5322), from a mail server's pipe or a forwarding service

Unknown and deleted secrets get the same 404. What a mail server should try again later gets 429, 503 or 507; what it
need not try again gets 400, 404 or 413.
"""

from __future__ import annotations

import asyncio
import re
from functools import partial
from typing import Final

import structlog
from msgspec import Struct
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from tidings.api import replies
from tidings.base.errors import InvalidInput, StoreUnavailable, TidingsError
from tidings.content.letters import MAX_LETTER_BYTES
from tidings.domain.errors import AccountFull
from tidings.http.body_slots import BodySlots
from tidings.http.requests import Request, RequestTooLarge
from tidings.http.responses import json, raw, send_response
from tidings.newsletters.model import NewsletterAddress
from tidings.newsletters.newsletters import Newsletters, Received, TooManyLetters

log = structlog.get_logger()

# Messages that are received and read at the same time, at one address and in total.
SLOTS_PER_ADDRESS: Final = 2
SLOTS: Final = 4

_PATH: Final = re.compile(r"/([A-Za-z0-9]{16,128})", re.ASCII)
_HEADERS: Final = raw({"X-Content-Type-Options": "nosniff", "Cache-Control": "no-store"})
_not_found = partial(replies.failure, 404, "There is nothing at this address.")
_busy = partial(
    replies.failure, 503, "Too much is being delivered at the moment: try again shortly.", {"Retry-After": "30"}
)


class ReceivedOut(Struct, frozen=True):
    """What became of a message. result: stored, repeated, blocked or filtered."""

    result: str
    feed_id: int | None
    entry_id: int | None


class MailEndpoint:
    """An ASGI application, mounted at /mail. time_s: for a message to arrive, including the wait for a slot."""

    def __init__(self, newsletters: Newsletters, *, time_s: float) -> None:
        self._newsletters = newsletters
        self._slots = BodySlots(limit_bytes=MAX_LETTER_BYTES, time_s=time_s, total=SLOTS, per_sender=SLOTS_PER_ADDRESS)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        try:
            response = await self._answer(Request(scope, receive))
        except StoreUnavailable as error:
            response = replies.from_error(error)
        await send_response(response, scope, receive, send, _HEADERS)

    async def _answer(self, request: Request) -> Response:
        match = _PATH.fullmatch(request.path)
        if match is None:
            return _not_found()
        if request.method != "POST":
            return replies.failure(405, "This address takes POST only.", {"Allow": "POST"})
        # Mail servers may have changed the case.
        address = await asyncio.to_thread(self._newsletters.address_of, match[1].lower())
        if address is None:
            return _not_found()
        try:
            async with self._slots.slot(str(address.id)):
                await request.read(MAX_LETTER_BYTES)
                return _answered(await asyncio.to_thread(self._newsletters.receive, address, request.content))
        except RequestTooLarge:
            await self._slots.drop_rest(request.receive)
            return _too_large(address)
        except TimeoutError:
            return _busy()
        except TidingsError as error:
            return _refusal(error)


def _answered(received: Received) -> Response:
    return json(ReceivedOut(received.delivery, received.feed_id, received.entry_id))


def _too_large(address: NewsletterAddress) -> Response:
    log.warning("letter too large", address=address.id)
    return replies.failure(413, f"This message is too large: at most {MAX_LETTER_BYTES // 2**20} MiB.")


def _refusal(error: TidingsError) -> Response:
    if isinstance(error, AccountFull):
        # 400 would make a mail server return the message to its sender.
        return replies.failure(507, error.message, code=error.code)
    if isinstance(error, TooManyLetters):
        return replies.failure(429, error.message, {"Retry-After": "3600"}, code=error.code)
    if isinstance(error, InvalidInput):
        log.warning("letter refused", reason=error.message)
    return replies.from_error(error)
