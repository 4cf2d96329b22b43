"""When a permanent redirect changes the URL of a feed."""

from __future__ import annotations

from msgspec.structs import replace

from tidings.base.times import Instant
from tidings.domain.feeds.feeds import Feed
from tidings.services.polling.decide import redirect_columns

FEED = Feed(1, 1, 1, "http://old.test/feed", "Feed", Instant(0), Instant(0))
NEW = "http://new.test/feed"


def test_the_third_permanent_redirect_in_a_row_changes_the_url() -> None:
    feed, seen = FEED, []
    for _ in range(3):
        change = redirect_columns(feed, NEW)
        feed = replace(feed, **change)
        seen.append(feed.feed_url)

    assert seen == [FEED.feed_url, FEED.feed_url, NEW]
    assert (feed.moved_to, feed.moved_times) == ("", 0)


def test_another_redirect_target_restarts_the_count() -> None:
    feed = replace(FEED, moved_to=NEW, moved_times=2)

    assert redirect_columns(feed, "http://third.test/") == {"moved_to": "http://third.test/", "moved_times": 1}


def test_a_response_without_redirect_resets_the_count() -> None:
    assert redirect_columns(replace(FEED, moved_to=NEW, moved_times=2), None) == {"moved_to": "", "moved_times": 0}
    assert redirect_columns(FEED, None) == {}
    assert redirect_columns(FEED, FEED.feed_url) == {}


def test_a_feed_that_may_not_move_keeps_its_url_and_the_full_count() -> None:
    feed = replace(FEED, moved_to=NEW, moved_times=3)

    assert redirect_columns(feed, NEW, may_move=False) == {"moved_to": NEW, "moved_times": 3}
    assert redirect_columns(feed, NEW) == {"feed_url": NEW, "moved_to": "", "moved_times": 0}
