"""Dates in standard and other forms."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tidings.base.times import DAY, HOUR, Instant, from_datetime, to_datetime
from tidings.content.dates import parse_date

MOMENT = "2006-01-02 15:04:05"
EARLIEST, LAST = datetime.fromisoformat("1970-01-02"), datetime.fromisoformat("9998-01-01")
NOON = Instant(from_datetime(datetime(2026, 3, 1, 12, tzinfo=UTC)))


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        # The two standards.
        ("Mon, 02 Jan 2006 15:04:05 GMT", MOMENT),
        ("02 Jan 2006 15:04:05 +0000", MOMENT),
        ("Mon, 2 Jan 2006 15:04 Z", "2006-01-02 15:04:00"),
        ("2006-01-02T15:04:05Z", MOMENT),
        ("2006-01-02t15:04:05.25z", "2006-01-02 15:04:05.25"),
        ("2006-01-02T15:04:05.123456789+05:30", "2006-01-02 09:34:05.123456"),
        ("2006-01-02T20:34:05+0530", MOMENT),
        ("2006-01-02T15:04:05+01", "2006-01-02 14:04:05"),
        ("20060102T150405Z", MOMENT),
        # Parts only.
        ("2006-01-02", "2006-01-02"),
        ("2006-01", "2006-01-01"),
        ("2006", "2006-01-01"),
        ("20060102", "2006-01-02"),
        ("January 2006", "2006-01-01"),
        # A wrong day of the week, two-digit years, the end of the day, a leap second.
        ("Fri, 02 Jan 2006 15:04:05 GMT", MOMENT),
        ("02 Jan 06 15:04:05 GMT", MOMENT),
        ("02 Jan 99 15:04:05 GMT", "1999-01-02 15:04:05"),
        ("2006-01-01T24:00:00Z", "2006-01-02"),
        ("2005-12-31T23:59:60Z", "2006-01-01"),
        # Zones by name, by number, by both.
        ("Mon, 02 Jan 2006 10:04:05 EST", MOMENT),
        ("Mon, 02 Jan 2006 08:04:05 PDT", MOMENT),
        ("Mon, 02 Jan 2006 16:04:05 CET", MOMENT),
        ("Mon, 02 Jan 2006 18:04:05 MSK", MOMENT),
        ("Tue, 03 Jan 2006 00:04:05 JST", MOMENT),
        ("Mon, 02 Jan 2006 20:34:05 IST", MOMENT),
        ("Mon, 02 Jan 2006 15:04:05 XYZ", MOMENT),
        ("Mon, 02 Jan 2006 17:04:05 GMT+0200", MOMENT),
        ("Mon Jan 02 2006 16:04:05 GMT+0100 (CET)", MOMENT),
        ("Mon, 02 Jan 2006 10:04:05 EST-0500", MOMENT),
        ("2006-01-02 18:04:05 MSK", MOMENT),
        # In words and in other orders.
        ("Monday, January 2, 2006 3:04:05 PM", MOMENT),
        ("Mon Jan  2 15:04:05 2006", MOMENT),
        ("Jan 2, 2006", "2006-01-02"),
        ("02-Jan-2006 15:04:05", MOMENT),
        ("2nd January 2006 at 3:04 pm", "2006-01-02 15:04:00"),
        ("Mon, 02 Jan 2006 12:04 am", "2006-01-02 00:04:00"),
        ("01/02/2006", "2006-02-01"),
        ("12/31/2006", "2006-12-31"),
        ("31/12/2006 15:04", "2006-12-31 15:04:00"),
        ("02.01.2006 15:04:05", MOMENT),
        ("2006/1/2", "2006-01-02"),
        # Other languages.
        ("Mo, 02 Jan 2006 15:04:05 GMT", MOMENT),
        ("Montag, 2. Januar 2006 15:04:05", MOMENT),
        ("02 Okt 2006", "2006-10-02"),
        ("Di, 07 Mär 2006 16:04:05 +0100", "2006-03-07 15:04:05"),
        ("lun., 02 janv. 2006 16:04:05 +0100", MOMENT),
        ("mar., 03 janv. 2006", "2006-01-03"),
        ("15 août 2006", "2006-08-15"),
        ("jueves, 5 de enero de 2006 10:00", "2006-01-05 10:00:00"),
        ("2 gennaio 2006", "2006-01-02"),
        ("2 de março de 2006", "2006-03-02"),
        ("2 января 2006 г., 15:04", "2006-01-02 15:04:00"),
        ("Пн, 02 янв 2006 15:04:05 +0000", MOMENT),
        ("2 січня 2006", "2006-01-02"),
        ("2 stycznia 2006", "2006-01-02"),
        ("2 mrt 2006", "2006-03-02"),
        ("2006. január 2. 15:04", "2006-01-02 15:04:00"),
        ("2 Ιανουαρίου 2006", "2006-01-02"),
        ("2006年1月2日 15:04:05", MOMENT),
        ("2006年1月2日 下午3:04:05", MOMENT),
        ("2006年01月02日15时04分05秒", MOMENT),
        ("2006年1月2日15時4分5秒", MOMENT),
        ("2006년 1월 2일 오후 3:04:05", MOMENT),
        # A dot in the time of day, hours alone, noon.
        ("02.01.2006 15.04", "2006-01-02 15:04:00"),
        ("2.1.06 15.04.05", MOMENT),
        ("15.04 02.01.2006", "2006-01-02 15:04:00"),
        ("2. Januar 2006, 15.04 Uhr", "2006-01-02 15:04:00"),
        ("2. Januar 2006, 16.04 Uhr MEZ", "2006-01-02 15:04:00"),
        ("2. Januar 2006, 15 Uhr", "2006-01-02 15:00:00"),
        ("2 gennaio 2006 15.04", "2006-01-02 15:04:00"),
        ("2. tammikuuta 2006 klo 15.04", "2006-01-02 15:04:00"),
        ("2. januar 2006 kl. 15", "2006-01-02 15:00:00"),
        ("2 janvier 2006 à 15h", "2006-01-02 15:00:00"),
        ("2 January 2006 3.04pm", "2006-01-02 15:04:00"),
        ("Senin, 2 Januari 2006 22.04 WIB", "2006-01-02 15:04:00"),
        ("Jan. 2, 2006, noon", "2006-01-02 12:00:00"),
        ("Jan. 2, 2006, midnight", "2006-01-02"),
        ("2 January 2006 12 noon", "2006-01-02 12:00:00"),
        ("10.11.12", "2012-11-10"),
        ("02.01.2006", "2006-01-02"),
        # Zones of the IANA database, with summer time; an offset in numbers takes precedence.
        ("Mon, 02 Jan 2006 16:04:05 Europe/Berlin", MOMENT),
        ("Sun, 02 Jul 2006 17:04:05 Europe/Berlin", "2006-07-02 15:04:05"),
        ("2006-01-03 00:04:05 Asia/Tokyo", MOMENT),
        ("2006-01-02 12:04:05 America/Argentina/Buenos_Aires", MOMENT),
        ("2006-01-02 10:04:05 (america/new_york)", MOMENT),
        ("2006-01-02 07:04:05 PST8PDT", MOMENT),
        ("2006-01-02T16:04:05.000+01:00[Europe/Berlin]", MOMENT),
        ("2006-01-02T16:04:05[Europe/Berlin]", MOMENT),
        ("2006-01-02 15:04:05 Moon/Base", MOMENT),
        # Marks between the time and its zone.
        ("Mon, 02 Jan 2006 16:04:05, CET", MOMENT),
        ("Mon, 02 Jan 2006 16:04:05; +0100", MOMENT),
        ("Mon, 02 Jan 2006 10:04:05 - EST", MOMENT),
        ("Mon, 02 Jan 2006 10:04:05 - 0500", MOMENT),
        ("Mon, 02 Jan 2006 16:04:05 [CET]", MOMENT),
        ("Mon, 02 Jan 2006 10:04:05 | EST", MOMENT),
        ("Mon, 02 Jan 2006 10:04:05 (-0500)", MOMENT),
        ("2 Jan 2006, 3:04:05 p. m. UTC", MOMENT),
        ("10:04:05 - 2 January 2006", "2006-01-02 10:04:05"),
        # An impossible zone costs the zone, not the date.
        ("2006-01-02T15:04:05+25:00", MOMENT),
        ("Mon, 02 Jan 2006 15:04:05 +9999", MOMENT),
        ("2 January 2006 15:04:05 GMT+9000", MOMENT),
        # As Americans and Australians write it; every kind of blank.
        ("1/2/2006, 3:04:05\u202fPM", MOMENT),
        ("01/02/2006 3:04:05 PM", MOMENT),
        ("2/01/2006 3:04:05 PM", MOMENT),
        ("02/01/2006, 3:04:05 pm", MOMENT),
        # Counts since 1970, in seconds and smaller.
        ("1136214245", MOMENT),
        ("1136214245.5", "2006-01-02 15:04:05.5"),
        ("1136214245000", MOMENT),
        ("1136214245000000", MOMENT),
        ("1136214245000000000", MOMENT),
    ],
)
def test_dates_in_many_forms_are_parsed(written: str, meant: str) -> None:
    expected = datetime.fromisoformat(meant).replace(tzinfo=UTC)

    found = parse_date(f"  {written}\n")

    assert found is not None
    assert to_datetime(found) == expected


@pytest.mark.parametrize(
    "written",
    [
        "",
        "yesterday",
        "31 Feb 2006",
        "2006-13-01",
        "2006-01-02T15:60:00Z",
        "2006-01-02T25:00:00Z",
        "-2006-01-02T15:04:05Z",
        "12006-01-02T15:04:05Z",
        "0001-01-01T00:00:00Z",
        "Thu, 31 Dec 1969 23:59:59 GMT",
        "0",
        "1" * 150,
        "2006-01-02 " * 50,
    ],
)
def test_an_invalid_date_or_one_before_1970_counts_as_missing(written: str) -> None:
    assert parse_date(written) is None


@pytest.mark.parametrize(("ahead", "is_believed"), [(HOUR, True), (DAY, True), (DAY + 1, False), (3650 * DAY, False)])
def test_a_date_more_than_a_day_ahead_becomes_the_time_of_fetching(ahead: int, is_believed: bool) -> None:
    written = to_datetime(Instant(NOON + ahead)).isoformat()

    assert parse_date(written, NOON) == (NOON + ahead if is_believed else NOON)


@given(st.datetimes(EARLIEST, LAST), st.integers(-14 * 60, 14 * 60))
def test_a_date_in_a_standard_form_is_read_back(moment: datetime, offset: int) -> None:
    sign, hours, minutes = "-" if offset < 0 else "+", *divmod(abs(offset), 60)
    expected = from_datetime(moment.replace(tzinfo=UTC, microsecond=0) - timedelta(minutes=offset))
    zone = f"{sign}{hours:02}{minutes:02}"

    assert parse_date(f"{moment:%Y-%m-%dT%H:%M:%S}{zone}") == (expected if expected >= 0 else None)
    if moment.year > 999:
        assert parse_date(f"{moment:%d %b %Y %H:%M:%S} {zone}") == (expected if expected >= 0 else None)


@given(st.text(max_size=220))
def test_any_text_is_parsed_as_a_date_or_none(text: str) -> None:
    found = parse_date(text, NOON)

    assert found is None or 0 <= found <= NOON + DAY


@given(st.text(alphabet="0123456789 :-+/.,TZapmJanFebUTCESM年月日:", max_size=60))
def test_any_scrambled_date_is_parsed_or_none(text: str) -> None:
    found = parse_date(text, NOON)

    assert found is None or 0 <= found <= NOON + DAY
