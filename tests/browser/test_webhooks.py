"""The pages of webhooks with names as long as they can be."""

from __future__ import annotations

import pytest
from playwright.sync_api import Browser

from browser.page_checks import sticking_out
from browser.readers import reading
from support.people import Person
from support.running import RunningService

pytestmark = pytest.mark.slow


@pytest.mark.one_engine
def test_long_names_stay_in_a_narrow_window(browser: Browser, service: RunningService, alice: Person) -> None:
    category = alice.post("/v1/categories", {"title": "N" * 200})
    named = {"name": "N" * 100, "url": f"https://hooks.example/{'a' * 180}", "category_ids": [category["id"]]}
    path = f"/settings/integrations/webhooks/{alice.post('/v1/webhooks', named)['id']}"
    with reading(browser, service, viewport={"width": 360, "height": 800}) as reader:
        reader.set_session(alice)
        found = {each: sticking_out(reader.go(each)) for each in ("/settings/integrations", path, f"{path}/delete")}
        page = reader.go(path)
        page.get_by_role("button", name="Create new one").click()
        page.locator("#new-secret").wait_for()
        found["secret"] = sticking_out(page)

    assert {each: wide for each, wide in found.items() if wide} == {}
