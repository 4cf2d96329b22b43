"""A reverse proxy names the user in a header: it counts from trusted networks, and on pages only."""

from __future__ import annotations

import secrets
import socket
from collections.abc import Iterator

import pytest

from sign_in.conftest import username_of
from support.databases import Databases
from support.people import Cast, basic, call
from support.running import RunningService, running_service
from support.visitors import Visitor

pytestmark = [pytest.mark.slow, pytest.mark.one_engine]

HEADER = "Remote-User"


@pytest.fixture(scope="module")
def proxied(databases: Databases, tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningService]:
    """A service behind a proxy that signs users in, and creates them."""
    settings = {
        "auth_proxy_header": HEADER,
        "auth_proxy_user_creation": "1",
        "auth_proxy_logout_url": "https://auth.example.org/logout?rd=1",
    }
    with databases.migrated() as url, running_service(url, tmp_path_factory.mktemp("proxied"), **settings) as running:
        yield running


@pytest.fixture(scope="module")
def strict(databases: Databases, tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningService]:
    """A service whose proxy, which creates no users, is not the one that tests connect from."""
    settings = {"auth_proxy_header": HEADER, "trusted_reverse_proxy_networks": "192.0.2.0/24"}
    with databases.migrated() as url, running_service(url, tmp_path_factory.mktemp("strict"), **settings) as running:
        yield running


def new_name() -> str:
    return f"user-{secrets.token_hex(4)}"


def named(visitor: Visitor, name: str) -> str:
    """Return the account of the settings page, "" for none, to a request that names a user."""
    return username_of(visitor.get("/settings", headers={HEADER: name}))


def test_the_named_user_is_signed_in_and_created(proxied: RunningService) -> None:
    name, visitor = new_name(), Visitor(proxied)

    assert named(visitor, name) == name
    sessions = len(visitor.cookies)
    assert named(visitor, name.upper()) == name
    assert len(visitor.cookies) == sessions


def test_one_session_serves_all_requests_of_a_browser(proxied: RunningService) -> None:
    name, visitor = new_name(), Visitor(proxied)
    named(visitor, name)
    cookie = dict(visitor.cookies)
    named(visitor, name)

    user = proxied.services.accounts.users.find(name)
    assert visitor.cookies == cookie
    assert [session.method for session in proxied.services.accounts.sessions.list_all(user.id)] == ["proxy"]


def test_the_proxy_decides_who_is_signed_in(proxied: RunningService) -> None:
    one, other, visitor = new_name(), new_name(), Visitor(proxied)
    named(visitor, one)

    assert named(visitor, other) == other
    assert proxied.services.accounts.sessions.list_all(proxied.services.accounts.users.find(one).id) == []


def test_a_session_of_the_proxy_does_not_count_without_the_header(proxied: RunningService) -> None:
    name, visitor = new_name(), Visitor(proxied)
    named(visitor, name)

    assert username_of(visitor.get("/settings")) == ""


def test_a_password_still_works_without_the_header(proxied: RunningService) -> None:
    alice = Cast(proxied).person("alice")
    visitor = Visitor(proxied, alice)
    visitor.sign_in()

    assert username_of(visitor.get("/settings")) == alice.user.username


def test_the_sign_in_page_is_not_needed(proxied: RunningService) -> None:
    answer = Visitor(proxied).get("/sign-in?next=/feeds", headers={HEADER: new_name()})

    assert (answer.status, answer.headers["location"]) == (303, "/feeds")


def test_public_pages_begin_no_session(proxied: RunningService) -> None:
    visitor = Visitor(proxied)
    assert visitor.get("/about", headers={HEADER: new_name()}).status == 200

    assert not any("session" in name for name in visitor.cookies)


@pytest.mark.parametrize("name", ["two words", "a\tb", "", "DOMAIN\\user", "x" * 300])
def test_a_name_that_cannot_be_one_is_refused(proxied: RunningService, name: str) -> None:
    answer = Visitor(proxied).get("/settings", headers={HEADER: name})

    assert answer.status == (403 if name else 303)


