"""A page that is watched while it shows foreign HTML: what runs in it, and what it asks for.

It has no content security policy and may do whatever a page may, so that the HTML alone decides. Nothing leaves the
machine: every request is noted and then refused.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from typing import Any, Final

from playwright.sync_api import Browser, CDPSession, Dialog, Frame, Page, Request, Route

ADDRESS: Final = "https://reader.example/entry/1"
# What a page may show: pictures, sounds, films. They are asked for when they come into view, and run nothing.
_SHOWN: Final = frozenset({"image", "media"})
_TIMEOUT_MS: Final = 60_000
_SETTLED_S: Final = 0.5
_TABS: Final = 60
# Our own commands say where they come from; foreign code could not, for its URL is the page's.
_OURS: Final = "tidings-tests.js"


def observed_effects(
    browser: Browser, html: str, *, by_script: bool = False, is_harmful: bool = False, frames: Callable[[str], bool]
) -> list[str]:
    """Everything the page did besides showing the HTML, in words.

    by_script: the HTML comes by `innerHTML`, as in pages that load their parts, instead of with the page.
    is_harmful: the page is looked at until it has done something, which a busy machine does late.
    frames: whether a frame may ask for a URL.
    """
    context = browser.new_context(accept_downloads=False)
    context.set_default_timeout(_TIMEOUT_MS)
    found: list[str] = []
    try:
        page = context.new_page()
        context.on("page", lambda popup: found.append(f"opened {popup.url}"))
        debugger = _watch(page, found)
        context.route("**/*", lambda route: _answer(route, page, "" if by_script else html, found, frames))
        page.goto(ADDRESS)
        if by_script:
            command = f"document.querySelector('main').innerHTML = {json.dumps(html)}\n//# sourceURL={_OURS}"
            outcome = debugger.send("Runtime.evaluate", {"expression": command})
            assert "exceptionDetails" not in outcome, outcome
        _interact(page, found)
        deadline = time.monotonic() + _TIMEOUT_MS / 1000
        while is_harmful and not found and time.monotonic() < deadline:
            _interact(page, found)
        if page.url.partition("#")[0] != ADDRESS:
            found.append(f"went to {page.url}")
    finally:
        context.close()
    return found


def _watch(page: Page, found: list[str]) -> CDPSession:
    page.on("dialog", lambda dialog: _dismiss(dialog, found))
    page.on("worker", lambda worker: found.append(f"worker {worker.url}"))
    page.on("websocket", lambda socket: found.append(f"socket {socket.url}"))
    page.on("framenavigated", lambda frame: _note_frame(page, frame, found))
    debugger = page.context.new_cdp_session(page)
    debugger.on("Debugger.scriptParsed", lambda script: _note_script(script, found))
    debugger.send("Debugger.enable")
    return debugger


def _dismiss(dialog: Dialog, found: list[str]) -> None:
    found.append(f"dialog {dialog.message!r}")
    dialog.dismiss()


def _note_script(script: dict[str, Any], found: list[str]) -> None:
    """Whatever the browser compiles for the page: elements, handlers in attributes, URLs."""
    world = script.get("executionContextAuxData", {})
    # Playwright keeps to a world of its own, which the page does not see.
    if world.get("isDefault", True) and script["url"] != _OURS:
        found.append(f"script of {script['length']} characters in {script['url'][:120] or 'an address'}")


def _note_frame(page: Page, frame: Frame, found: list[str]) -> None:
    if frame != page.main_frame and frame.url not in ("", "about:blank", "chrome-error://chromewebdata/"):
        found.append(f"frame {frame.url[:120]}")


def _answer(route: Route, page: Page, html: str, found: list[str], frames: Callable[[str], bool]) -> None:
    request = route.request
    if request.is_navigation_request() and request.frame == page.main_frame and request.url == ADDRESS:
        body = f"<!doctype html><meta charset=utf-8><title>An entry</title><main>{html}</main>"
        # A character that is half of one cannot be sent.
        route.fulfill(body=body.encode(errors="replace"), content_type="text/html; charset=utf-8")
        return
    if not _is_harmless(request, page, frames):
        found.append(f"{request.resource_type} request to {request.url[:120]}")
    route.abort()


def _is_harmless(request: Request, page: Page, frames: Callable[[str], bool]) -> bool:
    if request.method != "GET":
        return False
    if request.resource_type in _SHOWN or request.url == "https://reader.example/favicon.ico":
        return True
    return request.is_navigation_request() and request.frame != page.main_frame and frames(request.url)


def _interact(page: Page, found: list[str]) -> None:
    """Looks at all of it, as a reader would: some payloads wait for the mouse, the keyboard or a scroll."""
    size = page.viewport_size or {"width": 800, "height": 600}
    page.wait_for_timeout(200)
    for step in range(6):
        if found:
            return
        page.mouse.move(100 + step * 80, 60 + step * 80)
        page.mouse.wheel(0, size["height"] * 4)
    for key in (*["Tab"] * _TABS, "x", "End", "Home"):
        if found:
            return
        page.keyboard.press(key)
    page.wait_for_timeout(_SETTLED_S * 1000)
