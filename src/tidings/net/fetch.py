"""Fetches a document: conditionally, with limits on size and time, following redirects.

request ── target ── exchange ── redirect: again, with its cookies, credentials to the same host only ── status ── body

The timeout does not count time during which this process was suspended.
"""

from __future__ import annotations

import asyncio
import base64
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from datetime import UTC, datetime
from functools import cached_property
from hashlib import sha256
from types import TracebackType
from typing import Final, Self

import aiohttp
from msgspec import Struct

from tidings.base.errors import InvalidInput
from tidings.base.messages import Message, msg
from tidings.base.text import reject_invisible
from tidings.base.times import from_datetime
from tidings.net import responses
from tidings.net.connections import Connections
from tidings.net.errors import (
    ChallengePage,
    EmptyBody,
    FeedGone,
    FetchTimeout,
    HttpError,
    NetworkError,
    TooManyRedirects,
)
from tidings.net.guard import AddressGuard, Lookup, Target, parse_target
from tidings.net.responses import ACCEPT_ENCODING, BodyReader, ChainCookies, Link, clean, header, joined_header

# Timeout

# The timer runs in steps. A step that ends later than this means that the process was stopped or the machine suspended.
STEP_S: Final = 1.0
SUSPENDED_S: Final = 2.0


@asynccontextmanager
async def timeout_excluding_suspend(seconds: float) -> AsyncIterator[None]:
    """Raise TimeoutError after so many seconds in which this process was running.

    Data that arrived while it was suspended is in the socket's buffer; a plain timeout would discard it.
    """
    loop = asyncio.get_running_loop()
    async with asyncio.timeout(None) as limit:
        timer: asyncio.TimerHandle

        def start_step(left: float) -> None:
            nonlocal timer
            step = min(left, STEP_S)
            due = loop.time() + step
            timer = loop.call_at(due, end_step, due, step, left - step)

        def end_step(due: float, step: float, left: float) -> None:
            late = loop.time() - due
            if late > SUSPENDED_S:
                start_step(step + left)
            elif left > late:
                start_step(left - late)
            else:
                limit.reschedule(loop.time())

        start_step(seconds)
        try:
            yield
        finally:
            timer.cancel()


# Requests and responses

FEED_ACCEPT = (
    "application/atom+xml, application/rss+xml, application/feed+json, application/rdf+xml, "
    "application/xml;q=0.9, text/xml;q=0.9, application/json;q=0.8, text/html;q=0.7, */*;q=0.5"
)


class FetchSettings(Struct, frozen=True, kw_only=True):
    """Settings of all requests."""

    user_agent: str
    """The default."""
    allow_private_networks: bool = False
    allow_private_proxies: bool = False
    """Whether the proxy of a request may be in a private network, though what is fetched may not."""
    max_body_size: int = 15 * 1024 * 1024
    """In bytes."""
    timeout_s: float = 20
    connect_timeout_s: float = 10
    max_redirects: int = 10
    remember_names_s: int = 10
    """How long resolved names are cached."""
    proxy_url: str = ""
    """The operator's proxy, for requests with `fetch_via_proxy`; it may be in a private network."""


class FetchRequest(Struct, frozen=True, kw_only=True):
    """What to fetch, and how.

    cookie, user_agent, username, password and headers are sent to the host of `url` only.
    """

    url: str
    """May contain credentials, which are not shown anywhere."""
    etag: str = ""
    """From the last response, unchanged."""
    last_modified: str = ""
    """From the last response, unchanged."""
    user_agent: str = ""
    cookie: str = ""
    """The whole Cookie header."""
    username: str = ""
    """Used only together with `password`."""
    password: str = ""
    headers: tuple[tuple[str, str], ...] = ()
    """Names and values of headers that authorize the request, in place of a user name and a password."""
    body: bytes | None = None
    """What to send with POST, for the APIs of sites: then a redirect is an error. None for GET."""
    accept: str = FEED_ACCEPT
    ignore_cache: bool = False
    """Whether to leave out `etag` and `last_modified`."""
    allow_self_signed_certificates: bool = False
    proxy_url: str = ""
    """Takes precedence over `fetch_via_proxy`."""
    fetch_via_proxy: bool = False
    """Use the operator's proxy, if there is one."""
    fetch_via_flaresolverr: bool = False
    """Have a browser fetch it; a `Fetcher` itself has none, and fetches directly."""
    bridges_of: int = 0
    """Id of the user whose own bridges come before the operator's; 0: nobody's. A `Fetcher` itself has none."""
    max_body_size: int | None = None
    """Overrides the settings."""
    timeout_s: float | None = None
    """Overrides the settings."""

    def __repr__(self) -> str:
        """Leaves out secrets: requests appear in logs and tracebacks."""
        return f"FetchRequest({_without_credentials(self.url)})"


