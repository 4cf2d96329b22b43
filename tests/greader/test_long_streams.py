"""Long streams, which apps that fetch one page take for everything there is: streamed, whole, and in order."""

from __future__ import annotations

import gzip
import json
from urllib.parse import urlencode

import pytest

from greader.apps import READ, READING_LIST, App, label
from support.entry_fixtures import ready
from support.memory_growth import watch_growth
from support.people import Cast, Person, call
from support.publisher import Publisher
from support.running import RunningService
from tidings.base.times import Instant
from tidings.storage.entries import counters
from tidings.storage.polling import entry_writes

pytestmark = pytest.mark.slow

MIB = 2**20
COUNT = 10_050
# A name that is in the response and looks like an empty list.
FOLDER = "Rain [] & sun"


@pytest.fixture(scope="module")
def alice(service: RunningService) -> Person:
    """No test changes what she has."""
    return Cast(service).person("alice")


@pytest.fixture(scope="module")
def app(alice: Person) -> App:
    """At one of the two addresses: they differ in nothing that is tested here."""
    return App(alice).sign_in()


@pytest.fixture(scope="module")
def ids(alice: Person) -> list[int]:
    """The ids of Alice's 10,050 unread entries of 2 kB, newest first."""
    with Publisher() as site:
        feed = alice.has_feed(site, items=(), category_id=alice.has_category(FOLDER)["id"])
    given = [ready(f"Rain {number}", f"<p>{number:06} {'wet ' * 500}</p>") for number in range(COUNT)]
    with alice.service.services.database.writing() as db:
        counters.lock(db, alice.id, [feed["id"]])
        entry_writes.add(db, alice.id, feed["id"], feed["category"]["id"], given, now=Instant(1))
    pages = [alice.get("/v1/entries/ids", limit=10_000, offset=offset)["entry_ids"] for offset in (0, 10_000)]
    return sorted(pages[0] + pages[1], reverse=True)


def test_an_app_that_asks_once_for_50_000_ids_gets_all_of_them(app: App, ids: list[int]) -> None:
    """Twine does, and deletes what is not among them."""
    for order, expected in (("n", ids), ("o", ids[::-1])):
        answer = app.get("stream/items/ids", {"s": READING_LIST, "n": 50_000, "xt": READ, "r": order})
        assert [int(ref["id"]) for ref in answer["itemRefs"]] == expected
        assert "continuation" not in answer


def test_pages_of_ids_in_several_streams_join(app: App, ids: list[int]) -> None:
    several = [("s", READING_LIST), ("s", label(FOLDER)), ("s", READING_LIST)]
    first = app.get("stream/items/ids", [*several, ("n", 9_000)])
    rest = app.get("stream/items/ids", [*several, ("n", 9_000), ("c", first["continuation"])])

    assert [int(ref["id"]) for ref in first["itemRefs"] + rest["itemRefs"]] == ids
    assert "continuation" not in rest
    assert app.call("GET", "stream/items/count", query=several).body == b"10050"


def test_an_app_that_asks_once_for_2_500_items_gets_them(app: App, ids: list[int]) -> None:
    """Readrops does."""
    for stream in (READING_LIST, label(FOLDER)):
        answer = app.get("stream/contents", {"s": stream, "n": 2_500})
        assert answer["id"] == stream
        assert [int(item["id"].rpartition("/")[2], 16) for item in answer["items"]] == ids[:2_500]
        assert answer["continuation"] == str(ids[2_499])


def test_a_page_of_ten_thousand_items_is_streamed(app: App, ids: list[int], alice: Person) -> None:
    path = f"/reader/api/0/stream/contents?{urlencode({'n': 50_000})}"
    headers = {"Authorization": f"GoogleLogin auth={app.token}"}
    call(alice.service.url, "GET", path.replace("50000", "10"), headers=headers)

    growth = watch_growth(alice.service.process.pid)

    answer = call(alice.service.url, "GET", path, headers={**headers, "Accept-Encoding": "gzip"})

    assert growth() < 30 * MIB, f"{growth() / MIB:.1f} MiB"
    assert "content-length" not in answer.headers
    body = gzip.decompress(answer.body)
    assert len(body) > 20 * MIB
    page = json.loads(body)
    assert [int(item["id"].rpartition("/")[2], 16) for item in page["items"]] == ids[:10_000]
    assert page["continuation"] == str(ids[9_999])


def test_a_short_page_has_a_length(app: App, ids: list[int]) -> None:
    for path in ("stream/contents", "stream/items/ids"):
        answer = app.call("GET", path, query={"s": READING_LIST, "n": 20})
        assert int(answer.headers["content-length"]) == len(answer.body)
    assert ids
