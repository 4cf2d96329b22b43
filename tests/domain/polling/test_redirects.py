"""When a permanent redirect is believed."""

from __future__ import annotations

from msgspec.structs import replace

from tidings.domain.feeds.feeds import Feed
from tidings.domain.polling.redirects import after_answer
from tidings.domain.times import Instant

FEED = Feed(1, 1, 1, "http://old.test/feed", "Feed", Instant(0), Instant(0))
NEW = "http://new.test/feed"


def test_the_third_time_in_a_row_is_certain() -> None:
    feed, seen = FEED, []
    for _ in range(3):
        change = after_answer(feed, NEW)
        feed = replace(feed, **change)
        seen.append(feed.feed_url)

    assert seen == [FEED.feed_url, FEED.feed_url, NEW]
    assert (feed.moved_to, feed.moved_times) == ("", 0)


def test_another_target_begins_anew() -> None:
    feed = replace(FEED, moved_to=NEW, moved_times=2)

    assert after_answer(feed, "http://third.test/") == {"moved_to": "http://third.test/", "moved_times": 1}


def test_an_answer_from_the_old_place_forgets() -> None:
    assert after_answer(replace(FEED, moved_to=NEW, moved_times=2), None) == {"moved_to": "", "moved_times": 0}
    assert after_answer(FEED, None) == {}
    assert after_answer(FEED, FEED.feed_url) == {}
