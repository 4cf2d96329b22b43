"""What happens between a call and its answer, without input and output.

call ─► request ─► response ─► once more later │ what is remembered │ an error │ the answer

`Exchanges.steps` yields requests to send and pauses to make; `_connections` does both, with threads or with asyncio.
"""

from __future__ import annotations

import base64
import gzip
import itertools
import json
from collections import OrderedDict
from collections.abc import Callable, Generator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from threading import Lock
from typing import IO, Any, Final
from urllib.parse import quote, urlsplit

import httpx2

from tidings_client._failures import ApiError, failure_of, retry_after_s

# Problem details for errors (RFC 9457), and whatever the operation returns.
ACCEPT: Final = "application/problem+json, application/json, */*"
# Smaller bodies fit into one packet.
MIN_GZIP_BYTES: Final = 1_400
MAX_REMEMBERED: Final = 32
MAX_REMEMBERED_BYTES: Final = 16 * 2**20


@dataclass(frozen=True, slots=True)
class Call:
    """A request as its operation describes it."""

    method: str
    path: str
    query: Mapping[str, Any] = field(default_factory=dict)
    """None is not sent, and the values of a sequence one by one."""
    commas: Sequence[str] = ()
    """Parameters whose values are sent as one, separated by commas."""
    headers: Mapping[str, str | None] = field(default_factory=dict)
    body: Any = None
    """Sent as JSON, unless it is None."""
    file: bytes | IO[bytes] | None = None
    file_type: str = ""
    is_conditional: bool = False
    """The service says whether the answer is the one that is remembered."""
    is_repeatable: bool = True
    """Whether it is sent again when the service asks for it."""


@dataclass(frozen=True, slots=True)
class Pause:
    seconds: float


Steps = Generator[httpx2.Request | Pause, httpx2.Response | None, httpx2.Response]


class Exchanges:
    """The requests and responses of one client.

    build: makes a request. chunks: how the parts of a file are read while it is sent. kinds: the error of each status.
    """

    def __init__(
        self,
        url: str,
        credentials: Mapping[str, str],
        *,
        retries: int,
        max_wait_s: float,
        user_agent: str,
        build: Callable[..., httpx2.Request],
        chunks: Callable[[IO[bytes]], Any],
        kinds: Mapping[int, type[ApiError]],
    ) -> None:
        self.url = base_of(url)
        self._headers = {"Accept": ACCEPT, "User-Agent": user_agent, **credentials}
        self._retries, self._max_wait_s = retries, max_wait_s
        self._build, self._chunks, self._kinds = build, chunks, kinds
        self._remembered = _Remembered()

    def steps(self, call: Call) -> Steps:
        """Yield what to do for a call. Returns the response of a success. Raises ApiError for any other."""
        rewind = _rewinder(call.file)
        for attempt in itertools.count():
            request = self._request(call)
            known = self._remembered.get(request) if call.is_conditional else None
            if known is not None:
                request.headers["If-None-Match"] = known.headers["ETag"]
            response = yield request
            assert response is not None
            if response.status_code == httpx2.codes.NOT_MODIFIED and known is not None:
                return known
            if response.is_success:
                if call.is_conditional:
                    self._remembered.add(request, response)
                return response
            pause = self._pause(call, response)
            if pause is None or rewind is None or attempt >= self._retries:
                raise failure_of(response, self._kinds)
            yield pause
            rewind()
        raise AssertionError("the loop has no end")

    def next_page(self, call: Call, response: httpx2.Response) -> Call | None:
        """Return the call for the page after this one, None after the last page."""
        link = response.links.get("next", {}).get("url")
        if not link:
            return None
        # Its path has what a proxy removes or adds; only its parameters count.
        query = httpx2.QueryParams(urlsplit(link).query)
        # Nobody asks often for the later pages: they would push out what is worth remembering.
        return replace(call, query={name: query.get_list(name) for name in query}, is_conditional=False)

    def _request(self, call: Call) -> httpx2.Request:
        headers = {**self._headers, **{name: value for name, value in call.headers.items() if value is not None}}
        content: Any = None
        if call.file is not None:
            headers["Content-Type"] = call.file_type
            content = call.file if isinstance(call.file, bytes) else self._chunks(call.file)
        elif call.body is not None:
            headers["Content-Type"] = "application/json"
            content = json.dumps(call.body, ensure_ascii=False, separators=(",", ":")).encode()
            if len(content) >= MIN_GZIP_BYTES:
                headers["Content-Encoding"] = "gzip"
                content = gzip.compress(content, 6, mtime=0)
        return self._build(
            call.method, self.url + call.path, params=_parameters(call), headers=headers, content=content
        )

    def _pause(self, call: Call, response: httpx2.Response) -> Pause | None:
        """Return how long to wait before the request is sent again, None if it is not.

        429 comes before anything is done, and so does 503 if there were too many requests. Any other 503 may come when
        a change has been made: it is not made twice.
        """
        wait_s = retry_after_s(response)
        status = response.status_code
        is_begun = call.method != "GET" and response.headers.get("X-Error-Code") != "overloaded"
        is_safe = status == httpx2.codes.TOO_MANY_REQUESTS or (
            status == httpx2.codes.SERVICE_UNAVAILABLE and not is_begun
        )
        if not call.is_repeatable or not is_safe or wait_s is None or wait_s > self._max_wait_s:
            return None
        return Pause(wait_s)


