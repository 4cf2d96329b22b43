"""Sends pictures, compressed bodies and databases that cost far more to read than they weigh.

Processor time and memory of the service with all its child processes are measured, so that other load does not matter.
"""

from __future__ import annotations

import gzip
import io
import re
import sqlite3
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing
from functools import partial
from pathlib import Path
from typing import Final

from backports import zstd
from PIL import Image

from abuse.attempts import Attempt, Result
from abuse.people import Person, person
from abuse.service import Service
from abuse.testbed import Testbed

MAX_CPU_S: Final = 2
MAX_MEMORY_BYTES: Final = 300 * 2**20
SUCCEEDS_IF: Final = (
    f"more than {MAX_CPU_S} s of processor time or {MAX_MEMORY_BYTES // 2**20} MiB of all processes together"
)
# Just below the limit of a response.
_BODY_BYTES: Final = 15_000_000
# Seconds until an import that has no end is given up.
_IMPORT_S: Final = 12.0


def _progressive(side: int, scans: int = 0) -> bytes:
    """Return a JPEG whose last scan is repeated."""
    out = io.BytesIO()
    Image.new("RGB", (side, side), (40, 90, 160)).save(out, "JPEG", progressive=True, quality=50, subsampling=0)
    content = out.getvalue()
    last = content.rindex(b"\xff\xda")
    return content[:last] + content[last:-2] * (1 + scans) + b"\xff\xd9"


def _ending_in_a_step() -> bytes:
    """Return a gzip stream of many steps, with more bytes behind its end."""
    return gzip.compress(b" " * 1_000_000) + b"\0" * 3_000