def test_names_are_read_as_utf_8(proxied: RunningService) -> None:
    name = f"zoë{secrets.token_hex(3)}"

    assert named(Visitor(proxied), name.encode().decode("latin-1")) == name


def test_a_header_that_arrives_twice_is_ignored(proxied: RunningService) -> None:
    """The proxy adds its header to the client's one instead of replacing it."""
    alice = Cast(proxied).person("alice")
    request = (
        f"GET /settings HTTP/1.1\r\nHost: localhost\r\n{HEADER}: {alice.user.username}\r\n{HEADER}: root\r\n"
        "Connection: close\r\n\r\n"
    )
    assert raw(proxied, request).startswith(b"HTTP/1.1 303")


def raw(service: RunningService, request: str) -> bytes:
    host, _, port = service.url.removeprefix("http://").partition(":")
    with socket.create_connection((host, int(port)), timeout=60) as connection:
        connection.sendall(request.encode())
        return b"".join(iter(lambda: connection.recv(65_536), b""))


def test_the_api_does_not_read_the_header(proxied: RunningService) -> None:
    """A browser sends what the proxy needs with requests of other sites as well."""
    alice = Cast(proxied).person("alice")
    header = {HEADER: alice.user.username}

    assert call(proxied.url, "GET", "/v1/me", headers=header).status == 401
    assert call(proxied.url, "GET", "/v1/me", headers={**header, "X-Auth-Token": alice.token}).status == 200
    assert call(proxied.url, "GET", "/v1/me", headers={**header, **basic(alice.user.username)}).status == 200
    # A password that is meant for the proxy does not hide the key.
    both = {**header, **basic("at the proxy", "other"), "X-Auth-Token": alice.token}
    assert call(proxied.url, "GET", "/v1/me", headers=both).json()["username"] == alice.user.username


def test_forms_need_their_token_as_ever(proxied: RunningService) -> None:
    name, visitor = new_name(), Visitor(proxied)
    named(visitor, name)
    header = {HEADER: name}

    assert visitor.post("/settings/sessions/end-others", headers=header, csrf="forged").status == 403
    assert visitor.post("/settings/sessions/end-others", headers=header).status == 303


def test_signing_out_leads_to_the_proxy(proxied: RunningService) -> None:
    name, visitor = new_name(), Visitor(proxied)
    named(visitor, name)
    answer = visitor.post("/sign-out", headers={HEADER: name})

    assert answer.headers["refresh"] == "0; url=https://auth.example.org/logout?rd=1"
    assert proxied.services.accounts.sessions.list_all(proxied.services.accounts.users.find(name).id) == []


# From elsewhere


def test_the_header_of_a_stranger_is_ignored_and_logged_once(strict: RunningService) -> None:
    alice = Cast(strict).person("alice")
    for _ in range(3):
        answer = Visitor(strict).get("/settings", headers={HEADER: alice.user.username, "X-Forwarded-For": "192.0.2.1"})
        assert answer.headers["location"].startswith("/sign-in")

    assert strict.log.count("user header ignored") == 1


@pytest.fixture(scope="module")
def closed(databases: Databases, tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningService]:
    """A service behind a proxy that creates no users, without a log-out address."""
    settings = {"auth_proxy_header": HEADER}
    with databases.migrated() as url, running_service(url, tmp_path_factory.mktemp("closed"), **settings) as running:
        yield running


def test_an_unknown_user_sees_why_there_is_no_access(closed: RunningService) -> None:
    answer = Visitor(closed).get("/", headers={HEADER: "nobody"})

    assert answer.status == 403
    assert "Ask the administrator" in answer.body.decode()


def test_without_a_log_out_address_a_page_says_where_to_sign_out(closed: RunningService) -> None:
    alice, visitor = Cast(closed).person("alice"), Visitor(closed)
    named(visitor, alice.user.username)
    answer = visitor.post("/sign-out", headers={HEADER: alice.user.username})

    assert "refresh" not in answer.headers
    assert "sign out there" in answer.body.decode()
