"""The dispatcher of requests, shared by all surfaces.

    body ─► route ─► caller ─► 404/405 ─► permission ─► body ─► request check ─► handler ─► response ─► compression
    small            `identify`           `permit`     `limit`  `check_request`            `render`

`render_error` turns any error into a response. Routes are Starlette's. They are looked up first, but 404 and 405 are
returned only after `identify`, since only callers with credentials may learn which routes exist. Small bodies are
received first. A synchronous handler then runs with everything from `identify` to compression in one call to a thread:
the event loop is left to sockets, and a call to a thread costs as much as a small response.

A request that has arrived waits for the threads of the surface; one whose body has not waits for two others, so that
thousands of half-sent requests neither delay it nor fill the queue that it waits in.
"""

from __future__ import annotations

import inspect
import time
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping
from contextlib import AbstractContextManager, nullcontext
from typing import Any, ClassVar, Generic, TypeVar

from starlette.exceptions import HTTPException
from starlette.responses import Response
from starlette.routing import Match, Route
from starlette.types import Receive, Scope, Send

from tidings import metrics
from tidings.base.errors import TidingsError
from tidings.base.messages import msg
from tidings.http import uploads
from tidings.http.binding import ArgumentSources, Call, Source, argument_sources, arguments
from tidings.http.content_coding import UnsupportedCoding
from tidings.http.endpoints import Endpoint
from tidings.http.event_stream import EventStream
from tidings.http.requests import BODY_PACE, BodyPace, Request
from tidings.http.responses import (
    CONDITIONAL,
    RawHeaders,
    compress,
    empty,
    is_known,
    json,
    not_modified,
    send_response,
)
from tidings.http.thread_queue import ThreadQueue
from tidings.http.uploads import UploadFolder

C = TypeVar("C")
R = TypeVar("R")

SAFE = ("GET", "HEAD")


class BoundEndpoint(Generic[C]):
    """An endpoint with the sources of its arguments."""

    def __init__(self, endpoint: Endpoint, sources: Mapping[Any, Source[C]]) -> None:
        self.declared = endpoint
        self.is_async = inspect.iscoroutinefunction(endpoint.handler)
        self._argument_sources: ArgumentSources[C] = argument_sources(endpoint.handler, sources)

    def __call__(self, call: Call[C]) -> Any:
        """Call the handler. Returns its result, or an awaitable of it."""
        return self.declared.handler(**arguments(self._argument_sources, call))


BUSY = "There are too many requests at the moment. Try again in a few seconds."
BUSY_RETRY_AFTER_S = 2
PREFLIGHT_MAX_AGE_S = "3600"
# For requests that have arrived. Most of their time is spent in C or in the database.
THREADS = 8
# For requests whose body has not arrived: to find out who sends it, and to say that it did not arrive.
THREADS_FOR_INCOMPLETE = 2


