"""Signing in at a provider that says everything right, or one thing wrong."""

from __future__ import annotations

import secrets
import time
from collections.abc import Callable
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
from joserfc.jwk import OctKey, RSAKey

from loopback.openid_provider import asked
from sign_in.conftest import Browser
from sign_in.forging_provider import CLIENT_ID, ForgingProvider
from support.people import Cast, Person
from support.running import RunningService
from support.visitors import Visitor

pytestmark = pytest.mark.slow


def new_name() -> str:
    return f"user-{secrets.token_hex(4)}"


# Who comes in


def test_someone_new_gets_an_account_and_has_it_the_next_time(browser: Browser, openid_service: RunningService) -> None:
    name = new_name()
    answer = browser.sign_in(name, preferred_username=name)
    assert (answer.status, answer.headers["location"]) == (303, "/")
    assert browser.username == name

    again = Browser(Visitor(openid_service), browser.provider)
    again.sign_in(name, preferred_username="another-name")
    assert again.username == name


def test_the_name_is_the_address_where_no_other_is_sent(browser: Browser) -> None:
    name = f"{new_name()}@example.org"
    browser.sign_in(name, email=name, email_verified=True)

    assert browser.username == name


def test_claims_may_come_from_the_userinfo_endpoint(browser: Browser) -> None:
    name = new_name()
    browser.sign_in(name, userinfo_preferred_username=name)

    assert browser.username == name


def test_the_userinfo_of_another_user_is_refused(browser: Browser) -> None:
    answer = browser.sign_in(new_name(), userinfo_preferred_username=new_name(), userinfo_sub="someone else")

    assert answer.status == 400
    assert browser.username == ""


def test_without_a_name_there_is_no_account(browser: Browser) -> None:
    answer = browser.sign_in(new_name())

    assert answer.status == 403
    assert "preferred_username" in answer.body.decode()
    assert browser.username == ""


def test_the_wanted_page_is_kept(browser: Browser) -> None:
    name = new_name()

    assert (
        browser.sign_in(name, "/feeds%3Fsort=name", preferred_username=name).headers["location"] == "/feeds?sort=name"
    )


@pytest.mark.one_engine
@pytest.mark.parametrize(
    "wanted",
    ["https://evil.example/", "//evil.example", "/%5Cevil.example", "%5C%5Cevil.example", "/%09/evil.example", "x"],
)
def test_the_wanted_page_is_a_path_of_ours(browser: Browser, wanted: str) -> None:
    name = new_name()

    assert browser.sign_in(name, wanted, preferred_username=name).headers["location"] == "/"


def test_the_sign_in_page_leads_to_the_provider(browser: Browser) -> None:
    page = browser.visitor.page("/sign-in?next=/feeds")

    assert "Sign in with Example ID" in page
    assert 'href="/oauth2/oidc/redirect?next=%2Ffeeds"' in page


def test_what_is_sent_to_the_provider(browser: Browser, openid_service: RunningService) -> None:
    url = browser.start()
    asked = {name: value for name, (value,) in parse_qs(urlsplit(url).query).items()}

    assert url.startswith(f"{browser.provider.issuer}/authorize?")
    assert asked["client_id"] == CLIENT_ID
    assert asked["redirect_uri"] == f"{openid_service.url}/oauth2/oidc/callback"
    assert (asked["response_type"], asked["scope"]) == ("code", "openid profile email")
    assert asked["code_challenge_method"] == "S256"
    assert len(asked["state"]) >= 32
    assert len(asked["nonce"]) >= 32


def test_another_provider_s_path_is_not_there(browser: Browser) -> None:
    assert browser.visitor.get("/oauth2/google/redirect").status == 404
    assert browser.visitor.get("/oauth2/google/callback?state=x&code=y").status == 404


# Responses that are wrong


def test_a_state_works_once_and_in_its_own_browser(browser: Browser, openid_service: RunningService) -> None:
    name = new_name()
    answer = browser.provider.answer(browser.start(), subject=name, preferred_username=name)
    other = Browser(Visitor(openid_service), browser.provider)

    assert other.finish(answer).status == 400
    other.start()
    assert other.finish(answer).status == 400
    assert other.username == ""
    assert browser.finish(answer).status == 303
    assert browser.finish(answer).status == 400


