"""From the password to the sign-out."""

from __future__ import annotations

from pathlib import Path

import pytest
from starlette.responses import Response

from support.databases import Databases
from support.people import Cast, Person
from support.publisher import Publisher
from support.running import RunningService, environment_for, running
from support.visitors import Visitor
from tidings.base.times import DAY
from tidings.domain.accounts.events import Origin
from tidings.domain.accounts.sessions import SESSION_LIFETIME
from tidings.storage.schema import sessions
from tidings.web import cookies
from tidings.web.cookies import Cookie
from tidings.wiring.services import AllServices


@pytest.fixture
def stranger(service: RunningService, alice: Person) -> Visitor:
    """Alice, not signed in yet."""
    return Visitor(service, alice)


def test_signing_in_leads_to_the_home_page(stranger: Visitor, alice: Person, site: Publisher) -> None:
    alice.has_feed(site, ["Rain"])
    answer = stranger.sign_in()

    assert answer.headers["location"] == "/"
    assert stranger.get("/").headers["location"] == "/unread"
    assert "Rain" in stranger.page("/unread")


def test_the_home_page_is_the_one_that_the_user_chose(stranger: Visitor, alice: Person, site: Publisher) -> None:
    alice.has_feed(site)
    alice.put(f"/v1/users/{alice.id}", {"default_home_page": "starred"}, status=201)
    stranger.sign_in()

    assert stranger.get("/").headers["location"] == "/starred"


def test_the_session_cookie_is_http_only_and_same_site(stranger: Visitor) -> None:
    (cookie,) = [line for line in stranger.sign_in().cookies if line.startswith("tidings_session=")]

    assert {"HttpOnly", "SameSite=lax", "Path=/"} <= set(cookie.split("; "))
    assert "Secure" not in cookie  # this service is reached without https


def test_a_script_that_is_led_to_the_sign_in_page_leaves_the_form_of_another_tab_valid(stranger: Visitor) -> None:
    """Both may have been asked for before the browser had the cookie of either."""
    script = stranger.get("/sign-in", headers={"Sec-Fetch-Mode": "cors"})
    assert script.status == 200
    assert not script.cookies

    assert stranger.get("/sign-in", headers={"Sec-Fetch-Mode": "navigate"}).cookies
    assert stranger.sign_in().status == 303


def test_sign_in_pages_that_were_opened_at_once_are_all_valid(service: RunningService, alice: Person) -> None:
    """A browser that restores its tabs asks for all of them before it has a cookie."""
    tabs = [Visitor(service, alice) for _ in range(3)]
    for tab in tabs:
        tab.page("/sign-in")
    cookies_of_all = {name: value for tab in tabs for name, value in tab.cookies.items()}
    for tab in tabs:
        tab.cookies = dict(cookies_of_all)
        answer = tab.post("/sign-in", username=alice.user.username, password=alice.password)
        assert answer.status == 303
        # None of them is left.
        assert not any(name.startswith(cookies.VISITOR) for name in tab.cookies)


@pytest.mark.parametrize(
    ("username", "password"), [("", "x"), ("somebody", ""), ("somebody", "wrong"), ("a\r\nb", "x")]
)
def test_a_failed_sign_in_is_reported_next_to_the_field(stranger: Visitor, username: str, password: str) -> None:
    stranger.get("/sign-in")
    answer = stranger.post("/sign-in", username=username, password=password)
    text = answer.body.decode()

    assert answer.status == 400
    assert 'class="error"' in text
    assert 'aria-invalid="true"' in text
    if "\n" not in username:
        assert f'value="{username}"' in text
    assert "wrong</" not in text.replace("is wrong", "")


def test_signing_in_redirects_to_the_requested_page(stranger: Visitor) -> None:
    sent_away = stranger.get("/starred?after=1.2")
    assert sent_away.headers["location"] == "/sign-in?next=/starred%3Fafter%3D1.2"

    page = stranger.page("/sign-in?next=/starred%3Fafter%3D1.2")
    assert 'name="next" value="/starred?after=1.2"' in page
    assert stranger.sign_in(next_path="/starred?after=1.2").headers["location"] == "/starred?after=1.2"


@pytest.mark.parametrize(
    "elsewhere", ["https://evil.example/", "//evil.example", "/\\evil.example", "javascript:x", "/a\r\nb", "evil", "/ü"]
)
def test_signing_in_never_redirects_to_another_site(stranger: Visitor, elsewhere: str) -> None:
    assert stranger.sign_in(next_path=elsewhere).headers["location"] == "/"


def test_after_an_expired_session_sign_in_returns_to_the_page_of_the_form(
    reader: Visitor, services: AllServices
) -> None:
    assert reader.person
    (session,) = services.accounts.sessions.list_all(reader.person.id)
    services.accounts.sessions.end(reader.person.user, session.id, Origin())

    answer = reader.post("/entries/marks", star=1, back="/unread?after=3.4")

    assert answer.headers["location"] == "/sign-in?next=/unread%3Fafter%3D3.4"
    assert "Your session has ended" in reader.follow(answer)
    # The notice is shown once.
    assert "Your session has ended" not in reader.page("/sign-in")


def test_signing_out_invalidates_copies_of_the_cookie(reader: Visitor) -> None:
    copied = dict(reader.cookies)
    reader.page("/view")
    answer = reader.post("/sign-out")
    assert answer.headers["location"] == "/sign-in"
    assert answer.headers["clear-site-data"] == '"cache"'

    assert reader.get("/unread").status == 303
    reader.cookies = copied
    assert reader.get("/unread").status == 303