class FetchResponse(Struct, frozen=True, kw_only=True, dict=True):
    """A document, or a response that it has not changed (`not_modified`, with an empty body).

    url: the final URL, without credentials. permanent_url: the same if there were redirects and all of them were
    permanent (301, 308), else None.
    etag, last_modified: what to send with the next request; empty if the publisher sent none or forbids their use.
    content_type: lower case, without parameters; charset: lower case. expires ... retry_after: as sent.
    """

    status: int
    url: str
    body: bytes = b""
    not_modified: bool = False
    permanent_url: str | None = None
    etag: str = ""
    last_modified: str = ""
    content_type: str = ""
    charset: str = ""
    cache_control: str = ""
    expires: str = ""
    age: str = ""
    date: str = ""
    retry_after: str = ""
    links: tuple[Link, ...] = ()
    took_ms: int = 0

    @cached_property
    def digest(self) -> bytes:
        """16 bytes that identify the body: an equal digest means an unchanged document."""
        return sha256(self.body).digest()[:16]


def check_headers(request: FetchRequest) -> None:
    """Raise InvalidInput for a header that cannot be sent."""
    for field in ("user_agent", "cookie", "accept", "etag", "last_modified"):
        reject_invisible(getattr(request, field), field=field)
    for _, value in request.headers:
        reject_invisible(value, field="password")


def _without_credentials(url: str) -> str:
    try:
        return str(parse_target(url))
    except InvalidInput:
        return "not an address"


# Reading responses

# Bytes and seconds. A smaller unneeded body is read to its end, so that the connection can be reused.
_MAX_DRAINED = 16 * 1024
_MAX_DRAIN_S = 0.5

_STATUS_MESSAGES: dict[int, Message] = {
    401: msg("{host} asks for a username and password, or does not accept the ones it was given. Check them."),
    403: msg("{host} denies access (403). It may block feed readers; another user agent or a cookie may help."),
    404: msg("{host} has nothing at this address (404). Check the address, or look for a new one on the site."),
    410: msg("{host} has removed this permanently (410). Look for a new address on the site."),
    429: msg("{host} limits the number of requests (429). Wait before you try again."),
    500: msg("{host} has an internal error (500). The publisher has to fix this; try again later."),
    502: msg(
        "{host} gets no valid response from a server behind it (502). The publisher has to fix this; try again later."
    ),
    503: msg("{host} is not available at the moment (503). Try again later."),
    504: msg("{host} gets no response in time from a server behind it (504). Try again later."),
}
_CHALLENGE = msg(
    "{host} checks that visitors are human, and blocks feed readers. Ask the publisher to exempt the feed, or "
    "give the feed a cookie from your browser."
)


def is_unchanged(request: FetchRequest, status: int, etag: str, last_modified: str) -> bool:
    """Return whether the document is unchanged.

    Some servers respond with 200 and the whole body although the ETag is the one in the request.
    """
    if request.ignore_cache:
        return False
    if status == 304:
        return bool(request.etag or request.last_modified)
    if status != 200:
        return False
    if etag:
        return etag == request.etag
    return bool(last_modified) and last_modified == request.last_modified


# Headers by which services in front of sites say that a response is a challenge for browsers, with their values.
_CHALLENGE_HEADERS: Final = (("cf-mitigated", {"challenge"}), ("x-amzn-waf-action", {"challenge", "captcha"}))


def is_challenge(response: aiohttp.ClientResponse) -> bool:
    """Return whether a response is a challenge that only browsers pass, with whatever status.

    Sources: https://developers.cloudflare.com/cloudflare-challenges/challenge-types/challenge-pages/detect-response/,
    https://docs.aws.amazon.com/waf/latest/developerguide/waf-captcha-and-challenge-actions.html (202 or 405).
    """
    return any(header(response, name).strip().lower() in values for name, values in _CHALLENGE_HEADERS)


def http_error(target: Target, response: aiohttp.ClientResponse) -> HttpError:
    """Return the error for a response with a status of 400 or above, or with a challenge."""
    status = response.status
    message = _STATUS_MESSAGES.get(status, msg("{host} responds with status {status} instead of a document."))
    kind: type[HttpError] = FeedGone if status == 410 else HttpError
    if is_challenge(response):
        message, kind = _CHALLENGE, ChallengePage
    now = from_datetime(datetime.now(UTC))
    return kind(
        message.with_values(host=target.host, status=status),
        url=str(target),
        status=status,
        retry_after_s=responses.retry_after_s(header(response, "Retry-After"), now),
        fresh_s=responses.freshness_s(
            cache_control=joined_header(response, "Cache-Control"),
            expires=header(response, "Expires"),
            age=header(response, "Age"),
            date=header(response, "Date"),
            now=now,
        ),
    )


