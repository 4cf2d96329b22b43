"""What rules of a feed would do to its stored entries."""

from __future__ import annotations

import pytest

from support.people import Person
from support.publisher import Publisher
from tidings.base.errors import NotFound

RULES = {
    "block_filter_entry_rules": "EntryTitle=(?i)^buy\nWrong",
    "rewrite_rules": 'replace_title("River"|"Stream"),replace("About River"|"All about <b>a river</b>")',
}


def test_rules_are_tried_and_nothing_is_changed(alice: Person, bob: Person, site: Publisher) -> None:
    feed = alice.has_feed(site, ("Rain tomorrow", "Buy this", "River news"))
    path, before = f"/v1/feeds/{feed['id']}/rules/preview", alice.entries()

    preview = alice.post(path, RULES, status=200)

    assert (preview["filtered"], preview["changed"], preview["untried"]) == (1, 1, 0)
    rain, advertisement, river = preview["entries"]
    assert (rain["is_kept"], rain["rule"], rain["new_title"], rain["new_text"]) == (True, "", "", "")
    assert advertisement["is_kept"] is False
    assert "EntryTitle=(?i)^buy" in advertisement["rule"]
    assert river["new_title"] == "Stream news"
    assert "All about a river" in river["new_text"]
    (wrong,) = preview["rule_errors"]
    assert (wrong["field"], wrong["number"]) == ("block_filter_entry_rules", 2)
    assert wrong["message"]
    assert alice.entries() == before
    assert alice.get(f"/v1/feeds/{feed['id']}") == feed | {
        name: alice.get(f"/v1/feeds/{feed['id']}")[name] for name in ("checked_at", "next_check_at")
    }
    assert bob.call("POST", path, RULES).status == 404


def test_rules_that_are_not_sent_are_those_of_the_feed(alice: Person, site: Publisher) -> None:
    feed = alice.has_feed(site, ("Rain", "Snow"))
    alice.put(f"/v1/feeds/{feed['id']}", {"rewrite_rules": 'replace_title("Rain"|"Sun")'}, status=201)

    preview = alice.post(f"/v1/feeds/{feed['id']}/rules/preview", {}, status=200)

    assert [entry["new_title"] for entry in preview["entries"]] == ["Sun", ""]


def test_filters_are_tried_on_the_newest_entries_of_all_feeds_or_one(
    alice: Person, bob: Person, site: Publisher
) -> None:
    """As pages do while filters are built from rows."""
    feed = alice.has_feed(site, ["Buy now", "Rain"])
    alice.has_feed(site, ["Buy later"])
    bob.has_feed(site, ["Buy nothing"])
    previewer = alice.service.services.feeds.rule_previewer

    def matched(rules: str, feed_id: int | None = None) -> tuple[int, list[str]]:
        found = previewer.matching(alice.user, {"block_filter_entry_rules": rules}, feed_id=feed_id)
        return found.tried, sorted(entry.title for entry in found.entries)

    assert matched("EntryTitle=(?i)^buy") == (3, ["Buy later", "Buy now"])
    assert matched("EntryTitle=(?i)^buy\nEntryTitle=(\nEntryContent=About Rain", feed["id"]) == (2, ["Buy now", "Rain"])
    assert matched("EntryAuthor=nobody") == (3, [])
    with pytest.raises(NotFound):
        previewer.matching(bob.user, {"block_filter_entry_rules": "EntryTitle=."}, feed_id=feed["id"])
