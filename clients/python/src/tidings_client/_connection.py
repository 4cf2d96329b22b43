"""The sockets: what `_exchange` decides, done with blocking calls.

`make client` derives this file from `_async_connection.py`.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import IO, Any, Final, Self

import httpx2

from tidings_client._exchange import Call, Exchanges, Pause, credentials_of
from tidings_client._failures import explained
from tidings_client.errors import BY_STATUS

USER_AGENT: Final = "tidings-client"
CHUNK: Final = 65_536
# The service may wait for another site, for 20 seconds unless its operator says otherwise.
TIMEOUT_S: Final = 60.0
RETRIES: Final = 3
MAX_WAIT_S: Final = 60.0


class Connection:
    """A service, and who asks it. It is closed with `close`, or at the end of a `with` statement."""

    def __init__(
        self,
        url: str,
        *,
        token: str | None = None,
        username: str | None = None,
        password: str | None = None,
        timeout_s: float = TIMEOUT_S,
        retries: int = RETRIES,
        max_wait_s: float = MAX_WAIT_S,
        http: httpx2.Client | None = None,
    ) -> None:
        """Connect to nothing yet. Raises ValueError for an address or credentials that cannot be right.

        url: where the service is, such as https://reader.example.org. token: an API key; or username and password of
        an account. timeout_s: how long to wait for each part of a response. retries: how often a request is sent again
        when the service asks to wait (429, 503), for at most max_wait_s each time.
        http: a client of httpx2 for proxies and certificates of your own; you close it.
        """
        credentials = credentials_of(token, username, password)
        self._http = http or httpx2.Client(timeout=timeout_s)
        self._is_own = http is None
        self._exchanges = Exchanges(
            url,
            credentials,
            retries=retries,
            max_wait_s=max_wait_s,
            user_agent=USER_AGENT,
            build=self._http.build_request,
            chunks=_chunks,
            kinds=BY_STATUS,
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the connections."""
        if self._is_own:
            self._http.close()

    def _json(self, call: Call) -> Any:
        response = self._answer(call)
        return response.json()

    def _text(self, call: Call) -> str:
        response = self._answer(call)
        return response.text

    def _nothing(self, call: Call) -> None:
        self._answer(call)

    def _download(self, call: Call, file: IO[bytes]) -> None:
        with self._stream(call) as response, explained(self._exchanges.url):
            for chunk in response.iter_bytes(CHUNK):
                file.write(chunk)

    def _events(self, call: Call) -> Iterator[httpx2.ServerSentEvent]:
        with self._stream(call) as response, explained(self._exchanges.url):
            yield from httpx2.EventSource(response)

    def _items(self, call: Call, name: str) -> Iterator[Any]:
        """Yield the items of all pages. name: the member of a page that has them."""
        page: Call | None = call
        while page is not None:
            response = self._answer(page)
            yield from response.json()[name]
            page = self._exchanges.next_page(page, response)

    def _pages(self, call: Call) -> Iterator[Any]:
        """Yield all pages of a list that has its cursor in the body."""
        page: dict[str, Any] = {"has_more": True, "next_cursor": None}
        while page["has_more"]:
            cursor = {"cursor": page["next_cursor"]} if page["next_cursor"] else {}
            page = self._json(replace(call, query={**call.query, **cursor}))
            yield page

    def _answer(self, call: Call) -> httpx2.Response:
        return self._done(call, stream=False)

    @contextmanager
    def _stream(self, call: Call) -> Iterator[httpx2.Response]:
        response = self._done(call, stream=True)
        try:
            yield response
        finally:
            response.close()

    def _done(self, call: Call, *, stream: bool) -> httpx2.Response:
        steps = self._exchanges.steps(call)
        answer: httpx2.Response | None = None
        while True:
            try:
                step = steps.send(answer)
            except StopIteration as end:
                response: httpx2.Response = end.value
                return response
            if isinstance(step, Pause):
                time.sleep(step.seconds)
                answer = None
                continue
            with explained(self._exchanges.url):
                answer = self._http.send(step, stream=stream)
                if stream and not answer.is_success:
                    answer.read()


def _chunks(file: IO[bytes]) -> Iterator[bytes]:
    while chunk := file.read(CHUNK):
        yield chunk
