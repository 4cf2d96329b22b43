"""What holds for every page, asked of every route in the table."""

from __future__ import annotations

import re

import pytest

from support.people import Person, call
from support.running import RunningService
from support.visitors import Visitor
from tidings.web import ROUTES
from tidings.web.routes import Route

CLOSED = [route for route in ROUTES if not route.is_open]
POSTS = [route for route in ROUTES if route.method == "POST"]
PAGES = [route for route in ROUTES if route.method == "GET" and "{" not in route.path]


def name(route: Route) -> str:
    return f"{route.method} {route.path}"


def path(route: Route) -> str:
    return re.sub(r"\{\w+\}", "1", route.path)


@pytest.fixture
def administrator(service: RunningService, charlie: Person) -> Visitor:
    """Whom every page lets in."""
    signed_in = Visitor(service, charlie)
    assert signed_in.sign_in().status == 303
    return signed_in


@pytest.mark.parametrize("route", CLOSED, ids=name)
def test_without_a_session_every_page_sends_to_sign_in(route: Route, visitor: Visitor) -> None:
    answer = visitor.get(path(route)) if route.method == "GET" else visitor.post(path(route))

    assert answer.status == 303
    assert answer.headers["location"].startswith("/sign-in")


@pytest.mark.parametrize("route", [route for route in ROUTES if route.admin], ids=name)
def test_what_is_for_administrators_is_refused_to_others(route: Route, reader: Visitor) -> None:
    answer = reader.get(path(route)) if route.method == "GET" else reader.post(path(route))

    assert answer.status == 403


@pytest.mark.parametrize("route", POSTS, ids=name)
@pytest.mark.parametrize("token", ["", "0" * 40, "not a token"])
def test_a_form_without_its_token_is_refused(route: Route, token: str, administrator: Visitor) -> None:
    answer = administrator.post(path(route), csrf=token)

    assert answer.status == 403
    assert "Nothing was changed" in answer.body.decode()


@pytest.mark.parametrize("route", POSTS, ids=name)
@pytest.mark.parametrize(
    "headers",
    [{"Sec-Fetch-Site": "cross-site"}, {"Sec-Fetch-Site": "same-site"}, {"Origin": "https://evil.example"}],
    ids=str,
)
def test_a_form_on_somebody_elses_page_is_refused(
    route: Route, headers: dict[str, str], administrator: Visitor
) -> None:
    assert administrator.post(path(route), headers=headers).status == 403


def test_a_form_of_ours_passes_whatever_the_browser_tells_of_it(reader: Visitor) -> None:
    host = reader.service.url.removeprefix("http://")
    for headers in ({"Sec-Fetch-Site": "same-origin"}, {"Origin": f"http://{host}"}, {"Origin": "null"}, {}):
        assert reader.post("/view", headers=headers, density="cards").status == 303


def test_the_token_of_one_session_is_worth_nothing_in_another(reader: Visitor, bob: Person) -> None:
    other = Visitor(reader.service, bob)
    other.sign_in()

    assert reader.post("/view", csrf=other.token).status == 403


@pytest.mark.parametrize("route", PAGES, ids=name)
def test_every_page_says_what_it_may_load(route: Route, administrator: Visitor) -> None:
    answer = administrator.get(path(route))

    policy = answer.headers.get("content-security-policy", "")
    assert answer.status == 303 or policy.startswith("default-src 'none'")
    assert "unsafe" not in policy or answer.headers["content-type"] != "text/html; charset=utf-8"
    if answer.headers.get("content-type", "").startswith("text/html"):
        assert "script-src 'self';" in policy
        assert answer.headers["x-content-type-options"] == "nosniff"
        assert answer.headers["referrer-policy"] == "no-referrer"
        assert answer.headers["cache-control"] == "private, no-cache"


@pytest.mark.parametrize("address", ["/nothing", "/sign-in", "/feeds/1", "/static/x/none.css", "/view"])
def test_so_do_pages_that_tell_what_went_wrong(address: str, visitor: Visitor) -> None:
    for method in ("GET", "POST", "PUT"):
        answer = call(visitor.service.url, method, address)
        if answer.status != 303:
            assert answer.headers["content-security-policy"].startswith("default-src 'none'"), (method, address)


@pytest.mark.parametrize("route", PAGES, ids=name)
def test_pages_hold_no_script_and_no_style_of_their_own(route: Route, administrator: Visitor) -> None:
    answer = administrator.get(path(route))
    # Icons are bytes, and can hold any of these.
    is_picture = answer.headers.get("content-type", "").startswith("image/")
    text = "" if is_picture else answer.body.decode()

    assert not re.search(r"<script(?![^>]* src=)|<style|\sstyle=|\son\w+=", text)


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
