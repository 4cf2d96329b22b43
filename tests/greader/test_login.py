"""Signing in: ClientLogin, tokens, and the edit token of a POST."""

from __future__ import annotations

import secrets
from urllib.parse import urlencode

import pytest

from greader.apps import FORM, MOUNTS, App, with_password
from support.people import PASSWORD, Cast, HttpResponse, Person, call
from support.visitors import Visitor
from tidings.base.times import Instant
from tidings.domain.accounts.throttle import buckets_of
from tidings.greader.app import BAD_TOKEN
from tidings.storage.accounts import sign_in_failures

pytestmark = [pytest.mark.slow, pytest.mark.one_engine]


@pytest.fixture(params=MOUNTS, ids=["root", "freshrss"])
def app(request: pytest.FixtureRequest, alice: Person) -> App:
    """An app at each of the paths of the API."""
    return with_password(alice, request.param)


def is_refused(answer: HttpResponse) -> bool:
    """Check the header by which clients decide to request another token, or the password."""
    headers = {name.lower(): value for name, value in BAD_TOKEN.items()}
    return answer.status == 401 and answer.body == b"Unauthorized" and headers.items() <= answer.headers.items()


def test_a_login_returns_three_lines_with_the_same_token(app: App, alice: Person) -> None:
    password = alice.post("/v1/api-passwords", {"name": "Vienna"})["password"]
    answer = app.login(Email=alice.user.username, Passwd=password, service="reader", accountType="HOSTED_OR_GOOGLE")

    assert (answer.status, answer.headers["content-type"]) == (200, "text/plain; charset=utf-8")
    names, values = zip(*(line.split("=", 1) for line in answer.body.decode().splitlines()), strict=True)
    assert names == ("SID", "LSID", "Auth")
    assert len(set(values)) == 1
    assert values[0].startswith(f"{alice.user.username}/")
    assert answer.body.endswith(b"\n")
    again = app.login(Email=alice.user.username.upper(), Passwd=f" {password} ")
    assert again.body == answer.body


def test_a_login_returns_json_on_request(app: App, alice: Person) -> None:
    answer = app.login(Email=alice.user.username, Passwd=PASSWORD, output="json")

    assert answer.headers["content-type"] == "application/json"
    assert set(answer.json()) == {"SID", "LSID", "Auth"}


def test_a_login_may_use_get(app: App, alice: Person) -> None:
    query = urlencode({"Email": alice.user.username, "Passwd": PASSWORD})
    answer = call(alice.service.url, "GET", f"{app.mount}/accounts/ClientLogin?{query}")

    assert answer.status == 200
    assert b"Auth=" in answer.body


def test_the_password_of_the_account_works_unless_the_user_forbids_it(app: App, alice: Person) -> None:
    given = {"Email": alice.user.username, "Passwd": PASSWORD}
    own = App(alice, app.mount).sign_in()
    assert own.get("user-info")["userId"] == str(alice.id)

    alice.put(f"/v1/users/{alice.id}", {"allow_account_password_in_apps": False}, status=201)

    assert is_refused(app.login(**given))
    assert is_refused(own.call("GET", "user-info"))
    assert app.get("user-info")["userId"] == str(alice.id)


@pytest.mark.parametrize(
    "given",
    [
        {},
        {"Email": "{alice}"},
        {"Passwd": PASSWORD},
        {"Email": "{alice}", "Passwd": ""},
        {"Email": "{alice}", "Passwd": "wrong horse"},
        {"Email": "{alice}/x", "Passwd": PASSWORD},
        {"Email": "nobody", "Passwd": PASSWORD},
        {"Email": "x" * 5_000, "Passwd": "y" * 5_000},
    ],
)
def test_a_failed_login_is_401(app: App, alice: Person, given: dict[str, str]) -> None:
    answer = app.login(**{name: value.replace("{alice}", alice.user.username) for name, value in given.items()})

    assert is_refused(answer)


def test_failed_logins_count_for_the_throttle(alice: Person) -> None:
    app = App(alice)
    answers = [app.login(Email=alice.user.username, Passwd="guess") for _ in range(7)]

    assert {answer.status for answer in answers} == {401}
    (of_name, *_others) = buckets_of(alice.user.username, "127.0.0.1")
    with alice.service.services.reading() as db:
        counts = sign_in_failures.failure_counts(db, [of_name.key], since=Instant(0))
    assert counts[of_name.key].failures == 7