async def drain(response: aiohttp.ClientResponse) -> None:
    """Read the rest of a small body, so that the connection can be reused. Ignores errors."""
    left = _MAX_DRAINED
    with suppress(TimeoutError, aiohttp.ClientError, OSError):
        async with asyncio.timeout(_MAX_DRAIN_S):
            async for chunk in response.content.iter_any():
                left -= len(chunk)
                if left < 0:
                    return


# Fetching

REDIRECTS = frozenset({301, 302, 303, 307, 308})
_PERMANENT = frozenset({301, 308})


class Fetcher:
    """A client for one event loop. `async with Fetcher(settings) as fetcher: await fetcher.get(request)`.

    guard: the default has the settings' option. lookup: see `Connections`.
    """

    def __init__(
        self, settings: FetchSettings, *, guard: AddressGuard | None = None, lookup: Lookup | None = None
    ) -> None:
        self._settings = settings
        self._connections = Connections(
            guard or AddressGuard(allow_private_networks=settings.allow_private_networks),
            connect_timeout_s=settings.connect_timeout_s,
            trusted_proxies=frozenset({settings.proxy_url} - {""}),
            trusts_all_proxies=settings.allow_private_proxies,
            lookup=lookup,
            remember_names_s=settings.remember_names_s,
        )

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()

    async def close(self) -> None:
        await self._connections.close()

    async def get(self, request: FetchRequest, *, trusts_host: bool = False) -> FetchResponse:
        """Return the document at `request.url`.

        trusts_host: the operator configured the host of `request.url`, which may be in a private network. Redirects
        are guarded as always.
        Raises InvalidInput for a request that cannot be sent, and FetchError, which names the URL that failed.
        HttpError says when the publisher wants the next request.
        """
        start = parse_target(request.url)
        check_headers(request)
        timeout_s = self._settings.timeout_s if request.timeout_s is None else request.timeout_s
        try:
            async with timeout_excluding_suspend(timeout_s):
                return await self._follow(request, start, trusts_host=trusts_host)
        except TimeoutError as error:
            raise too_slow(start, timeout_s) from error

    async def post(self, request: FetchRequest, body: bytes, *, trusts_host: bool = False) -> tuple[int, bytes]:
        """Send JSON. Return the status and the body of the response, if any.

        trusts_host: as of `get`. Redirects are not followed. Raises as `get` does, except HttpError.
        """
        target = parse_target(request.url)
        headers = {**self._headers(request, target, target, ChainCookies()), "Content-Type": "application/json"}
        timeout_s = self._settings.timeout_s if request.timeout_s is None else request.timeout_s
        try:
            async with (
                timeout_excluding_suspend(timeout_s),
                self._connections.exchange(
                    "POST", target, headers=headers, body=body, is_trusted=trusts_host
                ) as response,
            ):
                return response.status, await self._body(request, target, response)
        except TimeoutError as error:
            raise too_slow(target, timeout_s) from error

    async def _follow(self, request: FetchRequest, start: Target, *, trusts_host: bool) -> FetchResponse:
        began = time.monotonic()
        target, is_permanent = start, True
        cookies, visited = ChainCookies(), {(start.url, request.cookie)}
        for _ in range(self._settings.max_redirects + 1):
            async with self._connections.exchange(
                "GET" if request.body is None else "POST",
                target,
                headers=self._headers(request, start, target, cookies),
                body=request.body,
                proxy_url=request.proxy_url or (self._settings.proxy_url if request.fetch_via_proxy else ""),
                allow_self_signed_certificates=request.allow_self_signed_certificates,
                is_trusted=trusts_host and target is start,
            ) as response:
                if response.status not in REDIRECTS or request.body is not None:
                    permanent_url = str(target) if is_permanent and target is not start else None
                    return await self._response(request, target, response, permanent_url, began)
                cookies.receive(target, response)
                target = next_target(target, response)
                is_permanent = is_permanent and response.status in _PERMANENT
                await drain(response)
            step = (target.url, _cookie(request, start, target, cookies))
            if step in visited:
                raise TooManyRedirects(
                    msg("{host} redirects in a loop. The publisher has to fix this.", host=start.host),
                    url=str(start),
                )
            visited.add(step)
        raise TooManyRedirects(
            msg(
                "{host} redirects more than {max} times. Use the final address of the document.",
                host=start.host,
                max=self._settings.max_redirects,
            ),
            url=str(start),
        )

    def _headers(self, request: FetchRequest, start: Target, target: Target, cookies: ChainCookies) -> dict[str, str]:
        is_trusted = start.trusts(target)
        headers = {
            "Accept": request.accept,
            "Accept-Encoding": ACCEPT_ENCODING,
            "User-Agent": (is_trusted and request.user_agent) or self._settings.user_agent,
        }
        if not request.ignore_cache:
            if request.etag:
                headers["If-None-Match"] = request.etag
            if request.last_modified:
                headers["If-Modified-Since"] = request.last_modified
        if cookie := _cookie(request, start, target, cookies):
            headers["Cookie"] = cookie
        if request.headers:
            headers |= dict(request.headers) if is_trusted else {}
        elif credentials := _credentials(request, start, target):
            headers["Authorization"] = "Basic " + base64.b64encode(":".join(credentials).encode()).decode()
        return headers

    async def _response(
        self,
        request: FetchRequest,
        target: Target,
        response: aiohttp.ClientResponse,
        permanent_url: str | None,
        began: float,
    ) -> FetchResponse:
        if response.status >= 400 or response.status in REDIRECTS or is_challenge(response):
            await drain(response)
            raise http_error(target, response)

        expires = header(response, "Expires")
        etag, last_modified = header(response, "ETag"), header(response, "Last-Modified")
        not_modified = is_unchanged(request, response.status, etag, last_modified)
        if not_modified:
            await drain(response)
        body = b"" if not_modified else await self._body(request, target, response)
        if responses.wants_no_validators(expires):
            etag = last_modified = ""
        return FetchResponse(
            status=response.status,
            url=str(target),
            body=body,
            not_modified=not_modified,
            permanent_url=permanent_url,
            etag=etag,
            last_modified=last_modified,
            content_type=header(response, "Content-Type").partition(";")[0].strip().lower(),
            charset=clean(response.charset or "").lower(),
            cache_control=joined_header(response, "Cache-Control"),
            expires=expires,
            age=header(response, "Age"),
            date=header(response, "Date"),
            retry_after=header(response, "Retry-After"),
            links=responses.parse_links(joined_header(response, "Link"), str(target)),
            took_ms=round((time.monotonic() - began) * 1000),
        )

    async def _body(self, request: FetchRequest, target: Target, response: aiohttp.ClientResponse) -> bytes:
        limit = self._settings.max_body_size if request.max_body_size is None else request.max_body_size
        reader = BodyReader(joined_header(response, "Content-Encoding"), limit=limit, url=str(target))
        reader.check_announced(response.content_length or 0)
        async for chunk in response.content.iter_any():
            reader.feed(chunk)
        body = reader.finish()
        if not body or body.isspace():
            raise empty(target)
        return body


