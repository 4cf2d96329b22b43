"""The callback endpoint of WebSub hubs. The secret token at the end of the path is the credential.

GET   a hub verifies that a request is ours, or says that it denies it
POST  a hub pushes a document

Unknown tokens and refused requests get the same 404, which reveals nothing.
"""

from __future__ import annotations

import asyncio
import re
from contextlib import suppress
from functools import partial
from urllib.parse import urlsplit

import structlog
from msgspec import Struct
from starlette.responses import PlainTextResponse, Response
from starlette.types import Receive, Scope, Send

from tidings.api import replies
from tidings.base.errors import InvalidInput, StoreUnavailable
from tidings.base.messages import verbatim
from tidings.http.body_slots import BodySlots
from tidings.http.requests import Request, RequestTooLarge, RequestTooSlow
from tidings.http.responses import empty, raw, send_response
from tidings.websub.model import HubSubscription, SubscriptionState
from tidings.websub.pushes import Pushes

log = structlog.get_logger()

# Maximum number of bodies read at the same time, per hub and in total.
SLOTS_PER_HUB = 2
SLOTS = 8

_PATH = re.compile(r"/([A-Za-z0-9_-]{16,128})", re.ASCII)
_CHARSET = re.compile(r";\s*charset\s*=\s*\"?([\w.:-]{1,40})", re.ASCII | re.IGNORECASE)

_HEADERS = raw({"X-Content-Type-Options": "nosniff", "Cache-Control": "no-store"})
_not_found = partial(replies.failure, 404, "There is nothing at this address.")
_gone = partial(replies.failure, 410, "This subscription has ended.")
_busy = partial(
    replies.failure, 503, "Too much is being pushed at the moment: try again shortly.", {"Retry-After": "30"}
)


class CallbackLimits(Struct, frozen=True):
    """body: largest push in bytes. time_s: for a push to arrive, including the wait for a slot."""

    body: int
    time_s: float


class Callbacks:
    """An ASGI application, mounted at /websub."""

    def __init__(self, pushes: Pushes, limits: CallbackLimits) -> None:
        self._pushes = pushes
        self._limits = limits
        self._slots = BodySlots(limit_bytes=limits.body, time_s=limits.time_s, total=SLOTS, per_sender=SLOTS_PER_HUB)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        response = await self._answer(Request(scope, receive))
        await send_response(response, scope, receive, send, _HEADERS)

    async def _answer(self, request: Request) -> Response:
        match = _PATH.fullmatch(request.path)
        if request.method not in ("GET", "POST"):
            return replies.failure(405, "This address takes GET and POST only.", {"Allow": "GET, POST"})
        if match is None:
            return _not_found()
        try:
            if request.method == "GET":
                return await asyncio.to_thread(self._verify, match[1], request)
            return await self._receive(match[1], request)
        except StoreUnavailable as error:
            return replies.from_error(error)

    def _verify(self, token: str, request: Request) -> Response:
        try:
            parameters = dict(request.query)
        except InvalidInput:
            return _not_found()
        challenge = self._pushes.verify(token, parameters)
        # Plain text with nosniff: a challenge that contains HTML must not run in a browser.
        return _not_found() if challenge is None else PlainTextResponse(challenge)

    async def _receive(self, token: str, request: Request) -> Response:
        """Store a push for the worker and acknowledge it. The body is read only for a known subscription."""
        subscription = await asyncio.to_thread(self._pushes.subscription, token)
        if subscription is None:
            return _not_found()
        if not self._pushes.accepts(subscription):
            return _gone() if subscription.state == SubscriptionState.ENDED else _not_found()
        try:
            async with self._slots.slot(urlsplit(subscription.hub).netloc):
                return await self._keep(subscription, request)
        except RequestTooLarge as error:
            log.warning("push too large", subscription=subscription.id)
            await self._slots.drop_rest(request.receive)
            await asyncio.to_thread(self._pushes.poll_instead, subscription)
            return replies.failure(413, error.message)
        except TimeoutError:
            return _busy()
        except (InvalidInput, RequestTooSlow) as error:
            return replies.from_error(error)

    async def _keep(self, subscription: HubSubscription, request: Request) -> Response:
        with suppress(ValueError):
            if int(request.headers.get("content-length", "")) > self._limits.body:
                raise RequestTooLarge(verbatim(f"This push is too large: {self._limits.body // 2**20} MiB at most."))
        await request.read(self._limits.body)
        charset = _CHARSET.search(request.headers.get("content-type", ""))
        await asyncio.to_thread(
            self._pushes.receive,
            subscription,
            request.content,
            signature=request.headers.get("x-hub-signature", ""),
            charset=charset[1].lower() if charset else "",
        )
        # The same for a wrong signature (WebSub, section 7.2), so that signatures cannot be guessed.
        return empty(202)
