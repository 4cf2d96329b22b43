"""Menus of conditions show their words whole, in every language of the pages."""

from __future__ import annotations

from typing import Final

import pytest
from playwright.sync_api import Browser

from browser.page_checks import sticking_out
from browser.readers import SCREENS, reading
from browser.test_phone_bar import SHOW
from support.people import Person
from support.running import RunningService
from support.visitors import Visitor
from tidings.web.language import OFFERED

pytestmark = pytest.mark.slow

# Chooses each option of each menu in turn. Returns those for which the menu is too narrow: narrower than one that has
# this option alone and as much room as it wants.
_CUT: Final = """() => [...document.querySelectorAll(".condition-rows select")].flatMap((menu) => {
    const alone = menu.cloneNode();
    alone.removeAttribute("id");
    Object.assign(alone.style, { flex: "none", maxWidth: "none", minWidth: 0, position: "absolute", width: "auto" });
    menu.after(alone);
    const cut = [...menu.options].flatMap((option) => {
        menu.value = option.value;
        alone.replaceChildren(option.cloneNode(true));
        return menu.offsetWidth < alone.offsetWidth ? [option.text] : [];
    });
    alone.remove();
    return cut;
})"""
# How many lines the controls of each row take.
_LINES: Final = """() => [...document.querySelectorAll(".condition-rows > li")].map((row) =>
    new Set([...row.querySelectorAll("select, input:not([type=hidden]), button")].map((one) => one.offsetTop)).size)"""
# Each kind of field has comparisons of its own.
_QUERY: Final = "/views/new?query=title:rain+published:7d+minutes%3C=5+is:unread+label:later"


@pytest.mark.parametrize("screen", SCREENS)
def test_no_menu_of_conditions_is_cut_in_any_language(
    browser: Browser, service: RunningService, alice: Person, screen: str
) -> None:
    alice.service.services.entries.labels.create(alice.id, "later")
    without_script = Visitor(service, alice).begin_session()
    cut = {}
    with reading(browser, service, **SCREENS[screen]) as reader:
        reader.set_session(alice)
        # In a wide window both have the same room.
        for path in (_QUERY,) if screen == "wide" else (_QUERY, "/settings/filters"):
            page = reader.go(path)
            menus = page.locator(".condition-rows select").count()
            assert menus > 3
            assert set(page.evaluate(_LINES)) == {1 if screen == "wide" else 2}
            for language in OFFERED:
                alice.put(f"/v1/users/{alice.id}", {"language": language}, status=201)
                page.evaluate(SHOW, without_script.page(path))
                cut[language, path] = page.evaluate(_CUT) + sticking_out(page)
                assert page.locator(".condition-rows select").count() == menus
    assert {where: words for where, words in cut.items() if words} == {}