def empty(target: Target) -> EmptyBody:
    """Return the error of a response without a body."""
    return EmptyBody(
        msg("{host} sent an empty response. The publisher has to fix this; try again later.", host=target.host),
        url=str(target),
    )


def too_slow(target: Target, timeout_s: float) -> FetchTimeout:
    """Return the error of a response that took longer than its limit, in seconds."""
    return FetchTimeout(
        msg(
            "{host} did not finish its response within {seconds} seconds. Try again later.",
            host=target.host,
            seconds=timeout_s,
        ),
        url=str(target),
    )


def _cookie(request: FetchRequest, start: Target, target: Target, cookies: ChainCookies) -> str:
    return cookies.header(target, request.cookie if start.trusts(target) else "")


def _credentials(request: FetchRequest, start: Target, target: Target) -> tuple[str, str] | None:
    """Return user name and password for one request. In a URL the password may be missing, as with tokens."""
    if start.trusts(target):
        if request.username and request.password:
            return request.username, request.password
        target = target if target.username else start
    return (target.username, target.password) if target.username else None


def next_target(target: Target, response: aiohttp.ClientResponse) -> Target:
    """Return where a redirect leads. Raises NetworkError for one that leads nowhere."""
    location = response.headers.get("Location", "")
    if not location:
        raise NetworkError(
            msg("{host} sent a redirect without an address. The publisher has to fix this.", host=target.host),
            url=str(target),
        )
    try:
        return target.follow(location)
    except InvalidInput as error:
        raise NetworkError(
            msg(
                "{host} redirects to an address that cannot be used. {problem}",
                host=target.host,
                problem=error.text,
            ),
            url=str(target),
        ) from error
