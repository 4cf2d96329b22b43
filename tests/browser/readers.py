"""A browser signed in as one of the test users. It records errors that no page of ours may cause."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from typing import Any, Final
from urllib.parse import urlsplit

from playwright.sync_api import Browser, BrowserContext, ConsoleMessage, Error, Page, Request, Route, expect

from support.people import PASSWORD, Person
from support.running import RunningService
from tidings.domain.accounts.events import Method, Origin

# The machine may be busy with other work.
TIMEOUT_MS = 60_000
_POLL_MS = 10
expect.set_options(timeout=TIMEOUT_MS)
# A script has run when it has been imported, whoever asked for it first.
_IMPORT: Final = """(file) => {
    const { src } = document.querySelector("script[src$='/reading.js']");
    return import(src.replace("reading.js", file)).then(() => null);
}"""
# Scripts run when the page has been painted, perhaps after its `load` event (start.js).
_READY: Final = "html[data-ready], html:not(:has(script[src$='/reading.js']))"
_WAITING: Final = "html:not([data-ready]):has(script[src$='/reading.js'])"
_ARRIVALS: Final = ("goto", "reload", "go_back", "go_forward", "wait_for_url", "wait_for_load_state")
# As in a browser that has none. (To block it, as Playwright can, is a warning on the console of each page.)
_NO_WORKER: Final = "delete Navigator.prototype.serviceWorker"
# How tests open pages unless they say otherwise; conftest.py sets it.
defaults: Final = {"has_worker": False}
# Contexts of the browser.
SCREENS: Final[dict[str, dict[str, Any]]] = {
    "wide": {"viewport": {"width": 1280, "height": 800}},
    "phone": {"viewport": {"width": 390, "height": 844}, "has_touch": True, "is_mobile": True, "color_scheme": "dark"},
}


@dataclass
class Reader:
    """A user at a browser. complaints: console errors, script errors, and requests to other hosts.

    loses_connection: requests may fail, which is no complaint. tolerated: parts of messages of the console that are no
    complaints either, whenever they come. has_scripts: whether pages run theirs.
    """

    service: RunningService
    context: BrowserContext
    page: Page
    complaints: list[str] = field(default_factory=list)
    loses_connection: bool = False
    tolerated: tuple[str, ...] = ()
    has_scripts: bool = True

    def go(self, path: str) -> Page:
        answer = self.page.goto(self.service.url + path)
        assert answer is not None
        assert answer.status == 200, f"{path}: {answer.status}\n{self.service.log[-2000:]}"
        return self.page

    def sign_in(self, person: Person) -> None:
        """Sign in with the form."""
        self.go("/sign-in")
        self.page.get_by_label("Username").fill(person.user.username)
        self.page.get_by_label("Password").fill(PASSWORD)
        self.page.get_by_role("button", name="Sign in", exact=True).click()
        self.page.wait_for_url(lambda url: "/sign-in" not in url)

    def set_session(self, person: Person) -> None:
        """Set the cookie of a new session, without using the sign-in form."""
        token = self.service.services.accounts.sessions.begin(
            person.user, Origin("127.0.0.1", "tests", Method.PASSWORD)
        )
        self.context.add_cookies([{"name": "tidings_session", "value": token, "url": self.service.url}])

    def press(self, *keys: str) -> None:
        if self.has_scripts:
            wait_for_scripts(self.page)
        for key in keys:
            self.page.keyboard.press(key)

    @contextmanager
    def marking(self) -> Iterator[None]:
        """Wait at the end until the service has answered a mark that begins in the block. Pages show it before."""
        with self.page.expect_response("**/entries/marks"):
            yield

    def wait_for_part(self, name: str) -> None:
        """Wait until a script has run that the page loads only when it needs it (`js/parts.js`)."""
        self.page.evaluate(_IMPORT, f"{name}.js")

    def wait_for_text(self, text: str) -> None:
        """Wait until the page shows a text, usually as a notice."""
        self.page.get_by_text(text).first.wait_for()


@contextmanager
def reading(
    browser: Browser, service: RunningService, *, has_worker: bool = False, **settings: Any
) -> Iterator[Reader]:
    """Open a browser context. Raises AssertionError at the end if there are complaints.

    has_worker: whether pages find a service worker to install, which takes as long as most tests without it. With
        --long they always do.
    settings: of Playwright.
    """
    context = browser.new_context(**{"reduced_motion": "reduce", "locale": "en-GB"} | settings)
    context.set_default_timeout(TIMEOUT_MS)
    if not (has_worker or defaults["has_worker"]):
        context.add_init_script(_NO_WORKER)
    has_scripts = settings.get("java_script_enabled", True)
    if has_scripts:
        context.on("page", _wait_for_scripts)
    reader = Reader(service, context, context.new_page(), has_scripts=has_scripts)
    context.on("console", lambda message: _note_message(reader, message))
    context.on("weberror", lambda error: reader.complaints.append(f"script: {error.error}"))
    context.on("request", lambda request: _note_request(reader, request))
    try:
        yield reader
    except BaseException as error:
        # What the test waited for in vain is often explained by them.
        for complaint in reader.complaints:
            error.add_note(complaint)
        raise
    finally:
        context.close()
    assert not reader.complaints, "\n".join(reader.complaints)


def wait_for_scripts(page: Page) -> None:
    """Wait until the scripts of the page listen."""
    page.locator(_READY).wait_for(state="attached")


def wait_until(page: Page, condition: Callable[[], object]) -> None:
    """Wait for what Playwright has no method to wait for. Raises AssertionError after TIMEOUT_MS."""
    deadline = time.monotonic() + TIMEOUT_MS / 1000
    while not condition():
        assert time.monotonic() < deadline, "waited in vain"
        page.wait_for_timeout(_POLL_MS)


def _wait_for_scripts(page: Page) -> None:
    """Make the page's methods that open another page return when its scripts listen, and let clicks wait for them.

    A click may lead to a page, too, and return before its scripts listen: the next click would not be heard.
    """
    for name in _ARRIVALS:
        setattr(page, name, _then_wait(page, getattr(page, name)))
    # Playwright looks for it before each action of a locator, and waits until it is gone. A page that a test has closed
    # at once needs no handler.
    with suppress(Error):
        page.add_locator_handler(page.locator(_WAITING), lambda _: None)


def _then_wait(page: Page, arrive: Callable[..., Any]) -> Callable[..., Any]:
    def arrive_and_wait(*arguments: Any, **named: Any) -> Any:
        answer = arrive(*arguments, **named)
        wait_for_scripts(page)
        return answer

    return arrive_and_wait


@contextmanager
def held_back(page: Page, url: str) -> Iterator[None]:
    """Hold requests back until the block ends, in which there is one. url: a glob pattern."""
    held: list[Route] = []
    is_over = False
    page.route(url, lambda route: route.continue_() if is_over else held.append(route))
    yield
    wait_until(page, lambda: held)
    is_over = True
    for route in held:
        route.continue_()


def _note_message(reader: Reader, message: ConsoleMessage) -> None:
    is_expected = reader.loses_connection or any(part in message.text for part in reader.tolerated)
    if message.type in ("error", "warning") and not is_expected:
        reader.complaints.append(f"console: {message.text} at {message.location}")


def _note_request(reader: Reader, request: Request) -> None:
    if urlsplit(request.url).hostname not in ("127.0.0.1", urlsplit(reader.service.url).hostname, None):
        reader.complaints.append(f"asked for {request.url}")
