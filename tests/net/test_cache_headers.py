"""Parsing of freshness, Retry-After and Link headers."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from support.scaling import assert_linear
from tidings.base.times import Instant, from_datetime
from tidings.net.responses import MAX_SECONDS, Link, freshness_s, http_date, parse_links, retry_after_s

NOON = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)
NOW = from_datetime(NOON)


def http(moment: datetime) -> str:
    return moment.strftime("%a, %d %b %Y %H:%M:%S GMT")


@pytest.mark.parametrize(
    ("cache_control", "seconds"),
    [
        ("max-age=7200", 7200),
        ("public, MAX-AGE=7200", 7200),
        ("Public,Max-Age = 7200 ,must-revalidate", 7200),
        ('max-age="7200"', 7200),
        ('community="a, max-age=1", max-age=7200', 7200),
        ("max-age=60, max-age=7200", 60),
        ("max-age=0", 0),
        ("max-age=99999999999999999999", MAX_SECONDS),
        ("max-age=" + "9" * 5000, MAX_SECONDS),
    ],
)
def test_max_age_is_read_in_every_spelling(cache_control: str, seconds: int) -> None:
    assert freshness_s(cache_control=cache_control, now=NOW) == seconds


@pytest.mark.parametrize("cache_control", ["max-age=-5", "max-age=soon", "max-age=", "max-age"])
def test_an_invalid_max_age_means_stale_now(cache_control: str) -> None:
    assert freshness_s(cache_control=cache_control, expires=http(NOON + timedelta(hours=3)), now=NOW) == 0


@pytest.mark.parametrize("cache_control", ["no-cache, max-age=3600", "No-Store", 'no-cache="set-cookie"'])
def test_no_cache_and_no_store_mean_stale_now(cache_control: str) -> None:
    assert freshness_s(cache_control=cache_control, now=NOW) == 0


def test_s_maxage_is_ignored() -> None:
    assert freshness_s(cache_control="s-maxage=86400, max-age=60", now=NOW) == 60
    assert freshness_s(cache_control="s-maxage=86400", now=NOW) is None


def test_age_is_subtracted_from_max_age() -> None:
    assert freshness_s(cache_control="max-age=3600", age="600", now=NOW) == 3000
    assert freshness_s(cache_control="max-age=3600", age="7200", now=NOW) == 0
    assert freshness_s(cache_control="max-age=3600", age="old", now=NOW) == 3600


def test_expires_counts_from_the_publishers_own_clock() -> None:
    behind = NOON - timedelta(hours=5)

    expires = http(behind + timedelta(hours=3))

    assert freshness_s(expires=expires, date=http(behind), now=NOW) == 3 * 3600
    assert freshness_s(expires=http(NOON + timedelta(hours=3)), now=NOW) == 3 * 3600


def test_max_age_wins_over_expires() -> None:
    assert freshness_s(cache_control="max-age=60", expires=http(NOON + timedelta(days=1)), now=NOW) == 60


@pytest.mark.parametrize("expires", ["0", "-1", "never", http(NOON - timedelta(days=1))])
def test_a_past_or_invalid_expires_means_stale_now(expires: str) -> None:
    assert freshness_s(expires=expires, now=NOW) == 0


def test_absent_headers_are_unknown_freshness_and_not_zero() -> None:
    assert freshness_s(now=NOW) is None
    assert freshness_s(cache_control="public, immutable", expires=" ", now=NOW) is None


@pytest.mark.parametrize(
    ("value", "seconds"),
    [
        ("7200", 7200),
        (" 120 ", 120),
        ("0", 0),
        ("1.2", 2),
        (http(NOON + timedelta(minutes=5)), 300),
        (http(NOON - timedelta(minutes=5)), 0),
        ("9" * 5000, MAX_SECONDS),
        ("", None),
        ("-5", None),
        ("soon", None),
        ("١٢", None),
        ("Fri, 99 Foo 2026 99:99:99 GMT", None),
    ],
)
def test_retry_after_is_seconds_or_a_date(value: str, seconds: int | None) -> None:
    assert retry_after_s(value, NOW) == seconds


@pytest.mark.parametrize(
    "value",
    ["Sun, 06 Nov 1994 08:49:37 GMT", "Sunday, 06-Nov-94 08:49:37 GMT", "Sun Nov  6 08:49:37 1994"],
)
def test_all_three_forms_of_http_dates_are_read(value: str) -> None:
    assert http_date(value) == from_datetime(datetime(1994, 11, 6, 8, 49, 37, tzinfo=UTC))


def test_links_are_resolved_and_listed_by_relation() -> None:
    value = (
        '<https://hub.example/>; rel="hub", </feed.xml>; rel=SELF; type="a,b", '
        '<other>; title="rel=no; x"; rel="alternate next", <nowhere>'
    )

    assert parse_links(value, "https://example.org/blog/") == (
        Link("https://hub.example/", "hub"),
        Link("https://example.org/feed.xml", "self", type="a,b"),
        Link("https://example.org/blog/other", "alternate", title="rel=no; x"),
        Link("https://example.org/blog/other", "next", title="rel=no; x"),
    )


@pytest.mark.slow
def test_hostile_headers_take_linear_time() -> None:
    assert_linear(lambda size: freshness_s(cache_control="," + " " * size + '"', now=NOW), 4_000)
    assert_linear(lambda size: parse_links('<a>"' * size, "https://example.org/"), 1_000)


header = st.text(st.characters(codec="utf-8"), max_size=60)


@given(header, header, header, header)
def test_any_header_values_are_parsed_without_errors(one: str, two: str, three: str, four: str) -> None:
    seconds = freshness_s(cache_control=one, expires=two, age=three, date=four, now=Instant(0))

    assert seconds is None or 0 <= seconds <= MAX_SECONDS
    assert retry_after_s(one, NOW) is None or retry_after_s(one, NOW) in range(MAX_SECONDS + 1)
    parse_links(one, "https://example.org/")
