"""With TIDINGS_DISABLE_LOCAL_AUTH, passwords of accounts let nobody in; keys and API passwords do."""

from __future__ import annotations

from collections.abc import Iterator
from urllib.parse import urlencode

import pytest

from sign_in.conftest import Browser
from sign_in.forging_provider import ForgingProvider
from support.databases import Databases
from support.people import PASSWORD, Cast, HttpResponse, Person, basic, call
from support.running import RunningService, running_service
from support.visitors import FORM, Visitor
from tidings.web import cookies, security

pytestmark = [pytest.mark.slow, pytest.mark.one_engine]


@pytest.fixture(scope="module")
def closed(
    databases: Databases, provider: ForgingProvider, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[RunningService]:
    """A service where nobody signs in with a password."""
    settings = provider.settings(disable_local_auth="1")
    with databases.migrated() as url, running_service(url, tmp_path_factory.mktemp("closed"), **settings) as running:
        yield running


@pytest.fixture
def owner(closed: RunningService) -> Person:
    return Cast(closed).person("owner", is_admin=True)


def client_login(person: Person, password: str) -> HttpResponse:
    form = urlencode({"Email": person.user.username, "Passwd": password}).encode()
    return call(person.service.url, "POST", "/accounts/ClientLogin", form, {"Content-Type": FORM})


def test_the_sign_in_page_has_no_form_for_a_password(closed: RunningService) -> None:
    page = Visitor(closed).page("/sign-in")

    assert 'type="password"' not in page
    assert "Sign in with Example ID" in page


def test_a_form_that_is_sent_all_the_same_is_refused(closed: RunningService, owner: Person) -> None:
    visitor = Visitor(closed, cookies={cookies.VISITOR: "chosen"})
    token = security.csrf_token("chosen")
    answer = visitor.post("/sign-in", username=owner.user.username, password=PASSWORD, csrf=token)

    assert answer.status == 403
    assert "Nobody signs in with a password" in answer.body.decode()
    assert not any("session" in name for name in visitor.cookies)


def test_the_answer_is_the_same_for_names_that_do_not_exist(closed: RunningService, owner: Person) -> None:
    known, unknown = (
        call(closed.url, "GET", "/v1/me", headers=basic(name)) for name in (owner.user.username, "nobody")
    )

    assert (known.status, known.body) == (unknown.status, unknown.body)


def test_keys_work_and_passwords_do_not(closed: RunningService, owner: Person) -> None:
    assert call(closed.url, "GET", "/v1/me", headers=basic(owner.user.username)).status == 401
    assert owner.get("/v1/me")["username"] == owner.user.username


def test_apps_need_an_api_password(closed: RunningService, owner: Person) -> None:
    made = closed.services.accounts.api_passwords.create(owner.user, "app")

    assert client_login(owner, PASSWORD).status == 401
    signed_in = client_login(owner, made.password)
    assert signed_in.status == 200
    token = signed_in.body.decode().partition("Auth=")[2].split()[0]
    header = {"Authorization": f"GoogleLogin auth={token}"}
    assert call(closed.url, "GET", "/reader/api/0/user-info", headers=header).status == 200


def test_tokens_of_a_password_end(closed: RunningService, owner: Person) -> None:
    """An app may have signed in with the password before it was switched off."""
    services = closed.services
    services.accounts.app_logins._listeners.passwords_disabled = False
    try:
        token = services.accounts.app_logins._login_of_account(owner.user).token
    finally:
        services.accounts.app_logins._listeners.passwords_disabled = True
    header = {"Authorization": f"GoogleLogin auth={token}"}

    assert call(closed.url, "GET", "/reader/api/0/user-info", headers=header).status == 401


def test_passwords_cannot_be_changed(owner: Person) -> None:
    answer = owner.call("PUT", f"/v1/users/{owner.id}", {"password": "another password"})
    assert answer.status == 403
    assert "nobody signs in with one" in answer.error
    other = Cast(owner.service).person("other")
    assert owner.call("PUT", f"/v1/users/{other.id}", {"password": "another password"}).status == 403
    assert owner.call("PUT", f"/v1/users/{owner.id}", {"theme": "dark_serif"}).status == 201


def test_who_cannot_use_a_password_asks_for_a_link(
    closed: RunningService, owner: Person, provider: ForgingProvider
) -> None:
    browser = Browser(Visitor(closed), provider)
    page = browser.sign_in("another", preferred_username=owner.user.username).body.decode()

    assert "a link that signs you in" in page
    assert "Sign in to link the two" not in page


def test_an_administrator_creates_accounts_by_name_alone_and_invites_nobody(
    closed: RunningService, owner: Person
) -> None:
    visitor = Visitor(closed)
    path = f"/sign-in/link/{closed.services.sign_in.links.make_sign_in(owner.user.username)}"
    visitor.page(path)
    visitor.post(path)

    assert 'type="password"' not in visitor.page("/users/new")
    assert visitor.post("/users/new", username=f"{owner.user.username}-new").status == 303
    assert "nobody can create one with a link" in visitor.page("/users/invitations")
    assert visitor.post("/users/invitations", note="Dora").status == 400
    assert "Link that signs in made" in visitor.page("/settings/log")
