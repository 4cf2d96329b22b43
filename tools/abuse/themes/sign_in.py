"""Signs in as someone else, by a provider (OpenID Connect) and by a header of a proxy.

Among the attempts are what advisories of 2026 about feed readers describe: an identity bound to another's account, a
backslash in the page to open afterwards, and an empty state.
"""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
import secrets
from collections.abc import Callable, Iterator
from typing import Any
from urllib.parse import quote

from abuse import client, pages
from abuse.attempts import Attempt, Result
from abuse.people import Person, person
from abuse.provider import CLIENT_SECRET, Provider
from abuse.service import Service
from abuse.testbed import Testbed

_ELSEWHERE = (
    "//evil.example", "/\\evil.example", "\\\\evil.example", "/\t/evil.example", "https://evil.example",
    "/%5cevil.example", "/..//evil.example", "https:evil.example", "/\r\nLocation: https://evil.example",
)  # fmt: skip
SUCCEEDS_IF_IN = "the attacker is signed in"


def run(testbed: Testbed) -> Iterator[Result]:
    with Provider() as provider:
        service = testbed.service(**provider.settings)
        _ensure_possible(service, provider)
        yield from _forged_tokens(testbed, service, provider)
        yield _bound_identity(service, provider)
        yield _known_name(service, provider)
        yield from _states(service, provider)
        yield from _redirects(testbed, service, provider)
        yield from _headers(service)


def _browser(service: Service) -> Person:
    """Return a browser without a session."""
    return Person(service, "", "")


def _start(browser: Person, wanted: str = "") -> str:
    """Return the address at the provider to which the service leads."""
    return browser.get(f"/oauth2/oidc/redirect?next={quote(wanted, safe='')}").header("Location")


def _is_in(browser: Person) -> bool:
    return browser.get("/settings").status == 200


def _ensure_possible(service: Service, provider: Provider) -> None:
    """Raise RuntimeError unless a token that is right signs its user in: else the attempts would prove nothing."""
    browser = _browser(service)
    url = _start(browser)
    browser.get(provider.answer(url, provider.sign(provider.claims(url, f"u{secrets.token_hex(5)}"))))
    if not _is_in(browser):
        raise RuntimeError("a right token does not sign in")


def _part(value: Any) -> str:
    return base64.urlsafe_b64encode(json.dumps(value).encode()).rstrip(b"=").decode()


def _with_hmac(claims: dict[str, Any], key: bytes) -> str:
    signed = f"{_part({'alg': 'HS256', 'kid': '1'})}.{_part(claims)}"
    signature = base64.urlsafe_b64encode(hmac.digest(key, signed.encode(), hashlib.sha256)).rstrip(b"=").decode()
    return f"{signed}.{signature}"


def _forged_tokens(testbed: Testbed, service: Service, provider: Provider) -> Iterator[Result]:
    forgeries: tuple[tuple[str, Callable[[dict[str, Any]], str]], ...] = (
        ("without signature", lambda claims: f"{_part({'alg': 'none'})}.{_part(claims)}."),
        ("with the public key as a secret", lambda claims: _with_hmac(claims, provider.key.as_pem(private=False))),
        ("with the client secret", lambda claims: _with_hmac(claims, CLIENT_SECRET.encode())),
        ("for another client", lambda claims: provider.sign({**claims, "aud": "other"})),
        ("of another sign-in", lambda claims: provider.sign({**claims, "nonce": "other"})),
        ("of another provider", lambda claims: provider.sign({**claims, "iss": "https://evil.example"})),
        ("that has expired", lambda claims: provider.sign({**claims, "exp": claims["iat"] - 600})),
        ("about nobody", lambda claims: provider.sign({**claims, "sub": ""})),
    )
    for name, forge in testbed.choose(forgeries, 3):
        browser = _browser(service)
        url = _start(browser)
        browser.get(provider.answer(url, forge(provider.claims(url, f"u{secrets.token_hex(5)}"))))
        attempt = Attempt(f"token {name}", "the provider sends a token that proves nothing", SUCCEEDS_IF_IN)
        yield Result(attempt, "signed in" if _is_in(browser) else "")


def _bound_identity(service: Service, provider: Provider) -> Result:
    """Let a victim open the callback of a link that the attacker has started."""
    attacker, victim = person(service), person(service)
    attacker.sign_in()
    victim.sign_in()
    form = next(
        one for one in pages.forms(attacker.get("/settings/identities").text) if one.action.endswith("/identities")
    )
    url = attacker.submit(form).header("Refresh").partition("url=")[2]
    subject = f"u{secrets.token_hex(5)}"
    victim.get(provider.answer(url, provider.sign(provider.claims(url, subject))))
    attempt = Attempt(
        "identity bound to another's account",
        "a victim opens the response to a link that the attacker has started",
        "the attacker's identity is linked with the victim's account",
    )
    return Result(attempt, "it is linked" if subject in victim.get("/settings/identities").text else "")


def _known_name(service: Service, provider: Provider) -> Result:
    """Sign in with an identity that has the name of another's account."""
    victim, browser = person(service), _browser(service)
    url = _start(browser)
    claims = provider.claims(url, f"u{secrets.token_hex(5)}", preferred_username=victim.name, email=victim.name)
    browser.get(provider.answer(url, provider.sign(claims)))
    attempt = Attempt("name of another", "the provider gives the attacker the name of an account", SUCCEEDS_IF_IN)
    return Result(attempt, "signed in" if _is_in(browser) else "")


def _states(service: Service, provider: Provider) -> Iterator[Result]:
    """Bring a response that this browser has not asked for."""
    for name, state, has_started in (
        ("empty state", "", True),
        ("empty state, nothing started", "", False),
        ("another state", "x" * 32, True),
    ):
        attacker, victim = _browser(service), _browser(service)
        url = _start(attacker)
        if has_started:
            _start(victim)
        token = provider.sign(provider.claims(url, f"u{secrets.token_hex(5)}"))
        victim.get(provider.answer(url, token, state=state))
        attempt = Attempt(name, "a victim opens the attacker's response", "the victim is signed in as the attacker")
        yield Result(attempt, "signed in" if _is_in(victim) else "")


def _redirects(testbed: Testbed, service: Service, provider: Provider) -> Iterator[Result]:
    for wanted in testbed.choose(_ELSEWHERE, 3):
        browser = _browser(service)
        url = _start(browser, wanted)
        answer = browser.get(provider.answer(url, provider.sign(provider.claims(url, f"u{secrets.token_hex(5)}"))))
        location = answer.header("Location")
        is_ours = location.startswith("/") and not location.startswith(("//", "/\\")) and "\\" not in location
        attempt = Attempt(f"next={wanted!r}", "a link to the sign-in names another site", "the browser is led there")
        yield Result(attempt, "" if is_ours else f"led to {location!r}")


def _headers(service: Service) -> Iterator[Result]:
    victim = person(service)
    for headers in (
        {"Remote-User": victim.name},
        {"Remote-User": victim.name, "X-Forwarded-For": "192.0.2.1"},
        {"Remote_User": victim.name, "REMOTE-USER": victim.name},
    ):
        page = client.request(service, "GET", "/settings", headers=headers)
        api = client.request(service, "GET", "/v1/me", headers=headers)
        attempt = Attempt(
            f"header {', '.join(headers)}",
            "a client names a user as the proxy would",
            "the user's page or data is sent",
        )
        yield Result(attempt, "sent" if 200 in (page.status, api.status) else "")
