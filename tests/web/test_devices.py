"""What a device and an account choose, seen on `<html>`; words and times in the language of the reader."""

from __future__ import annotations

import re

import pytest

from support.people import Person
from support.visitors import Visitor
from tidings.base.times import DAY, HOUR, MINUTE, SECOND, Instant
from tidings.web.devices import Device
from tidings.web.language import language, language_of_header, use_language
from tidings.web.rendering import size
from tidings.web.times import ago, day_head, since, when

NOW = Instant(1_790_000_000_000_000)  # 21 September 2026, 14:13 UTC


def attributes(page: str) -> dict[str, str]:
    match = re.search(r"<html ([^>]+)>", page)
    assert match
    return dict(re.findall(r'([\w-]+)="([^"]*)"', match[1]))


def test_settings_of_the_device_are_attributes_of_the_first_response(reader: Visitor) -> None:
    reader.page("/view")
    reader.post("/view", theme="dark", density="cards", columns="list", size="21", measure="wide", font="sans")

    shown = attributes(reader.page("/unread"))
    for name, value in (("theme", "dark"), ("density", "cards"), ("columns", "list"), ("size", "21"), ("font", "sans")):
        assert shown[f"data-{name}"] == value
    assert shown["data-measure"] == "wide"


def test_other_settings_are_those_of_the_account(reader: Visitor, alice: Person) -> None:
    alice.put(f"/v1/users/{alice.id}", {"theme": "dark_sans_serif", "language": "de_DE"}, status=201)

    shown = attributes(reader.page("/unread"))
    assert (shown["data-theme"], shown["data-font"], shown["lang"]) == ("dark", "sans", "de")


@pytest.mark.parametrize("cookie", ["", "x", "theme=blue", "size=99&density=", "a=1&" * 200, "theme=%00", "=&=;"])
def test_an_invalid_cookie_is_ignored(cookie: str) -> None:
    assert Device.read(cookie) == Device()


def test_the_cookie_is_read_back_unchanged() -> None:
    chosen = Device(theme="contrast", density="compact", size="15")

    assert Device.read(chosen.packed()) == chosen


def test_before_signing_in_the_language_is_that_of_the_browser(visitor: Visitor) -> None:
    answer = visitor.get("/sign-in", headers={"Accept-Language": "fr-CH, fr;q=0.9, en;q=0.8"})
    assert attributes(answer.body.decode())["lang"] == "fr"
    answer = visitor.get("/sign-in", headers={"Accept-Language": "tlh, %%, ,;"})
    assert attributes(answer.body.decode())["lang"] == "en"


@pytest.mark.parametrize(
    ("accepted", "code"),
    [
        ("pt", "pt-BR"),
        ("pt-PT,pt;q=0.9,en;q=0.8", "pt-BR"),
        ("JA-jp", "ja"),
        ("en-GB,de;q=0.5", "en"),
        ("eo,uk;q=0.8", "uk"),
        ("zh", "zh-Hans-CN"),
        ("zh-Hans-SG", "zh-Hans-CN"),
        ("zh-Hans-HK", "zh-Hans-CN"),
        ("zh-TW,en-US;q=0.8,zh-CN;q=0.5", "zh-Hant-TW"),
        ("zh-Hant-HK,ko;q=0.9", "zh-Hant-TW"),
        ("zh-HK", "zh-Hant-TW"),
        ("zh-hant", "zh-Hant-TW"),
        ("*", "en"),
        ("", "en"),
    ],
)
def test_a_region_without_a_catalogue_gets_that_of_its_language(accepted: str, code: str) -> None:
    assert language_of_header(accepted).code == code


def test_the_style_sheet_of_the_user_is_a_separate_file(reader: Visitor, alice: Person) -> None:
    css = "body { color: red } </style><script>alert(1)</script>"
    alice.put(f"/v1/users/{alice.id}", {"stylesheet": css, "external_font_hosts": "fonts.example.org"}, status=201)

    answer = reader.get("/unread")
    match = re.search(r'href="(/custom\.css\?v=\w+)"', answer.body.decode())
    assert match
    assert "script>alert" not in answer.body.decode()
    sheet = reader.get(match[1])
    assert (sheet.body.decode(), sheet.headers["content-type"]) == (css, "text/css; charset=utf-8")
    assert "style-src 'self' https://fonts.example.org;" in answer.headers["content-security-policy"]


@pytest.mark.parametrize(
    ("before", "shown"),
    [
        (0, "now"),
        (59 * MINUTE, "59 min"),
        (HOUR, "1 h"),
        (DAY - 1, "23 h"),
        (DAY, "Sep 20"),
        (300 * DAY, "Nov 25, 2025"),
        (-HOUR, "Sep 21"),
    ],
)
def test_under_a_day_times_are_relative_then_dates(before: int, shown: str) -> None:
    assert ago(Instant(NOW - before), NOW, "UTC") == shown


def test_dates_are_in_the_time_zone_and_language_of_the_user() -> None:
    late = Instant(NOW - 3 * DAY + 10 * HOUR)
    with use_language(language("de")):
        assert ago(late, NOW, "UTC") == "19. Sept."
        assert "2026-09-19T00:13:20Z" in when(late, NOW, "UTC")
        assert "Freitag, 18. September 2026" in when(late, NOW, "America/New_York")
    assert ago(late, NOW, "America/New_York") == "Sep 18"
    assert ago(late, NOW, "Mars/Base") == "Sep 19"


def test_times_in_sentences_say_that_they_are_past() -> None:
    for before, shown in ((0, "now"), (90 * SECOND, "1 min. ago"), (DAY - 1, "23 hr. ago"), (DAY, "Sep 20")):
        assert since(Instant(NOW - before), NOW, "UTC") == shown
    with use_language(language("de")):
        assert since(Instant(NOW - HOUR), NOW, "UTC") == "vor 1 Std."


@pytest.mark.parametrize(
    ("before", "shown"),
    [
        (-DAY, "Tue, Sep 22"),
        (14 * HOUR, "Today"),
        (15 * HOUR, "Yesterday"),
        (2 * DAY, "Sat, Sep 19"),
        (7 * DAY, "September 2026"),
        (300 * DAY, "November 2025"),
    ],
)
def test_heads_of_lists_name_the_day_and_after_a_week_the_month(before: int, shown: str) -> None:
    assert day_head(Instant(NOW - before), NOW, "UTC") == shown


def test_heads_of_lists_are_days_of_the_user_in_her_language() -> None:
    with use_language(language("de")):
        assert day_head(Instant(NOW - 2 * DAY), NOW, "UTC") == "Sa., 19. Sept."
    assert day_head(Instant(NOW - 14 * HOUR), NOW, "America/New_York") == "Yesterday"


def test_a_time_a_second_ahead_is_shown_as_now() -> None:
    assert ago(Instant(NOW + SECOND), NOW, "UTC") == "now"


@pytest.mark.parametrize(
    ("name", "sizes"),
    [
        ("en", ["0 bytes", "999 bytes", "1.0 kB", "46.1 MB", "3,000.0 TB"]),
        ("de", ["0 Bytes", "999 Bytes", "1,0 kB", "46,1 MB", "3.000,0 TB"]),
        ("fr", ["0\xa0octets", "999\xa0octets", "1,0\xa0ko", "46,1\xa0Mo", "3\u202f000,0\xa0To"]),
    ],
)
def test_sizes_are_formatted_for_the_language(name: str, sizes: list[str]) -> None:
    with use_language(language(name)):
        assert [size(count) for count in (0, 999, 1000, 46_123_456, 3 * 10**15)] == sizes
