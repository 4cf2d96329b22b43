"""The ASGI application of the API: who calls, which endpoint, one answer.

    OPTIONS ─► credentials ─► route ─► permission ─► path ids ─► body ─► handler
                  401         404/405      403          400       400

Everything a plain handler does, recognising the caller included, happens in one trip to a thread: the event loop is
left to sockets, and the trip costs as much as a small answer.
"""

from __future__ import annotations

import asyncio
import inspect
import time
from collections.abc import Callable, Iterable, MutableMapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar

import msgspec
import structlog

from tidings import metrics
from tidings.api import replies
from tidings.api.calling import Context, arguments
from tidings.api.credentials import credentials_of
from tidings.api.routes import Route
from tidings.domain.errors import Forbidden, TidingsError
from tidings.domain.users import User
from tidings.http.compression import compressed
from tidings.http.replies import Reply, Send, respond
from tidings.http.requests import Network, Receive, Request
from tidings.http.routes import Match, Table
from tidings.services import Services
from tidings.services.authentication import Credentials

log = structlog.get_logger()

R = TypeVar("R")

# Generous: an OPML of ten thousand feeds has 3 MB.
BODY_LIMIT = 32 * 2**20
# Argon2 is slow on purpose: guessing may keep this many threads busy and no more.
PASSWORD_THREADS = 2

API_HEADERS = (
    ("Access-Control-Allow-Origin", "*"),
    ("Access-Control-Allow-Methods", "GET, POST, PUT, DELETE, OPTIONS"),
    ("Access-Control-Allow-Headers", "X-Auth-Token, Authorization, Content-Type, Accept"),
    ("X-Content-Type-Options", "nosniff"),
    ("X-Frame-Options", "DENY"),
    ("Referrer-Policy", "no-referrer"),
)
PREFLIGHT = Reply(204, headers=(("Access-Control-Max-Age", "3600"),))


class Api:
    """routes: of the whole API. trusted: proxies whose X-Forwarded-For is believed."""

    def __init__(
        self, services: Services, routes: Iterable[Route], *, threads: int, trusted: Sequence[Network] = ()
    ) -> None:
        self._services = services
        self._table = Table(routes)
        self._trusted = trusted
        self._threads = ThreadPoolExecutor(threads, thread_name_prefix="api")
        self._password_threads = ThreadPoolExecutor(PASSWORD_THREADS, thread_name_prefix="passwords")

    def close(self) -> None:
        self._threads.shutdown(cancel_futures=True)
        self._password_threads.shutdown(cancel_futures=True)

    async def __call__(self, scope: MutableMapping[str, Any], path: str, receive: Receive, send: Send) -> None:
        """path: below the base path."""
        started = time.perf_counter()
        request = Request(scope, path)
        reply = await self._answer(request, receive)
        reply = await self._squeezed(request, reply)
        await respond(send, reply, API_HEADERS, head=request.method == "HEAD")
        metrics.requested(request.route, request.method, reply.status, time.perf_counter() - started)

    async def _answer(self, request: Request, receive: Receive) -> Reply:
        try:
            if request.method == "OPTIONS":
                return PREFLIGHT
            return await self._serve(request, receive)
        except TidingsError as error:
            return replies.from_error(error)
        except Exception:
            log.exception("request failed", method=request.method, path=request.path)
            return replies.failure(500, "Something went wrong on our side; the log of the server has the details.")

    async def _serve(self, request: Request, receive: Receive) -> Reply:
        match = self._table.find(request.method, request.path)
        if match and match.route:
            request.route = match.route.path
        if match and match.route and match.route.is_open:
            return await self._in_thread(_call, match.route, Context(request, match.arguments, None, self._services))
        credentials = credentials_of(request, self._trusted)
        if match and match.route and request.method in ("GET", "HEAD") and not is_async(match.route):
            # One trip for everything; a password that is not remembered makes it two.
            reply = await self._in_thread(self._recognise_and_call, request, match, credentials)
            if reply is not None:
                return reply
        caller = await self._caller(credentials)
        if match is None:
            return replies.failure(404, "There is nothing at this address: see /docs/api for what there is.")
        if match.route is None:
            return replies.failure(
                405, f"This address does not take {request.method}.", (("Allow", ", ".join(match.allowed)),)
            )
        _permit(match.route, caller)
        await request.read_body(receive, BODY_LIMIT)
        context = Context(request, match.arguments, caller, self._services)
        if is_async(match.route):
            return _reply(match.route, await match.route.handler(**arguments(match.route.handler, context)))
        return await self._in_thread(_call, match.route, context)

    def _recognise_and_call(self, request: Request, match: Match[Route], credentials: Credentials) -> Reply | None:
        caller = self._services.authentication.recognise(credentials)
        if caller is None:
            return None
        assert match.route is not None
        _permit(match.route, caller)
        return _call(match.route, Context(request, match.arguments, caller, self._services))

    async def _caller(self, credentials: Credentials) -> User:
        authentication = self._services.authentication
        caller = await self._in_thread(authentication.recognise, credentials)
        if caller is None:
            await asyncio.sleep(authentication.turn(credentials))
            loop = asyncio.get_running_loop()
            caller = await loop.run_in_executor(self._password_threads, authentication.verify, credentials)
        return caller

    async def _squeezed(self, request: Request, reply: Reply) -> Reply:
        accepted = request.headers.get("accept-encoding", "")
        if len(reply.body) <= 1024 or not accepted:
            return reply
        return await self._in_thread(compressed, reply, accepted)

    async def _in_thread(self, function: Callable[..., R], *given: Any) -> R:
        return await asyncio.get_running_loop().run_in_executor(self._threads, function, *given)


def is_async(route: Route) -> bool:
    return inspect.iscoroutinefunction(route.handler)


def _permit(route: Route, caller: User) -> None:
    if route.admin and not caller.is_admin:
        raise Forbidden("Only an administrator may do this.")


def _call(route: Route, context: Context) -> Reply:
    return _reply(route, route.handler(**arguments(route.handler, context)))


def _reply(route: Route, result: Any) -> Reply:
    if isinstance(result, Reply):
        return result
    if result is None:
        return Reply(route.status)
    return Reply(route.status, msgspec.json.encode(result))