@pytest.mark.one_engine
@pytest.mark.parametrize(
    "more", [{"state": ""}, {"state": "x"}, {"code": ""}, {"code": "x"}, {"iss": "https://evil.example"}, {"iss": ""}]
)
def test_a_changed_response_signs_nobody_in(browser: Browser, more: dict[str, str]) -> None:
    name = new_name()
    answer = browser.provider.answer(browser.start(), subject=name, preferred_username=name)

    assert browser.finish({**answer, **more}).status in (400, 502)
    assert browser.username == ""


def test_a_response_without_anything(browser: Browser) -> None:
    assert browser.finish({}).status == 400
    browser.start()
    assert browser.finish({}).status == 400
    assert browser.username == ""


def test_an_injected_code_is_refused_by_its_nonce_and_challenge(
    browser: Browser, openid_service: RunningService
) -> None:
    name = new_name()
    attacker = Browser(Visitor(openid_service), browser.provider)
    stolen = browser.provider.answer(browser.start(), subject=name, preferred_username=name)
    own = browser.provider.answer(attacker.start(), subject="mallory", preferred_username=new_name())

    assert attacker.finish({**own, "code": stolen["code"]}).status == 502
    assert attacker.username == ""


def test_a_user_who_cancels_sees_a_page(browser: Browser) -> None:
    query = asked(browser.start())
    answer = browser.finish({"error": "access_denied", "state": query["state"], "iss": browser.provider.issuer})

    assert answer.status == 403
    assert 'href="/oauth2/oidc/redirect"' in answer.body.decode()
    assert 'href="/sign-in"' in answer.body.decode()


def now(more: int = 0) -> int:
    return int(time.time()) + more


OTHER = RSAKey.generate_key(2048, {"kid": "first"})
SHARED = OctKey.import_key("a secret: of + the client")

FORGERIES: dict[str, dict[str, Any]] = {
    "another audience": {"aud": "another-client"},
    "no audience": {"aud": None},
    "a second audience": {"aud": [CLIENT_ID, "another-client"]},
    "another party": {"azp": "another-client"},
    "another issuer": {"iss": "https://evil.example"},
    "no issuer": {"iss": None},
    "another nonce": {"nonce": "another"},
    "no nonce": {"nonce": None},
    "expired": {"exp": now(-400)},
    "no expiry": {"exp": None},
    "issued tomorrow": {"iat": now(86_400)},
    "no time of issue": {"iat": None},
    "not valid yet": {"nbf": now(86_400)},
    "no subject": {"sub": None},
    "an empty subject": {"sub": ""},
    "another access token": {"at_hash": "AAAAAAAAAAAAAAAAAAAAAA"},
}


def _swapped(provider: ForgingProvider, claims: dict[str, Any]) -> str:
    head, _, signature = provider.sign(claims).split(".")
    return ".".join([head, provider.sign({**claims, "sub": "root"}).split(".")[1], signature])


SIGNATURES: dict[str, Callable[[ForgingProvider, dict[str, Any]], str]] = {
    "no signature": lambda provider, claims: provider.sign(claims).rpartition(".")[0] + ".",
    "a signature with the client secret": lambda provider, claims: provider.sign(
        claims, key=SHARED, alg="HS256", kid=None
    ),
    "another key": lambda provider, claims: provider.sign(claims, key=OTHER),
    "an unknown key": lambda provider, claims: provider.sign(claims, key=OTHER, kid="nobody's"),
    "a changed payload": _swapped,
    "not a token": lambda _provider, _claims: "eyJhbGciOiJSUzI1NiJ9",
}


@pytest.mark.one_engine
@pytest.mark.parametrize("forgery", FORGERIES)
def test_a_token_with_wrong_claims_signs_nobody_in(browser: Browser, forgery: str) -> None:
    name = new_name()
    answer = browser.sign_in(name, **{"preferred_username": name, **FORGERIES[forgery]})

    assert answer.status == 400
    assert "administrator" in answer.body.decode()
    assert browser.username == ""


@pytest.mark.one_engine
@pytest.mark.parametrize("forgery", SIGNATURES)
def test_a_token_with_a_wrong_signature_signs_nobody_in(browser: Browser, forgery: str) -> None:
    name, url = new_name(), browser.start()
    claims = browser.provider.claims(name, asked(url)["nonce"], preferred_username=name)
    answer = browser.finish(browser.provider.answer(url, id_token=SIGNATURES[forgery](browser.provider, claims)))

    assert answer.status == 400
    assert browser.username == ""


