"""A small surface with its own credentials and error body; everything else comes from `tidings.http`."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterator
from contextlib import closing
from ipaddress import ip_network
from typing import Any

import pytest
from msgspec import Struct
from starlette.exceptions import HTTPException
from starlette.responses import PlainTextResponse, Response, StreamingResponse
from starlette.routing import Mount, Router
from starlette.testclient import TestClient

from tidings.base.errors import NotFound, TidingsError, Unauthorized
from tidings.base.messages import verbatim
from tidings.http.binding import Form, Query, QueryOrForm
from tidings.http.endpoints import Endpoint, Routes
from tidings.http.requests import SMALL_BODY_SIZE, BodyPace, Request, RequestTooSlow
from tidings.http.surface import THREADS_FOR_INCOMPLETE, Surface

routes = Routes()
RELEASED = threading.Event()
KEY = {"Authorization": "GoogleLogin auth=alice/secret"}


class Edit(Form, frozen=True):
    i: tuple[str, ...] = ()
    a: str = ""


class Ask(Query, frozen=True):
    s: tuple[str, ...] = ()
    n: int | None = None


class Name(Struct, frozen=True):
    """Who is calling."""

    text: str


class Mobile(Surface[Name]):
    def __init__(self) -> None:
        super().__init__(
            routes.all, {Name: lambda call: call.context}, name="mobile", max_concurrency=1, prefix="/mobile"
        )

    def identify(self, request: Request, endpoint: Endpoint | None) -> Name:  # noqa: ARG002
        name, _, secret = request.headers.get("authorization", "").removeprefix("GoogleLogin auth=").partition("/")
        if secret != "secret":
            raise Unauthorized(verbatim("Sign in."))
        return Name(name)

    def render_error(self, error: Exception, request: Request, context: Name | None) -> Response:  # noqa: ARG002
        if isinstance(error, Unauthorized):
            return PlainTextResponse("Error=BadAuthentication\n", 401, {"X-Reader-Google-Bad-Token": "true"})
        if isinstance(error, HTTPException):
            return PlainTextResponse("Error=NoSuchAddress\n", error.status_code, error.headers)
        return PlainTextResponse(f"Error={error}\n", 400 if isinstance(error, TidingsError) else 500)


@routes.post("/mobile/edit")
def edit(who: Name, form: Edit) -> Response:
    return PlainTextResponse(f"{who.text} {form.a} {' '.join(form.i)}")


class Mark(QueryOrForm, frozen=True):
    s: str = ""
    i: tuple[str, ...] = ()


@routes.post("/mobile/mark")
def mark(query: Mark) -> dict[str, Any]:
    return {"s": query.s, "i": query.i}


@routes.get("/mobile/stream/{name:path}")
def show_stream(name: str) -> dict[str, str]:
    return {"name": name}


@routes.get("/mobile/stream/own")
def show_own_stream() -> dict[str, str]:
    return {"own": "yes"}


@routes.get("/mobile/items/{item_id}")
def show(item_id: int, query: Ask) -> dict[str, Any]:
    if item_id == 404:
        raise NotFound(verbatim("There is no item 404."))
    return {"id": item_id, "s": query.s, "n": query.n}


@routes.get("/mobile/export")
async def export(who: Name) -> Response:
    return StreamingResponse((f"{who.text} {number}\n" for number in range(3)), media_type="text/plain")


@routes.get("/mobile/long")
def show_long() -> Response:
    return PlainTextResponse("x" * 2_000)


@routes.get("/mobile/slow")
def wait_for_release() -> None:
    assert RELEASED.wait(timeout=60)


@routes.get("/mobile/broken")
def fail() -> None:
    raise ZeroDivisionError("secret detail")


@pytest.fixture
def client() -> Iterator[TestClient]:
    with closing(Mobile()) as surface:
        yield TestClient(Router([Mount("/mobile", surface)], redirect_slashes=False), headers=KEY)


@pytest.mark.parametrize("path", ["/mobile/items/1", "/mobile/edit", "/mobile/nothing"])
def test_credentials_are_checked_before_the_route(client: TestClient, path: str) -> None:
    answer = client.get(path, headers={"Authorization": ""})

    assert (answer.status_code, answer.text) == (401, "Error=BadAuthentication\n")
    assert answer.headers["x-reader-google-bad-token"] == "true"


def test_a_form_and_a_query_may_repeat_a_name(client: TestClient) -> None:
    assert client.post("/mobile/edit", data={"i": ["1", "2"], "a": "read"}).text == "alice read 1 2"
    assert client.get("/mobile/items/7?s=a&s=b&n=x").json() == {"id": 7, "s": ["a", "b"], "n": None}


def test_parameters_may_stand_in_the_query_and_in_the_form(client: TestClient) -> None:
    answer = client.post("/mobile/mark?s=query&i=1", data={"s": "form", "i": ["2", "3"]})

    assert answer.json() == {"s": "query", "i": ["1", "2", "3"]}
    assert client.post("/mobile/mark?s=query").json() == {"s": "query", "i": []}


def test_the_rest_of_a_path_may_have_slashes(client: TestClient) -> None:
    for rest in ("feed/1", "feed/http://example.org/a//b", "a", ""):
        assert client.get(f"/mobile/stream/{rest}").json() == {"name": rest}
    assert client.get("/mobile/stream/feed%2F1%3Fa%3Db").json() == {"name": "feed/1?a=b"}
    assert client.get("/mobile/stream/own").json() == {"own": "yes"}
    refused = client.post("/mobile/stream/feed/1")
    assert (refused.status_code, refused.headers["allow"]) == (405, "GET, HEAD")


def test_errors_are_rendered_by_the_surface(client: TestClient) -> None:
    assert client.get("/mobile/items/404").text == "Error=There is no item 404.\n"
    assert client.get("/mobile/items/0").status_code == 400
    assert client.get("/mobile/nothing").text == "Error=NoSuchAddress\n"
    refused = client.get("/mobile/edit")
    assert (refused.status_code, refused.headers["allow"]) == (405, "POST")


def test_a_body_is_limited(client: TestClient) -> None:
    assert client.post("/mobile/edit", content=b"a=" + b"x" * 2**20).text == (
        "Error=This request is too large: 1 MiB at most.\n"
    )


def test_a_response_may_be_streamed_and_a_long_one_is_compressed(client: TestClient) -> None:
    assert client.get("/mobile/export").text == "alice 0\nalice 1\nalice 2\n"
    assert client.get("/mobile/long", headers={"Accept-Encoding": "gzip"}).headers["content-encoding"] == "gzip"


class Small(Mobile):
    max_waiting = 3


async def ask(
    surface: Surface[Name], path: str, *, method: str = "GET", body_size: int = 0, body: bytes | None = b""
) -> tuple[int, str]:
    """Return status and Retry-After. body: None if it never arrives."""
    sent: list[Any] = []

    async def send(message: Any) -> None:
        sent.append(message)

    async def receive() -> dict[str, Any]:
        if body is None:
            await asyncio.Event().wait()
        return {"type": "http.request", "body": body}

    headers = [(name.lower().encode(), value.encode()) for name, value in KEY.items()]
    headers.append((b"content-length", str(body_size).encode()))
    scope = {"type": "http", "method": method, "path": path, "query_string": b"", "headers": headers}
    await surface(scope | {"http_version": "1.1", "client": ("127.0.0.1", 1)}, receive, send)
    return sent[0]["status"], dict(sent[0]["headers"]).get(b"retry-after", b"").decode()


def test_more_requests_than_may_wait_are_refused_at_once() -> None:
    async def all_statuses() -> list[tuple[int, str]]:
        with closing(Small()) as surface:
            waiting = [asyncio.create_task(ask(surface, "/slow")) for _ in range(Small.max_waiting)]
            await asyncio.sleep(0)
            refused = await ask(surface, "/items/1")
            RELEASED.set()
            return [refused, *(await asyncio.gather(*waiting)), await ask(surface, "/items/1")]

    assert asyncio.run(all_statuses()) == [(503, "2"), (200, ""), (200, ""), (200, ""), (200, "")]


@pytest.mark.slow
@pytest.mark.parametrize("body_size", [10, 1_000_000])
def test_requests_whose_body_has_not_arrived_leave_their_threads_to_others(body_size: int) -> None:
    """They fill neither the queue nor the threads: while they are identified, and while they are told of the end."""
    released = threading.Event()
    stuck: list[str] = []

    class Stuck(Small):
        body_pace = BodyPace(limit_s=0.05)

        def identify(self, request: Request, endpoint: Endpoint | None) -> Name:
            if int(request.headers["content-length"]) > SMALL_BODY_SIZE:
                stuck.append("while it is identified")
                assert released.wait(timeout=60)
            return super().identify(request, endpoint)

        def render_error(self, error: Exception, request: Request, context: Name | None) -> Response:
            if isinstance(error, RequestTooSlow):
                stuck.append("while it is told of the end")
                assert released.wait(timeout=60)
            return super().render_error(error, request, context)

    async def answered_meanwhile() -> tuple[list[int], set[int]]:
        with closing(Stuck()) as surface:
            half_sent = [
                asyncio.create_task(ask(surface, "/edit", method="POST", body_size=body_size, body=None))
                for _ in range(4 * Small.max_waiting)
            ]
            async with asyncio.timeout(60):
                await asyncio.wait(half_sent, return_when=asyncio.FIRST_COMPLETED)
                while len(stuck) < THREADS_FOR_INCOMPLETE:  # noqa: ASYNC110 - threads say it
                    await asyncio.sleep(0.01)
            others = [await ask(surface, "/items/1"), await ask(surface, "/edit", method="POST", body=b"")]
            released.set()
            refused = await asyncio.gather(*half_sent)
            return [status for status, _ in others], {status for status, _ in refused}

    others, refused = asyncio.run(answered_meanwhile())

    assert others == [200, 200]
    assert refused == {400, 503}


def test_head_has_the_headers_of_get(client: TestClient) -> None:
    answer = client.head("/mobile/items/7")

    assert (answer.status_code, answer.content) == (200, b"")
    assert int(answer.headers["content-length"]) == len(client.get("/mobile/items/7").content)


def test_a_cookie_in_quotes_is_read_without_its_backslashes() -> None:
    async def receive() -> dict[str, Any]:
        raise AssertionError

    header = rb'a="\"x\073 \y"; b="; c= d ; e; =f'
    request = Request({"type": "http", "headers": [(b"cookie", header)]}, receive)

    assert request.cookies == {"a": '"x; y', "b": '"', "c": "d", "": "f"}


def test_of_several_cookies_of_one_name_the_first_counts() -> None:
    async def receive() -> dict[str, Any]:
        raise AssertionError

    headers = [(b"cookie", b"a=1; b=2; a=3"), (b"x-forwarded-for", b"evil"), (b"x-forwarded-for", b"fake, 10.0.0.1")]
    request = Request({"type": "http", "headers": headers, "client": ("127.0.0.1", 1)}, receive)

    assert request.cookies == {"a": "1", "b": "2"}
    assert request.address([ip_network("127.0.0.0/8")]) == "10.0.0.1"


def test_a_parameter_without_a_source_is_an_error_at_the_start() -> None:
    def handler(odd: float) -> None: ...

    with pytest.raises(TypeError, match="odd"):
        Surface([Endpoint("GET", "/x", handler)], {}, name="x", max_concurrency=1)
