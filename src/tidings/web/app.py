"""The pages, as an ASGI application below the base path (`root_path`)."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, MutableMapping
from html import escape
from typing import Any

from tidings import __version__

Receive = Callable[[], Awaitable[MutableMapping[str, Any]]]
Send = Callable[[MutableMapping[str, Any]], Awaitable[None]]

_PAGE = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>{title}</title>
<style>
:root {{ --paper: #fbfaf7; --ink: #1d1c1a; --soft: #6b6862; --accent: #b4441f }}
@media (prefers-color-scheme: dark) {{
  :root {{ --paper: #161514; --ink: #e6e3dd; --soft: #98938a; --accent: #f08a5d }}
}}
body {{
  background: var(--paper); color: var(--ink); font: 18px/1.6 Charter, "Iowan Old Style", Georgia, serif;
  margin: 0 auto; max-width: 34em; padding: 12vh 24px;
}}
h1 {{ font-size: 28px; line-height: 1.3; margin: 0 0 .5em }}
a {{ color: var(--accent) }}
code {{ font: 15px/1.5 ui-monospace, monospace; overflow-wrap: anywhere }}
footer {{ color: var(--soft); font: 13px system-ui, sans-serif; margin-top: 3em }}
</style>
</head>
<body><main>{main}</main><footer>Tidings {version}</footer></body>
</html>
"""

_START = """<h1>Tidings is running</h1>
<p>Connect the reader app you like, or a script: choose “Miniflux” as the kind of server and give it this address with
your username and password.</p>
<p><code>{address}</code></p>"""

_MISSING = """<h1>There is no page here</h1><p>Begin at <a href="{home}">the start page</a>.</p>"""

# Nothing is loaded from anywhere, and nothing runs.
_HEADERS = (
    ("Content-Type", "text/html; charset=utf-8"),
    ("Content-Security-Policy", "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'"),
    ("X-Content-Type-Options", "nosniff"),
    ("Referrer-Policy", "no-referrer"),
)


class Pages:
    """base_url: the address people type, without a slash at its end."""

    def __init__(self, base_url: str) -> None:
        self._base_url = base_url

    async def __call__(self, scope: MutableMapping[str, Any], receive: Receive, send: Send) -> None:  # noqa: ARG002
        allowed = scope["method"] in ("GET", "HEAD")
        if scope["path"] != "/":
            status, title, main = 404, "Not found", _MISSING.format(home=escape(scope["root_path"] + "/"))
        elif not allowed:
            status, title, main = 405, "Not that way", _MISSING.format(home=escape(scope["root_path"] + "/"))
        else:
            status, title, main = 200, "Tidings", _START.format(address=escape(self._base_url))
        body = _PAGE.format(title=title, main=main, version=escape(__version__)).encode()
        headers = [*_HEADERS, ("Content-Length", str(len(body)))]
        if status == 405:
            headers.append(("Allow", "GET, HEAD"))
        encoded = [(name.lower().encode(), value.encode()) for name, value in headers]
        await send({"type": "http.response.start", "status": status, "headers": encoded})
        await send({"type": "http.response.body", "body": b"" if scope["method"] == "HEAD" else body})
