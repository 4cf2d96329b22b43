"""The pages of signing in as people meet them: invitations and limits, the provider, the second step, the log.

Most of these pages have no address of their own. Each is looked at when it is reached, in the narrowest window.
"""

from __future__ import annotations

import secrets
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any, Final

import pytest
from playwright.sync_api import Browser, expect
from pyotp import TOTP

from browser.page_checks import findings, sticking_out
from browser.readers import Reader, reading
from browser.test_passkeys import PHONE
from sign_in.forging_provider import ForgingProvider, callback_path
from support.databases import Databases
from support.people import PASSWORD, Cast, rss
from support.ports import free_port
from support.publisher import Publisher
from support.running import RunningService, running_service
from tidings.domain.accounts.events import Origin
from tidings.sign_in.limits_model import Limits

pytestmark = pytest.mark.slow

NARROW: Final[dict[str, Any]] = {"viewport": {"width": 320, "height": 700}}


@dataclass(frozen=True)
class Household:
    """A service whose users may sign in at a provider, and whose administrators need a second factor."""

    service: RunningService
    """With the address under which browsers open it."""
    provider: ForgingProvider
    cast: Cast


@pytest.fixture(scope="module")
def household(databases: Databases, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Household]:
    port = free_port()
    url = f"http://localhost:{port}/reader"
    settings = {"listen_addr": f"127.0.0.1:{port}", "base_url": url, "require_admin_second_factor": "1"}
    folder = tmp_path_factory.mktemp("household")
    with (
        ForgingProvider() as provider,
        databases.migrated() as database_url,
        running_service(database_url, folder, **provider.settings(**settings)) as running,
    ):
        yield Household(replace(running, url=url), provider, Cast(running))


@pytest.fixture
def visitor(browser: Browser, household: Household) -> Iterator[Reader]:
    """Someone who has not signed in."""
    with reading(browser, household.service, **NARROW) as created:
        # Chromium notes the status of a page with a mistake as an error.
        created.loses_connection = True
        yield created


def look(reader: Reader) -> None:
    """Check the page that is shown, when it has its styles."""
    reader.page.wait_for_load_state()
    found = findings(reader.page, in_the_dark=False) + sticking_out(reader.page)
    assert found == [], "\n".join([reader.page.url, *found])


def press(reader: Reader, name: str) -> None:
    with reader.page.expect_navigation():
        reader.page.get_by_role("button", name=name, exact=True).click()


def follow(reader: Reader, link: str) -> None:
    with reader.page.expect_navigation():
        reader.page.get_by_role("link", name=link).click()


def fill(reader: Reader, **fields: str) -> None:
    for name, value in fields.items():
        reader.page.locator(f"[name={name}]:visible").fill(value)


def test_who_is_invited_creates_an_account_without_scripts_and_keeps_to_its_limits(
    browser: Browser, household: Household, visitor: Reader, site: Publisher
) -> None:
    visitor.set_session(household.cast.person("charlie", is_admin=True))
    visitor.go("/users")
    follow(visitor, "Invitations")
    look(visitor)
    visitor.page.get_by_text("Limits", exact=True).click()
    fill(visitor, note="Dora", max_feeds="many")
    press(visitor, "Make a link")
    expect(visitor.page.get_by_role("textbox", name="Feeds")).to_be_focused()
    look(visitor)
    fill(visitor, max_feeds="1")
    press(visitor, "Make a link")
    look(visitor)
    link = visitor.page.locator("#new-link").inner_text()

    name = f"dora-{secrets.token_hex(3)}"
    with reading(browser, household.service, java_script_enabled=False, **NARROW) as guest:
        guest.loses_connection = True
        guest.page.goto(link)
        fill(guest, username=name, password="a long walk", repeated="a short one")
        press(guest, "Create account")
        expect(guest.page.get_by_text("The two passwords are not the same.")).to_be_visible()
        fill(guest, password="a long walk", repeated="a long walk")
        press(guest, "Create account")
        subscribe(guest, site, "/one.xml")
        expect(guest.page.get_by_role("heading", name="/one.xml")).to_be_visible()
        subscribe(guest, site, "/two.xml")
        expect(guest.page.get_by_text("may have 1 feeds and has 1")).to_be_visible()

    dora = household.service.services.accounts.users.find(name)
    visitor.go(f"/users/{dora.id}")
    follow(visitor, "Limits")
    expect(visitor.page.get_by_text("1 feed", exact=False).first).to_be_visible()
    look(visitor)
    fill(visitor, max_feeds="2")
    press(visitor, "Save")
    visitor.go(f"/users/{dora.id}")
    follow(visitor, "Log of this account")
    expect(visitor.page.get_by_text("Account created")).to_be_visible()
    look(visitor)
    visitor.page.goto(link)
    expect(visitor.page.get_by_text("This link was used")).to_be_visible()


