"""The health of a feed."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from tidings.domain.feeds.health import FeedHealth, FeedHealthData, health
from tidings.domain.times import DAY, Instant

NOW = Instant(1_700_000_000_000_000)
WELL = FeedHealthData(
    id=1,
    category_id=1,
    title="A feed",
    title_key="a feed",
    feed_url="https://example.org/feed",
    site_url="",
    icon_id=None,
    disabled=False,
    error_count=0,
    error_message="",
    failed_checks=0,
    moved_to="",
    moved_times=0,
    is_waiting=False,
    created_at=Instant(NOW - 400 * DAY),
    checked_at=NOW,
    next_check_at=Instant(NOW + DAY),
    news_gap_s=3600,
    took_ms=300,
    check_interval_minutes=0,
    unread=0,
    last_entry_at=Instant(NOW - DAY),
)
LONG_AGO = Instant(NOW - 200 * DAY)


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        ({}, FeedHealth.FINE),
        ({"took_ms": 0}, FeedHealth.FINE),
        ({"took_ms": 4_999}, FeedHealth.FINE),
        ({"took_ms": 5_000}, FeedHealth.SLOW),
        ({"took_ms": 5_000, "news_gap_s": 40 * 86_400}, FeedHealth.SLOW),
        ({"took_ms": 5_000, "last_entry_at": LONG_AGO}, FeedHealth.SILENT),
        ({"took_ms": 5_000, "error_count": 1}, FeedHealth.FAILING),
        ({"news_gap_s": 40 * 86_400}, FeedHealth.RARE),
        ({"error_count": 20, "failed_checks": 20}, FeedHealth.DEAD),
        ({"disabled": True}, FeedHealth.OFF),
        ({"disabled": True, "error_count": 1}, FeedHealth.DEAD),
        ({"moved_to": "https://example.net/"}, FeedHealth.MOVED),
        ({"is_waiting": True}, FeedHealth.WAITING),
        ({"last_entry_at": None, "created_at": NOW}, FeedHealth.FINE),
    ],
    ids=str,
)
def test_the_first_state_that_applies_is_returned(data: dict[str, Any], expected: FeedHealth) -> None:
    assert health(msgspec.structs.replace(WELL, **data), NOW) is expected
