"""What holds for every page, asked of every route in the table."""

from __future__ import annotations

import re
import socket
from collections.abc import Callable, Iterable
from typing import Any

import pytest

from support.people import Answer, Person, call
from support.running import RunningService
from support.visitors import Visitor
from tidings.http.endpoints import Endpoint
from tidings.web import ROUTES

CLOSED = [route for route in ROUTES if not route.is_open]
POSTS = [route for route in ROUTES if route.method == "POST"]
ADMINS = [route for route in ROUTES if route.admin]
PAGES = [route for route in ROUTES if route.method == "GET" and "{" not in route.path]


def name(route: Endpoint) -> str:
    return f"{route.method} {route.path}"


def path(route: Endpoint) -> str:
    return re.sub(r"\{\w+\}", "1", route.path)


@pytest.fixture
def administrator(service: RunningService, charlie: Person) -> Visitor:
    """Whom every page lets in."""
    signed_in = Visitor(service, charlie)
    assert signed_in.sign_in().status == 303
    return signed_in


def ask(visitor: Visitor, route: Endpoint, **more: Any) -> Answer:
    return visitor.get(path(route), **more) if route.method == "GET" else visitor.post(path(route), **more)


def exceptions(routes: Iterable[Endpoint], holds: Callable[[Endpoint], bool]) -> list[str]:
    """The routes of which it does not hold: one sign-in serves to ask all of them."""
    return [name(route) for route in routes if not holds(route)]


def test_there_are_pages_of_every_kind() -> None:
    assert min(len(CLOSED), len(POSTS), len(PAGES), len(ADMINS)) > 5


def test_without_a_session_every_page_sends_to_sign_in(service: RunningService) -> None:
    def sends_to_sign_in(route: Endpoint) -> bool:
        answer = ask(Visitor(service), route)
        return answer.status == 303 and answer.headers["location"].startswith("/sign-in")

    assert exceptions(CLOSED, sends_to_sign_in) == []


def test_what_is_for_administrators_is_refused_to_others(reader: Visitor) -> None:
    assert exceptions(ADMINS, lambda route: ask(reader, route).status == 403) == []


@pytest.mark.parametrize("token", ["", "0" * 40, "not a token"])
def test_a_form_without_its_token_is_refused(token: str, administrator: Visitor) -> None:
    def is_refused(route: Endpoint) -> bool:
        answer = administrator.post(path(route), csrf=token)
        return answer.status == 403 and "Nothing was changed" in answer.body.decode()

    assert exceptions(POSTS, is_refused) == []
    assert administrator.get("/view").status == 200


@pytest.mark.parametrize(
    "headers",
    [{"Sec-Fetch-Site": "cross-site"}, {"Sec-Fetch-Site": "same-site"}, {"Origin": "https://evil.example"}],
    ids=str,
)
def test_a_form_on_somebody_elses_page_is_refused(headers: dict[str, str], administrator: Visitor) -> None:
    def is_refused(route: Endpoint) -> bool:
        assert administrator.token
        return administrator.post(path(route), headers=headers).status == 403

    assert exceptions(POSTS, is_refused) == []
    assert administrator.get("/view").status == 200


def test_a_form_of_somebody_elses_page_is_refused_before_its_body_is_read(administrator: Visitor) -> None:
    cookies = "; ".join(f"{name}={value}" for name, value in administrator.cookies.items())
    head = f"POST /view HTTP/1.1\r\nHost: x\r\nCookie: {cookies}\r\nSec-Fetch-Site: cross-site\r\n"
    host, _, port = administrator.service.url.removeprefix("http://").partition(":")

    with socket.create_connection((host, int(port)), timeout=60) as connection:
        connection.sendall(f"{head}Content-Length: 100000\r\n\r\n".encode())
        assert connection.recv(12) == b"HTTP/1.1 403"


