"""Podlove simple chapters in feeds."""

from __future__ import annotations

import pytest

from content.formats.documents import entry, item
from tidings.content.formats.extensions import parse_play_time
from tidings.content.model import Chapter

CHAPTERS = """<psc:chapters version="1.2" xmlns:psc="http://podlove.org/simple-chapters">
<psc:chapter start="00:01:23.250" title="The rain" href="https://example.org/rain"/>
<psc:chapter start="0" title="Hello" href="javascript:alert(1)"/>
<psc:chapter start="soon" title="Nothing"/></psc:chapters>"""
READ = (Chapter(0.0, "Hello"), Chapter(83.25, "The rain", "https://example.org/rain"))


def test_chapters_are_read_in_the_order_of_their_times() -> None:
    assert item(f"<title>b</title>{CHAPTERS}").chapters == READ
    assert entry(f"<id>b</id>{CHAPTERS}").chapters == READ
    assert item("<title>b</title>").chapters == ()


@pytest.mark.parametrize(
    ("written", "seconds"),
    [("7", 7.0), ("1:02", 62.0), ("01:00:00.5", 3600.5), ("", None), ("1:2:3:4", None), ("-1", None), ("1e9", None)],
)
def test_play_times(written: str, seconds: float | None) -> None:
    assert parse_play_time(written) == seconds
