"""What every surface does with a request: one dispatcher, for the API, the pages and what joins them.

    route ─► who is calling ─► 404/405 ─► permission ─► body ─► handler ─► answer ─► compression
             `identify`                   `permit`      limit   `accept`   `render`

Any failure becomes an answer in `render_error`. Routes are Starlette's; they are looked up first and told last, since
only callers with credentials get to know what exists. Everything a plain handler does, from `identify` to
compression, happens in one trip to a thread: the event loop is left to sockets, and the trip costs as much as a small
answer.
"""

from __future__ import annotations

import asyncio
import inspect
import time
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, nullcontext
from typing import Any, ClassVar, Generic, TypeVar

from starlette.exceptions import HTTPException
from starlette.responses import Response
from starlette.routing import Match, Route
from starlette.types import Receive, Scope, Send

from tidings import metrics
from tidings.domain.errors import TidingsError
from tidings.http.binding import Call, Plan, Source, arguments, plan
from tidings.http.compression import compress
from tidings.http.endpoints import Endpoint
from tidings.http.requests import Request
from tidings.http.responses import RawHeaders, empty, json, send_response

C = TypeVar("C")
R = TypeVar("R")

SAFE = ("GET", "HEAD")


class BoundEndpoint(Generic[C]):
    """An endpoint with the plan of its arguments."""

    def __init__(self, endpoint: Endpoint, sources: Mapping[Any, Source[C]]) -> None:
        self.declared = endpoint
        self.is_async = inspect.iscoroutinefunction(endpoint.handler)
        self._plan: Plan[C] = plan(endpoint.handler, sources)

    def __call__(self, call: Call[C]) -> Any:
        """A result, or an awaitable one."""
        return self.declared.handler(**arguments(self._plan, call))


