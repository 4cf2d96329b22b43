"""Preparing parsed entries for storage."""

from __future__ import annotations

import msgspec
import pytest

from tidings.base.times import Instant
from tidings.content import cleaning
from tidings.content.model import ParsedEntry
from tidings.domain.accounts.users import User
from tidings.domain.entries.entries import ReadyEntry
from tidings.domain.feeds.feeds import Feed
from tidings.domain.polling.entry_policy import EntryPolicy, pages_to_fetch, prepare

NOW = Instant(1_795_000_000_000_000)
FEED = Feed(1, 1, 1, "https://Feeds.example/feed", "A feed", NOW, NOW, site_url="https://site.example/")
ALICE = User(id=265, username="", is_admin=True, last_login_at=None)


def ready(entry: ParsedEntry, feed: Feed = FEED) -> ReadyEntry:
    found = prepare(entry, EntryPolicy.for_feed(feed, ALICE), feed=feed, now=NOW).entry
    assert found is not None
    return found


@pytest.mark.parametrize("host", ["feeds.example", "site.example"])
def test_a_ref_parameter_naming_the_feed_is_removed(host: str) -> None:
    url = f"https://other.example/?a=1&ref={host}"
    entry = ParsedEntry(hash="0" * 64, url=url, content=f'<a href="{url}">b</a>')

    found = ready(entry)

    pages = pages_to_fetch({b"": entry}, EntryPolicy.for_feed(FEED, ALICE), now=NOW)
    assert found.url == pages[b""] == "https://other.example/?a=1"
    assert 'href="https://other.example/?a=1"' in found.content


def test_another_ref_is_left_in_place() -> None:
    assert ready(ParsedEntry(hash="0" * 64, url="https://other.example/?ref=x")).url == "https://other.example/?ref=x"


def test_a_feed_with_invalid_urls_gets_a_policy() -> None:
    broken = msgspec.structs.replace(FEED, feed_url="https://[", site_url="")

    assert EntryPolicy.for_feed(broken, ALICE).cleaning_policy == cleaning.CleaningPolicy()