def test_the_reason_is_in_the_log_and_not_on_the_page(browser: Browser, openid_service: RunningService) -> None:
    answer = browser.sign_in(new_name(), preferred_username=new_name(), aud="audience-of-the-log")

    assert "(aud)" in openid_service.log
    assert "(aud)" not in answer.body.decode()


# Accounts that exist


def test_a_name_that_is_taken_leads_to_a_page_to_link(
    browser: Browser, owner: Person, openid_service: RunningService
) -> None:
    subject = new_name()
    answer = browser.sign_in(subject, preferred_username=owner.user.username)
    assert answer.status == 409
    assert 'href="/sign-in?next=/settings/identities"' in answer.body.decode()
    assert browser.username == ""

    visitor = Visitor(openid_service, owner)
    assert visitor.sign_in("/settings/identities").headers["location"] == "/settings/identities"
    linking = Browser(visitor, browser.provider)
    assert (
        linking.finish(browser.provider.answer(link_url(visitor), subject=subject)).headers["location"]
        == "/settings/identities"
    )

    again = Browser(Visitor(openid_service), browser.provider)
    again.sign_in(subject, preferred_username="whatever")
    assert again.username == owner.user.username


def link_url(visitor: Visitor) -> str:
    """Return the address at the provider to which the form leads."""
    visitor.page("/settings/identities")
    answer = visitor.post("/settings/identities", back="/settings/identities")
    assert answer.status == 200, answer.headers
    # A form must not redirect to the provider: browsers stop that, see `web.leaving`.
    return answer.headers["refresh"].partition("url=")[2]


def test_an_identity_of_another_account_cannot_be_linked(
    browser: Browser, owner: Person, openid_service: RunningService
) -> None:
    name = new_name()
    browser.sign_in(name, preferred_username=name)
    visitor = Visitor(openid_service, owner)
    visitor.sign_in()
    answer = Browser(visitor, browser.provider).finish(browser.provider.answer(link_url(visitor), subject=name))

    assert answer.status == 403
    assert browser.username == name
    assert "Nothing is linked yet" in visitor.page("/settings/identities")


def test_what_one_session_started_another_cannot_finish(
    owner: Person, browser: Browser, openid_service: RunningService
) -> None:
    """An advisory of 2026: an attacker's identity was linked with the account of whoever opened the callback."""
    attacker = Visitor(openid_service, Cast(openid_service).person("mallory"))
    attacker.sign_in()
    answer = browser.provider.answer(link_url(attacker), subject=new_name())
    victim = Visitor(openid_service, owner)
    victim.sign_in()
    for name, value in attacker.cookies.items():
        if "provider" in name:
            victim.cookies[name] = value

    assert Browser(victim, browser.provider).finish(answer).status == 400
    assert "Nothing is linked yet" in victim.page("/settings/identities")


def test_linking_needs_a_form_of_ours(owner: Person, openid_service: RunningService) -> None:
    visitor = Visitor(openid_service, owner)
    visitor.sign_in()

    assert visitor.post("/settings/identities", csrf="forged").status == 403
    assert visitor.post("/settings/identities", headers={"Sec-Fetch-Site": "cross-site"}).status == 403


def test_the_last_way_in_is_kept(browser: Browser, owner: Person, openid_service: RunningService) -> None:
    name = new_name()
    browser.sign_in(name, preferred_username=name)
    page = browser.visitor.page("/settings/identities")
    path = page.partition('action="/settings/identities/')[2].partition('"')[0]
    answer = browser.visitor.post(f"/settings/identities/{path}")
    assert answer.status == 400
    assert "last way" in answer.body.decode()

    visitor = Visitor(openid_service, owner)
    visitor.sign_in()
    Browser(visitor, browser.provider).finish(browser.provider.answer(link_url(visitor), subject=new_name()))
    page = visitor.page("/settings/identities")
    path = page.partition('action="/settings/identities/')[2].partition('"')[0]
    assert visitor.post(f"/settings/identities/{path}").headers["location"] == "/settings/identities"
    assert "Nothing is linked yet" in visitor.page("/settings/identities")


def test_nobody_unlinks_what_is_not_theirs(browser: Browser, owner: Person, openid_service: RunningService) -> None:
    name = new_name()
    browser.sign_in(name, preferred_username=name)
    page = browser.visitor.page("/settings/identities")
    path = page.partition('action="/settings/identities/')[2].partition('"')[0]
    visitor = Visitor(openid_service, owner)
    visitor.sign_in()

    assert visitor.post(f"/settings/identities/{path}").status == 404
    assert name in browser.visitor.page("/settings/identities")