def test_a_form_with_files_is_refused_where_none_are_taken(administrator: Visitor) -> None:
    def is_refused(route: Endpoint) -> bool:
        content = f'--x\r\nContent-Disposition: form-data; name="csrf"\r\n\r\n{administrator.token}\r\n--x--\r\n'
        cookies = "; ".join(f"{name}={value}" for name, value in administrator.cookies.items())
        headers = {"Cookie": cookies, "Content-Type": "multipart/form-data; boundary=x"}
        answer = call(administrator.service.url, "POST", path(route), content.encode(), headers)
        return answer.status == 400 and "takes no files" in answer.body.decode()

    assert exceptions(POSTS, is_refused) == [name(route) for route in POSTS if route.takes_files]
    assert administrator.get("/view").status == 200


def test_a_form_of_ours_passes_whatever_the_browser_tells_of_it(reader: Visitor) -> None:
    host = reader.service.url.removeprefix("http://")
    for headers in ({"Sec-Fetch-Site": "same-origin"}, {"Origin": f"http://{host}"}, {"Origin": "null"}, {}):
        assert reader.post("/view", headers=headers, density="cards").status == 303


def test_the_token_of_one_session_is_worth_nothing_in_another(reader: Visitor, bob: Person) -> None:
    other = Visitor(reader.service, bob)
    other.sign_in()

    assert reader.post("/view", csrf=other.token).status == 403


def test_every_page_says_what_it_may_load(administrator: Visitor) -> None:
    def says(route: Endpoint) -> bool:
        answer = administrator.get(path(route))
        headers = answer.headers
        policy, kind = headers.get("content-security-policy", ""), headers.get("content-type", "")
        if not kind.startswith("text/html"):
            return answer.status == 303 or policy.startswith("default-src 'none'")
        is_strict = (
            "script-src 'self';" in policy and policy.startswith("default-src 'none'") and "unsafe" not in policy
        )
        others = {"x-content-type-options": "nosniff", "referrer-policy": "no-referrer"}
        kept = {"cache-control": "private, no-cache"}
        return is_strict and (others | kept).items() <= {key: headers.get(key) for key in others | kept}.items()

    assert exceptions(PAGES, says) == []


@pytest.mark.parametrize("address", ["/nothing", "/sign-in", "/feeds/1", "/static/x/none.css", "/view"])
def test_so_do_pages_that_tell_what_went_wrong(address: str, visitor: Visitor) -> None:
    for method in ("GET", "POST", "PUT"):
        answer = call(visitor.service.url, method, address)
        if answer.status != 303:
            assert answer.headers["content-security-policy"].startswith("default-src 'none'"), (method, address)


def test_pages_hold_no_script_and_no_style_of_their_own(administrator: Visitor) -> None:
    def is_bare(route: Endpoint) -> bool:
        answer = administrator.get(path(route))
        # Icons are bytes, and can hold any of these.
        is_picture = answer.headers.get("content-type", "").startswith("image/")
        return is_picture or not re.search(r"<script(?![^>]* src=)|<style|\sstyle=|\son\w+=", answer.body.decode())

    assert exceptions(PAGES, is_bare) == []


def test_an_unknown_page_is_404_and_another_method_405(visitor: Visitor) -> None:
    assert visitor.get("/nothing/here").status == 404
    answer = call(visitor.service.url, "DELETE", "/unread")
    assert (answer.status, answer.headers["allow"]) == (405, "GET, HEAD")


def test_head_is_get_without_a_body(reader: Visitor) -> None:
    head = reader.get("/about", method="HEAD")

    assert (head.status, head.body) == (200, b"")
    assert int(head.headers["content-length"]) > 1000


@pytest.mark.parametrize("bad", ["0", "-1", "abc", "9223372036854775808", "%00", "1.5"])
def test_an_id_that_cannot_be_one_is_404(bad: str, reader: Visitor) -> None:
    for address in (f"/feeds/{bad}", f"/unread/{bad}", f"/categories/{bad}"):
        assert reader.get(address).status == 404


@pytest.mark.parametrize("query", ["q=%00", "q=%ff", "%00=1"])
def test_a_query_that_is_no_text_is_400(query: str, reader: Visitor) -> None:
    assert reader.get(f"/search?{query}").status == 400


def test_a_form_that_is_too_large_is_refused(reader: Visitor) -> None:
    answer = reader.post("/view", density="x" * (2**20 + 1))

    assert answer.status == 400
    assert "too large" in answer.body.decode()
