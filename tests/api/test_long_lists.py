"""Entry lists of up to 10,000 entries, which are streamed."""

from __future__ import annotations

import gzip
import hashlib
import json
import zlib
from typing import Any
from urllib.parse import urlencode

import brotli
import pytest
import zstandard

from support.memory_growth import watch_growth
from support.people import Cast, HttpResponse, Person, call
from support.publisher import Publisher
from support.running import RunningService
from tidings.base.times import SECOND, Instant
from tidings.domain.entries.entries import EntryStatus, ReadyEntry
from tidings.storage.entries import counters
from tidings.storage.polling import entry_writes

pytestmark = pytest.mark.slow

MIB = 2**20
COUNT = 10_050


@pytest.fixture(scope="module")
def reader(service: RunningService) -> Person:
    """Alice, with 10,050 unread entries of 3 kB. No test changes them."""
    alice = Cast(service).person("alice")
    with Publisher() as site:
        feed = alice.has_feed(site, items=())
    services = alice.service.services
    now = services.clock()
    given = [ready(number, Instant(now - number * SECOND)) for number in range(COUNT)]
    with services.database.writing() as db:
        counters.lock(db, alice.id, [feed["id"]])
        entry_writes.add(db, alice.id, feed["id"], feed["category"]["id"], given, now=now)
    return alice


def ready(number: int, moment: Instant) -> ReadyEntry:
    digest = hashlib.sha256(b"%d" % number)
    noise = hashlib.shake_128(b"%d" % number).hexdigest(1_500)
    return ReadyEntry(
        hash=digest.digest(),
        fingerprint=b"",
        title=f"Number {number}",
        url=f"https://example.org/{number}",
        content=f"<p>{noise}</p>",
        author="",
        comments_url="",
        published_at=moment,
        reading_time=1,
        tags=("a tag",),
        status=EntryStatus.UNREAD,
        starred=False,
    )


def fetched(person: Person, path: str, accepted: str = "", method: str = "GET") -> HttpResponse:
    headers = {"X-Auth-Token": person.token, **({"Accept-Encoding": accepted} if accepted else {})}
    return call(person.service.url, method, path, headers=headers)


def test_a_list_of_ten_thousand_is_complete_and_like_its_pages(reader: Person) -> None:
    whole = fetched(reader, "/v1/entries?limit=10000&order=id").json()

    assert whole["total"] == COUNT
    assert len(whole["entries"]) == 10_000
    assert whole["entries"][:400] == reader.get("/v1/entries", limit=400, order="id")["entries"]
    last = reader.get("/v1/entries", limit=300, offset=9_700, order="id")["entries"]
    assert whole["entries"][-300:] == last
    # 0 means the most. Filters and the other lists are the same.
    feed = whole["entries"][0]["feed_id"]
    category = whole["entries"][0]["feed"]["category"]["id"]
    for path in (f"/v1/feeds/{feed}/entries", f"/v1/categories/{category}/entries"):
        assert len(reader.get(path, limit=0)["entries"]) == 10_000
    assert reader.get("/v1/entries", limit=5_000, starred="true") == {"total": 0, "entries": []}


def test_a_streamed_list_is_compressed_and_has_the_headers_of_others(reader: Person) -> None:
    plain = fetched(reader, "/v1/entries?limit=1500")
    expected = plain.json()
    unpack: dict[str, Any] = {
        "zstd": lambda packed: zstandard.ZstdDecompressor().decompressobj().decompress(packed),
        "br": brotli.decompress,
        "gzip": gzip.decompress,
        "deflate": zlib.decompress,
    }

    for coding, decompress in unpack.items():
        answer = fetched(reader, "/v1/entries?limit=1500", coding)
        assert answer.headers["content-encoding"] == coding
        assert answer.headers["vary"] == "Accept-Encoding"
        assert answer.headers["content-type"] == "application/json"
        assert answer.headers["access-control-allow-origin"] == "*"
        assert json.loads(decompress(answer.body)) == expected
        assert len(answer.body) < len(plain.body)

    head = fetched(reader, "/v1/entries?limit=1500", method="HEAD")
    assert (head.status, head.body) == (200, b"")
    assert head.headers["content-type"] == "application/json"
    assert len(fetched(reader, "/v1/entries?limit=20000").json()["entries"]) == 10_000
    assert fetched(reader, "/v1/entries?limit=5000&feed_id=2147483000").status == 400


def test_a_list_of_ten_thousand_takes_less_than_30_mb(reader: Person) -> None:
    fetched(reader, "/v1/entries?limit=100")
    growth = watch_growth(reader.service.process.pid)

    answer = fetched(reader, "/v1/entries?limit=10000", "gzip")

    assert len(answer.body) > 10 * MIB
    assert growth() < 30 * MIB, f"{growth() / MIB:.1f} MiB"


def test_ten_thousand_items_of_the_reader_api_are_complete_and_take_less_than_50_mb(reader: Person) -> None:
    ids = sorted(reader.get("/v1/entries/ids", limit=9_999)["entry_ids"], reverse=True)
    login = urlencode({"Email": reader.user.username, "Passwd": reader.password}).encode()
    form = {"Content-Type": "application/x-www-form-urlencoded", "Accept-Encoding": "gzip"}
    token = call(reader.service.url, "POST", "/accounts/ClientLogin", login, form).body.decode().partition("Auth=")[2]
    headers = {**form, "Authorization": f"GoogleLogin auth={token.strip()}"}

    def items(some: list[int]) -> HttpResponse:
        body = urlencode({"i": some}, doseq=True).encode()
        return call(reader.service.url, "POST", "/reader/api/0/stream/items/contents", body, headers)

    items(ids[:100])
    growth = watch_growth(reader.service.process.pid)

    answer = items(ids)

    assert growth() < 50 * MIB, f"{growth() / MIB:.1f} MiB"
    found = json.loads(gzip.decompress(answer.body))["items"]
    assert [int(one["id"].rpartition("/")[2], 16) for one in found] == ids
    assert all(len(one["summary"]["content"]) == 3_007 for one in found)
