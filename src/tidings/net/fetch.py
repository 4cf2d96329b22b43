"""Fetches a document: conditionally, with limits on size and time, following redirects.

request ── target ── exchange ── redirect: again, with its cookies, credentials to the same host only ── status ── body
"""

from __future__ import annotations

import base64
import time
from types import TracebackType
from typing import Self

import aiohttp

from tidings.base.errors import InvalidInput
from tidings.base.messages import msg
from tidings.net import cache_headers
from tidings.net.bodies import ACCEPT_ENCODING, BodyReader
from tidings.net.connections import Connections
from tidings.net.cookies import ChainCookies
from tidings.net.errors import EmptyBody, FetchTimeout, NetworkError, TooManyRedirects
from tidings.net.guard import AddressGuard, Lookup
from tidings.net.requests import FetchRequest, FetchResponse, FetchSettings, check_headers, clean
from tidings.net.responses import drain, header, http_error, is_unchanged, joined_header
from tidings.net.targets import Target, parse_target
from tidings.net.timeout import timeout_excluding_suspend

__all__ = ["FetchRequest", "FetchResponse", "FetchSettings", "Fetcher"]

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

    async def get(self, request: FetchRequest) -> FetchResponse:
        """Return the document at `request.url`.

        Raises InvalidInput for a request that cannot be sent, and FetchError, which names the URL that failed.
        HttpError says when the publisher wants the next request.
        """
        start = parse_target(request.url)
        check_headers(request)
        timeout_s = self._settings.timeout_s if request.timeout_s is None else request.timeout_s
        try:
            async with timeout_excluding_suspend(timeout_s):
                return await self._follow(request, start)
        except TimeoutError as error:
            raise FetchTimeout(
                msg(
                    "{host} did not finish its response within {seconds} seconds. Try again later.",
                    host=start.host,
                    seconds=timeout_s,
                ),
                url=str(start),
            ) from error

    async def _follow(self, request: FetchRequest, start: Target) -> FetchResponse:
        began = time.monotonic()
        target, is_permanent = start, True
        cookies, visited = ChainCookies(), {(start.url, request.cookie)}
        for _ in range(self._settings.max_redirects + 1):
            async with self._connections.exchange(
                "GET",
                target,
                headers=self._headers(request, start, target, cookies),
                proxy_url=request.proxy_url or (self._settings.proxy_url if request.fetch_via_proxy else ""),
                allow_self_signed_certificates=request.allow_self_signed_certificates,
            ) as response:
                if response.status not in REDIRECTS:
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
        if credentials := _credentials(request, start, target):
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
        if response.status >= 400:
            await drain(response)
            raise http_error(target, response)

        expires = header(response, "Expires")
        etag, last_modified = header(response, "ETag"), header(response, "Last-Modified")
        not_modified = is_unchanged(request, response.status, etag, last_modified)
        if not_modified:
            await drain(response)
        body = b"" if not_modified else await self._body(request, target, response)
        if cache_headers.wants_no_validators(expires):
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
            links=cache_headers.parse_links(joined_header(response, "Link"), str(target)),
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
            raise EmptyBody(
                msg("{host} sent an empty response. The publisher has to fix this; try again later.", host=target.host),
                url=str(target),
            )
        return body


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