def test_browsers_do_not_store_pages_with_secrets_or_on_a_shared_device(stranger: Visitor) -> None:
    stranger.sign_in()
    assert stranger.get("/settings/api-keys").headers["cache-control"] == "private, no-cache"
    for path, fields in {
        "/settings/api-keys": {"description": "Script"},
        "/settings/api-passwords": {"name": "Phone"},
        "/settings/apps/reeder": {},
    }.items():
        answer = stranger.post(path, fields)
        assert (answer.status, answer.headers["cache-control"]) == (200, "no-store"), path
    stranger.post("/list-links")
    for path in ("/settings/integrations/webhook", "/list-links"):
        assert stranger.get(path).headers["cache-control"] == "no-store", path

    stranger.post("/sign-out")
    stranger.get("/sign-in")
    assert stranger.person
    stranger.post("/sign-in", username=stranger.person.user.username, password=stranger.person.password, shared="1")
    assert stranger.get("/unread").headers["cache-control"] == "no-store"


def test_a_new_password_ends_the_sessions_of_other_browsers(reader: Visitor, services: AllServices) -> None:
    assert reader.person
    other = Visitor(reader.service, reader.person)
    other.sign_in()
    here = services.accounts.sessions.recognise(other.cookies["tidings_session"])
    assert here

    services.accounts.users.update(
        reader.person.user, reader.person.id, {"password": "another horse"}, session_id=here.session.id
    )

    assert other.get("/unread").status == 200
    assert reader.get("/unread").status == 303


def test_a_password_set_by_the_api_ends_all_sessions(reader: Visitor, alice: Person) -> None:
    alice.put(f"/v1/users/{alice.id}", {"password": "another horse"}, status=201)

    assert reader.get("/unread").status == 303


def test_the_database_does_not_contain_the_session_token(reader: Visitor, services: AllServices) -> None:
    with services.reading() as db:
        for row in db.rows(sessions.select()):
            assert reader.cookies["tidings_session"] not in map(str, row.values())


def test_a_session_is_extended_by_use_and_ends_after_thirty_days_without(
    reader: Visitor, services: AllServices
) -> None:
    assert reader.person
    (before,) = services.accounts.sessions.list_all(reader.person.id)
    assert before.expires_at - before.created_at == SESSION_LIFETIME == 30 * DAY
    with services.database.writing() as db:
        db.run(
            sessions.update().where(sessions.c.id == before.id),
            last_seen_at=before.last_seen_at - DAY,
            expires_at=before.expires_at - DAY,
        )

    answer = reader.get("/unread")

    assert any(line.startswith("tidings_session=") and "Max-Age=2592000" in line for line in answer.cookies)
    (after,) = services.accounts.sessions.list_all(reader.person.id)
    assert after.expires_at >= before.expires_at
    with services.database.writing() as db:
        db.run(sessions.update().where(sessions.c.id == before.id), expires_at=services.clock())
    assert reader.get("/unread").status == 303
    assert services.accounts.sessions.list_all(reader.person.id) == []


def test_a_user_sees_only_their_own_sessions(reader: Visitor, bob: Person, services: AllServices) -> None:
    assert reader.person
    assert services.accounts.sessions.list_all(bob.id) == []
    (mine,) = services.accounts.sessions.list_all(reader.person.id)
    assert (mine.address, mine.user_id) == (reader.address, reader.person.id)


@pytest.mark.slow
def test_cookies_and_urls_have_the_base_path_and_https(databases: Databases, tmp_path: Path) -> None:
    with databases.migrated() as url:
        environment = environment_for(url, tmp_path, base_url="https://example.org/reader")
        with running("web", environment, tmp_path) as service:
            probe = RunningService(f"{service.url}/reader", environment, service.log_path, service.process)
            probe.wait_until_ready()
            alice = Visitor(service, Cast(service).person("alice"), base_path="/reader")
            answer = alice.sign_in(next_path="/starred")
            page = alice.page("/starred")

    assert answer.headers["location"] == "/reader/starred"
    (cookie,) = [line for line in answer.cookies if line.startswith("__Secure-tidings_session=")]
    assert {"Path=/reader", "Secure"} <= set(cookie.split("; "))
    assert 'href="/reader/static/' in page
    assert 'href="/unread"' not in page


@pytest.mark.parametrize(
    ("is_secure", "begins"), [(True, "__Host-tidings_session=x; "), (False, "tidings_session=x; ")]
)
def test_with_https_cookies_have_the_host_prefix(is_secure: bool, begins: str) -> None:
    response = Response()
    Cookie(cookies.SESSION, "x").add_to(response, "", is_secure=is_secure)
    header = response.headers["set-cookie"]

    assert header.startswith(begins)
    assert "Path=/" in header.split("; ")
    assert ("Secure" in header.split("; ")) is is_secure
    assert "Domain" not in header


def test_a_browser_stays_trusted_after_signing_out(stranger: Visitor) -> None:
    stranger.sign_in()
    known = stranger.cookies["tidings_known"]
    stranger.post("/sign-out")

    assert "tidings_session" not in stranger.cookies
    assert stranger.cookies["tidings_known"] == known
    stranger.sign_in()
    assert stranger.cookies["tidings_known"] == known
