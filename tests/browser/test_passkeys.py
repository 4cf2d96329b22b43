"""Passkeys in Chromium, with virtual authenticators of several kinds, below a base path at localhost."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any, Literal

import pytest
from playwright.sync_api import Browser, CDPSession, Route, expect

from browser.readers import Reader, held_back, reading
from support.people import PASSWORD, Person

pytestmark = pytest.mark.slow

PHONE = {
    "protocol": "ctap2", "transport": "internal", "hasResidentKey": True, "hasUserVerification": True,
    "isUserVerified": True,
}  # fmt: skip
# Resolves once the browser waits for a passkey that is chosen among the names. The browser answers in order: when it
# has said what it can do, it has taken the request before.
OFFER_HAS_BEGUN = "() => window.offerBegun.then(() => PublicKeyCredential.isConditionalMediationAvailable())"
RECORD_OFFER = """
window.offerBegun = new Promise((begun) => {
  const get = navigator.credentials.get.bind(navigator.credentials);
  navigator.credentials.get = (request) => {
    const answer = get(request);
    if (request.mediation === "conditional") begun();
    return answer;
  };
});
"""
SYNCED = {"defaultBackupEligibility": True, "defaultBackupState": True}
OLD_KEY = {"protocol": "u2f", "transport": "usb"}


@contextmanager
def user_with(browser: Browser, person: Person, **authenticator: Any) -> Iterator[tuple[Reader, CDPSession, str]]:
    """Yield a signed-in browser with an authenticator, the developer tools, and the authenticator's id."""
    service = replace(person.service, url=person.service.environment["TIDINGS_BASE_URL"])
    with reading(browser, service) as reader:
        reader.sign_in(person)
        tools = reader.context.new_cdp_session(reader.page)
        tools.send("WebAuthn.enable")
        options = {"automaticPresenceSimulation": True, **authenticator}
        number = tools.send("WebAuthn.addVirtualAuthenticator", {"options": options})["authenticatorId"]
        yield reader, tools, number


def add_passkey(reader: Reader, name: str) -> None:
    page = reader.go("/settings/sign-in")
    page.get_by_role("link", name="Add passkey").click()
    page.get_by_label("Name").fill(name)
    page.get_by_role("button", name="Add passkey").click()
    expect(page.get_by_role("status")).to_have_text("Passkey added.")


def sign_out(reader: Reader, page: str = "/sign-in") -> None:
    """Open a page of signing in without a session. The sign-in page itself uses a passkey that needs no name."""
    reader.context.clear_cookies()
    wait_until: Literal["commit", "load"] = "commit" if page == "/sign-in" else "load"
    reader.page.goto(f"{reader.service.url}{page}?next=/starred", wait_until=wait_until)


def test_a_passkey_is_made_and_signs_in_without_a_name(browser: Browser, guarded_alice: Person) -> None:
    with user_with(browser, guarded_alice, **PHONE, **SYNCED) as (reader, tools, number):
        add_passkey(reader, "My phone")
        expect(reader.page.get_by_text("copied to your other devices")).to_be_visible()
        (stored,) = tools.send("WebAuthn.getCredentials", {"authenticatorId": number})["credentials"]
        assert (stored["rpId"], stored["isResidentCredential"], stored["backupState"]) == ("localhost", True, True)
        reader.go("/settings/sign-in/passkeys/new").get_by_role("button", name="Add passkey").click()
        expect(reader.page.get_by_role("alert")).to_have_text("This device has a passkey for your account already.")

        tools.send("WebAuthn.setUserVerified", {"authenticatorId": number, "isUserVerified": False})
        sign_out(reader, "/sign-in/passkey")
        reader.page.get_by_role("button", name="Sign in with a passkey").click()
        expect(reader.page.get_by_role("alert")).to_contain_text("cancelled")
        tools.send("WebAuthn.setUserVerified", {"authenticatorId": number, "isUserVerified": True})
        reader.page.get_by_role("button", name="Sign in with a passkey").click()

        reader.page.wait_for_url("**/reader/starred")


