"""Small pages of different kinds, each with selectors and the entries that they find."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from tidings.base.times import from_datetime, to_datetime
from tidings.content.pages import PageDocument, PageReading, parse_selectors, read_page

STORED = Path(__file__).with_name("stored")
NAMES = sorted(path.name.removesuffix(".expected.json") for path in STORED.glob("*.expected.json"))
NOW = from_datetime(datetime(2027, 1, 1, tzinfo=UTC))


def read(name: str) -> tuple[dict[str, Any], PageReading]:
    expected: dict[str, Any] = json.loads((STORED / f"{name}.expected.json").read_text())
    (page,) = STORED.glob(f"{name}.page.*")
    selectors = parse_selectors(expected["kind"], expected["selectors"])
    document = PageDocument(page.read_bytes(), "https://site.example/", selectors=selectors, now=NOW)
    return expected, read_page(document)


def test_there_are_pages_of_every_kind() -> None:
    kinds = [json.loads((STORED / f"{name}.expected.json").read_text())["kind"] for name in NAMES]

    assert len(NAMES) >= 30
    assert {*kinds} == {"html+css", "html+xpath", "json", "json in html"}


@pytest.mark.parametrize("name", NAMES)
def test_a_stored_page_has_the_expected_entries(name: str) -> None:
    expected, reading = read(name)

    found = [
        {
            "title": entry.title,
            "url": entry.url,
            "published_at": None
            if entry.published_at is None
            else to_datetime(entry.published_at).strftime("%Y-%m-%dT%H:%M:%SZ"),
            "content": entry.content,
            "author": entry.author,
            "tags": list(entry.tags),
            "enclosures": [one.url for one in entry.enclosures],
        }
        for entry in reading.feed.entries
    ]
    assert len(found) == len(expected["entries"])
    for entry, wanted in zip(found, expected["entries"], strict=True):
        assert {field: entry[field] for field in wanted} == wanted
    assert len({entry.hash for entry in reading.feed.entries}) == len(found)
    for field, value in expected.get("feed", {}).items():
        assert getattr(reading.feed, field) == value


@pytest.mark.parametrize("name", NAMES)
def test_an_entry_keeps_its_identity(name: str) -> None:
    """Read twice, the page has the same hashes: no entry comes again."""
    first, second = read(name)[1], read(name)[1]

    assert [entry.hash for entry in first.feed.entries] == [entry.hash for entry in second.feed.entries]
