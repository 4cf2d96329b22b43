"""Finds what the links of a letter are for: to see it in a browser, and to confirm a subscription."""

from __future__ import annotations

import re
from collections.abc import Iterator
from html import unescape
from typing import Final
from urllib.parse import urlsplit

from tidings.content.formats.text import html_to_text
from tidings.content.urls import resolve_web_url

_MAX_LINKS: Final = 1_000
_MAX_TEXT_CHARS: Final = 120
_LINK: Final = re.compile(r"<a\b([^<>]{1,4000})>", re.IGNORECASE)
_HREF: Final = re.compile(r"\bhref\s*=\s*(?:\"([^\"]*)\"|'([^']*)'|([^\s\"'<>]+))", re.IGNORECASE)
_LINK_CHARS: Final = 2_000
_VIEW: Final = re.compile(
    r"(?:view|read|open|see|display)\b.{0,40}\b(?:browser|online|on the web|web version|website)"
    r"|(?:web|online|browser)[ -]?version|view (?:it )?online|view as (?:a )?web ?page|in (?:your|a|the) browser"
    r"|im browser|onlineversion|online ansehen|online lesen"
    r"|dans (?:votre|le|un) navigateur|version en ligne|lire en ligne"
    r"|en (?:el|tu|su) navegador|versi[oó]n (?:web|en l[ií]nea)|ver en l[ií]nea"
    r"|nel (?:tuo )?browser|versione (?:web|online)|no (?:seu )?navegador|vers[aã]o (?:web|online)"
    r"|in (?:je|uw|de) browser|online versie|online bekijken|w przegl[aą]darce|v prohl[ií][zž]e[cč]i"
    r"|i (?:din )?(?:webbl[aä]sare|browser|nettleser)|в браузере|ブラウザ|浏览器|瀏覽器",
    re.IGNORECASE,
)
_CONFIRM: Final = re.compile(
    r"\b(?:confirm|verify|activate|validate)|double[ -]opt|opt[ -]?in\b|complete your (?:subscription|sign)"
    r"|best[aä]tig|aktivier|confirme[rz]?\b|v[ée]rifi|valide[rz]\b|conferma|bevestig|potwierd[zź]|potvr[dď]"
    r"|bekr[aä]ft|bekreft|подтверд|確認|确认",
    re.IGNORECASE,
)
_ABOUT_SUBSCRIBING: Final = re.compile(
    r"subscri|sign[ -]?up|newsletter|e-?mail|address|list\b|abonn|anmeld|inscri|iscri|adres|subskry|odb[eě]r"
    r"|prenumer|registr|подпис|登録|订阅",
    re.IGNORECASE,
)
_OTHER: Final = re.compile(r"unsubscri|abmeld|d[ée]sabon|d[ée]sinscri|order|booking|reservation", re.IGNORECASE)


def find_view_url(html: str) -> str:
    """Return the address at which a letter says it can be seen in a browser, "" if it does not say so."""
    return next((url for url, text in _links(html) if _VIEW.search(text)), "")


def find_confirmation(subject: str, html: str) -> str:
    """Return the link of a letter that asks to confirm a subscription, "" for any other letter.

    Its subject speaks of confirming, and so does the text or the path of the link.
    """
    if not _CONFIRM.search(subject) or _OTHER.search(subject):
        return ""
    links = [(url, text) for url, text in _links(html) if not _OTHER.search(text + urlsplit(url).path)]
    by_text = [url for url, text in links if _CONFIRM.search(text)]
    by_path = [url for url, _ in links if _CONFIRM.search(_path(url))]
    if not _ABOUT_SUBSCRIBING.search(subject + html_to_text(html[:20_000])[:2_000]):
        return ""
    return next(iter(by_text + by_path), "")


def _path(url: str) -> str:
    parts = urlsplit(url)
    return f"{parts.path}?{parts.query}"


def _links(html: str) -> Iterator[tuple[str, str]]:
    """Yield the address and the text of links to web pages, in their order."""
    for number, tag in enumerate(_LINK.finditer(html)):
        if number >= _MAX_LINKS:
            return
        match = _HREF.search(tag[1])
        url = resolve_web_url("", unescape(match[1] or match[2] or match[3] or "").strip()) if match else ""
        if url:
            inside = html[tag.end() : tag.end() + _LINK_CHARS]
            # Without an end tag the next link ends it.
            text = re.split(r"</?a\b", inside, maxsplit=1, flags=re.IGNORECASE)[0]
            yield url, html_to_text(text)[:_MAX_TEXT_CHARS]
