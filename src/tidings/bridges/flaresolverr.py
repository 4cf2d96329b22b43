"""Fetches documents through FlareSolverr, whose browser passes the challenges of sites.

request ── target: every address allowed? ── turn ── POST /v1 ── final URL: allowed? ── the document that is shown

    {"cmd": "request.get", "url": …, "maxTimeout": 60000}
    {"status": "ok", "message": …, "solution": {"url", "status", "response", "cookies", "userAgent"}}
    {"status": "error", "message": "Error: Error solving the challenge. …"}, with status 500

The browser shows pictures and does not hand them out: they are fetched directly, with the cookies and the user agent
that passed the challenge of their site. Source: FlareSolverr 3, src/dtos.py and src/flaresolverr_service.py.
"""

from __future__ import annotations

import asyncio
import time
from collections import OrderedDict
from typing import Final

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from tidings.base.messages import msg
from tidings.bridges.bridge import Bridge, BridgeBusy, BridgeDown
from tidings.bridges.browser_documents import shown_document
from tidings.bridges.turns import Turns
from tidings.net.errors import (
    BodyTooLarge,
    EmptyBody,
    FetchError,
    HostUnreachable,
    HttpError,
)
from tidings.net.fetch import Fetcher, FetchRequest, FetchResponse, empty
from tidings.net.guard import AddressGuard, Lookup, Target, is_literal, parse_target

MAX_SOLVING_S: Final = 60
# Starting and ending its browser takes some seconds more.
ANSWER_TIMEOUT_S: Final = 75.0
TURN_S: Final = 90.0
PATIENCE_S: Final = 120.0
# A character of a document may take six in JSON.
_JSON_GROWTH: Final = 6
# For how long the cookies of a site are used for its pictures, and of how many sites.
PASS_LASTS_S: Final = 20 * 60
MAX_PASSES: Final = 100


class ChallengeUnsolved(FetchError):
    """The browser did not pass the challenge of a site."""

    code = "challenge-unsolved"


class _Cookie(Struct, frozen=True):
    name: str
    value: str


class _Solution(Struct, frozen=True):
    url: str
    response: str | None = ""
    status: int | None = 200
    cookies: list[_Cookie] = []
    user_agent: str | None = msgspec.field(name="userAgent", default="")


class _Answer(Struct, frozen=True):
    status: str
    message: str | None = ""
    solution: _Solution | None = None


class _Pass(Struct, frozen=True):
    """What the browser passed the challenge of a site with."""

    cookie: str
    user_agent: str
    until: float


_answer = msgspec.json.Decoder(_Answer)


