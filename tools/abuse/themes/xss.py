"""Puts scripts into everything that is stored, and opens the pages in Chromium.

A user has payloads in every field that anyone can fill, and all their pages are opened. An attempt succeeds if a script
runs, a dialog opens, a request is made that only a script or a frame makes, the content policy blocks something, or the
page contains an executable URL.
"""

from __future__ import annotations

import json
import lzma
import re
from collections.abc import Iterator, Sequence
from html import escape
from typing import Any
from urllib.parse import quote

from playwright.sync_api import BrowserContext, Dialog, Page

from abuse import pages
from abuse.attempts import Attempt, Result
from abuse.browser import ChromiumMissing, chromium
from abuse.people import Person, administrator, person
from abuse.testbed import CORPORA, Testbed

SUCCEEDS_IF = "a script, a dialog, a request by a script or frame, a violation of the content policy, an executable URL in the page"

# %X is the script. Payloads for HTML, attributes, URLs and styles.
_RUN = "document.title='ran';alert(1)"
PAYLOADS: Sequence[str] = tuple(
    payload.replace("%X", _RUN)
    for payload in (
        "<script>%X</script>", "<script src=//127.0.0.1:%P/x.js></script>", "<img src=x onerror=\"%X\">",
        "\"><script>%X</script>", "'><img src=x onerror=\"%X\">", "\" onmouseover=\"%X\" x=\"", "' autofocus onfocus='%X' x='",
        "</title><script>%X</script>", "</textarea><script>%X</script>", "</style><script>%X</script>",
        "--><script>%X</script>", "]]><script>%X</script>", "</script><script>%X</script>", "<svg onload=\"%X\">",
        "<svg><script>%X</script></svg>", "<svg><animate onbegin=\"%X\" attributeName=x dur=1s>",
        "<math><mtext><table><mglyph><style><!--</style><img title=\"--&gt;&lt;img src=1 onerror=%X&gt;\">",
        "<iframe src=\"javascript:%X\"></iframe>", "<iframe srcdoc=\"<script>%X</script>\"></iframe>",
        "<object data=\"javascript:%X\"></object>", "<embed src=\"data:text/html,<script>%X</script>\">",
        "<a href=\"javascript:%X\">a</a>", "<a href=\"java&#9;script:%X\">a</a>", "<a href=\" &#1;javascript:%X\">a</a>",
        "<a href=\"JaVaScRiPt:%X\">a</a>", "<a href=\"vbscript:%X\">a</a>", "<a href=\"data:text/html,<script>%X</script>\">a</a>",
        "<form action=\"javascript:%X\"><button>a</button></form>", "<button formaction=\"javascript:%X\">a</button>",
        "<base href=\"http://127.0.0.1:%P/\">", "<meta http-equiv=refresh content=\"0;url=http://127.0.0.1:%P/gone\">",
        "<link rel=stylesheet href=\"http://127.0.0.1:%P/x.css\">", "<style>@import 'http://127.0.0.1:%P/x.css'</style>",
        "<p style=\"background:url(http://127.0.0.1:%P/x)\">a</p>", "<details open ontoggle=\"%X\">a</details>",
        "<video><source onerror=\"%X\"></video>", "<audio src=x onerror=\"%X\">", "<body onload=\"%X\">",
        "<marquee onstart=\"%X\">a</marquee>", "<input autofocus onfocus=\"%X\">", "<isindex action=\"javascript:%X\">",
        "<noscript><p title=\"</noscript><img src=x onerror=%X>\">", "<template><script>%X</script></template>",
        "<select><style></select><img src=x onerror=\"%X\"></style>", "<table background=\"javascript:%X\">",
        "<xmp><p title=\"</xmp><img src=x onerror=%X>\">", "<a ping=\"http://127.0.0.1:%P/ping\" href=\"#\">a</a>",
        "<img srcset=\"x\" onerror=\"%X\">", "<x onclick=\"%X\" tabindex=0>a</x>", "&lt;script&gt;%X&lt;/script&gt;",
        "\u003cscript\u003e%X\u003c/script\u003e", "\uff1cscript\uff1e%X\uff1c/script\uff1e", "<scr\0ipt>%X</scr\0ipt>",
        "{{7*7}}<script>%X</script>", "${%X}", "javascript:%X", "data:text/html,<script>%X</script>",
    )
)  # fmt: skip
# Executable URLs where a URL is expected.
ADDRESSES = (
    "javascript:%X", "JAVASCRIPT:%X", " javascript:%X", "java\tscript:%X", "java\nscript:%X", "\x01javascript:%X",
    "javascript&colon;%X", "vbscript:%X", "data:text/html,<script>%X</script>", "data:text/html;base64,PHNjcmlwdD4=",
    "javascript://example.org/%0a%X", "feed:javascript:%X", "view-source:javascript:%X", "blob:javascript:%X",
    'http://a.example/"onmouseover="%X', "http://a.example/'><script>%X</script>", "//a.example/</script><script>%X</script>",
)  # fmt: skip
_CODE = re.compile(
    r"^[\x00-\x20]*(j\s*a\s*v\s*a\s*s\s*c\s*r\s*i\s*p\s*t|vbscript|data(?!:image/)|blob|view-source|feed:java)",
    re.IGNORECASE,
)
# All URLs of a page: links, resources and targets of forms.
_COLLECT = """() => [...document.querySelectorAll('*')].flatMap(e =>
  ['href','src','action','formaction','data','poster','background','ping','xlink:href'].filter(a => e.hasAttribute(a))
    .map(a => e.getAttribute(a)))"""
