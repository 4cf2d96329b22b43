"""What the readers of all sites share: time, answers in JSON, tokens, and feeds that are made from answers.

request of a feed ─► token (cached) ─► API of the site ─► JSON ─► JSON Feed ─► the usual way of a document

A reader is a detour of the fetcher, and answers with a document in JSON Feed, so that everything behind it works as for
a feed of the publisher.
"""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Iterable
from html import escape
from typing import Any, Final

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from tidings.base.messages import Message, msg
from tidings.base.times import SECOND, Instant
from tidings.net.errors import FetchError, HttpError
from tidings.net.fetch import Fetcher, FetchRequest, FetchResponse, timeout_excluding_suspend, too_slow
from tidings.net.guard import parse_target
from tidings.services.clock import Clock

JSON_ACCEPT: Final = "application/json"
# Maximum number of accounts whose tokens are kept.
MAX_TOKENS: Final = 1_000
_MARGIN: Final = 60 * SECOND


class UnexpectedAnswer(FetchError):
    """The API of a site answered with something else than it documents."""

    code = "unexpected-answer"


def unexpected(api: str, url: str) -> UnexpectedAnswer:
    """Return the error of an answer that is not what the API documents."""
    return UnexpectedAnswer(
        msg("{api} sent an answer that Tidings does not understand. If that stays so, please report it.", api=api),
        url=url,
    )


def decoded(body: bytes, *, api: str, url: str) -> Any:
    """Return the JSON of an answer. Raises UnexpectedAnswer."""
    try:
        return msgspec.json.decode(body)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise unexpected(api, url) from error


def as_operator(request: FetchRequest, url: str, *headers: tuple[str, str]) -> FetchRequest:
    """Return a request with secrets of the operator, and nothing of what the user has set.

    Through a proxy of the user, to whom any certificate is good, the user could read them.
    """
    return replace(
        request,
        url=url,
        headers=headers,
        accept=JSON_ACCEPT,
        user_agent="",
        cookie="",
        username="",
        password="",
        allow_self_signed_certificates=False,
        proxy_url="",
    )


# Time


async def within(timeout_s: float, request: FetchRequest, work: Awaitable[FetchResponse]) -> FetchResponse:
    """Return the result of several requests that stand for one. Raises FetchTimeout."""
    if request.timeout_s is not None:
        timeout_s = min(timeout_s, request.timeout_s)
    try:
        async with timeout_excluding_suspend(timeout_s):
            return await work
    except TimeoutError as error:
        raise too_slow(parse_target(request.url), timeout_s) from error


# Tokens


class Token(Struct, frozen=True):
    """What authorizes requests for a while."""

    value: str
    expires_at: Instant

    def __repr__(self) -> str:
        """Leaves out the secret: tokens appear in tracebacks."""
        return f"Token(expires_at={self.expires_at})"


def bearer(token: str) -> tuple[str, str]:
    """Return the header that has a token (RFC 6750)."""
    return "Authorization", f"Bearer {token}"


class Tokens:
    """The tokens of this process by account. Several requests at the same time wait for one token."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._kept: OrderedDict[bytes, tuple[asyncio.Lock, Token | None]] = OrderedDict()

    async def ask(
        self,
        account: bytes,
        create: Callable[[], Awaitable[Token]],
        request: Callable[[str], Awaitable[FetchResponse]],
        *,
        expired: Iterable[int] = (401,),
    ) -> FetchResponse:
        """Return the response of a request that gets a token.

        create: asks the site for a token. expired: the statuses by which the site refuses a token; then one more
        request is sent, with a new token.
        """
        token = await self._get(account, create)
        try:
            return await request(token)
        except HttpError as error:
            if error.status not in expired:
                raise
        return await request(await self._get(account, create, refused=token))

    async def _get(self, account: bytes, create: Callable[[], Awaitable[Token]], *, refused: str = "") -> str:
        lock, _ = self._kept.setdefault(account, (asyncio.Lock(), None))
        self._kept.move_to_end(account)
        if len(self._kept) > MAX_TOKENS:
            self._kept.popitem(last=False)
        async with lock:
            _, token = self._kept.get(account, (lock, None))
            if token is None or token.value == refused or token.expires_at <= self._clock() + _MARGIN:
                token = await create()
                self._kept[account] = lock, token
            return token.value


async def post(fetcher: Fetcher, request: FetchRequest, *, api: str, refused: Message) -> dict[str, Any]:
    """Return the object that an API answers a POST with.

    refused: what to say if the API refuses the credentials. Raises HttpError, UnexpectedAnswer and FetchError.
    """
    try:
        response = await fetcher.get(request)
    except HttpError as error:
        if error.status in (400, 401, 403):
            raise HttpError(refused, url=error.url, status=error.status) from error
        raise
    value = decoded(response.body, api=api, url=response.url)
    if not isinstance(value, dict):
        raise unexpected(api, response.url)
    return value


# Feeds


def as_feed(request: FetchRequest, response: FetchResponse, title: str, home: str, items: list[Any]) -> FetchResponse:
    """Return the response to the request with a feed as its document. items: of JSON Feed 1.1."""
    document = {"version": "https://jsonfeed.org/version/1.1", "title": title, "home_page_url": home, "items": items}
    return under(request, replace(response, body=msgspec.json.encode(document), content_type="application/feed+json"))


def under(request: FetchRequest, response: FetchResponse) -> FetchResponse:
    """Return a response of an API under the feed's own address: the feed has not moved to the API."""
    return replace(response, url=str(parse_target(request.url)), permanent_url=None, charset="utf-8")


def link(url: str, label: str) -> str:
    return f'<a href="{escape(url)}">{escape(label)}</a>'


def image(url: str, alternative: str = "") -> str:
    return f'<p><img src="{escape(url)}" alt="{escape(alternative)}"></p>' if url else ""


def hidden(summary: str, content: str) -> str:
    """Return content that shows when the reader opens it."""
    return f"<details><summary>{escape(summary)}</summary>{content}</details>" if content else ""
