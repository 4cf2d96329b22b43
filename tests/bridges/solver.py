"""A stand-in for FlareSolverr, which answers as version 3 does. Pages of the browser are those of Chromium 156."""

from __future__ import annotations

import html
import json
from collections.abc import Callable
from typing import Any

from support.publisher import Answer, Publisher, ReceivedRequest

AGENT = "Mozilla/5.0 (X11; Linux x86_64) Chrome/142.0.0.0"
COOKIES = [
    {"name": "cf_clearance", "value": "passed", "domain": ".site.example", "path": "/", "secure": True},
    {"name": "theme", "value": "dark", "domain": "site.example", "path": "/", "secure": False},
]
CANNOT_SOLVE = "Error: Error solving the challenge. Timeout after 60.0 seconds."
CANNOT_REACH = "Error: Error solving the challenge. Message: unknown error: net::ERR_NAME_NOT_RESOLVED\\n"


def as_text(document: str) -> str:
    """The page in which the browser shows a document as text."""
    return (
        '<html><head><meta name="color-scheme" content="light dark"></head><body><pre style="word-wrap: break-word; '
        f'white-space: pre-wrap;">{html.escape(document, quote=False)}</pre></body></html>'
    )


def as_tree(document: str) -> str:
    """The page in which the browser shows XML, with a part of its tree."""
    inner = document.partition("?>")[2] if document.startswith("<?xml") else document
    return (
        '<html xmlns="http://www.w3.org/1999/xhtml"><head><style id="xml-viewer-style">:root { }\n'
        "#webkit-xml-viewer-source-xml {\n    display: none;\n}\n</style></head><body>"
        f'<div id="webkit-xml-viewer-source-xml">{inner}</div><div class="header"><span>This XML file does not appear '
        'to have any style information associated with it.</span><br /></div><div class="pretty-print"><div '
        'class="line"><span class="html-tag">&lt;/rss&gt;</span></div></div></body></html>'
    )


class Solver:
    """Serves /v1 at a publisher."""

    def __init__(self, publisher: Publisher) -> None:
        self.asked: list[dict[str, Any]] = []
        self._pages: dict[str, Callable[[], tuple[int, dict[str, Any]]]] = {}
        publisher.script("/v1", self._answer)

    def show(self, url: str, page: str, *, final_url: str = "", status: int = 200) -> None:
        """Let the browser have this page at a URL, with the final URL that its redirects lead to."""
        solution = {
            "url": final_url or url,
            "status": status,
            "cookies": COOKIES,
            "userAgent": AGENT,
            "headers": {},
            "response": page,
        }
        self._pages[url] = lambda: (200, {"status": "ok", "message": "Challenge solved!", "solution": solution})

    def fail(self, url: str, message: str) -> None:
        self._pages[url] = lambda: (500, {"status": "error", "message": message, "version": "3.4.2"})

    @property
    def urls(self) -> list[str]:
        """The URLs that it was asked for."""
        return [str(one["url"]) for one in self.asked]

    def _answer(self, seen: ReceivedRequest) -> Answer:
        sent = seen.json()
        self.asked.append(sent)
        status, body = self._pages.get(sent["url"], lambda: (500, {"status": "error", "message": CANNOT_REACH}))()
        return Answer(json.dumps(body), status=status, headers=[("Content-Type", "application/json")])
