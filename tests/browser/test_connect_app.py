"""The page of an app on a phone and on a wide screen, with and without script: a scanner reads its QR codes."""

from __future__ import annotations

import io
from typing import Any

import pytest
import zxingcpp
from PIL import Image
from playwright.sync_api import Browser, Page, expect

from browser.readers import reading
from greader.apps import App
from support.people import Person
from support.running import RunningService

pytestmark = pytest.mark.slow

PHONE, WIDE = {"width": 390, "height": 844}, {"width": 1440, "height": 900}


def scanned(page: Page, name: str) -> list[str]:
    """What a camera sees in a part of the page, with some of what is around it."""
    box = page.get_by_role("img", name=name).bounding_box()
    assert box
    around = {"x": box["x"] - 10, "y": box["y"] - 10, "width": box["width"] + 20, "height": box["height"] + 20}
    picture = Image.open(io.BytesIO(page.screenshot(full_page=True, clip=around)))  # type: ignore[arg-type]
    return [found.text for found in zxingcpp.read_barcodes(picture)]


@pytest.mark.parametrize(
    ("colours", "size", "scripts"), [("dark", PHONE, False), ("light", WIDE, True), ("dark", WIDE, True)]
)
def test_address_and_password_are_scanned_from_the_page(
    browser: Browser, service: RunningService, alice: Person, colours: str, size: dict[str, int], scripts: bool
) -> None:
    settings: dict[str, Any] = {"color_scheme": colours, "viewport": size, "java_script_enabled": scripts}
    with reading(browser, service, **settings) as reader:
        reader.set_session(alice)
        page = reader.go("/settings/apps")
        page.get_by_role("link", name="NetNewsWire").click()
        page.get_by_role("button", name="Create password").click()
        password = page.locator("#new-secret").inner_text()
        # Styles move the codes.
        page.wait_for_load_state()

        assert scanned(page, "QR code of the address") == [page.locator("#address").inner_text()]
        assert scanned(page, "QR code of the password") == [password]
        expect(page.get_by_role("button", name="Create password")).to_have_count(0)
    assert App(alice).sign_in(password).get("user-info")["userName"] == alice.user.username
