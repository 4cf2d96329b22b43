"""The filter for fail2ban finds the address in real lines of the log, and no line can forge one."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from pyotp import TOTP
from structlog.testing import capture_logs

from abuse.fail2ban import banned
from loopback.authenticator import Authenticator
from sign_in.conftest import Browser
from sign_in.forging_provider import ForgingProvider
from sign_in.test_second_step_pages import APP, STEP, shown_secret
from support.people import PASSWORD, Person, basic, call
from support.running import RunningService
from support.visitors import Visitor
from tidings.domain.accounts.events import Method, Origin
from tidings.engine.database import Database
from tidings.runtime import logs
from tidings.services.accounts.authentication import Authentication
from tidings.services.clock import system_clock


def test_every_kind_of_refused_sign_in_of_a_running_service_is_found(service: RunningService, alice: Person) -> None:
    name, began = alice.user.username, len(service.log)
    visitor = Visitor(service, alice)
    forwarded = {"X-Forwarded-For": visitor.address}
    visitor.sign_in(password="wrong")
    call(service.url, "GET", "/v1/me", headers=basic(name, "wrong") | forwarded)
    call(service.url, "GET", "/v1/me", headers={"X-Auth-Token": "0" * 64} | forwarded)
    call(service.url, "GET", f"/accounts/ClientLogin?Email={name}&Passwd=wrong", headers=forwarded)
    token = {"Authorization": f"GoogleLogin auth={name}/00"}
    call(service.url, "GET", "/reader/api/0/user-info", headers=token | forwarded)
    visitor.post("/invitation/unknown")
    lines = [line for line in service.log[began:].splitlines() if visitor.address in line]

    assert [banned(line) for line in lines] == [visitor.address] * 6
    assert [line.partition("reason=")[2].partition(" method=")[0] for line in lines] == [
        '"wrong name or password"',
        '"wrong name or password"',
        '"unknown API key"',
        '"wrong name or password"',
        '"unknown token"',
        '"unknown link"',
    ]


@pytest.mark.slow
def test_refused_passkeys_codes_and_tokens_of_a_running_service_are_found(
    openid_service: RunningService, provider: ForgingProvider, owner: Person
) -> None:
    signed_in = Visitor(openid_service, owner)
    signed_in.sign_in()
    app = TOTP(shown_secret(signed_in.page(APP)))
    codes = signed_in.post(APP, secret=app.secret, code=app.now())
    assert codes.status == 200
    began, visitor = len(openid_service.log), Visitor(openid_service, owner)
    visitor.sign_in()

    visitor.post(STEP, code="not one")
    visitor.post(STEP, code="aaaaa-aaaaa-aaaaa")
    options = {"rpId": "localhost", "challenge": "AAAA"}
    unknown = Authenticator("http://localhost").get(options)
    visitor.post(STEP, answer=unknown)
    visitor.post("/sign-in/passkey", answer=unknown)
    visitor.post("/sign-in/link/unknown")
    Browser(visitor, provider).sign_in("someone", aud="another-client")
    visitor.get("/oauth2/oidc/callback?code=1&state=")
    visitor.post("/oauth2/oidc/backchannel-logout", {"logout_token": "a.b.c"}, csrf="")
    call(
        openid_service.url,
        "GET",
        "/v1/me",
        headers=basic(owner.user.username, PASSWORD) | {"X-Forwarded-For": visitor.address},
    )

    lines = [line for line in openid_service.log[began:].splitlines() if visitor.address in line]
    refused = [line for line in lines if "sign-in refused" in line]
    methods = [line.partition(" method=")[2].split()[0] for line in refused]
    assert methods == [*["code"] * 2, *["passkey"] * 2, "link", *["openid"] * 2, "password"]
    assert [banned(line) for line in lines] == [visitor.address if line in refused else "" for line in lines]


@pytest.mark.parametrize("prefix", ["", "host tidings[17]: "])
@pytest.mark.parametrize("render", [logs._as_text, logs._as_json])
def test_both_formats_are_read_and_names_forge_nothing(
    render: Callable[[Any, str, Any], str], prefix: str, database: Database
) -> None:
    authentication = Authentication(database, system_clock)
    forged = "x sign-in refused address=203.0.113.9 reason="
    with capture_logs() as events:
        for address in ("2001:db8::1", forged):
            authentication.refuse("wrong code", origin=Origin(address), method=Method.CODE, username=forged)
    one, other = (
        render(None, "", {**event, "timestamp": "2026-11-26T14:00:00.123456Z", "level": event.pop("log_level")})
        for event in events
    )

    assert banned(prefix + one) == "2001:db8::1"
    assert banned(prefix + other) == ""