@pytest.mark.parametrize("header", ["GoogleLogin auth={}", "googlelogin  AUTH = {}", " GoogleLogin auth={} "])
def test_the_authorization_header_has_several_accepted_spellings(app: App, header: str) -> None:
    answer = app.call("GET", "user-info", headers={"Authorization": header.format(app.token)})

    assert answer.status == 200


@pytest.mark.parametrize(
    "header",
    ["", "Basic YTpi", "GoogleLogin", "GoogleLogin auth=", "GoogleLogin auth=x", "GoogleLogin auth={}x", "Bearer {}"],
)
@pytest.mark.parametrize("method", ["GET", "POST"])
def test_any_other_header_is_401(app: App, method: str, header: str) -> None:
    path = "tag/list" if method == "GET" else "edit-tag"

    assert is_refused(app.call(method, path, headers={"Authorization": header.format(app.token)}))


def test_a_deleted_password_ends_its_token(app: App, alice: Person) -> None:
    (password,) = alice.get("/v1/api-passwords")
    assert password["last_used_at"] is not None

    alice.delete(f"/v1/api-passwords/{password['id']}")

    assert is_refused(app.call("GET", "user-info"))


@pytest.mark.parametrize("sent", [{}, {"T": ""}, {"T": "x"}, {"T": "{token}"}, {"T": "{token}\n"}])
def test_a_post_with_a_header_needs_no_edit_token(app: App, sent: dict[str, str]) -> None:
    fields = {name: value.replace("{token}", app.token) for name, value in sent.items()}

    assert app.post("mark-all-as-read", {"s": "user/-/state/com.google/reading-list", **fields}) == "OK"


def test_a_wrong_edit_token_is_401_even_with_a_header(app: App, bobs: App) -> None:
    for wrong in ("y", app.token[:-1], bobs.token):
        assert is_refused(app.call("POST", "edit-tag", {"i": "1", "T": wrong}))
        assert is_refused(app.call("POST", "edit-tag", {"i": "1"}, query={"T": wrong}))


def test_a_post_needs_only_its_edit_token(app: App, alice: Person) -> None:
    edit_token = app.call("GET", "token").body.decode()
    stranger = App(alice, app.mount)

    assert stranger.post("edit-tag", {"i": "1", "T": edit_token}) == "OK"
    assert is_refused(stranger.call("POST", "edit-tag", {"i": "1", "T": "x"}))
    assert is_refused(stranger.call("POST", "edit-tag", {"i": "1", "T": ""}))
    assert is_refused(stranger.call("GET", "tag/list", query={"T": edit_token.strip()}))


def test_a_body_that_is_too_large_for_a_stranger_is_not_read(alice: Person) -> None:
    body = b"i=" + b"1" * 2**20

    answer = call(alice.service.url, "POST", "/reader/api/0/edit-tag", body, {"Content-Type": FORM})

    assert answer.status in (400, 401)


def test_the_edit_token_never_changes_and_ends_with_a_line_break(app: App) -> None:
    answers = [app.call("GET", "token") for _ in range(2)]

    assert answers[0].body == answers[1].body == f"{app.token}\n".encode()
    assert answers[0].headers["content-type"] == "text/plain; charset=utf-8"
    vienna = app.call("GET", "token", headers={"User-Agent": "Vienna/3.9"}).body
    assert vienna == (f"{app.token}\n" if app.mount else app.token).encode()


def test_a_browser_session_gives_no_access(app: App, alice: Person) -> None:
    browser = Visitor(alice.service, alice)
    browser.sign_in()

    assert is_refused(browser.get(f"{app.mount}/reader/api/0/tag/list"))


def test_preflight_requests_of_any_origin_are_answered(app: App, alice: Person) -> None:
    headers = {"Origin": "https://app.example", "Access-Control-Request-Headers": "authorization"}
    for path in ("/reader/api/0/tag/list", "/accounts/ClientLogin"):
        answer = call(alice.service.url, "OPTIONS", app.mount + path, headers=headers)

        assert (answer.status, answer.headers["access-control-allow-origin"]) == (204, "*")
        assert "Authorization" in answer.headers["access-control-allow-headers"]
        assert {"GET", "POST"} == set(answer.headers["access-control-allow-methods"].split(", "))


