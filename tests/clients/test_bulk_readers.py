"""miniflux-ai and miniflux-filter: programs that fetch all unread entries in one list, and then edit or mark them."""

from __future__ import annotations

import miniflux
import pytest

from support.entry_fixtures import ready
from support.people import Person
from support.publisher import Publisher
from tidings.base.times import Instant
from tidings.storage.entries import counters
from tidings.storage.polling import entry_writes

pytestmark = pytest.mark.slow

# More than one page of newer versions of Miniflux, which refuse a limit above 1,000.
COUNT = 1_100


@pytest.fixture
def client(alice: Person, site: Publisher) -> miniflux.Client:
    """Alice's, who has unread entries."""
    feed = alice.has_feed(site, items=())
    entries = [ready(f"Rain {number}", f"<p>It rains on day {number}.</p>") for number in range(COUNT)]
    with alice.service.services.database.writing() as db:
        counters.lock(db, alice.id, [feed["id"]])
        entry_writes.add(db, alice.id, feed["id"], feed["category"]["id"], entries, now=Instant(1))
    return miniflux.Client(alice.service.url, api_key=alice.token)


def test_miniflux_ai_gets_all_unread_entries_and_puts_a_summary_before_one(client: miniflux.Client) -> None:
    found = client.get_entries(status=["unread"], limit=10000)
    assert (found["total"], len(found["entries"])) == (COUNT, COUNT)
    entry = found["entries"][-1]
    assert {"id", "title", "url", "content", "feed", "created_at"} <= entry.keys()
    assert {"site_url", "title", "category"} <= entry["feed"].keys()

    edited = client.update_entry(entry["id"], content=f"<pre>AI: wet.</pre><hr>{entry['content']}")

    assert "AI: wet." in edited["content"]
    assert client.get_entry(entry["id"])["content"] == edited["content"]


def test_miniflux_filter_gets_all_unread_entries_and_marks_matches_read(client: miniflux.Client) -> None:
    entries = client.get_entries(status="unread", limit=10000)["entries"]
    matching = [entry["id"] for entry in entries if entry["title"].endswith("7")]

    assert client.update_entries(matching, status="read")

    left = client.get_entries(status="unread", limit=10000)
    assert (len(matching), left["total"], len(left["entries"])) == (110, COUNT - 110, COUNT - 110)
