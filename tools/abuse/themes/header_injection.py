"""Puts line breaks and other hosts into everything that becomes a header of a response or an outgoing request."""

from __future__ import annotations

import json
from collections.abc import Iterator
from urllib.parse import urlencode, urlsplit

from abuse import client, pages
from abuse.attempts import Attempt, Result
from abuse.people import Person, person
from abuse.testbed import Testbed

SPLIT = "a header of the attacker's own in the answer, or an answer of their own"
ELSEWHERE = "the answer leads to the attacker's host"
BREAKS = (
    "%0d%0a",
    "%0a",
    "%0d",
    "%E5%98%8A%E5%98%8D",
    "%c4%8d%c4%8a",
    "%00%0d%0a",
    "%250d%250a",
    "%u000d%u000a",
    "%0b",
    "%c2%85",
    "%e2%80%a8",
)
# %B is a line break before the injected header.
ADDRESSES = (
    "/v1//%BX-Injected:1", "//%BX-Injected:1", "/v1/../%BX-Injected:1", "/./a%BX-Injected:1", "/sign-in?next=/%BX-Injected:1",
    "/unread%BX-Injected:1", "/feeds/1%BX-Injected:1", "/v1/feeds/1%BX-Injected:1", "/static/%BX-Injected:1",
    "/?a=%BX-Injected:1", "/v1/entries?limit=1%BX-Injected:1", "/icons/1%BX-Injected:1", "/share/%BX-Injected:1",
)  # fmt: skip
NEXT = (
    "//evil.example/", "https://evil.example/", "/\\evil.example", "\\\\evil.example", "/%09/evil.example", "/\t/evil.example",
    "javascript:alert(1)", "/..//evil.example", "///evil.example", "http:evil.example", "evil.example", "/@evil.example//evil.example",
    " //evil.example", "/\n/evil.example", "/ /evil.example", "https:/evil.example", "//evil.example%2f..", "/%2fevil.example",
)  # fmt: skip
HOSTS = (
    {"Host": "evil.example"}, {"Host": "evil.example:80"}, {"X-Forwarded-Host": "evil.example"}, {"X-Host": "evil.example"},
    {"Forwarded": "host=evil.example"}, {"X-Original-URL": "//evil.example/"}, {"X-Rewrite-URL": "/instance"},
    {"X-Forwarded-Prefix": "//evil.example"}, {"X-Forwarded-Server": "evil.example"}, {"X-HTTP-Method-Override": "DELETE"},
)  # fmt: skip
# Fields of a feed that are sent to its publisher.
SENT_FIELDS = ("user_agent", "cookie", "username", "password", "feed_url")
VALUES = (
    "a\r\nX-Injected: 1",
    "a\nX-Injected: 1",
    "a\rX-Injected: 1",
    "a\r\n\r\nGET /injected HTTP/1.1\r\nHost: a",
    "a\0b",
    "a\u560d\u560aX-Injected: 1",
    "a\u2028X-Injected: 1",
    "a\x85X-Injected: 1",
)


def run(testbed: Testbed) -> Iterator[Result]:
    user = person(testbed.shared)
    user.sign_in()
    yield from _addresses(testbed, user)
    yield from _next(testbed)
    yield from _hosts(testbed, user)
    yield from _requests(testbed, user)
    yield from _validators(testbed, user)
    yield from _stored_titles(testbed, user)


def _addresses(testbed: Testbed, user: Person) -> Iterator[Result]:
    for address in testbed.choose(ADDRESSES, 3):
        for line_break in testbed.choose(BREAKS, 3):
            path = address.replace("%B", line_break)
            cookie = user.cookie_header["Cookie"]
            head = f"GET {path} HTTP/1.1\r\nHost: {testbed.shared.host}:{testbed.shared.port}\r\nCookie: {cookie}\r\nConnection: close\r\n\r\n"
            received = client.raw(testbed.shared, head.encode("latin-1"), timeout_s=2)
            yield Result(Attempt(f"address {path}", "a line break in an address", SPLIT), _split(received))


def _split(received: bytes) -> str:
    head = received.partition(b"\r\n\r\n")[0].lower()
    lines = head.replace(b"\r", b"\n").split(b"\n")
    found = [line for line in lines if line.startswith(b"x-injected")]
    return repr(found[0]) if found else ""