def test_a_new_account_begins_with_the_language_and_the_time_zone_of_the_browser(
    browser: Browser, household: Household
) -> None:
    charlie = household.cast.person("charlie", is_admin=True)
    links = household.service.services.sign_in.links
    token = links.invite(charlie.user, Origin(""), note="", is_admin=False, limits=Limits())
    name = f"dora-{secrets.token_hex(3)}"
    with reading(browser, household.service, locale="de-DE", timezone_id="Asia/Tokyo", **NARROW) as guest:
        page = guest.go(f"/invitation/{token}")
        look(guest)
        fill(guest, username=name, password=PASSWORD, repeated=PASSWORD)
        with page.expect_navigation():
            page.locator(".button.main").click()
        expect(page.locator("html")).to_have_attribute("lang", "de")
        guest.go("/settings")
        expect(page.locator("[name=timezone]")).to_have_value("Asia/Tokyo")


def test_an_account_that_an_administrator_made_begins_as_its_browser_is_set(
    browser: Browser, household: Household
) -> None:
    name = f"dora-{secrets.token_hex(3)}"
    users = household.service.services.accounts.users
    users.create(name, PASSWORD)
    with reading(browser, household.service, locale="de-DE", timezone_id="Asia/Tokyo", **NARROW) as guest:
        page = guest.go("/sign-in")
        fill(guest, username=name, password=PASSWORD)
        with page.expect_navigation():
            page.locator("form[action$='/sign-in'] .button.main").click()
        expect(page.locator("html")).to_have_attribute("lang", "de")

    found = users.find(name)
    assert (found.language, found.timezone) == ("de_DE", "Asia/Tokyo")


def test_who_signs_in_in_one_tab_is_signed_in_in_all(household: Household, visitor: Reader) -> None:
    alice = household.cast.person("alice")
    other = visitor.context.new_page()
    other.goto(f"{household.service.url}/sign-in?next=/starred")
    visitor.go("/sign-in")
    fill(visitor, username=alice.user.username, password=PASSWORD)
    press(visitor, "Sign in")

    # A browser without windows shows all its tabs at the same time.
    other.evaluate("document.dispatchEvent(new Event('visibilitychange'))")

    other.wait_for_url("**/starred")


def subscribe(reader: Reader, site: Publisher, path: str) -> None:
    site.serve(path, rss(["News"], site.url(path), title=path))
    reader.go("/feeds/add")
    fill(reader, url=site.url(path))
    press(reader, "Find feeds")
    press(reader, f"Subscribe {path}")


