"""A publisher on loopback for benchmarks: many feeds of 30 entries, 91 kB each, answered from memory.

    python -m benchmarks.publisher FEEDS [ENTRIES]    prints its port, then serves until its standard input ends

GET /feed/N     RSS 2.0 for odd N, Atom 1.0 for even N; with ETag and 304
GET /plain/N    the same without any validator
POST /publish   every feed gets five new entries and drops its five oldest
GET /count      how many times a feed was asked for
"""

from __future__ import annotations

import asyncio
import random
import sys
from html import escape

ENTRIES, NEW, PARAGRAPHS = 30, 5, 5
WORDS = ("rain", "river", "harbour", "window", "letter", "morning", "bridge", "garden", "engine", "paper", "winter")


class Feeds:
    """body(n): the current document of feed n. All are generated before the first request."""

    def __init__(self, origin: str, count: int, entries: int = ENTRIES) -> None:
        self._origin, self._count, self._entries = origin, count, entries
        self.version = self.asked = 0
        self._make()

    def publish(self) -> None:
        self.version += 1
        self._make()

    def body(self, number: int) -> bytes:
        return self._bodies[number]

    def _make(self) -> None:
        self._bodies = [b"", *(self._feed(number) for number in range(1, self._count + 1))]

    def _feed(self, number: int) -> bytes:
        first = self.version * NEW
        items = [self._item(number, item) for item in reversed(range(first, first + self._entries))]
        site = f"{self._origin}/site/{number}"
        if number % 2:
            head = f"<title>Feed {number}</title><link>{site}</link><description>About {number}</description>"
            return f'<rss version="2.0"><channel>{head}{"".join(items)}</channel></rss>'.encode()
        head = f'<title>Feed {number}</title><link href="{site}"/><id>{site}</id>'
        head += "<updated>2026-10-01T00:00:00Z</updated>"
        return f'<feed xmlns="http://www.w3.org/2005/Atom">{head}{"".join(items)}</feed>'.encode()

    def _item(self, number: int, item: int) -> str:
        rng = random.Random(number * 100_003 + item)  # noqa: S311 - the same bytes for everybody
        body = "".join(self._paragraph(rng) for _ in range(PARAGRAPHS))
        link, day = f"{self._origin}/e/{number}/{item}", 1 + item % 28
        if number % 2:
            return (
                f"<item><title>Feed {number}, item {item}</title><link>{link}</link><guid>{link}</guid>"
                f"<pubDate>{day:02d} Sep 2026 10:{item % 60:02d}:00 GMT</pubDate><category>tag {item % 3}</category>"
                f"<description><![CDATA[{body}]]></description>"
                f'<enclosure url="{link}.mp3" type="audio/mpeg" length="123"/></item>'
            )
        return (
            f'<entry><title>Feed {number}, item {item}</title><link href="{link}"/><id>{link}</id>'
            f"<updated>2026-09-{day:02d}T10:{item % 60:02d}:00Z</updated><author><name>A {item % 4}</name></author>"
            f'<category term="tag {item % 3}"/><content type="html">{escape(body)}</content></entry>'
        )

    def _paragraph(self, rng: random.Random) -> str:
        words = " ".join(rng.choice(WORDS) for _ in range(60))
        link = f"https://example.org/x?utm_source=rss&amp;id={rng.randrange(10**6)}"
        return (
            f'<p>{words} <a href="{link}" onclick="no()">more</a>'
            f' <img src="/img/{rng.randrange(999)}.png" width="10"> <b>bold</b> <script>no(1)</script></p>'
        )


async def serve(count: int, entries: int = ENTRIES) -> None:
    feeds: Feeds

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while head := await reader.readuntil(b"\r\n\r\n"):
                method, path, _ = head.split(b" ", 2)
                if method == b"POST":
                    feeds.publish()
                    writer.write(b"HTTP/1.1 204 No Content\r\n\r\n")
                else:
                    writer.write(document(path.decode(), head))
                await writer.drain()
        except (asyncio.IncompleteReadError, ConnectionError):
            pass
        finally:
            writer.close()

    def document(path: str, head: bytes) -> bytes:
        kind, _, number = path[1:].partition("/")
        if kind == "count":
            served = str(feeds.asked).encode()
            return b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%b" % (len(served), served)
        if kind not in ("feed", "plain") or not number.isdecimal():
            return b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n"
        feeds.asked += 1
        tag = f'"{number}-{feeds.version}"'.encode()
        if kind == "feed" and tag in head:
            return b"HTTP/1.1 304 Not Modified\r\nETag: %b\r\n\r\n" % tag
        body = feeds.body(int(number))
        said = b"ETag: %b\r\n" % tag if kind == "feed" else b""
        return b"HTTP/1.1 200 OK\r\nContent-Type: text/xml\r\n%bContent-Length: %d\r\n\r\n%b" % (said, len(body), body)

    server = await asyncio.start_server(answer, "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    feeds = Feeds(f"http://127.0.0.1:{port}", count, entries)
    sys.stdout.write(f"{port}\n")
    sys.stdout.flush()
    await asyncio.to_thread(sys.stdin.read)


if __name__ == "__main__":
    asyncio.run(serve(*map(int, sys.argv[1:])))