class FlareSolverr:
    """A detour for requests with `fetch_via_flaresolverr`. max_body_size: of a document, in bytes."""

    def __init__(
        self, bridge: Bridge, guard: AddressGuard, lookup: Lookup, turns: Turns, *, max_body_size: int
    ) -> None:
        self._bridge = bridge
        self._guard = guard
        self._lookup = lookup
        self._turns = turns
        self._max_body_size = max_body_size
        self._passes: OrderedDict[str, _Pass] = OrderedDict()

    def takes(self, request: FetchRequest) -> bool:
        return request.fetch_via_flaresolverr

    def asked_url(self, request: FetchRequest) -> str:
        return request.url

    async def get(self, request: FetchRequest, fetcher: Fetcher) -> FetchResponse:
        """Return the document. Raises AddressRefused, ChallengeUnsolved, BridgeDown, BridgeBusy and FetchError."""
        began = time.monotonic()
        target = parse_target(request.url)
        await self._ensure_allowed(target)
        if request.accept.startswith("image/"):
            return await self._get_picture(request, target, fetcher)
        solution = await self._solve(target, fetcher)
        final = parse_target(solution.url)
        await self._ensure_allowed(final)
        self._keep(final, solution)
        limit = min(request.max_body_size or self._max_body_size, self._max_body_size)
        body = await asyncio.to_thread(lambda: shown_document(solution.response or "").encode("utf-8", "replace"))
        _check(solution, body, final, limit)
        return FetchResponse(
            status=200,
            url=request.url if str(final) == str(target) else str(final),
            body=body,
            content_type="text/html" if body.lstrip()[:5].lower() in {b"<html", b"<!doc"} else "",
            charset="utf-8",
            took_ms=round((time.monotonic() - began) * 1000),
        )

    async def _get_picture(self, request: FetchRequest, target: Target, fetcher: Fetcher) -> FetchResponse:
        """Return a picture, fetched directly as the browser would."""
        known = self._passes.get(_site(target))
        if known is None or known.until < time.monotonic():
            front = parse_target(f"{_site(target)}/")
            solution = await self._solve(front, fetcher)
            final = parse_target(solution.url)
            await self._ensure_allowed(final)
            known = self._keep(front, solution)
        return await fetcher.get(
            replace(request, cookie=known.cookie, user_agent=known.user_agent, fetch_via_flaresolverr=False)
        )

    def _keep(self, target: Target, solution: _Solution) -> _Pass:
        cookie = "; ".join(f"{one.name}={one.value}" for one in solution.cookies)
        if not cookie.isprintable():
            cookie = ""
        agent = solution.user_agent or ""
        known = _Pass(cookie, agent if agent.isprintable() else "", time.monotonic() + PASS_LASTS_S)
        self._passes[_site(target)] = known
        while len(self._passes) > MAX_PASSES:
            self._passes.popitem(last=False)
        return known

    async def _solve(self, target: Target, fetcher: Fetcher) -> _Solution:
        """Return what the browser has at a URL, when it is this request's turn."""
        sent = msgspec.json.encode({"cmd": "request.get", "url": str(target), "maxTimeout": MAX_SOLVING_S * 1000})
        request = FetchRequest(
            url=f"{self._bridge.address}/v1",
            accept="application/json",
            timeout_s=ANSWER_TIMEOUT_S,
            max_body_size=self._max_body_size * _JSON_GROWTH,
        )
        try:
            async with self._turns.turn():
                _, body = await fetcher.post(request, sent, trusts_host=not self._bridge.is_own)
        except TimeoutError as error:
            raise BridgeBusy(self._bridge.name, url=str(target)) from error
        except EmptyBody as error:
            raise BridgeDown(self._bridge, error.text, url=str(target)) from error
        except FetchError as error:
            raise self._bridge.named(error, str(target)) from error
        try:
            answer = await asyncio.to_thread(_answer.decode, body)
        except (msgspec.DecodeError, UnicodeDecodeError) as error:
            raise FetchError(
                msg("{bridge} does not answer as {bridge} does.", bridge=self._bridge.name), url=str(target)
            ) from error
        if answer.status == "ok" and answer.solution is not None:
            return answer.solution
        raise self._failure(answer.message or "", target)

    def _failure(self, message: str, target: Target) -> FetchError:
        """Return the error for a message of FlareSolverr, which may have parts of pages and is not shown."""
        values = {"bridge": self._bridge.name, "host": target.host}
        if "net::ERR_" in message:
            unreachable = msg("{bridge} cannot reach {host}. Check the address, or try again later.")
            return HostUnreachable(unreachable.with_values(**values), url=str(target))
        if "challenge" in message.lower():
            unsolved = msg("{bridge} could not solve the challenge of {host}. Try again later.")
            return ChallengeUnsolved(unsolved.with_values(**values), url=str(target))
        failed = msg("{bridge} could not fetch {host}. Its log says why.")
        return FetchError(failed.with_values(**values), url=str(target))

    async def _ensure_allowed(self, target: Target) -> None:
        """Raise AddressRefused if one address of the host is refused, and HostUnreachable if it has none."""
        if self._guard.allow_private_networks:
            return
        if not self._guard.allows_through_proxy(target.host):
            raise self._guard.refusal(target.host)
        if is_literal(target.host):
            return
        try:
            addresses = await self._lookup(target.host)
        except OSError as error:
            raise HostUnreachable(
                msg("There is no host named {host}, or its name server does not answer.", host=target.host),
                url=str(target),
            ) from error
        if not all(self._guard.allows(address) for address in addresses):
            raise self._guard.refusal(target.host)


def _check(solution: _Solution, body: bytes, target: Target, limit: int) -> None:
    """Raise FetchError for a document that is none."""
    status = solution.status or 200
    if status >= 400:
        raise HttpError(
            msg("{host} responds with status {status} instead of a document.", host=target.host, status=status),
            url=str(target),
            status=status,
        )
    if len(body) > limit:
        raise BodyTooLarge(
            msg("{host} sent more than {size} MiB.", host=target.host, size=max(1, limit // 2**20)), url=str(target)
        )
    if not body.strip():
        raise empty(target)


def _site(target: Target) -> str:
    return str(target.url.origin())
