"""Reads documents from the API of a server that the operator names, as a move from another reader does."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Coroutine, Mapping
from concurrent.futures import Future
from types import TracebackType
from typing import Any, Final, Self, TypeVar

from tidings.base.messages import verbatim
from tidings.net.connections import Connections, Response
from tidings.net.errors import FetchError, FetchTimeout, HttpError
from tidings.net.fetch import drain, timeout_excluding_suspend
from tidings.net.guard import AddressGuard, Target, parse_target
from tidings.net.responses import ACCEPT_ENCODING, BodyReader, header, joined_header

T = TypeVar("T")

TIMEOUT_S: Final = 120.0
# Bytes. A page of a thousand entries has a few megabytes; one with whole books in it must not fill the memory.
MAX_BODY: Final = 2**28
# Seconds to wait before a request is repeated that failed by the network or because the server was busy.
PAUSES_S: Final = (1.0, 3.0)


class JsonApi:
    """A client with an event loop in its own thread, for callers without one. Used as a context manager.

    base_url: prepended to every path. headers: sent with each request, to this server only: redirects are not followed.
    credential: the kind of credential, in words.
    """

    def __init__(
        self, base_url: str, *, headers: Mapping[str, str], guard: AddressGuard, credential: str = "API key"
    ) -> None:
        self._base_url = str(parse_target(base_url)).rstrip("/")
        self._headers = {**headers, "Accept": "application/json", "Accept-Encoding": ACCEPT_ENCODING}
        self._guard = guard
        self._credential = credential

    def __enter__(self) -> Self:
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name="json api", daemon=True)
        self._thread.start()
        self._connections = Connections(self._guard)
        self._requests: set[Future[bytes]] = set()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for request in list(self._requests):
            request.cancel()
        self._run(self._connections.close()).result()
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()

    def get(self, path: str) -> bytes:
        """Return the document at a path. Raises FetchError; HttpError unless the status is 200."""
        return self.request(path).result()

    def request(self, path: str) -> Future[bytes]:
        """Start a request in the background. Its result is what `get` returns."""
        return self._start("GET", path, None)

    def post(self, path: str, document: bytes) -> bytes:
        """Send a JSON document, maybe more than once. Returns the document of the response; raises as `get` does."""
        return self._start("POST", path, document).result()

    def _start(self, method: str, path: str, body: bytes | None) -> Future[bytes]:
        future = self._run(self._exchange_patiently(method, parse_target(self._base_url + path), body))
        self._requests.add(future)
        future.add_done_callback(self._requests.discard)
        return future

    def _run(self, work: Coroutine[Any, Any, T]) -> Future[T]:
        return asyncio.run_coroutine_threadsafe(work, self._loop)

    async def _exchange_patiently(self, method: str, target: Target, body: bytes | None) -> bytes:
        for pause_s in PAUSES_S:
            try:
                return await self._exchange(method, target, body)
            except FetchError as error:
                if not error.is_temporary or not error.was_connected:
                    raise
                await asyncio.sleep(pause_s)
        return await self._exchange(method, target, body)

    async def _exchange(self, method: str, target: Target, body: bytes | None) -> bytes:
        headers = self._headers if body is None else {**self._headers, "Content-Type": "application/json"}
        try:
            async with (
                timeout_excluding_suspend(TIMEOUT_S),
                self._connections.exchange(method, target, headers=headers, body=body) as response,
            ):
                if response.status != 200:
                    await drain(response)
                    raise _http_error(target, response, self._credential)
                return await _body(target, response)
        except TimeoutError as error:
            message = verbatim(f"{target.host} did not finish its response within {TIMEOUT_S:.0f} seconds")
            raise FetchTimeout(message, url=str(target)) from error


async def _body(target: Target, response: Response) -> bytes:
    reader = BodyReader(joined_header(response, "Content-Encoding"), limit=MAX_BODY, url=str(target))
    async for chunk in response.content.iter_any():
        reader.feed(chunk)
    return reader.finish()


def _http_error(target: Target, response: Response, credential: str) -> HttpError:
    status = response.status
    if location := header(response, "Location"):
        reason = f"redirects to {location}: give the final address of the server"
    elif status in (401, 403):
        reason = f"does not accept the {credential} ({status})"
    else:
        reason = f"answers {target.url.path} with status {status}"
    return HttpError(verbatim(f"{target.host} {reason}"), url=str(target), status=status)
