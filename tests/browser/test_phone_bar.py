"""The bar at the foot of a phone: its words fit in every language of the pages."""

from __future__ import annotations

from typing import Final

import pytest
from playwright.sync_api import Browser

from browser.readers import SCREENS, reading
from support.people import Person
from support.publisher import Publisher
from support.running import RunningService
from support.visitors import Visitor
from tidings.web.language import OFFERED

pytestmark = pytest.mark.slow

# Labels that are cut, or wider than the part of the bar that they stand in.
_CUT: Final = """() => [...document.querySelectorAll(".bottom :is(a, button)")].flatMap((one) => {
    const text = one.querySelector("span") ?? one;
    const range = new Range();
    range.selectNodeContents(text);
    const label = range.getBoundingClientRect();
    const box = one.getBoundingClientRect();
    const isCut = text !== one && (text.scrollWidth > text.clientWidth || text.scrollHeight > text.clientHeight + 1);
    return isCut || label.left < box.left || label.right > box.right ? [text.textContent.trim()] : [];
})"""
# Shows the body of another page in this one, which has all styles already. To load it would take ten times as long.
_SHOW: Final = """(html) => {
    const { documentElement: shown, body } = new DOMParser().parseFromString(html, "text/html");
    const root = document.documentElement;
    [...root.attributes].forEach(({ name }) => root.removeAttribute(name));
    [...shown.attributes].forEach(({ name, value }) => root.setAttribute(name, value));
    document.body.replaceWith(body);
}"""


def test_words_fit_in_every_language(browser: Browser, service: RunningService, alice: Person, site: Publisher) -> None:
    alice.has_feed(site, ["One", "Two"])
    linkding = {"enabled": True, "url": "https://links.example.org", "token": "t"}
    alice.put("/v1/integrations", {"linkding": linkding}, status=201)
    entry = alice.entries()[0]["id"]
    without_script = Visitor(service, alice).begin_session()
    cut = {}
    labels = set()
    with reading(browser, service, **SCREENS["phone"]) as phone:
        phone.set_session(alice)
        # Once with the words of an unread entry, once with those of a starred and read one.
        for path, starred, status in (
            ("/unread", False, "unread"),
            (f"/entries/{entry}", False, "unread"),
            (f"/entries/{entry}", True, "read"),
        ):
            page = phone.go(path)
            for language in OFFERED:
                alice.put(f"/v1/users/{alice.id}", {"language": language}, status=201)
                alice.put("/v1/entries", {"entry_ids": [entry], "starred": starred, "status": status})
                page.evaluate(_SHOW, without_script.page(path))
                page.evaluate("document.fonts.ready")
                cut[language, path, starred] = page.evaluate(_CUT)
                labels.add(page.locator(".bottom").inner_text())
    assert len(labels) > 2 * len(OFFERED)
    assert {where: words for where, words in cut.items() if words} == {}