PICTURES: Final[Mapping[str, Callable[[], bytes]]] = {
    "progressive JPEG of 169 megapixels": lambda: _progressive(13_000),
    "JPEG of 6,000 scans": lambda: _progressive(2_500, 6_000),
}
BODIES: Final[Mapping[str, tuple[Callable[[], bytes], str]]] = {
    "empty zstd frames": (lambda: zstd.compress(b"") * (_BODY_BYTES // len(zstd.compress(b""))), "zstd"),
    "empty gzip members": (lambda: gzip.compress(b"") * (_BODY_BYTES // len(gzip.compress(b""))), "gzip"),
    "empty gzip members in gzip": (lambda: gzip.compress(gzip.compress(b"") * (_BODY_BYTES // 20)), "gzip, gzip"),
    "bytes behind the end of gzip": (_ending_in_a_step, "gzip"),
}
# Statements that turn a database of FreshRSS into one that keeps its reader busy.
_ENDLESS: Final = "WITH RECURSIVE n (x) AS (VALUES (1) UNION ALL SELECT x + 1 FROM n)"
_ENTRY: Final = "guid, title, author, link, date, is_read, is_favorite, id_feed, tags"
DATABASES: Final[Mapping[str, str]] = {
    "entries are an endless view": f"DROP TABLE entry; CREATE VIEW entry AS {_ENDLESS}"
    " SELECT x AS id, 'a' AS guid, 'a' AS title, 'a' AS author, 'a' AS content, 'a' AS link, 1 AS date, 0 AS is_read,"
    " 0 AS is_favorite, 1 AS id_feed, '' AS tags FROM n WHERE x < 0",
    "feeds are an endless view": f"DROP TABLE feed; CREATE VIEW feed AS {_ENDLESS}"
    " SELECT x AS id, 'http://127.0.0.1:1/' AS url, 1 AS category, 'a' AS name, '' AS website, '' AS description,"
    " 10 AS priority, '' AS httpAuth, 0 AS ttl FROM n WHERE x < 0",
    "categories with one id": f"{_ENDLESS} INSERT INTO category SELECT 1, 'name ' || x FROM n LIMIT 3000;"
    f"{_ENDLESS} INSERT INTO feed SELECT x, 'http://127.0.0.1:1/' || x, 1, 'a', '', '', 10, '', 0 FROM n LIMIT 3000",
    "labels with one id": f"CREATE TABLE tag (id INT, name TEXT); CREATE TABLE entrytag (id_tag INT, id_entry INT);"
    f"{_ENDLESS} INSERT INTO tag SELECT 1, 'name ' || x FROM n LIMIT 5000;"
    f"{_ENDLESS} INSERT INTO entrytag SELECT 1, x FROM n LIMIT 5000",
}
_TABLES: Final = f"""
CREATE TABLE category (id INT, name TEXT);
CREATE TABLE feed (
    id INT, url TEXT, category INT, name TEXT, website TEXT, description TEXT, priority INT, httpAuth TEXT, ttl INT
);
CREATE TABLE entry (id INT, content TEXT, {_ENTRY});
"""


def run(testbed: Testbed) -> Iterator[Result]:
    service = testbed.service(
        fetcher_allow_private_networks="1", integration_allow_private_networks="1", media_proxy_mode="all"
    )
    for name, statements in testbed.choose(DATABASES.items(), 1):
        attempt = Attempt(
            f"database: {name}", "an import from FreshRSS", f"no end in {_IMPORT_S:g} s of processor time"
        )
        yield Result(attempt, _import(service, person(service), _database(statements)))
    for name, body in testbed.choose(PICTURES.items(), 2):
        attempt = Attempt(f"picture: {name}", "a picture of an article, through the media proxy", SUCCEEDS_IF)
        yield _measured(service, attempt, partial(_show, testbed, person(service), body()))
    attempt = Attempt("icon: JPEG of 6,000 scans", "the icon of a feed", SUCCEEDS_IF)
    icon = PICTURES["JPEG of 6,000 scans"]()
    yield _measured(service, attempt, partial(_subscribe_with_icon, testbed, person(service), icon))
    # A process that is held by one body would not create the user for the next.
    user = person(service)
    for name, (body, coding) in testbed.choose(BODIES.items(), 2):
        attempt = Attempt(f"body: {name}", f"a feed with Content-Encoding: {coding}", SUCCEEDS_IF)
        yield _measured(service, attempt, partial(_subscribe, testbed, user, body(), coding))


def _measured(service: Service, attempt: Attempt, act: Callable[[], str]) -> Result:
    """act: returns what it saw of a success, "" if nothing."""
    processor, memory = service.processor_s(), service.memory_bytes()
    peak, done = [memory], threading.Event()

    def watch() -> None:
        while not done.wait(0.02):
            peak.append(service.memory_bytes())

    watcher = threading.Thread(target=watch)
    watcher.start()
    try:
        trouble = [act()]
    except OSError as error:
        trouble = [f"no answer: {error!r}"]
    finally:
        done.set()
        watcher.join()
    used, grown = service.processor_s() - processor, max(peak) - memory
    if used > MAX_CPU_S:
        trouble.append(f"{used:.1f} s of processor time")
    if grown > MAX_MEMORY_BYTES:
        trouble.append(f"{grown / 2**20:.0f} MiB")
    return Result(attempt, ", ".join(filter(None, trouble)))


def _feed(testbed: Testbed, inside: str) -> str:
    """Return the URL of a feed. inside: of its channel."""
    body = f'<rss version="2.0"><channel><title>a</title>{inside}</channel></rss>'
    return testbed.publisher.serve(f"/expensive{time.monotonic_ns()}.xml", body)


def _show(testbed: Testbed, user: Person, picture: bytes) -> str:
    url = testbed.publisher.serve(f"/expensive{time.monotonic_ns()}.jpg", picture, "image/jpeg")
    item = f"<item><title>a</title><link>/</link><description>&lt;img src='{url}'&gt;</description></item>"
    feed_id = user.made("POST", "/v1/feeds", {"feed_url": _feed(testbed, item)})["feed_id"]
    entry = user.made("GET", f"/v1/feeds/{feed_id}/entries")["entries"][0]
    user.sign_in()
    page = user.get(f"/entries/{entry['id']}").text
    found = re.search(r'src="[^"]*(/proxy/[^"?]+)"', page)
    if found is None:
        raise RuntimeError("the page does not show the picture through the media proxy")
    user.get(found[1])
    return ""


def _subscribe_with_icon(testbed: Testbed, user: Person, picture: bytes) -> str:
    icon = testbed.publisher.serve(f"/expensive{time.monotonic_ns()}.icon", picture, "image/jpeg")
    site = testbed.publisher.serve(
        f"/expensive{time.monotonic_ns()}.html", f'<link rel="icon" href="{icon}">', "text/html"
    )
    user.api("POST", "/v1/feeds", {"feed_url": _feed(testbed, f"<link>{site}</link>")})
    # The icon is decoded while the subscription waits for it, and may go on for as long as a check may take.
    time.sleep(3)
    return ""


def _subscribe(testbed: Testbed, user: Person, body: bytes, coding: str) -> str:
    url = testbed.publisher.serve(f"/expensive{time.monotonic_ns()}.xml", body, Content_Encoding=coding)
    user.api("POST", "/v1/feeds", {"feed_url": url}, timeout_s=30)
    return ""


def _database(statements: str) -> bytes:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "user.sqlite"
        with closing(sqlite3.connect(path)) as db, db:
            db.executescript(_TABLES + statements)
        return path.read_bytes()


def _import(service: Service, user: Person, content: bytes) -> str:
    begun = service.processor_s()
    user.made("POST", "/v1/import/archive?source=freshrss", content)
    # The import is given up by the work that it did: a busy machine only takes longer.
    while service.processor_s() - begun < _IMPORT_S:
        state = user.made("GET", "/v1/import/archive")
        if state["finished_at"] is not None:
            return "" if state["source"] == "freshrss" else "the import was another one"
        time.sleep(0.2)
    return "the import does not end"