def test_someone_else_cannot_confirm_who_is_signed_in(
    owner: Person, browser: Browser, openid_service: RunningService
) -> None:
    visitor = Visitor(openid_service, owner)
    visitor.sign_in()
    confirming = Browser(visitor, browser.provider)
    url = confirming.start("/settings/identities")
    name = new_name()

    assert asked(url)["max_age"] == "600"
    assert confirming.finish(browser.provider.answer(url, subject=name, preferred_username=name)).status == 403
    assert confirming.username == owner.user.username


# Signing out


@pytest.mark.parametrize("path", ["/sign-out", "/settings/sessions/end-others", "/settings/sessions/{id}/end"])
def test_signing_out_ends_the_session_at_the_provider(
    browser: Browser, openid_service: RunningService, path: str
) -> None:
    name = new_name()
    browser.sign_in(name, preferred_username=name)
    browser.visitor.page("/settings")
    user = openid_service.services.accounts.users.find(name)
    (session,) = openid_service.services.accounts.sessions.list_all(user.id)
    answer = browser.visitor.post(path.format(id=session.id), here="1")
    url = answer.headers["refresh"].partition("url=")[2]
    sent = {name: value for name, (value,) in parse_qs(urlsplit(url).query).items()}

    assert answer.status == 200
    assert url.startswith(f"{browser.provider.issuer}/end?")
    assert sent["post_logout_redirect_uri"] == f"{openid_service.url}/sign-in"
    assert sent["id_token_hint"].count(".") == 2
    assert browser.username == ""


def test_signing_out_of_a_password_session_stays_here(owner: Person, openid_service: RunningService) -> None:
    visitor = Visitor(openid_service, owner)
    visitor.sign_in()

    assert visitor.post("/sign-out").headers["location"] == "/sign-in"


LOGOUT: dict[str, dict[str, str]] = {"http://schemas.openid.net/event/backchannel-logout": {}}


def log_out_by(provider: ForgingProvider, visitor: Visitor, **claims: Any) -> int:
    given = provider.claims(claims.pop("sub", "nobody"), "", **{"nonce": None, "events": LOGOUT, "jti": "1", **claims})
    token = provider.sign(given, typ="logout+jwt")
    answer = visitor.post("/oauth2/oidc/backchannel-logout", {"logout_token": token}, csrf="")
    assert answer.headers["cache-control"] == "no-store"
    return answer.status


def test_the_provider_ends_sessions(browser: Browser, openid_service: RunningService) -> None:
    name = new_name()
    browser.sign_in(name, preferred_username=name, sid=f"{name}-1")
    other = Browser(Visitor(openid_service), browser.provider)
    other.sign_in(name, sid=f"{name}-2")
    stranger = Browser(Visitor(openid_service), browser.provider)
    stranger.sign_in(f"{name}-other", preferred_username=f"{name}-other", sid=f"{name}-3")
    elsewhere = Visitor(openid_service)

    assert log_out_by(browser.provider, elsewhere, sub=name, sid=f"{name}-1") == 200
    assert (browser.username, other.username) == ("", name)
    assert log_out_by(browser.provider, elsewhere, sub=name) == 200
    assert other.username == ""
    assert stranger.username == f"{name}-other"


@pytest.mark.parametrize(
    "more", [{"events": None}, {"aud": "another"}, {"iss": "https://evil.example"}, {"nonce": "x"}, {"iat": now(-900)}]
)
def test_a_forged_logout_token_ends_nothing(
    browser: Browser, openid_service: RunningService, more: dict[str, Any]
) -> None:
    name = new_name()
    browser.sign_in(name, preferred_username=name)

    assert log_out_by(browser.provider, Visitor(openid_service), sub=name, **more) == 400
    assert browser.username == name


def test_a_logout_token_has_to_be_signed(browser: Browser, openid_service: RunningService) -> None:
    elsewhere, path = Visitor(openid_service), "/oauth2/oidc/backchannel-logout"

    assert elsewhere.post(path, {}, csrf="").status == 400
    assert elsewhere.post(path, {"logout_token": "a.b.c"}, csrf="").status == 400
    assert elsewhere.get(path).status == 405
    assert elsewhere.post("/oauth2/google/backchannel-logout", {"logout_token": "a.b.c"}, csrf="").status == 404
