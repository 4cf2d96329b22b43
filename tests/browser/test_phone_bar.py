"""The bar at the foot of a phone: its words fit in one line in every language of the pages."""

from __future__ import annotations

from typing import Final

import pytest
from playwright.sync_api import Browser

from browser.readers import SCREENS, reading
from support.people import Person, rss
from support.publisher import Publisher
from support.running import RunningService
from support.visitors import Visitor
from tidings.web.language import OFFERED

pytestmark = pytest.mark.slow

# Labels that take two lines, are wider than the part of the bar that they stand in, or outside of the window.
_CUT: Final = """() => [...document.querySelectorAll(".bottom :is(a, button)")].flatMap((one) => {
    const walker = document.createTreeWalker(one, NodeFilter.SHOW_TEXT, ({ data }) => (data.trim() ? 1 : 2));
    const range = new Range();
    range.selectNodeContents(walker.nextNode());
    const lines = range.getClientRects();
    const box = one.getBoundingClientRect();
    const isInside = box.left > -0.5 && box.right < innerWidth + 0.5;
    const fits = lines[0].left >= box.left && lines[0].right <= box.right;
    return lines.length === 1 && isInside && fits ? [] : [one.textContent.trim()];
})"""
# Shows the body of another page in this one, which has all styles already. To load it would take ten times as long.
SHOW: Final = """(html) => {
    const { documentElement: shown, body } = new DOMParser().parseFromString(html, "text/html");
    const root = document.documentElement;
    [...root.attributes].forEach(({ name }) => root.removeAttribute(name));
    [...shown.attributes].forEach(({ name, value }) => root.setAttribute(name, value));
    document.body.replaceWith(body);
}"""


def test_words_fit_in_every_language(browser: Browser, service: RunningService, alice: Person, site: Publisher) -> None:
    comments = "<comments>https://comments.example.org/1</comments><guid>"
    site.serve("/feed.xml", rss(["One", "Two"], site.url("/feed.xml")).replace("<guid>", comments))
    alice.post("/v1/feeds", {"feed_url": site.url("/feed.xml")})
    linkding = {"enabled": True, "url": "https://links.example.org", "token": "t"}
    alice.put("/v1/integrations", {"linkding": linkding}, status=201)
    entry = alice.entries()[0]["id"]
    without_script = Visitor(service, alice).begin_session()
    cut = {}
    labels = set()
    with reading(browser, service, **SCREENS["phone"]) as phone:
        phone.set_session(alice)
        for path in ("/unread", f"/entries/{entry}"):
            page = phone.go(path)
            for language in OFFERED:
                alice.put(f"/v1/users/{alice.id}", {"language": language}, status=201)
                page.evaluate(SHOW, without_script.page(path))
                page.evaluate("document.fonts.ready")
                cut[language, path] = page.evaluate(_CUT)
                labels.add(page.locator(".bottom").inner_text())
    assert len(labels) == 2 * len(OFFERED)
    assert {where: words for where, words in cut.items() if words} == {}