def test_an_identity_at_the_provider_is_linked_used_and_unlinked(household: Household, visitor: Reader) -> None:
    alice, provider, page = household.cast.person("alice"), household.provider, visitor.page
    subject = f"subject of {alice.id}"

    def come_back(url: str, name: str = "Alice P.") -> None:
        """Come back from the provider, to which a URL leads."""
        answer = provider.answer(url, subject=subject, preferred_username=name)
        page.goto(household.service.url + callback_path(answer))

    def asked_by(name: str) -> str:
        """Return the URL at the provider to which a link leads."""
        with page.expect_request(f"{provider.issuer}/authorize**") as asked:
            page.get_by_role("link", name=name).click()
        return asked.value.url

    # A response without content leaves the browser on the page that leads away.
    visitor.context.route(f"{provider.issuer}/**", lambda route: route.fulfill(status=204))
    visitor.go("/sign-in")
    look(visitor)
    come_back(asked_by("Sign in with Example ID"), alice.user.username)
    expect(page.get_by_role("heading", name="You could not be signed in")).to_be_visible()
    look(visitor)
    follow(visitor, "Sign in to link the two")
    fill(visitor, username=alice.user.username, password=PASSWORD)
    press(visitor, "Sign in")
    look(visitor)
    page.get_by_role("button", name="Link an account at Example ID").click()
    expect(page.get_by_role("heading", name="Continue at Example ID")).to_be_visible()
    look(visitor)
    come_back(page.get_by_role("link", name="Continue").get_attribute("href") or "")
    expect(page.get_by_text("Alice P.")).to_be_visible()
    look(visitor)

    visitor.go("/sign-in?confirm=1&next=/settings/identities")
    look(visitor)
    come_back(asked_by("Sign in with Example ID"))
    press(visitor, "Unlink Alice P.")
    expect(page.get_by_text("Nothing is linked yet.")).to_be_visible()
    visitor.go("/settings/log")
    expect(page.get_by_text("Account of another service unlinked")).to_be_visible()
    look(visitor)
    visitor.go("/settings/security").get_by_role("button", name="Sign out everywhere").click()
    expect(page.get_by_role("heading", name="Signed out")).to_be_visible()
    look(visitor)
    leads_to = page.get_by_role("link", name="Continue").get_attribute("href") or ""
    assert leads_to.startswith(f"{provider.issuer}/end?")


def test_an_administrator_sets_up_a_second_factor_at_the_first_sign_in(household: Household, visitor: Reader) -> None:
    charlie, page = household.cast.person("charlie", is_admin=True), visitor.page

    def sign_in() -> None:
        visitor.go("/sign-in?next=/settings/sign-in")
        fill(visitor, username=charlie.user.username, password=PASSWORD)
        press(visitor, "Sign in")

    sign_in()
    look(visitor)
    fill(visitor, code="1")
    press(visitor, "Switch on")
    look(visitor)
    fill(visitor, code=TOTP(page.locator("#app-key").inner_text().replace(" ", "")).now())
    press(visitor, "Switch on")
    codes = page.locator("#recovery-codes").inner_text().split()
    look(visitor)
    follow(visitor, "Continue")
    look(visitor)
    follow(visitor, "Replace")
    look(visitor)

    tools = visitor.context.new_cdp_session(page)
    tools.send("WebAuthn.enable")
    tools.send("WebAuthn.addVirtualAuthenticator", {"options": {"automaticPresenceSimulation": True, **PHONE}})
    visitor.go("/settings/sign-in/passkeys/new")
    look(visitor)
    fill(visitor, name="My phone")
    press(visitor, "Add passkey")
    expect(page.get_by_role("status")).to_have_text("Passkey added.")
    look(visitor)
    follow(visitor, "Edit My phone")
    look(visitor)

    tools.send("WebAuthn.disable")
    visitor.context.clear_cookies()
    sign_in()
    fill(visitor, code="wrong")
    press(visitor, "Continue")
    look(visitor)
    fill(visitor, code=codes[0])
    press(visitor, "Continue")
    expect(page.get_by_text("9 are left")).to_be_visible()
    press(visitor, "Make new ones")
    look(visitor)


def test_a_link_of_the_command_line_is_asked_about_before_it_signs_in(household: Household, visitor: Reader) -> None:
    alice = household.cast.person("alice")
    link = household.service.services.sign_in.links.make_sign_in(alice.user.username)
    visitor.go(f"/sign-in/link/{link}")
    look(visitor)
    press(visitor, "Sign in")
    look(visitor)
    visitor.page.goto(f"{household.service.url}/sign-in/link/{link}")
    expect(visitor.page.get_by_text("This link was used")).to_be_visible()
    look(visitor)
