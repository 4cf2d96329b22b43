"""Sends requests that cost far more than they weigh: thousands of fields, names or outlines in one body.

An attempt succeeds if a request takes more processor time than `PROCESSOR_S`, or if it is not answered. Processor time
is that of the service, so that other processes of the machine count for nothing.
"""

from __future__ import annotations

import hashlib
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from urllib.parse import urlencode

from abuse import client, pages
from abuse.attempts import Attempt, Result
from abuse.client import HttpResponse
from abuse.people import person
from abuse.service import Service
from abuse.testbed import Testbed

# Half of what the cheapest of the requests took that led to these attempts.
PROCESSOR_S = 3.0
# A form may have 20,000 fields, one of which is the token.
FIELDS = 19_000
FEEDS = 300
SUCCEEDS_IF = f"the request takes more than {PROCESSOR_S:g} s of processor time, or has no answer"

_ENTRIES = "user/-/state/com.google/"
_LABEL = "user/-/label/"
_SUBSCRIBE = "subscription/edit"


@dataclass(frozen=True)
class Heavy:
    """send: makes the request as a new user with `FEEDS` feeds."""

    name: str
    tries: str
    send: Callable[[Reader], HttpResponse]


class Reader:
    """A user with feeds, signed in to the pages and to the Google Reader API."""

    def __init__(self, service: Service) -> None:
        self.service = service
        self.person = person(service)
        self.person.made("POST", "/v1/import", opml(feed(number) for number in range(FEEDS)))
        self.feed_ids = [each["id"] for each in self.person.made("GET", "/v1/feeds")]
        login = urlencode({"Email": self.person.name, "Passwd": self.person.password}).encode()
        answer = client.request(service, "POST", "/accounts/ClientLogin", headers=FORM, body=login)
        self._token = answer.text.rpartition("Auth=")[2].strip()

    def post(self, call: str, *fields: tuple[str, str]) -> HttpResponse:
        """Send a form to the Google Reader API."""
        return self._send(call, urlencode([*fields, ("T", self._token)]).encode(), pages.URLENCODED)

    def import_(self, body: bytes) -> HttpResponse:
        return self._send("subscription/import", body, "text/xml", f"?T={self._token}")

    def native(self, method: str, path: str, body: object) -> HttpResponse:
        return self.person.api(method, path, body)

    def fever(self, *fields: tuple[str, str]) -> HttpResponse:
        made = self.person.made("POST", "/v1/api-passwords", {"name": "fever"})
        key = hashlib.md5(f"{self.person.name}:{made['password']}".encode()).hexdigest()
        body = urlencode([("api_key", key), *fields]).encode()
        return client.request(self.service, "POST", "/fever/?api", headers=FORM, body=body, timeout_s=120)

    def bulk(self, action: str) -> HttpResponse:
        """Send the form of the feeds page with as many ids as a form may have."""
        self.person.sign_in()
        form = next(form for form in pages.forms(self.person.get("/feeds").text) if form.action.endswith("/feeds/bulk"))
        ids = [("feed", str(self.feed_ids[number % FEEDS])) for number in range(FIELDS)]
        values = {name: value for name, value in form.values.items() if name not in ("feed", "action")}
        return self.person.post(form.action, urlencode([*values.items(), ("action", action), *ids]).encode())

    def _send(self, call: str, body: bytes, media_type: str, query: str = "") -> HttpResponse:
        headers = {"Authorization": f"GoogleLogin auth={self._token}", "Content-Type": media_type}
        path = f"/reader/api/0/{call}{query}"
        return client.request(self.service, "POST", path, headers=headers, body=body, timeout_s=120)

    def feeds(self, count: int = FIELDS) -> list[tuple[str, str]]:
        return [("s", f"feed/{self.feed_ids[number % FEEDS]}") for number in range(count)]


FORM = {"Content-Type": pages.URLENCODED}


def feed(number: int) -> str:
    return f'<outline text="Feed {number}" type="rss" xmlUrl="https://f{number}.invalid/feed.xml"/>'


def opml(outlines: Iterator[str]) -> bytes:
    return f'<opml version="2.0"><body>{"".join(outlines)}</body></opml>'.encode()


def nested(number: int, depth: int) -> str:
    folders = "".join(f'<outline text="{level}">' for level in range(depth))
    return folders + feed(number) + "</outline>" * depth