def test_the_sign_in_page_offers_passkeys_among_the_names_and_the_button_takes_over(
    browser: Browser, guarded_alice: Person
) -> None:
    """The authenticator of the developer tools chooses for the user, at the moment when it is asked."""
    with user_with(browser, guarded_alice, **PHONE) as (reader, tools, number):
        add_passkey(reader, "My phone")
        presence = {"authenticatorId": number, "enabled": False}
        tools.send("WebAuthn.setAutomaticPresenceSimulation", presence)
        reader.context.add_init_script(RECORD_OFFER)
        sign_out(reader)
        expect(reader.page.get_by_label("Username")).to_have_attribute("autocomplete", "username webauthn")
        reader.page.evaluate(OFFER_HAS_BEGUN)
        tools.send("WebAuthn.setAutomaticPresenceSimulation", presence | {"enabled": True})
        reader.page.get_by_role("button", name="Sign in with a passkey").click()
        reader.page.wait_for_url("**/reader/starred")

        sign_out(reader)
        reader.page.wait_for_url("**/reader/starred")


def test_a_service_in_trouble_is_not_asked_for_passkeys_again_and_again(
    browser: Browser, guarded_alice: Person
) -> None:
    service = replace(guarded_alice.service, url=guarded_alice.service.environment["TIDINGS_BASE_URL"])
    with reading(browser, service) as reader:
        reader.loses_connection = True
        asked: list[str] = []

        def answer(route: Route) -> None:
            asked.append(route.request.url)
            route.fulfill(status=503, content_type="text/html", body="Back in a moment")

        reader.context.route("**/sign-in/passkey/options", answer)
        with reader.page.expect_response("**/sign-in/passkey/options"):
            reader.go("/sign-in")
        reader.page.evaluate("() => fetch('/reader/sign-in').then(() => null)")
        assert len(asked) == 1

        # Who presses the button sees the page again, which says what is wrong.
        with reader.page.expect_navigation():
            reader.page.get_by_role("button", name="Sign in with a passkey").click()


def test_a_security_key_without_a_pin_is_a_second_step(browser: Browser, guarded_alice: Person) -> None:
    with user_with(browser, guarded_alice, **OLD_KEY) as (reader, _, _number):
        add_passkey(reader, "Old key")
        expect(reader.page.locator("#passkeys ~ ul").first).to_contain_text("second step only")
        reader.page.get_by_role("button", name="Switch on").click()
        expect(reader.page.locator("#recovery-codes")).to_have_count(1)

        sign_out(reader)
        reader.page.get_by_label("Username").fill(guarded_alice.user.username)
        reader.page.get_by_label("Password").fill(PASSWORD)
        reader.page.get_by_role("button", name="Sign in", exact=True).click()
        reader.page.get_by_role("button", name="Use a passkey").click()

        reader.page.wait_for_url("**/reader/starred")


def test_at_another_address_of_the_service_the_page_says_where_passkeys_work(
    browser: Browser, guarded_alice: Person
) -> None:
    service = replace(guarded_alice.service, url=f"{guarded_alice.service.url}/reader")
    with reading(browser, service) as reader:
        reader.go("/sign-in").get_by_role("button", name="Sign in with a passkey").click()

        address = guarded_alice.service.environment["TIDINGS_BASE_URL"]
        expect(reader.page.get_by_role("alert")).to_contain_text(f"open {address}")


def test_without_scripts_the_page_says_that_passkeys_need_them(browser: Browser, guarded_alice: Person) -> None:
    service = replace(guarded_alice.service, url=guarded_alice.service.environment["TIDINGS_BASE_URL"])
    with reading(browser, service, java_script_enabled=False) as reader:
        page = reader.go("/sign-in")

        expect(page.get_by_text("Passkeys need JavaScript")).to_be_visible()
        expect(page.get_by_role("button", name="Sign in with a passkey")).to_be_disabled()


def test_the_button_waits_for_its_script(browser: Browser, guarded_alice: Person) -> None:
    service = replace(guarded_alice.service, url=guarded_alice.service.environment["TIDINGS_BASE_URL"])
    with reading(browser, service) as reader:
        page = reader.page
        button = page.get_by_role("button", name="Sign in with a passkey")
        with held_back(page, "**/passkeys.js"):
            page.goto(f"{service.url}/sign-in", wait_until="commit")
            expect(button).to_be_disabled()

        expect(button).to_be_enabled()
