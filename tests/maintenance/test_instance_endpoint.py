"""The state of the instance, for administrators."""

from __future__ import annotations

from support.people import Person
from support.publisher import Publisher


def test_administrators_see_what_the_service_has_and_how_long_its_queues_are(
    alice: Person, charlie: Person, site: Publisher, engine: str
) -> None:
    alice.has_feed(site)

    seen = charlie.get("/v1/instance")

    assert seen["database_engine"] == engine
    assert seen["database_bytes"] > 0
    # The numbers may be of a moment ago.
    for name in ("users", "feeds", "entries_unread", "due", "overdue", "claimed", "deliveries_pending", "workers"):
        assert seen[name] >= 0
    assert alice.call("GET", "/v1/instance").status == 403