def numbered(name: str, prefix: str, count: int = FIELDS) -> list[tuple[str, str]]:
    return [(name, f"{prefix}{number}") for number in range(count)]


HEAVY = (
    Heavy("mark-all-as-read of feeds", "one feed many times, and others", lambda r: r.post("mark-all-as-read", *r.feeds())),
    Heavy("mark-all-as-read of states", "everything, many times", lambda r: r.post("mark-all-as-read", *[("s", _ENTRIES + "reading-list")] * FIELDS)),
    Heavy("mark-all-as-read of spellings", "everything, written in many ways", lambda r: r.post("mark-all-as-read", *[("s", f"user/{number}/state/com.google/reading-list") for number in range(FIELDS)])),
    Heavy("mark-all-as-read of addresses", "feeds by address", lambda r: r.post("mark-all-as-read", *[("s", f"feed/https://f{number % FEEDS}.invalid/feed.xml") for number in range(FIELDS)])),
    Heavy("edit of feeds", "moves feeds to a folder", lambda r: r.post(_SUBSCRIBE, ("ac", "edit"), ("a", _LABEL + "Moved"), *r.feeds())),
    Heavy("edit of titles", "gives each feed a title", lambda r: r.post(_SUBSCRIBE, ("ac", "edit"), *r.feeds(FIELDS // 2), *numbered("t", "Title ", FIELDS // 2))),
    Heavy("edit of a few hundred", "moves each feed of the user", lambda r: r.post(_SUBSCRIBE, ("ac", "edit"), ("a", _LABEL + "Moved"), *r.feeds(FEEDS))),
    Heavy("subscribe to addresses", "300 addresses that do not exist", lambda r: r.post(_SUBSCRIBE, ("ac", "subscribe"), *[("s", f"feed/https://n{number}.invalid/feed.xml") for number in range(300)])),
    Heavy("subscribe to known addresses", "feeds of the user by address, with a folder", lambda r: r.post(_SUBSCRIBE, ("ac", "subscribe"), ("a", _LABEL + "Moved"), *[("s", f"feed/https://f{number % FEEDS}.invalid/feed.xml") for number in range(FIELDS)])),
    Heavy("unsubscribe", "each feed of the user, several times", lambda r: r.post(_SUBSCRIBE, ("ac", "unsubscribe"), *r.feeds())),
    Heavy("edit-tag of items", "gives a label to items that are not the user's", lambda r: r.post("edit-tag", ("a", _LABEL + "New"), *numbered("i", "1"))),
    Heavy("edit-tag with labels", "gives an item thousands of labels", lambda r: r.post("edit-tag", ("i", "1"), *numbered("a", _LABEL))),
    Heavy("edit-tag with folders", "makes thousands of folders", lambda r: r.post("edit-tag", *numbered("a", _LABEL))),
    Heavy("disable-tag", "a folder in many spellings", lambda r: r.post("disable-tag", *[("s", f"user/{number}/label/All") for number in range(FIELDS)])),
    Heavy("items/ids with included streams", "it with a feed, many times", lambda r: r.post("stream/items/ids", *[("it", stream) for _, stream in r.feeds()[:1] * FIELDS])),
    Heavy("items/ids without streams", "xt with a folder, many times", lambda r: r.post("stream/items/ids", *[("xt", _LABEL + "All")] * FIELDS)),
    Heavy("items/ids without feeds", "xt with feeds", lambda r: r.post("stream/items/ids", *[("xt", stream) for _, stream in r.feeds()])),
    Heavy("items/contents", "items that are not the user's", lambda r: r.post("stream/items/contents", *numbered("i", "1"))),
    Heavy("items/ids of streams by turns", "s, it and xt together", lambda r: r.post("stream/items/ids", *r.feeds(100), *[("xt", stream) for _, stream in r.feeds(9_000)])),
    Heavy("search", "a search of many words", lambda r: r.post("stream/items/ids", ("q", " ".join(f"w{number}" for number in range(50_000))))),
    Heavy("fever lists", "pages of a hundred feeds by many numbers", lambda r: r.fever(("items", ""), ("feed_ids", ",".join(map(str, range(90_000)))))),
    Heavy("fever marks", "marks as many items as a body holds", lambda r: r.fever(("mark", "item"), ("as", "read"), ("id", ",".join(map(str, range(90_000)))))),
    Heavy("native ids", "as many ids as a body holds", lambda r: r.native("PUT", "/v1/entries", {"entry_ids": list(range(1, 100_001)), "status": "read"})),
    Heavy("native rules", "as many rules as a body holds", lambda r: r.native("PUT", f"/v1/feeds/{r.feed_ids[0]}", {"block_filter_entry_rules": "EntryTitle=a\n" * 60_000})),
    Heavy("native expressions", "as many expressions as a body holds", lambda r: r.native("PUT", f"/v1/feeds/{r.feed_ids[0]}", {"blocklist_rules": "|".join(f"(a{number}?)+" for number in range(80_000))})),
    Heavy("native tags", "imports an entry with as many tags as a body holds", lambda r: r.native("POST", f"/v1/feeds/{r.feed_ids[0]}/entries/import", {"url": "https://example.org/1", "title": "a", "tags": [f"t{number}" for number in range(100_000)]})),
    Heavy("native content", "imports an entry of nothing but markup", lambda r: r.native("POST", f"/v1/feeds/{r.feed_ids[0]}/entries/import", {"url": "https://example.org/1", "title": "a", "content": "<b>" * 300_000})),
    Heavy("pages: move feeds", "ticks each feed many times", lambda r: r.bulk("every:60")),
    Heavy("opml of empty outlines", "as many as a body holds", lambda r: r.import_(opml("<outline/>" for _ in range(3_000_000)))),
    Heavy("opml of other elements", "as many as a body holds", lambda r: r.import_(opml("<a/>" for _ in range(8_000_000)))),
    Heavy("opml of unusable feeds", "feeds without an address", lambda r: r.import_(opml('<outline type="rss"/>' for _ in range(1_500_000)))),
    Heavy("opml of folders", "each feed in a folder of its own", lambda r: r.import_(opml(f'<outline text="f{number}">{feed(number)}</outline>' for number in range(20_000)))),
    Heavy("opml of nested folders", "each feed in sixty folders", lambda r: r.import_(opml(nested(number, 60) for number in range(3_000)))),
    Heavy("opml of attributes", "one outline with as many attributes as a body holds", lambda r: r.import_(opml(iter([f'<outline {" ".join(f"""a{number}="" """ for number in range(2_000_000))}/>'])))),
    Heavy("opml of settings", "one feed with as many wrong settings", lambda r: r.import_(opml(iter([f'<outline xmlUrl="https://e.invalid/" {" ".join(f"""n{number}:crawler="z" """ for number in range(100_000))}/>'])))),
    Heavy("opml of namespaces", "one outline with as many namespaces as a body holds", lambda r: r.import_(opml(iter([f'<outline {" ".join(f"""xmlns:a{number}="u" """ for number in range(1_000_000))}/>'])))),
    Heavy("opml of quotation marks", "a damaged document of attributes", lambda r: r.import_(opml("<outline text='a=\"<\" <outline" for _ in range(1_000_000)))),
    Heavy("opml of processing instructions", "as many as a body holds before the root", lambda r: r.import_(b"<?a?>" * 6_000_000 + opml(iter([feed(1)])))),
)  # fmt: skip


def run(testbed: Testbed) -> Iterator[Result]:
    service = testbed.service()
    for heavy in testbed.choose(HEAVY, 4):
        yield Result(Attempt(heavy.name, heavy.tries, SUCCEEDS_IF), _cost(service, heavy))


def _cost(service: Service, heavy: Heavy) -> str:
    """Return the processor time as evidence if it is more than allowed, else ""."""
    begun = time.monotonic()
    try:
        reader = Reader(service)
        # The workers look at the new feeds.
        _settle(service)
        before = service.processor_s()
        answer = heavy.send(reader)
    except OSError as error:
        return f"{error!r} after {time.monotonic() - begun:.1f} s"
    spent = service.processor_s() - before
    return f"{spent:.1f} s of processor time, answered with {answer.status}" if spent > PROCESSOR_S else ""


def _settle(service: Service) -> None:
    """Wait until the service rests, for a minute at most."""
    for _ in range(60):
        before = service.processor_s()
        time.sleep(1)
        if service.processor_s() - before < 0.05:
            return