class _Remembered:
    """The answers with an ETag that were used last, by address."""

    def __init__(self) -> None:
        self._by_url: OrderedDict[str, httpx2.Response] = OrderedDict()
        self._size_bytes = 0
        self._lock = Lock()

    def get(self, request: httpx2.Request) -> httpx2.Response | None:
        url = str(request.url)
        with self._lock:
            if url in self._by_url:
                self._by_url.move_to_end(url)
            return self._by_url.get(url)

    def add(self, request: httpx2.Request, response: httpx2.Response) -> None:
        url = str(request.url)
        with self._lock:
            if url in self._by_url:
                self._size_bytes -= len(self._by_url.pop(url).content)
            # One that is larger would push out all others.
            if "ETag" in response.headers and len(response.content) <= MAX_REMEMBERED_BYTES // 2:
                self._by_url[url] = response
                self._size_bytes += len(response.content)
            while len(self._by_url) > MAX_REMEMBERED or self._size_bytes > MAX_REMEMBERED_BYTES:
                _, oldest = self._by_url.popitem(last=False)
                self._size_bytes -= len(oldest.content)


def base_of(url: str) -> str:
    """Return the address of the service, below which the paths lie. Raises ValueError.

    url: with or without /v1 at its end.
    """
    base = url.strip().rstrip("/").removesuffix("/v1").rstrip("/")
    parts = urlsplit(base)
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise ValueError(f"{url!r} is not the address of a service: expected one such as https://reader.example.org")
    if parts.username is not None or parts.query or parts.fragment:
        raise ValueError("The address has credentials, a query or a fragment: leave them out.")
    return base


def credentials_of(token: str | None, username: str | None, password: str | None) -> dict[str, str]:
    """Return the header for an API key, or for name and password. Raises ValueError unless exactly one is given."""
    if token is not None and username is None and password is None:
        return {"X-Auth-Token": token}
    if token is None and username is not None and password is not None:
        pair = base64.b64encode(f"{username}:{password}".encode()).decode("ascii")
        return {"Authorization": f"Basic {pair}"}
    raise ValueError("Sign in with token=…, or with username=… and password=….")


def segment(value: str | int) -> str:
    """Return a text as a part of a path."""
    return quote(str(value), safe="")


def _rewinder(file: bytes | IO[bytes] | None) -> Callable[[], object] | None:
    """Return what makes a body ready to be sent again, None if it cannot be."""
    if file is None or isinstance(file, bytes):
        return lambda: None
    return partial(file.seek, file.tell()) if file.seekable() else None


def _parameters(call: Call) -> list[tuple[str, str]]:
    pairs: list[tuple[str, str]] = []
    for name, value in call.query.items():
        if value is None:
            continue
        values = [value] if isinstance(value, str | int | float) else list(value)
        texts = [str(one).lower() if isinstance(one, bool) else str(one) for one in values]
        pairs += [(name, ",".join(texts))] if name in call.commas else [(name, text) for text in texts]
    return pairs