def _next(testbed: Testbed) -> Iterator[Result]:
    """Try targets of the redirect after signing in."""
    user = person(testbed.shared)
    for target in testbed.choose(NEXT, 4):
        user.cookies.clear()
        form = pages.forms(user.get("/sign-in").text)[0]
        body = {**form.values, "username": user.name, "password": user.password, "next": target}
        answer = user.post(form.action, urlencode(body).encode())
        location = answer.header("Location")
        leads = urlsplit(location.replace("\\", "/"))
        through = bool(leads.netloc or leads.scheme) or location.replace("\\", "/").startswith("//") or not location
        yield Result(
            Attempt(f"next={target!r}", "the way back after signing in", ELSEWHERE),
            f"{answer.status} {location!r}" if through else "",
        )


def _hosts(testbed: Testbed, user: Person) -> Iterator[Result]:
    for headers in testbed.choose(HOSTS, 4):
        for path in (
            "/",
            "/sign-in",
            "/v1/feeds/",
            "/v1//me",
            "/list-links",
            "/manifest.webmanifest",
            "/v1/openapi.json",
        ):
            answer = client.request(testbed.shared, "GET", path, headers={**user.cookie_header, **headers})
            shown = "evil.example" in answer.header("Location") or "evil.example" in answer.text
            attempt = Attempt(f"{headers} on {path}", "a host or address in a header", ELSEWHERE)
            yield Result(attempt, f"{answer.status} {answer.header('Location')} {answer.text[:100]}" if shown else "")


def _requests(testbed: Testbed, user: Person) -> Iterator[Result]:
    """Try fields that the service sends to a publisher or receiver."""
    for field in testbed.choose(SENT_FIELDS, 3):
        for number, value in enumerate(testbed.choose(VALUES, 3)):
            path = f"/sent-{field}-{number}.xml"
            url = testbed.publisher.serve(path, '<rss version="2.0"><channel><title>a</title></channel></rss>')
            wish = {
                "feed_url": url,
                "username": "a",
                "password": "b",
                field: value if field != "feed_url" else url + value,
            }
            user.api("POST", "/v1/feeds", wish)
            yield Result(
                Attempt(f"{field} {value!r}", "a line break in a field of a feed", SPLIT), _received(testbed, path)
            )
    for number, value in enumerate(testbed.choose(VALUES, 3)):
        path = f"/custom-{number}"
        wish = {"enabled": True, "url": testbed.publisher.serve(path, ""), "headers": f"X-A: {value}"}
        user.api("PUT", "/v1/integrations", {"custom": wish})
        user.api("POST", "/v1/integrations/custom/test")
        # Each line is a header that the user may set; only a second request would be a success.
        requests = "; ".join(seen.line for seen in testbed.publisher.requests("/injected"))
        yield Result(
            Attempt(f"custom headers {value!r}", "a line break in headers of the custom request", SPLIT), requests
        )


def _received(testbed: Testbed, path: str) -> str:
    heads = [seen.head for seen in testbed.publisher.requests(path)]
    found = [head for head in heads if _split(head.encode("latin-1") + b"\r\n\r\n")]
    through = bool(found) or bool(testbed.publisher.requests("/injected"))
    return repr(found[:1] or "an injected request") if through else ""


def _validators(testbed: Testbed, user: Person) -> Iterator[Result]:
    """Try values of a publisher that are sent back to it: ETag, Last-Modified."""
    for name, value in {
        "ETag": '"a\rX-Injected: 1"',
        "Last-Modified": "a\rX-Injected: 1",
        "ETag ": '"a\x0bX-Injected: 1"',
    }.items():
        path = f"/validators-{len(name)}-{name[0]}.xml"
        body = '<rss version="2.0"><channel><title>a</title></channel></rss>'
        url = testbed.publisher.serve(path, body, "application/rss+xml", **{name.strip().replace("-", "_"): value})
        answer = user.api("POST", "/v1/feeds", {"feed_url": url})
        if answer.status == 201:
            user.api("PUT", f"/v1/feeds/{answer.json()['feed_id']}/refresh")
        yield Result(
            Attempt(f"validator {name.strip()} {value!r}", "a publisher's line break", SPLIT), _received(testbed, path)
        )


def _stored_titles(testbed: Testbed, user: Person) -> Iterator[Result]:
    """Try titles that are repeated in the cookie of a notice."""
    token = next(form.values["csrf"] for form in pages.forms(user.get("/categories").text) if "csrf" in form.values)
    for value in VALUES:
        answer = user.post("/categories/add", urlencode({"csrf": token, "title": value}).encode())
        names = [name.lower() for name, _ in answer.headers]
        cookies = [content for name, content in answer.headers if name.lower() == "set-cookie"]
        through = "x-injected" in names or any(ord(character) < 32 for cookie in cookies for character in cookie)
        yield Result(Attempt(f"notice {value!r}", "a title in a notice", SPLIT), json.dumps(cookies) if through else "")
