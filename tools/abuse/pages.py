"""Reads the forms and links of a page."""

from __future__ import annotations

from dataclasses import dataclass, field
from html.parser import HTMLParser
from typing import Protocol
from urllib.parse import urlsplit

from abuse.client import HttpResponse

URLENCODED = "application/x-www-form-urlencoded"


@dataclass
class Form:
    """values: the fields as the page fills them. enctype: URLENCODED by default."""

    action: str
    method: str
    enctype: str
    values: dict[str, str] = field(default_factory=dict)


class Visitor(Protocol):
    def get(self, path: str) -> HttpResponse: ...


class _Page(HTMLParser):
    def __init__(self, url: str) -> None:
        super().__init__()
        self.url = url
        self.forms: list[Form] = []
        self.links: list[str] = []
        self._select = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = {name: value or "" for name, value in attrs}
        if tag == "form":
            action = given.get("action") or self.url
            self.forms.append(Form(action, given.get("method", "get").lower(), given.get("enctype", URLENCODED)))
        if tag == "select":
            self._select = given.get("name", "")
        if tag in ("input", "button", "textarea", "select") and self.forms and given.get("name"):
            if given.get("type") not in ("checkbox", "radio") or "checked" in given:
                self.forms[-1].values.setdefault(given["name"], given.get("value", ""))
        elif tag == "option" and self.forms and "selected" in given and self._select:
            self.forms[-1].values[self._select] = given.get("value", "")
        elif tag in ("a", "link") and given.get("href"):
            self.links.append(given["href"])


def forms(html: str, url: str = "") -> list[Form]:
    page = _Page(url)
    page.feed(html)
    return [form for form in page.forms if form.method == "post"]


def links(html: str) -> list[str]:
    """Return the paths of links to this service, without query and fragment."""
    page = _Page("")
    page.feed(html)
    found = (urlsplit(link) for link in page.links)
    return [link.path for link in found if not link.netloc and not link.scheme and link.path.startswith("/")]


def walk(visitor: Visitor, start: str = "/", max_pages: int = 200) -> dict[str, str]:
    """Return the HTML of every page that links lead to, by path."""
    waiting = [start]
    seen: dict[str, str] = {}
    while waiting and len(seen) < max_pages:
        path = waiting.pop(0)
        if path in seen:
            continue
        answer = visitor.get(path)
        if answer.status in (301, 302, 303, 307):
            seen[path] = ""
            waiting.append(urlsplit(answer.header("Location")).path)
        elif answer.header("Content-Type").startswith("text/html"):
            seen[path] = answer.text
            waiting += [link for link in links(answer.text) if link not in seen]
    return {path: html for path, html in seen.items() if html}
