"""Pictures of the main pages, on a phone and on a wide screen, light and dark: `make screenshots`.

python -m demo.screenshots [PAGE …]      into build/screenshots; all pages without a name
python -m demo.screenshots --readme      the three of the README, small, into docs/screenshots
"""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Final

from PIL import Image
from playwright.sync_api import Browser, Page, ViewportSize

from browser.chromium import chromium
from demo.demo_service import DemoService, demo_service
from support.databases import SqliteDatabases
from support.people import PASSWORD
from tidings.domain.accounts.events import Origin
from tidings.sign_in.limits_model import Limits

OUT: Final = Path(__file__).parents[2] / "build" / "screenshots"
README: Final = ("article-wide-light", "unread-phone-dark", "statistics-wide-dark")
README_FOLDER: Final = OUT.parents[1] / "docs" / "screenshots"
# With so many colours a picture of a page looks as it did, and weighs half.
README_COLOURS: Final = 256
SCREENS: Final[dict[str, ViewportSize]] = {
    "phone": {"width": 390, "height": 844},
    "wide": {"width": 1440, "height": 900},
}
THEMES: Final = ("light", "dark")
# What people see who have not signed in.
OUTSIDE: Final = ("sign-in", "invitation", "unavailable")
# Name: its URL, for the service it is on.
PAGES: Final[dict[str, Callable[[DemoService], str]]] = {
    "sign-in": lambda _: "/sign-in",
    "invitation": lambda of: f"/invitation/{invitation(of)}",
    "unavailable": lambda _: "/oauth2/oidc/redirect",
    "unread": lambda _: "/unread",
    "article": lambda of: f"/unread/{of.entry('The pencil and the tide machine')}",
    "podcast": lambda of: f"/unread/{of.entry('Episode 84: The woman who repairs pianos')}",
    "feed": lambda of: f"/feeds/{of.feed('Plain Systems')}?show=all",
    "search": lambda _: "/search?query=map",
    "feeds": lambda _: "/feeds",
    "edit": lambda of: f"/feeds/{of.feed('Night Sky Weekly')}/edit",
    "add": lambda _: "/feeds/add",
    "settings": lambda _: "/settings",
    "webhook": lambda _: "/settings/integrations/webhook",
    "webhooks": lambda _: "/settings/integrations/webhooks/new",
    "statistics": lambda _: "/statistics",
    "welcome": lambda _: "/welcome",
    "categories": lambda _: "/categories",
    "labels": lambda _: "/labels",
    "import": lambda _: "/feeds/import",
    "keys": lambda _: "/settings/api-keys",
    "apps": lambda _: "/settings/apps",
    "app": lambda _: "/settings/apps/netnewswire",
    "shortcuts": lambda _: "/settings/shortcuts",
    "security": lambda _: "/settings/security",
    "passkeys": lambda _: "/settings/sign-in",
    "identities": lambda _: "/settings/identities",
    "log": lambda _: "/settings/log",
    "users": lambda _: "/users",
    "invitations": lambda _: "/users/invitations",
    "limits": lambda of: f"/users/{of.owner.id}/limits",
    "audit": lambda _: "/users/log",
    "integrations": lambda _: "/settings/integrations",
    "instance": lambda _: "/instance",
    "appearance": lambda _: "/view",
    "missing": lambda _: "/nowhere",
}


def main() -> int:
    is_readme = sys.argv[1:] == ["--readme"]
    chosen = [name.partition("-")[0] for name in README] if is_readme else sys.argv[1:] or list(PAGES)
    OUT.mkdir(parents=True, exist_ok=True)
    with (
        tempfile.TemporaryDirectory() as folder,
        SqliteDatabases(Path(folder)).migrated() as url,
        demo_service(url, Path(folder)) as shown,
        chromium() as browser,
    ):
        for screen in SCREENS:
            for theme in THEMES:
                _take(browser, shown, chosen, screen, theme)
    if is_readme:
        _put_into_readme()
    sys.stdout.write(f"{len(chosen) * len(SCREENS) * len(THEMES)} pictures in {OUT}\n")
    return 0


def _put_into_readme() -> None:
    README_FOLDER.mkdir(exist_ok=True)
    for name in README:
        picture = Image.open(OUT / f"{name}.png").convert("RGB")
        picture.quantize(README_COLOURS, dither=Image.Dither.NONE).save(README_FOLDER / f"{name}.png", optimize=True)


def _take(browser: Browser, of: DemoService, chosen: list[str], screen: str, theme: str) -> None:
    context = browser.new_context(
        viewport=SCREENS[screen],
        color_scheme="dark" if theme == "dark" else "light",
        reduced_motion="reduce",
        has_touch=screen == "phone",
        locale="en-GB",
    )
    context.set_default_timeout(60_000)
    page = context.new_page()
    for name in OUTSIDE:
        if name in chosen:
            page.goto(of.service.url + PAGES[name](of))
            _shoot(page, name, screen, theme)
    sign_in(page, of)
    for name in chosen:
        if name not in OUTSIDE:
            answer = page.goto(of.service.url + PAGES[name](of))
            assert answer is not None
            assert answer.status < 500, of.service.log[-4000:]
            _shoot(page, name, screen, theme)
    context.close()


def invitation(of: DemoService) -> str:
    """Return the token of a new invitation."""
    links = of.service.services.sign_in.links
    return links.invite(of.owner.user, Origin(), note="Dora", is_admin=False, limits=Limits(max_feeds=200))


def sign_in(page: Page, of: DemoService) -> None:
    page.goto(f"{of.service.url}/sign-in")
    page.get_by_label("Username").fill(of.owner.user.username)
    page.get_by_label("Password").fill(PASSWORD)
    page.get_by_role("button", name="Sign in").click()
    page.wait_for_url("**/unread")


def _shoot(page: Page, name: str, screen: str, theme: str) -> None:
    page.wait_for_load_state("networkidle")
    page.screenshot(path=OUT / f"{name}-{screen}-{theme}.png")


if __name__ == "__main__":
    sys.exit(main())
