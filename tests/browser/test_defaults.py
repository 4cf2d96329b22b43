"""What the pages show to users who have chosen nothing: the theme of the system, the newest entries first."""

from __future__ import annotations

import re
from typing import Any

import pytest
from playwright.sync_api import Browser, expect

from browser.readers import reading
from support.people import Person
from support.publisher import Publisher
from support.running import RunningService

pytestmark = pytest.mark.slow

PAPER = {"light": "rgb(251, 250, 247)", "dark": "rgb(22, 21, 20)"}
_COLOUR = "getComputedStyle(document.documentElement).backgroundColor"


@pytest.mark.parametrize("width", [390, 1280])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_an_account_without_choices_has_the_theme_of_the_system_and_the_newest_entry_first(
    browser: Browser, service: RunningService, alice: Person, site: Publisher, scheme: Any, width: int
) -> None:
    feed = alice.has_feed(site, ["Newest", "Older", "Oldest"])
    with reading(browser, service, color_scheme=scheme, viewport={"width": width, "height": 800}) as created:
        created.set_session(alice)
        for path in ("/unread", f"/feeds/{feed['id']}"):
            page = created.go(path)
            expect(page.locator(".row-title")).to_have_text(["Newest", "Older", "Oldest"])
            assert page.evaluate(_COLOUR) == PAPER[scheme]

    me = alice.get("/v1/me")
    assert (me["theme"], me["entry_sorting_direction"]) == ("light_serif", "asc")


def test_what_was_chosen_is_shown_also_when_it_is_the_default_of_the_api(
    browser: Browser, service: RunningService, alice: Person, site: Publisher
) -> None:
    alice.has_feed(site, ["Newest", "Oldest"])
    with reading(browser, service, color_scheme="dark") as created:
        created.set_session(alice)
        # Saving the forms as they are shown chooses nothing.
        for settings in ("reading", "appearance"):
            created.go(f"/settings/{settings}").get_by_role("button", name="Save").click()
            created.wait_for_text("Saved.")
        me = alice.get("/v1/me")
        assert (me["theme"], me["entry_sorting_direction"]) == ("light_serif", "asc")
        page = created.go("/settings/appearance")
        page.get_by_label("Colours and typeface").select_option("light_serif")
        page.get_by_text("Oldest first").click()
        page.get_by_role("button", name="Save").click()
        created.wait_for_text("Saved.")

        created.go("/unread")
        expect(page.locator(".row-title")).to_have_text(["Oldest", "Newest"])
        assert page.evaluate(_COLOUR) == PAPER["light"]
        alice.put(f"/v1/users/{alice.id}", {"theme": "dark_serif", "entry_sorting_direction": "desc"}, status=201)
        created.go("/unread")
        expect(page.locator(".row-title")).to_have_text(["Newest", "Oldest"])
        assert page.evaluate(_COLOUR) == PAPER["dark"]
        expect(page.locator("html")).to_have_attribute("data-theme", re.compile("dark"))