class Surface(Generic[C]):
    """An ASGI application of declared endpoints. C: type of the context of a request, which `identify` returns.

    prefix: the beginning of the declared paths, where the surface is mounted.
    sources: where arguments come from, by the type of the parameter.
    max_concurrency: how many handlers run side by side before they have taken long, see `ThreadQueue`.
    """

    headers: ClassVar[RawHeaders] = ()
    # Whether OPTIONS is answered without credentials and a route, as browsers need it before a request from another
    # origin; `headers` says what such a request may be.
    answers_preflight: ClassVar[bool] = False
    body_limit: ClassVar[int] = 2**20
    # Whether bodies may be compressed: Content-Encoding.
    unpacks_bodies: ClassVar[bool] = False
    # How fast bodies have to arrive.
    body_pace: ClassVar[BodyPace] = BODY_PACE
    # Requests that may wait for a thread at the same time. More would wait for seconds: they are refused with 503.
    max_waiting: ClassVar[int] = 256
    # Where endpoints that accept uploads put them.
    uploads: UploadFolder | None = None
    # Prefix of the media types that are compressed; "" for all.
    compressed: ClassVar[str] = ""

    def __init__(
        self,
        endpoints: Iterable[Endpoint],
        sources: Mapping[Any, Source[C]],
        *,
        name: str,
        max_concurrency: int,
        prefix: str = "",
    ) -> None:
        # Fixed segments win over parameters. With a method that the fixed route lacks, the segment is refused as an id.
        ordered = sorted(endpoints, key=lambda endpoint: "{" in endpoint.path)
        bound = [BoundEndpoint(endpoint, sources) for endpoint in ordered]
        # By number of slashes, and with what the path begins with, so that a request is compared with few routes.
        self._routes: defaultdict[int, list[tuple[str, Route, BoundEndpoint[C]]]] = defaultdict(list)
        # Paths that end with {name:path}, which has slashes itself.
        self._open_ended: list[tuple[str, Route, BoundEndpoint[C]]] = []
        for endpoint in bound:
            route = _route(endpoint, prefix)
            same = self._open_ended if route.path.endswith(":path}") else self._routes[route.path.count("/")]
            same.append((route.path.partition("{")[0], route, endpoint))
        self._complete = ThreadQueue(THREADS, self.max_waiting, max_concurrency=max_concurrency, name=name)
        self._incomplete = ThreadQueue(
            THREADS_FOR_INCOMPLETE, self.max_waiting, max_concurrency=THREADS_FOR_INCOMPLETE, name=f"{name}-incomplete"
        )

    # Hooks of a surface.

    def identify(self, request: Request, endpoint: Endpoint | None) -> C | None:
        """Return the context of the caller; None if `identify_slowly` is needed. Runs in a thread."""
        raise NotImplementedError

    async def identify_slowly(self, request: Request) -> C:
        """Like `identify`, for what takes longer, such as verifying a password. Runs in the event loop."""
        raise NotImplementedError

    def render_error(self, error: Exception, request: Request, context: C | None) -> Response:
        """Return the response for an error: ours, Starlette's HTTPException (404, 405), or an unexpected one."""
        raise NotImplementedError

    def permit(self, call: Call[C]) -> None:
        """Raise if the caller may not use the endpoint. Called before the body is read."""

    def limit(self, call: Call[C]) -> int:
        """Return the largest body in bytes; 0 to read none."""
        return self.body_limit if call.endpoint.body_limit is None else call.endpoint.body_limit

    def uploader(self, call: Call[C]) -> int:  # noqa: ARG002
        """Return the id of the user whose upload is received, 0 if the body is read as any other."""
        return 0

    def tag(self, call: Call[C]) -> str | None:  # noqa: ARG002
        """Return the tag of what a conditional endpoint will answer; None if it changes with time alone.

        Called before the handler, by which what is answered may be newer than its tag, but not older.
        """
        return None

    def check_request(self, call: Call[C]) -> None:
        """Raise if the request is not acceptable. Called after the body was read."""
        if call.request.body_error is not None:
            raise call.request.body_error

    def render(self, call: Call[C], result: Any) -> Response:
        """Return the response for the result of a handler."""
        if isinstance(result, Response):
            return result
        status = call.endpoint.status
        return empty(status) if result is None else json(result, status)

    def refuse(self, request: Request) -> Response:  # noqa: ARG002
        """Return the response to a request for which there is no capacity. Runs in the event loop."""
        return json({"error_message": BUSY}, 503, {"Retry-After": str(BUSY_RETRY_AFTER_S)})

    def handling_context(self, context: C) -> AbstractContextManager[None]:  # noqa: ARG002
        """Return the context manager in which handler and rendering run, such as the language of the user."""
        return nullcontext()

    def close(self) -> None:
        self._complete.close()
        self._incomplete.close()

    # Dispatching.

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        started = time.perf_counter()
        request = Request(scope, receive)
        target = self._find(scope)
        # A GET may have a body, too. The server resets a connection whose body nobody received, and with it a response
        # that the client has not read yet.
        if request.method not in SAFE or "content-length" in request.headers:
            await request.receive_small(self.body_pace)
        response = self.refuse(request) if self._queue(request).is_full else await self._answer(request, target)
        if request.upload is not None:
            uploads.remove(request.upload)
        if not isinstance(response, EventStream):
            await send_response(response, scope, receive, send, self.headers)
        route = "none" if isinstance(target, HTTPException) else target[0].declared.path
        metrics.record_request(route, request.method, response.status_code, time.perf_counter() - started)
        if isinstance(response, EventStream):
            # It lasts for hours: what is measured is the time until it begins.
            await send_response(response, scope, receive, send, self.headers)

    def _find(self, scope: Scope) -> tuple[BoundEndpoint[C], dict[str, str]] | HTTPException:
        allowed: set[str] = set()
        path = scope["path"].removeprefix(scope.get("root_path", ""))
        for beginning, route, bound in (*self._routes.get(path.count("/"), ()), *self._open_ended):
            if not path.startswith(beginning):
                continue
            match, child_scope = route.matches(scope)
            if match is Match.FULL:
                return bound, child_scope["path_params"]
            if match is Match.PARTIAL:
                allowed |= route.methods or set()
        return HTTPException(405, headers={"Allow": ", ".join(sorted(allowed))}) if allowed else HTTPException(404)

    async def _answer(
        self, request: Request, target: tuple[BoundEndpoint[C], dict[str, str]] | HTTPException
    ) -> Response:
        if self.answers_preflight and request.method == "OPTIONS":
            return empty(204, {"Access-Control-Max-Age": PREFLIGHT_MAX_AGE_S})
        if isinstance(target, HTTPException):
            return await self._answer_in_steps(request, target)
        in_steps = target[0].is_async or target[0].declared.accepts_upload
        if (request.method in SAFE or request.has_arrived) and not in_steps:
            response = await self._in_thread(request, self._answer_in_one_step, request, *target)
            return response or await self._answer_in_steps(request, *target, is_slow=True)
        return await self._answer_in_steps(request, *target)

    def _answer_in_one_step(self, request: Request, bound: BoundEndpoint[C], path: dict[str, str]) -> Response | None:
        context: C | None = None
        try:
            context = self.identify(request, bound.declared)
            if context is None:
                return None
            call = Call(request, bound.declared, path, context)
            self.permit(call)
            if request.method not in SAFE and (limit := self.limit(call)):
                self._use_received(request, limit)
        except Exception as error:  # noqa: BLE001 - every error becomes a response
            return self._failed(error, request, context)
        return self._serve(call, bound)

    async def _answer_in_steps(
        self,
        request: Request,
        target: BoundEndpoint[C] | HTTPException,
        path: dict[str, str] | None = None,
        *,
        is_slow: bool = False,
    ) -> Response:
        """Answer a request with a large body, an upload, an asynchronous handler, a slow identification, or no route.

        is_slow: `identify` has returned None.
        """
        context: C | None = None
        try:
            endpoint = None if isinstance(target, HTTPException) else target.declared
            if not is_slow:
                context = await self._in_thread(request, self.identify, request, endpoint)
            if context is None:
                context = await self.identify_slowly(request)
            if isinstance(target, HTTPException):
                raise target  # noqa: TRY301
            call = Call(request, target.declared, path or {}, context)
            await self._read(call)
            if not target.is_async:
                return await self._in_thread(request, self._serve, call, target)
            with self.handling_context(context):
                self.check_request(call)
                result = await target(call)
            return await self._in_thread(request, self._rendered, call, result)
        except Exception as error:  # noqa: BLE001 - every error becomes a response
            return await self._in_thread(request, self._failed, error, request, context)

    def _use_received(self, request: Request, limit: int) -> None:
        try:
            request.use_received(limit)
            if self.unpacks_bodies:
                request.unpack(limit)
        except TidingsError as error:
            request.body_error = error

    async def _read(self, call: Call[C]) -> None:
        self.permit(call)
        try:
            if call.endpoint.accepts_upload and (user_id := self.uploader(call)):
                assert self.uploads is not None
                if self.unpacks_bodies and call.request.is_coded:
                    raise UnsupportedCoding(msg("Files are not unpacked: send this one without Content-Encoding."))
                call.request.upload = await self.uploads.receive(call.request, user_id)
            elif call.request.method not in SAFE and (limit := self.limit(call)):
                await call.request.read(limit, self.body_pace)
                if self.unpacks_bodies and call.request.is_coded:
                    await self._in_thread(call.request, call.request.unpack, limit)
        except TidingsError as error:
            call.request.body_error = error

    def _serve(self, call: Call[C], bound: BoundEndpoint[C]) -> Response:
        try:
            with self.handling_context(call.context):
                self.check_request(call)
                if call.endpoint.conditional is not None and (tag := self.tag(call)) is not None:
                    return self._answer_conditionally(call, bound, tag)
                return self._rendered(call, bound(call))
        except Exception as error:  # noqa: BLE001 - every error becomes a response
            return self._failed(error, call.request, call.context)

    def _answer_conditionally(self, call: Call[C], bound: BoundEndpoint[C], tag: str) -> Response:
        """Return 304 if the client has what it would get, and otherwise the response with its tag."""
        header = ",".join(call.request.headers.getlist("if-none-match"))
        if is_known(tag, header):
            return self._rendered(call, not_modified(tag))
        response = self._rendered(call, bound(call))
        if response.status_code != 200:
            return response
        if header.strip() == "*":
            return self._rendered(call, not_modified(tag))
        response.headers.update({"ETag": tag, **CONDITIONAL})
        return response

    def _rendered(self, call: Call[C], result: Any) -> Response:
        try:
            with self.handling_context(call.context):
                response = self.render(call, result)
        except Exception as error:  # noqa: BLE001 - every error becomes a response
            return self._failed(error, call.request, call.context)
        return self._compressed(call.request, response)

    def _failed(self, error: Exception, request: Request, context: C | None) -> Response:
        return self._compressed(request, self.render_error(error, request, context))

    def _compressed(self, request: Request, response: Response) -> Response:
        compress(response, request.headers.get("accept-encoding", ""), self.compressed)
        return response

    async def _in_thread(self, request: Request, function: Callable[..., R], *arguments: Any) -> R:
        return await self._queue(request).run(function, *arguments)

    def _queue(self, request: Request) -> ThreadQueue:
        """Return the queue in which the request waits for a thread."""
        return self._complete if request.method in SAFE or request.has_arrived else self._incomplete


def _route(bound: BoundEndpoint[C], prefix: str) -> Route:
    return Route(bound.declared.path.removeprefix(prefix), bound, methods=[bound.declared.method])
