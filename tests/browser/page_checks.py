"""What every page has to be, whatever it shows: accessible, as axe sees it, and not wider than its window."""

from __future__ import annotations

from typing import Final

from axe_playwright_python.base import AXE_SCRIPT
from playwright.sync_api import Page

# What these rules ask for is law in many places (WCAG 2.2 AA), or good practice that costs nothing.
_RULES: Final = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]
# What is well is not described, and our style sheets are not asked for again.
_QUICK: Final = {"resultTypes": ["violations"], "preload": False}
_RUN: Final = """
options => axe.run(document, options).then(found => found.violations.flatMap(one =>
    one.nodes.map(node => [`${one.id} (${one.impact}): ${node.target.join(" ")}`, node.html.slice(0, 160),
        ...node.any.map(check => check.message)].join(" "))))
"""
# What sticks out of the window: of the page, and of whatever does not scroll or cut by itself.
_WIDER: Final = """
() => {
    const cut = element => {
        for (let at = element.parentElement; at && at !== document.body; at = at.parentElement)
            if (getComputedStyle(at).overflowX !== "visible" || getComputedStyle(at).clipPath !== "none") return true;
    };
    const found = [...document.body.querySelectorAll("*")].filter(one => {
        const box = one.getBoundingClientRect();
        return box.width && (box.right > innerWidth + 1 || box.left < -1) && one.checkVisibility()
            && !one.closest("svg, .visually-hidden, .meta") && !cut(one);
    });
    const told = found.slice(0, 5).map(one => `${one.tagName} ${one.className}: ${one.textContent.slice(0, 40)}`);
    const wide = document.documentElement.scrollWidth;
    return wide > innerWidth ? [`${wide} px in a window of ${innerWidth}`, ...told] : told;
}
"""


def findings(page: Page, *, in_the_dark: bool = True) -> list[str]:
    page.evaluate(AXE_SCRIPT)
    found: list[str] = page.evaluate(_RUN, _QUICK | {"runOnly": _RULES})
    if not in_the_dark:
        return found
    # Other themes have the same rules and other colours, which test_contrast.py compares; here, what stands on what.
    page.emulate_media(color_scheme="dark")
    dark: list[str] = page.evaluate(_RUN, _QUICK | {"runOnly": ["color-contrast"]})
    page.emulate_media(color_scheme="light")
    return found + [f"dark: {one}" for one in dark]


def sticking_out(page: Page) -> list[str]:
    """Return what is wider than the window: the page, and elements that do not scroll or cut by themselves."""
    found: list[str] = page.evaluate(_WIDER)
    return found