_HANDLERS = (
    "() => [...document.querySelectorAll('*')].flatMap(e => e.getAttributeNames().filter(n => n.startsWith('on')))"
)
# Ids that elements and scripts of the pages use.
CLOBBERS = ("sidebar", "main", "content", "title", "keys", "csrf", "body", "forms", "cookie", "getElementById", "app")


def run(testbed: Testbed) -> Iterator[Result]:
    try:
        with chromium() as browser:
            reader = _hostile_user(testbed)
            context = browser.new_context(viewport={"width": 1440, "height": 900}, accept_downloads=False)
            context.set_default_timeout(60_000)
            try:
                _sign_in(context, testbed, reader)
                yield from _entries(context, testbed, reader)
                yield from _other_pages(context, testbed, reader)
                yield from _addresses_by_api(testbed, reader)
                yield from _clobbering(context, testbed, reader)
                yield from _echoes(context, testbed)
            finally:
                context.close()
    except ChromiumMissing as missing:
        yield Result(Attempt("every page", "all payloads", SUCCEEDS_IF), not_tried=str(missing))


def _payloads(testbed: Testbed) -> list[str]:
    own = [payload.replace("%P", str(testbed.publisher.port)) for payload in PAYLOADS]
    file = CORPORA / "hostile.json.xz"
    others = [case["payload"] for case in json.loads(lzma.decompress(file.read_bytes()))] if file.exists() else []
    return [str(payload) for payload in testbed.choose([*own, *(each for each in others if isinstance(each, str))], 5)]


def _hostile_user(testbed: Testbed) -> Person:
    """Store payloads in everything that a publisher, an import and the user write."""
    reader = person(testbed.shared)
    payloads = _payloads(testbed)
    for start in range(0, len(payloads), 40):
        url = testbed.publisher.serve(
            f"/hostile-{reader.name}-{start}.xml", _feed(payloads[start : start + 40], start), "application/rss+xml"
        )
        reader.made("POST", "/v1/feeds", {"feed_url": url})
    for number, payload in enumerate(payloads[:8] if testbed.short else payloads[: len(PAYLOADS)]):
        # Titles are unique, and some are refused: those are not stored.
        reader.api("POST", "/v1/categories", {"title": f"{payload} {number}"})
        reader.api("POST", "/v1/api-keys", {"description": f"{payload} {number}"})
    _fill_in(testbed, reader, payloads)
    return reader


def _fill_in(testbed: Testbed, reader: Person, payloads: Sequence[str]) -> None:
    feed = reader.made("GET", "/v1/feeds")[0]["id"]
    head = administrator(testbed.shared)
    for number, payload in enumerate(payloads[:6]):
        head.api("POST", "/v1/users", {"username": f"{payload}{number}", "password": "a long walk home"})
        lines = f'<outline text="{escape(payload)}"><outline text="{escape(payload)}" title="{escape(payload)}" xmlUrl="http://127.0.0.1:1/{number}" htmlUrl="{escape(payload)}" description="{escape(payload)}"/></outline>'
        reader.api("POST", "/v1/import", f'<opml version="2.0"><body>{lines}</body></opml>'.encode())
    for name in (
        "title",
        "description",
        "site_url",
        "user_agent",
        "cookie",
        "username",
        "scraper_rules",
        "rewrite_rules",
        "blocklist_rules",
        "keeplist_rules",
        "urlrewrite_rules",
    ):
        reader.api("PUT", f"/v1/feeds/{feed}", {name: PAYLOADS[3]})
    for name in ("block_filter_entry_rules", "keep_filter_entry_rules", "stylesheet", "external_font_hosts"):
        reader.api("PUT", f"/v1/users/{reader.id}", {name: PAYLOADS[7]})
    # The response of a receiver is shown as the last error.
    testbed.publisher.serve("/angry", PAYLOADS[0], "text/html")
    reader.api(
        "PUT",
        "/v1/integrations",
        {
            "linkding": {
                "enabled": True,
                "url": testbed.publisher.url("/angry"),
                "token": PAYLOADS[3],
                "tags": PAYLOADS[3],
            }
        },
    )
    reader.api("POST", "/v1/integrations/linkding/test")


