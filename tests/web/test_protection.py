"""What holds for every page, asked of every route in the table."""

from __future__ import annotations

import re
import socket
from collections.abc import Callable, Iterable
from typing import Any

import pytest

from support.people import HttpResponse, Person, call
from support.running import RunningService
from support.visitors import Visitor
from tidings.http.endpoints import Endpoint
from tidings.wiring.routes import PAGE_ROUTES

pytestmark = pytest.mark.slow

CLOSED = [route for route in PAGE_ROUTES if not route.is_public]
POSTS = [route for route in PAGE_ROUTES if route.method == "POST"]
ADMINS = [route for route in PAGE_ROUTES if route.admin]
WITH_SECRETS = frozenset(
    {"/settings/bridges", "/settings/sign-in/app", "/settings/integrations/webhooks/new", "/newsletters"}
)
PAGES = [route for route in PAGE_ROUTES if route.method == "GET" and "{" not in route.path]


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


def send_request(visitor: Visitor, route: Endpoint, **more: Any) -> HttpResponse:
    return visitor.get(path(route), **more) if route.method == "GET" else visitor.post(path(route), **more)


def routes_where_not(routes: Iterable[Endpoint], condition: Callable[[Endpoint], bool]) -> list[str]:
    """The routes of which it does not hold: one sign-in serves to ask all of them."""
    return [name(route) for route in routes if not condition(route)]


def test_each_kind_of_route_exists() -> None:
    assert min(len(CLOSED), len(POSTS), len(PAGES), len(ADMINS)) > 5


@pytest.mark.slow
def test_without_a_session_every_page_sends_to_sign_in(service: RunningService) -> None:
    def sends_to_sign_in(route: Endpoint) -> bool:
        answer = send_request(Visitor(service), route)
        return answer.status == 303 and answer.headers["location"].startswith("/sign-in")

    assert routes_where_not(CLOSED, sends_to_sign_in) == []


def test_pages_of_administrators_refuse_other_users(reader: Visitor) -> None:
    assert routes_where_not(ADMINS, lambda route: send_request(reader, route).status == 403) == []


@pytest.mark.parametrize("token", ["", "0" * 40, "not a token"])
def test_a_form_without_its_token_is_refused(token: str, administrator: Visitor) -> None:
    def is_refused(route: Endpoint) -> bool:
        answer = administrator.post(path(route), csrf=token)
        return answer.status == 403 and "Nothing was changed" in answer.body.decode()

    assert routes_where_not(POSTS, is_refused) == []
    assert administrator.get("/view").status == 200


@pytest.mark.parametrize(
    "headers",
    [{"Sec-Fetch-Site": "cross-site"}, {"Sec-Fetch-Site": "same-site"}, {"Origin": "https://evil.example"}],
    ids=str,
)
def test_a_form_of_another_site_is_refused(headers: dict[str, str], administrator: Visitor) -> None:
    def is_refused(route: Endpoint) -> bool:
        assert administrator.token
        return administrator.post(path(route), headers=headers).status == 403

    assert routes_where_not(POSTS, is_refused) == []
    assert administrator.get("/view").status == 200


def test_a_form_of_another_site_is_refused_before_its_body_is_read(administrator: Visitor) -> None:
    cookies = "; ".join(f"{name}={value}" for name, value in administrator.cookies.items())
    head = f"POST /view HTTP/1.1\r\nHost: x\r\nCookie: {cookies}\r\nSec-Fetch-Site: cross-site\r\n"
    host, _, port = administrator.service.url.removeprefix("http://").partition(":")

    with socket.create_connection((host, int(port)), timeout=60) as connection:
        connection.sendall(f"{head}Content-Length: 100000\r\n\r\n".encode())
        assert connection.recv(12) == b"HTTP/1.1 403"