def test_the_compatibility_check_of_freshrss_is_answered(alice: Person) -> None:
    url = alice.service.url
    for path in ("/api/greader.php", "/api/greader.php/"):
        answer = call(url, "GET", path)
        assert (answer.status, answer.body) == (200, b"OK")
    check = "/api/greader.php/check/compatibility"
    assert call(url, "GET", check, headers={"Authorization": "GoogleLogin auth=test/1"}).body == b"PASS"
    assert call(url, "GET", check).body.startswith(b"FAIL")


def test_the_prefix_of_freshrss_may_occur_twice(alice: Person) -> None:
    app = App(alice, "/api/greader.php/api/greader.php").sign_in()

    assert app.get("user-info")["userName"] == alice.user.username


@pytest.mark.parametrize("path", ["nothing", "stream", "stream/items", "item/edit"])
def test_an_unknown_path_is_404_with_a_token_and_401_without(app: App, alice: Person, path: str) -> None:
    assert app.call("GET", path).status == 404
    assert is_refused(App(alice, app.mount).call("GET", path))


def test_get_of_a_post_route_is_405(app: App) -> None:
    answer = app.call("GET", "edit-tag")

    assert (answer.status, answer.headers["allow"]) == (405, "POST")


def test_a_name_of_any_letters_can_be_used(cast: Cast, app: App) -> None:
    """Apps send the token in a header, which has ASCII only."""
    joerg = App(cast.person("jörg", username=f"jörg-{secrets.token_hex(4)}"), app.mount).sign_in()

    assert joerg.token.isascii()
    assert joerg.get("user-info")["userName"] == joerg.person.user.username
    assert joerg.get("user-info")["userId"] == str(joerg.person.id)
    raw = f"Email={joerg.person.user.username}&Passwd={PASSWORD}".encode()
    path, url = f"{app.mount}/accounts/ClientLogin", joerg.person.service.url
    assert joerg.token.encode() in call(url, "POST", path, raw, {"Content-Type": FORM}).body


def test_an_edit_token_is_enough_beside_an_old_header(app: App, alice: Person) -> None:
    stale = {"Authorization": f"GoogleLogin auth={alice.user.username}/00"}
    edit = {"s": "user/-/state/com.google/reading-list", "T": app.token}

    assert app.call("POST", "mark-all-as-read", edit, headers=stale).body == b"OK"
    assert is_refused(app.call("POST", "mark-all-as-read", {**edit, "T": f"{app.token}0"}, headers=stale))
    assert is_refused(app.call("GET", "user-info", query={"T": app.token}, headers=stale))


def test_a_page_in_a_browser_can_see_that_its_token_is_refused(app: App) -> None:
    exposed = app.call("GET", "user-info", headers={"Authorization": "GoogleLogin auth=x/y"}).headers
    assert set(BAD_TOKEN) <= set(exposed["access-control-expose-headers"].split(", "))


@pytest.mark.parametrize(
    "typed", ["/", "//", "/api/greader.php/", "/api/greader.php//", "/api/greader.php/api/greader.php/"]
)
def test_the_address_may_end_with_a_slash(app: App, alice: Person, typed: str) -> None:
    """An app adds /accounts and /reader to what the user typed."""
    body = urlencode({"Email": alice.user.username, "Passwd": PASSWORD}).encode()
    login = call(alice.service.url, "POST", f"{typed}/accounts/ClientLogin", body, {"Content-Type": FORM})
    assert login.status == 200
    header = {"Authorization": f"GoogleLogin auth={app.token}"}
    assert call(alice.service.url, "GET", f"{typed}/reader/api/0/user-info", headers=header).status == 200
    assert call(alice.service.url, "GET", f"{typed}/reader/api/0/user-info").status == 401


@pytest.mark.parametrize("path", ["/api/greader.php", "/api/greader.php/", "/api/greader.php/api/greader.php"])
def test_the_address_shows_that_the_api_is_here(alice: Person, path: str) -> None:
    assert call(alice.service.url, "GET", path).body == b"OK"
