"""API clients that write continuously, each to its own resources, and record every outcome in the ledger."""

from __future__ import annotations

import asyncio
import itertools
import random
from collections import Counter
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Any

import aiohttp

from chaos.ledger import ABSENT, Change, Ledger

TIMEOUT_S = 8
NOT_SENT, NO_ANSWER = -1, 0
UNREAD, READ = 0, 1
# Nothing listens on this loopback address: these feeds cannot be fetched.
NOWHERE = "http://127.0.0.9:9/none"


@dataclass
class Sending:
    """count: how many times one request went out."""

    count: int = 0


def make_session() -> aiohttp.ClientSession:
    """Return a session for `Api`.

    aiohttp sends a PUT or DELETE again when a kept connection is cut before the response, and reports only how the
    last one ended. So the session counts how many times a request went out.
    """

    async def count(
        _session: aiohttp.ClientSession, context: Any, _sent: aiohttp.TraceRequestHeadersSentParams
    ) -> None:
        if context.trace_request_ctx is not None:
            context.trace_request_ctx.count += 1

    tracing = aiohttp.TraceConfig()
    tracing.on_request_headers_sent.append(count)
    return aiohttp.ClientSession(
        timeout=aiohttp.ClientTimeout(total=TIMEOUT_S),
        connector=aiohttp.TCPConnector(limit=0),
        trace_configs=[tracing],
    )


@dataclass
class Api:
    """A client of one account. user: its id. statuses: counts of responses by status, "none" for no response."""

    url: str
    user: int
    token: str
    ledger: Ledger
    session: aiohttp.ClientSession
    statuses: Counter[str] = field(default_factory=Counter)
    failures: Counter[str] = field(default_factory=Counter)

    async def call(self, method: str, path: str, body: object = None) -> tuple[int, Any]:
        """Return status and JSON of the response.

        NO_ANSWER if it is missing or incomplete, or if it is not that of the first time that the request went out,
        which may have been carried out. NOT_SENT if it never went out.
        """
        sending = Sending()
        status, found = await self._call(method, path, body, sending)
        is_of_first = sending.count == (0 if status == NOT_SENT else 1)
        return (status, found) if is_of_first else (NO_ANSWER, None)

    async def _call(self, method: str, path: str, body: object, sending: Sending) -> tuple[int, Any]:
        data = {"data": body} if isinstance(body, str) else {"json": body} if body is not None else {}
        try:
            async with self.session.request(
                method, self.url + path, headers={"X-Auth-Token": self.token}, trace_request_ctx=sending, **data
            ) as answer:
                text = await answer.text()
                found = await answer.json(content_type=None) if text else None
                status = answer.status
        except aiohttp.ClientConnectorError:
            self.statuses["not reached"] += 1
            await asyncio.sleep(0.3)
            return NOT_SENT, None
        except (aiohttp.ClientError, TimeoutError, ValueError) as error:
            self.statuses["none"] += 1
            self.failures[type(error).__name__] += 1
            return NO_ANSWER, None
        self.statuses[str(status)] += 1
        if status >= 500:
            message = found.get("error_message", "") if isinstance(found, dict) else str(found)
            self.failures[f"{status} {method}: {message[:120]}"] += 1
        return status, found

    async def write(self, method: str, path: str, body: object, *changes: Change) -> Any:
        """Send a request and record its changes in the ledger. Returns the JSON of a 2xx response, else None."""
        status, found = await self.call(method, path, body)
        if 200 <= status < 300:
            self.ledger.acknowledge(*changes)
            return found if found is not None else {}
        if 400 <= status < 500:
            self.ledger.refuse(f"{status} {method} {path}: {found}", *changes)
        elif status != NOT_SENT:
            self.ledger.doubt(*changes)
        return None