def _feed(payloads: Sequence[str], start: int) -> str:
    """Import entries with a payload in each field."""
    items = "".join(
        _item(payload, ADDRESSES[(start + number) % len(ADDRESSES)], start + number)
        for number, payload in enumerate(payloads)
    )
    text = _xml(payloads[0])
    return (
        '<rss version="2.0" xmlns:media="http://search.yahoo.com/mrss/" xmlns:dc="http://purl.org/dc/elements/1.1/" '
        'xmlns:content="http://purl.org/rss/1.0/modules/content/"><channel>'
        f"<title>{text}</title><description>{text}</description><link>{_xml(ADDRESSES[0])}</link>{items}</channel></rss>"
    )


def _item(payload: str, address: str, number: int) -> str:
    text, url = _xml(payload), _xml(address.replace("%X", _RUN))
    linked = _xml(f'<a href="{url}">a</a><img src="{url}">')
    return (
        f"<item><title>{text} {number}</title><guid isPermaLink='false'>{number} {text}</guid><link>{url}</link><comments>{url}</comments>"
        f"<dc:creator>{text}</dc:creator><author>{text}</author><category>{text}</category>"
        f"<description>{text}</description><content:encoded>{text} {linked}</content:encoded>"
        f'<enclosure url="{url}" type="{text}" length="1"/><enclosure url="{url}" type="audio/mpeg" length="1"/>'
        f'<media:content url="{url}" type="video/mp4"><media:title>{text}</media:title><media:description>{text}</media:description>'
        f'<media:thumbnail url="{url}"/></media:content></item>'
    )


def _xml(text: str) -> str:
    return escape(re.sub("[^\t\n\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]", "", text))


def _sign_in(context: BrowserContext, testbed: Testbed, reader: Person) -> None:
    page = context.new_page()
    page.goto(f"{testbed.shared.url}/sign-in")
    page.fill("[name=username]", reader.name)
    page.fill("[name=password]", reader.password)
    page.click("main button")
    page.wait_for_url(re.compile(r"(?<!sign-in)$"))
    page.close()
    reader.sign_in()


class _Watch:
    """A page, and everything unexpected that it did."""

    def __init__(self, context: BrowserContext, testbed: Testbed) -> None:
        self.testbed, self.found, self.allowed = testbed, list[str](), False
        self.page: Page = context.new_page()
        self.page.on("dialog", self._dismiss)
        self.page.on("console", lambda said: self._said(said.text))
        self.page.on("pageerror", lambda error: self.found.append(f"error {error}"))
        self.page.on("request", lambda request: self._asked(request.url, request.resource_type))
        self.page.on("popup", lambda popup: self.found.append(f"opened {popup.url}"))
        debugger = context.new_cdp_session(self.page)
        debugger.on("Debugger.scriptParsed", self._script)
        debugger.send("Debugger.enable")

    def _dismiss(self, dialog: Dialog) -> None:
        self.found.append(f"dialog {dialog.message}")
        dialog.dismiss()

    def _said(self, text: str) -> None:
        if "Content Security Policy" in text or "Content-Security-Policy" in text or "Refused to" in text:
            self.found.append(text[:300])

    def _asked(self, url: str, kind: str) -> None:
        # Images and audio come from any host.
        if not url.startswith((self.testbed.shared.url, "data:image/")) and kind not in ("image", "media"):
            self.found.append(f"asked for {kind} {url[:200]}")

    def _script(self, script: dict[str, Any]) -> None:
        world = script.get("executionContextAuxData", {})
        # Playwright's own code has no URL, and runs in an isolated world or by evaluate.
        if (
            world.get("isDefault", True)
            and script["url"]
            and not script["url"].startswith(f"{self.testbed.shared.url}/static")
            and not self._is_ours(script["url"])
        ):
            self.found.append(f"script {script['url'][:200]}")

    def _is_ours(self, url: str) -> bool:
        """Return whether the URL is a static file of the service."""
        return url.startswith(self.testbed.shared.url) and url.partition("?")[0].endswith(".js")

    def visit(self, path: str) -> str:
        """Return the evidence, "" if nothing happened."""
        self.found.clear()
        # Downloads and responses without a body are not pages.
        try:
            self.page.goto(f"{self.testbed.shared.url}{path}", wait_until="load")
        except Exception as error:
            if "Download is starting" not in str(error) and "ERR_ABORTED" not in str(error):
                raise
            return ""
        self.page.mouse.move(600, 400)
        self.page.keyboard.press("Tab")
        self.page.wait_for_timeout(50)
        codes = [address for address in self.page.evaluate(_COLLECT) if _CODE.match(address)]
        handlers = self.page.evaluate(_HANDLERS)
        title = ["the title was set"] if self.page.title() == "ran" else []
        return "; ".join(
            [
                *self.found,
                *title,
                *(f"address {code!r}" for code in codes[:3]),
                *(f"handler {name}" for name in handlers[:3]),
            ]
        )