@pytest.mark.slow
def test_a_form_with_files_is_refused_where_none_are_taken(administrator: Visitor) -> None:
    def is_refused(route: Endpoint) -> bool:
        content = f'--x\r\nContent-Disposition: form-data; name="csrf"\r\n\r\n{administrator.token}\r\n--x--\r\n'
        cookies = "; ".join(f"{name}={value}" for name, value in administrator.cookies.items())
        headers = {"Cookie": cookies, "Content-Type": "multipart/form-data; boundary=x"}
        answer = call(administrator.service.url, "POST", path(route), content.encode(), headers)
        return answer.status == 400 and "takes no files" in answer.body.decode()

    assert routes_where_not(POSTS, is_refused) == [
        name(route) for route in POSTS if route.accepts_files or route.accepts_upload
    ]
    assert administrator.get("/view").status == 200


def test_a_form_of_our_pages_is_accepted_with_any_headers_of_browsers(reader: Visitor) -> None:
    host = reader.service.url.removeprefix("http://")
    for headers in ({"Sec-Fetch-Site": "same-origin"}, {"Origin": f"http://{host}"}, {"Origin": "null"}, {}):
        assert reader.post("/view", headers=headers, density="cards").status == 303


def test_the_csrf_token_of_one_session_is_invalid_in_another(reader: Visitor, bob: Person) -> None:
    other = Visitor(reader.service, bob)
    other.sign_in()

    assert reader.post("/view", csrf=other.token).status == 403


@pytest.mark.slow
def test_every_page_has_a_content_security_policy(administrator: Visitor) -> None:
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
        # A page with a secret is not even kept for the Back button.
        kept = {"cache-control": "no-store" if path(route) in WITH_SECRETS else "private, no-cache"}
        return is_strict and (others | kept).items() <= {key: headers.get(key) for key in others | kept}.items()

    assert routes_where_not(PAGES, says) == []


@pytest.mark.parametrize("address", ["/nothing", "/sign-in", "/feeds/1", "/static/x/none.css", "/view"])
def test_error_pages_have_a_content_security_policy(address: str, visitor: Visitor) -> None:
    for method in ("GET", "POST", "PUT"):
        answer = call(visitor.service.url, method, address)
        if answer.status != 303:
            assert answer.headers["content-security-policy"].startswith("default-src 'none'"), (method, address)


@pytest.mark.slow
def test_pages_have_no_inline_scripts_or_styles(administrator: Visitor) -> None:
    def is_bare(route: Endpoint) -> bool:
        answer = administrator.get(path(route))
        # Icons and archives are bytes, and can hold any of these.
        is_binary = answer.headers.get("content-type", "").startswith(("image/", "application/zip"))
        return is_binary or not re.search(r"<script(?![^>]* src=)|<style|\sstyle=|\son\w+=", answer.body.decode())

    assert routes_where_not(PAGES, is_bare) == []


def test_an_unknown_page_is_404_and_another_method_405(visitor: Visitor) -> None:
    assert visitor.get("/nothing/here").status == 404
    answer = call(visitor.service.url, "DELETE", "/unread")
    assert (answer.status, answer.headers["allow"]) == (405, "GET, HEAD")


def test_head_has_no_body(reader: Visitor) -> None:
    head = reader.get("/about", method="HEAD")

    assert (head.status, head.body) == (200, b"")
    assert int(head.headers["content-length"]) > 1000


@pytest.mark.parametrize("invalid_id", ["0", "-1", "abc", "9223372036854775808", "%00", "1.5"])
def test_an_invalid_id_is_404(invalid_id: str, reader: Visitor) -> None:
    for address in (f"/feeds/{invalid_id}", f"/unread/{invalid_id}", f"/categories/{invalid_id}"):
        assert reader.get(address).status == 404


@pytest.mark.parametrize("query", ["query=%00", "q=%ff", "%00=1"])
def test_a_query_that_is_not_utf8_is_400(query: str, reader: Visitor) -> None:
    assert reader.get(f"/search?{query}").status == 400


def test_a_form_that_is_too_large_is_refused(reader: Visitor) -> None:
    answer = reader.post("/view", density="x" * (2**20 + 1))

    assert answer.status == 400
    assert "too large" in answer.body.decode()
