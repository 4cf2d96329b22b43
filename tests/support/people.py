"""Users of the tests: Alice owns the resources, Bob owns others, and Charlie is an administrator."""

from __future__ import annotations

import base64
import http.client
import itertools
import json
import secrets
import select
from collections.abc import Iterable, Iterator, Mapping
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from urllib.parse import urlencode, urlsplit

from support.publisher import Publisher
from support.running import RunningService
from support.statuses import note
from tidings.domain.accounts.users import User
from tidings.storage.accounts import api_keys

if TYPE_CHECKING:
    from tidings_client import Client

_numbers = itertools.count(1)
PASSWORD = "correct horse"


@dataclass(frozen=True)
class HttpResponse:
    """A response. headers: names in lower case. cookies: the Set-Cookie headers as received."""

    status: int
    headers: Mapping[str, str]
    body: bytes
    cookies: tuple[str, ...] = ()

    def json(self) -> Any:
        return json.loads(self.body)

    @property
    def error(self) -> str:
        message: str = self.json()["error_message"]
        return message


def call(
    url: str, method: str, path: str, body: bytes | None = None, headers: Mapping[str, str] | None = None
) -> HttpResponse:
    """Send one request on its own connection. Redirects are not followed, and the body is not decompressed."""
    host = urlsplit(url).netloc
    connection = http.client.HTTPConnection(host, timeout=600)
    try:
        # A body that is too large is refused before all of it is sent.
        with suppress(BrokenPipeError, ConnectionResetError):
            connection.request(method, path, body=body, headers=dict(headers or {}))
        answer = _answer_to(connection)
        note(method, path, answer.status)
        return answer
    finally:
        connection.close()


def answers_to(url: str, path: str, requests: Iterable[Mapping[str, str]]) -> Iterator[HttpResponse]:
    """Send GET requests at the same time and yield the responses as they come. The caller need not await them all.

    requests: the headers of each.
    """
    with ExitStack() as stack:
        waiting = {}
        for headers in requests:
            connection = http.client.HTTPConnection(urlsplit(url).netloc)
            stack.callback(connection.close)
            connection.request("GET", path, headers=dict(headers))
            waiting[connection.sock] = connection
        while waiting:
            answered, _, _ = select.select(list(waiting), [], [], 60)
            assert answered, "no response within a minute"
            for socket in answered:
                answer = _answer_to(waiting.pop(socket))
                note("GET", path, answer.status)
                yield answer


def _answer_to(connection: http.client.HTTPConnection) -> HttpResponse:
    """Read the response to the request that was sent on the connection."""
    answer = connection.getresponse()
    headers = {name.lower(): value for name, value in answer.getheaders()}
    cookies = tuple(value for name, value in answer.getheaders() if name.lower() == "set-cookie")
    if headers.get("content-type", "").startswith("text/event-stream") and answer.status == 200:
        return HttpResponse(answer.status, headers, b"".join(_until_ready(answer)), cookies)
    return HttpResponse(answer.status, headers, answer.read(), cookies)


def _until_ready(stream: Iterable[bytes]) -> Iterator[bytes]:
    """Yield the lines of a stream of events, which does not end, until the event that says what came before."""
    is_ready = False
    for line in stream:
        yield line
        is_ready |= line == b"event: ready\n"
        if is_ready and line == b"\n":
            return


def basic(username: str, password: str = PASSWORD, scheme: str = "Basic") -> dict[str, str]:
    """Return the header of HTTP basic authentication (RFC 7617)."""
    return {"Authorization": f"{scheme} {base64.b64encode(f'{username}:{password}'.encode()).decode()}"}


@dataclass(frozen=True)
class Person:
    """A user with an account and an API key."""

    service: RunningService
    user: User
    token: str
    password: str = PASSWORD

    @property
    def id(self) -> int:
        return self.user.id

    def client(self, **options: Any) -> Client:
        """Return a client with the API key of this user, to be closed. options: as `Client` has them."""
        # Programs in tools/ that use this module have no such package.
        from tidings_client import Client

        return Client(self.service.url, token=self.token, **options)

    def call(self, method: str, path: str, body: Any = None, *, raw: bytes | None = None, **query: Any) -> HttpResponse:
        """Send a request with the API key. body: sent as JSON. raw: sent unchanged."""
        if query:
            path += "?" + urlencode(query, doseq=True)
        data = raw if raw is not None else None if body is None else json.dumps(body).encode()
        return call(self.service.url, method, path, data, {"X-Auth-Token": self.token})

    def get(self, path: str, **query: Any) -> Any:
        return self._done(self.call("GET", path, **query), 200)

    def post(self, path: str, body: Any = None, *, status: int = 201) -> Any:
        return self._done(self.call("POST", path, body), status)

    def put(self, path: str, body: Any = None, *, status: int = 204) -> Any:
        return self._done(self.call("PUT", path, body), status)

    def delete(self, path: str, *, status: int = 204) -> Any:
        return self._done(self.call("DELETE", path), status)

    def has_category(self, title: str = "") -> dict[str, Any]:
        created: dict[str, Any] = self.post("/v1/categories", {"title": title or f"Category {next(_numbers)}"})
        return created

    def has_feed(self, site: Publisher, items: Iterable[str] = ("One", "Two"), **fields: Any) -> dict[str, Any]:
        """Subscribe to a new feed with an entry for each title, the newest first. Returns the feed."""
        path = f"/feed-{next(_numbers)}.xml"
        site.serve(path, rss(items, site.url(path)))
        created = self.post("/v1/feeds", {"feed_url": site.url(path), **fields})
        feed: dict[str, Any] = self.get(f"/v1/feeds/{created['feed_id']}")
        return feed

    def entries(self, **query: Any) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = self.get("/v1/entries", **query)["entries"]
        return found

    @staticmethod
    def _done(answer: HttpResponse, status: int) -> Any:
        assert answer.status == status, f"{answer.status} instead of {status}: {answer.body[:500]!r}"
        return answer.json() if answer.body else None


class Cast:
    def __init__(self, service: RunningService) -> None:
        self._service = service

    def person(self, name: str, *, is_admin: bool = False, username: str = "") -> Person:
        """Create a user. Each test has new ones, so that tests do not see each other's data."""
        services = self._service.services
        username = username or f"{name}-{next(_numbers)}-{secrets.token_hex(3)}"
        user = services.accounts.users.create(username, PASSWORD, is_admin=is_admin)
        token = secrets.token_hex(32)
        with services.database.writing() as db:
            api_keys.add(db, user.id, description="tests", description_key="tests", token=token, now=services.clock())
        return Person(self._service, user, token)


def rss(items: Iterable[str], url: str, *, title: str = "A feed", extra: str = "") -> str:
    """Return an RSS 2.0 document: an item for each title, a day apart, the newest first."""
    created = [
        f"<item><title>{item}</title><link>{url}/{number}</link><guid>{url}#{item}</guid>"
        f"<pubDate>{28 - number:02d} Sep 2026 10:00:00 GMT</pubDate><description>About {item}.</description></item>"
        for number, item in enumerate(items)
    ]
    return (
        f'<?xml version="1.0"?><rss version="2.0"><channel><title>{title}</title><link>{url}/site</link>{extra}'
        f"{''.join(created)}</channel></rss>"
    )