class Surface(Generic[C]):
    """An ASGI application of declared endpoints. C: what it knows of a request once `identify` has looked.

    prefix: of the declared paths, at which the surface is mounted. sources: of arguments, by the type of a parameter.
    threads: how many handlers run at a time.
    """

    headers: ClassVar[RawHeaders] = ()
    body_limit: ClassVar[int] = 2**20
    # How a media type begins that is compressed; "" for all.
    compressed: ClassVar[str] = ""

    def __init__(
        self,
        endpoints: Iterable[Endpoint],
        sources: Mapping[Any, Source[C]],
        *,
        name: str,
        threads: int,
        prefix: str = "",
    ) -> None:
        # Fixed names win over ids; with a method that they lack they are read as an id, and refused as one.
        ordered = sorted(endpoints, key=lambda endpoint: "{" in endpoint.path)
        bound = [BoundEndpoint(endpoint, sources) for endpoint in ordered]
        # By the number of slashes: a request is compared with the few routes of the same length.
        self._routes: defaultdict[int, list[tuple[Route, BoundEndpoint[C]]]] = defaultdict(list)
        for one in bound:
            route = _route(one, prefix)
            self._routes[route.path.count("/")].append((route, one))
        self._threads = ThreadPoolExecutor(threads, thread_name_prefix=name)

    # What a surface decides.

    def identify(self, request: Request, endpoint: Endpoint | None) -> C | None:
        """Return what is known of the caller; None when only `identify_slowly` can tell. In a thread."""
        raise NotImplementedError

    async def identify_slowly(self, request: Request) -> C:
        """The same where it takes longer, such as checking a password."""
        raise NotImplementedError

    def render_error(self, error: Exception, request: Request, context: C | None) -> Response:
        """Return what a caller gets to know. error: of ours, Starlette's HTTPException (404, 405), or a mistake."""
        raise NotImplementedError

    def answer_early(self, request: Request) -> Response | None:
        """Answer what needs neither credentials nor a route."""

    def permit(self, call: Call[C]) -> None:
        """Raise what a caller may not do, before the body is read."""

    def limit(self, call: Call[C]) -> int:
        """Return how many bytes of body are read; 0 for none."""
        return self.body_limit if call.endpoint.body_limit is None else call.endpoint.body_limit

    def accept(self, call: Call[C]) -> None:
        """Raise what is wrong with a request after its body was read."""
        if call.request.body_error is not None:
            raise call.request.body_error

    def render(self, call: Call[C], result: Any) -> Response:
        """Return what a handler returned, as an answer."""
        if isinstance(result, Response):
            return result
        status = call.endpoint.status
        return empty(status) if result is None else json(result, status)

    def within(self, context: C) -> AbstractContextManager[None]:  # noqa: ARG002
        """What handler and rendering run in, such as the language of a reader."""
        return nullcontext()

    def close(self) -> None:
        self._threads.shutdown(cancel_futures=True)

    # What all of them do.

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        started = time.perf_counter()
        request = Request(scope, receive)
        found = self._find(scope)
        response = await self._answer(request, found)
        await send_response(response, scope, receive, send, self.headers)
        route = "none" if isinstance(found, HTTPException) else found[0].declared.path
        metrics.record_request(route, request.method, response.status_code, time.perf_counter() - started)

    def _find(self, scope: Scope) -> tuple[BoundEndpoint[C], dict[str, str]] | HTTPException:
        allowed: set[str] = set()
        path = scope["path"].removeprefix(scope.get("root_path", ""))
        for route, bound in self._routes.get(path.count("/"), ()):
            match, child_scope = route.matches(scope)
            if match is Match.FULL:
                return bound, child_scope["path_params"]
            if match is Match.PARTIAL:
                allowed |= route.methods or set()
        return HTTPException(405, headers={"Allow": ", ".join(sorted(allowed))}) if allowed else HTTPException(404)

    async def _answer(
        self, request: Request, found: tuple[BoundEndpoint[C], dict[str, str]] | HTTPException
    ) -> Response:
        if (early := self.answer_early(request)) is not None:
            return early
        if isinstance(found, HTTPException):
            return await self._answer_in_steps(request, found)
        if request.method in SAFE and not found[0].is_async:
            response = await self._in_thread(self._answer_at_once, request, *found)
            if response is not None:
                return response
        return await self._answer_in_steps(request, *found)

    def _answer_at_once(self, request: Request, bound: BoundEndpoint[C], path: dict[str, str]) -> Response | None:
        try:
            context = self.identify(request, bound.declared)
            if context is None:
                return None
            call = Call(request, bound.declared, path, context)
            self.permit(call)
        except Exception as error:  # noqa: BLE001 - each becomes an answer
            return self._failed(error, request, None)
        return self._serve(call, bound)

    async def _answer_in_steps(
        self, request: Request, found: BoundEndpoint[C] | HTTPException, path: dict[str, str] | None = None
    ) -> Response:
        """For what has a body to be read first, or waits in the event loop for others, or ends before its handler."""
        context: C | None = None
        try:
            endpoint = None if isinstance(found, HTTPException) else found.declared
            context = await self._in_thread(self.identify, request, endpoint)
            if context is None:
                context = await self.identify_slowly(request)
            if isinstance(found, HTTPException):
                raise found  # noqa: TRY301
            call = Call(request, found.declared, path or {}, context)
            await self._read(call)
            if not found.is_async:
                return await self._in_thread(self._serve, call, found)
            with self.within(context):
                self.accept(call)
                result = await found(call)
            return await self._in_thread(self._rendered, call, result)
        except Exception as error:  # noqa: BLE001 - each becomes an answer
            return await self._in_thread(self._failed, error, request, context)

    async def _read(self, call: Call[C]) -> None:
        self.permit(call)
        if call.request.method not in SAFE and (limit := self.limit(call)):
            try:
                await call.request.read(limit)
            except TidingsError as error:
                call.request.body_error = error

    def _serve(self, call: Call[C], bound: BoundEndpoint[C]) -> Response:
        try:
            with self.within(call.context):
                self.accept(call)
                result = bound(call)
        except Exception as error:  # noqa: BLE001 - each becomes an answer
            return self._failed(error, call.request, call.context)
        return self._rendered(call, result)

    def _rendered(self, call: Call[C], result: Any) -> Response:
        try:
            with self.within(call.context):
                response = self.render(call, result)
        except Exception as error:  # noqa: BLE001 - each becomes an answer
            return self._failed(error, call.request, call.context)
        return self._compressed(call.request, response)

    def _failed(self, error: Exception, request: Request, context: C | None) -> Response:
        return self._compressed(request, self.render_error(error, request, context))

    def _compressed(self, request: Request, response: Response) -> Response:
        compress(response, request.headers.get("accept-encoding", ""), self.compressed)
        return response

    async def _in_thread(self, function: Callable[..., R], *given: Any) -> R:
        return await asyncio.get_running_loop().run_in_executor(self._threads, function, *given)


def _route(bound: BoundEndpoint[C], prefix: str) -> Route:
    return Route(bound.declared.path.removeprefix(prefix), bound, methods=[bound.declared.method])
