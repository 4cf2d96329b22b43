"""What fuzzing found stays found."""

from __future__ import annotations

import json
from pathlib import Path

import msgspec
import pytest

from fuzz import cleaner, parser

pytestmark = pytest.mark.slow

FOLDER = Path(__file__).parent / "findings"


def named(kind: str) -> list[Path]:
    return sorted(FOLDER.glob(f"{kind}-*"))


def test_each_finding_is_complete() -> None:
    for folder in (each for each in FOLDER.iterdir() if each.is_dir()):
        expected = "expected.json" if folder.name.startswith("parser-") else "expected.html"
        assert {each.name for each in folder.iterdir()} == {"input", expected, "note.md"}, folder.name


@pytest.mark.parametrize("folder", named("parser"), ids=lambda folder: folder.name)
def test_the_parser_reads_each_finding(folder: Path) -> None:
    source = (folder / "input").read_bytes()
    expected = json.loads((folder / "expected.json").read_text())

    parser.check(source)

    assert _named_fields(expected, json.loads(msgspec.json.encode(parser.read(source)))) == expected


@pytest.mark.parametrize("folder", named("cleaner"), ids=lambda folder: folder.name)
def test_the_cleaner_cleans_each_finding(folder: Path) -> None:
    source = (folder / "input").read_bytes()

    cleaner.check(source)

    assert cleaner.cleaned(source) == (folder / "expected.html").read_text().removesuffix("\n")


def _named_fields(expected: object, found: object) -> object:
    """Of what was found, what is expected to be said."""
    if isinstance(expected, dict) and isinstance(found, dict):
        return {name: _named_fields(value, found.get(name)) for name, value in expected.items()}
    if isinstance(expected, list) and isinstance(found, list) and len(expected) == len(found):
        return [_named_fields(one, other) for one, other in zip(expected, found, strict=True)]
    return found