@dataclass
class Writer:
    """A client that writes. names: numbers for the names of its resources.

    number: among `count` writers, who divide the entries of the `polled` feeds by id. Entries of other feeds are not
    used, because they are deleted with their feed.
    """

    api: Api
    number: int
    count: int
    rng: random.Random
    polled: frozenset[int]
    archive_feed: int
    feed_urls: list[str]
    names: itertools.count[int] = field(default_factory=itertools.count)
    entries: dict[int, tuple[int, bool]] = field(default_factory=dict)
    categories: list[int] = field(default_factory=list)
    feeds: list[tuple[int, str]] = field(default_factory=list)
    keys: list[tuple[int, str]] = field(default_factory=list)

    async def run(self, until: asyncio.Event) -> None:
        actions: list[Callable[[], Awaitable[None]]] = [
            *[self.toggle_star] * 4, *[self.set_status] * 4, *[self.import_entry] * 4, self.save_entry,
            self.make_category, self.rename_category, self.delete_category, self.make_feed, self.rename_feed,
            self.delete_feed, self.make_key, self.delete_key, self.import_opml, self.read_new_entries,
        ]  # fmt: skip
        await self.read_new_entries()
        while not until.is_set():
            await self.rng.choice(actions)()
            await asyncio.sleep(self.rng.uniform(0, 0.1))

    def name(self, what: str) -> str:
        return f"{what} {self.number}-{next(self.names)}"

    async def read_new_entries(self) -> None:
        """Read the newest polled entries of this writer's share."""
        status, found = await self.api.call("GET", "/v1/entries?order=id&direction=desc&limit=1000")
        if status == 200:
            for entry in found["entries"]:
                is_ours = entry["id"] % self.count == self.number and entry["feed_id"] in self.polled
                if is_ours and entry["id"] not in self.entries:
                    self.entries[entry["id"]] = (READ if entry["status"] == "read" else UNREAD, entry["starred"])

    def _several(self, kind: str, most: int) -> list[int]:
        settled = [entry for entry in self.entries if self.api.ledger.is_settled(kind, entry)]
        return self.rng.sample(settled, min(most, len(settled)))

    async def toggle_star(self) -> None:
        for entry in self._several("star", 1):
            before = self._known("star", entry, self.entries[entry][1])
            await self.api.write("PUT", f"/v1/entries/{entry}/star", None, Change("star", entry, not before))

    async def set_status(self) -> None:
        """Set the status of several entries in one request: all change, or none."""
        entries = self._several("status", self.rng.choice([1, 5, 20]))
        if not entries:
            return
        for entry in entries:
            self._known("status", entry, self.entries[entry][0])
        value = self.rng.choice([UNREAD, READ])
        body = {"entry_ids": entries, "status": "read" if value else "unread"}
        await self.api.write("PUT", "/v1/entries", body, *(Change("status", entry, value) for entry in entries))

    def _known(self, kind: str, entry: int, at_first: object) -> object:
        """Return the last acknowledged value, or else the one that the entry had when it was first read."""
        value = self.api.ledger.value(kind, entry)
        if value is ABSENT:
            assert isinstance(at_first, int)
            self.api.ledger.acknowledge(Change(kind, entry, at_first))
            return at_first
        return value

    async def save_entry(self) -> None:
        for entry in self._several("saved entry", 1):
            count = self.api.ledger.value("saved entry", entry) or 0
            assert isinstance(count, int)
            change = Change("saved entry", entry, count + 1)
            await self.api.write("POST", f"/v1/entries/{entry}/save", None, change)

    async def import_entry(self) -> None:
        name = self.name("Imported")
        url = f"http://127.0.0.1/{name.replace(' ', '/')}"
        # Long texts are stored compressed.
        text = f"{name}. " * self.rng.choice([1, 200])
        body = {"url": url, "title": name, "content": f"<p>{text}</p>", "tags": ["imported", name], "status": "unread"}
        changes = Change("imported entry", url, 1), Change("content", url, text.strip())
        await self.api.write("POST", f"/v1/feeds/{self.archive_feed}/entries/import", body, *changes)

    async def make_category(self) -> None:
        title = self.name("Category")
        found = await self.api.write("POST", "/v1/categories", {"title": title}, Change("category title", title, 1))
        if found:
            self.api.ledger.acknowledge(Change("category", found["id"], title))
            self.categories.append(found["id"])

    async def rename_category(self) -> None:
        settled = self._settled_categories()
        if settled:
            category, title = self.rng.choice(settled), self.name("Category")
            old = self.api.ledger.value("category", category)
            changes = Change("category title", old, ABSENT), Change("category title", title, 1)
            path = f"/v1/categories/{category}"
            await self.api.write("PUT", path, {"title": title}, Change("category", category, title), *changes)

    async def delete_category(self) -> None:
        settled = self._settled_categories()
        if len(settled) > 3:
            category = self.rng.choice(settled)
            old = self.api.ledger.value("category", category)
            changes = Change("category", category, ABSENT), Change("category title", old, ABSENT)
            if await self.api.write("DELETE", f"/v1/categories/{category}", None, *changes) is not None:
                self.categories.remove(category)

    def _settled_categories(self) -> list[int]:
        return [category for category in self.categories if self.api.ledger.is_settled("category", category)]

    async def make_feed(self) -> None:
        """Subscribe to a feed of the publisher. It is fetched at once, which may fail."""
        if not self.feed_urls:
            return
        url = self.feed_urls.pop()
        found = await self.api.write("POST", "/v1/feeds", {"feed_url": url}, Change("feed address", url, 1))
        if found:
            self.api.ledger.acknowledge(Change("feed", found["feed_id"], f"Feed {url.rsplit('/', 1)[-1]}"))
            self.feeds.append((found["feed_id"], url))

    async def rename_feed(self) -> None:
        feeds = [feed for feed, _ in self.feeds if self.api.ledger.is_settled("feed", feed)]
        if feeds:
            await self._set_feed_title(self.rng.choice(feeds), self.name("Feed"))

    async def _set_feed_title(self, feed: int, title: str) -> None:
        await self.api.write("PUT", f"/v1/feeds/{feed}", {"title": title}, Change("feed", feed, title))

    async def delete_feed(self) -> None:
        settled = [(feed, url) for feed, url in self.feeds if self.api.ledger.is_settled("feed", feed)]
        if len(settled) > 2:
            feed, url = self.rng.choice(settled)
            changes = Change("feed", feed, ABSENT), Change("feed address", url, ABSENT)
            found = await self.api.write("DELETE", f"/v1/feeds/{feed}", None, *changes)
            if found is not None:
                self.feeds.remove((feed, url))
                self.feed_urls.append(url)

    async def make_key(self) -> None:
        name = self.name("Key")
        found = await self.api.write("POST", "/v1/api-keys", {"description": name}, Change("API key name", name, 1))
        if found:
            self.api.ledger.acknowledge(Change("API key", found["token"], name))
            self.keys.append((found["id"], found["token"]))

    async def delete_key(self) -> None:
        settled = [(key, token) for key, token in self.keys if self.api.ledger.is_settled("API key", token)]
        if len(settled) > 2:
            key, token = self.rng.choice(settled)
            name = self.api.ledger.value("API key", token)
            changes = Change("API key", token, ABSENT), Change("API key name", name, ABSENT)
            if await self.api.write("DELETE", f"/v1/api-keys/{key}", None, *changes) is not None:
                self.keys.remove((key, token))

    async def import_opml(self) -> None:
        """Import five subscriptions in a new category: all of them are stored, or nothing."""
        title = self.name("OPML")
        urls = [f"{NOWHERE}/{title.replace(' ', '-')}/{place}" for place in range(5)]
        outlines = "".join(f'<outline type="rss" text="{url}" xmlUrl="{url}"/>' for url in urls)
        document = f'<opml version="2.0"><body><outline text="{title}">{outlines}</outline></body></opml>'
        changes = [Change("feed address", url, 1) for url in urls]
        await self.api.write("POST", "/v1/import", document, Change("category title", title, 1), *changes)