def _entries(context: BrowserContext, testbed: Testbed, reader: Person) -> Iterator[Result]:
    watch = _Watch(context, testbed)
    for entry in reader.made("GET", "/v1/entries?limit=1000&order=id")["entries"]:
        attempt = Attempt(
            f"entry {entry['id']}: {entry['title'][:60]!r}", "a payload in each field of an entry, opened", SUCCEEDS_IF
        )
        yield Result(attempt, watch.visit(f"/entries/{entry['id']}"))


def _other_pages(context: BrowserContext, testbed: Testbed, reader: Person) -> Iterator[Result]:
    """Open all pages but those of entries, found by their links."""
    watch = _Watch(context, testbed)
    known: dict[str, str] = {}
    for path in pages.walk(reader, max_pages=10 if testbed.short else 400):
        known.setdefault(
            re.sub(r"\d+", "N", path)
            if "entries/" in path or re.search(r"/(unread|starred|history)/\d", path)
            else path,
            path,
        )
    for name, path in known.items():
        attempt = Attempt(f"page {name}", "a page that shows stored payloads", SUCCEEDS_IF)
        yield Result(attempt, watch.visit(path))


def _addresses_by_api(testbed: Testbed, reader: Person) -> Iterator[Result]:
    """Check what the API returns to other clients, which may have no content policy."""
    entries = reader.made("GET", "/v1/entries?limit=1000")["entries"]
    found: dict[str, list[str]] = {"url": [], "comments_url": [], "enclosures": []}
    for entry in entries:
        for name in ("url", "comments_url"):
            found[name] += [entry[name]] if _CODE.match(entry[name]) else []
        found["enclosures"] += [each["url"] for each in entry["enclosures"] or [] if _CODE.match(each["url"])]
    for name, codes in found.items():
        attempt = Attempt(f"api: {name}", "addresses of code in a feed", "the API answers with one")
        yield Result(attempt, "; ".join(repr(code[:80]) for code in codes[:3]))


def _clobbering(context: BrowserContext, testbed: Testbed, reader: Person) -> Iterator[Result]:
    """Check that ids and names in articles do not replace those of our own elements (DOM clobbering)."""
    content = "".join(
        f'<a id="{name}" name="{name}" href="http://a.example/">a</a><p id="{name}">b</p>' for name in CLOBBERS
    )
    feed = reader.made("GET", "/v1/feeds")[0]["id"]
    created = reader.made(
        "POST",
        f"/v1/feeds/{feed}/entries/import",
        {"url": "http://a.example/clobber", "title": "a", "content": content},
    )
    page = context.new_page()
    page.goto(f"{testbed.shared.url}/entries/{created['id']}")
    for name in testbed.choose(CLOBBERS, 4):
        kept = page.evaluate(
            "name => document.querySelectorAll(`article [id='${name}'], article [name='${name}']`).length", name
        )
        attempt = Attempt(
            f"clobbering: {name}", "an id in an article that scripts of pages may look for", "it is kept as it is"
        )
        yield Result(attempt, f"{kept} elements" if kept else "")


def _echoes(context: BrowserContext, testbed: Testbed) -> Iterator[Result]:
    """Send payloads that a page repeats: the search, paths, queries, the target after signing in."""
    watch = _Watch(context, testbed)
    places = (
        "/search?query=%s",
        "/search?q=%s",
        "/nothing/%s",
        "/sign-in?next=%s",
        "/feeds/add?url=%s",
        "/feeds?filter=%s",
        "/%s",
        "/settings?notice=%s",
        "/entries/%s",
    )
    for payload in testbed.choose(PAYLOADS, 1):
        for place in testbed.choose(places, 3):
            attempt = Attempt(f"echo in {place}: {payload[:40]!r}", "a payload in an address", SUCCEEDS_IF)
            yield Result(attempt, watch.visit(place % quote(payload, safe="")))
