"""What the parser makes of known documents is written down: a change of any field of a feed or an entry shows here.

`contracts/parsed_documents.json` has every field of the documents in `tests/corpus/documents`. For published test data
`contracts/parsed_corpus.json` has, for each field, in how many feeds or entries it is set and a digest of all values.
Both are written anew by `pytest -k reviewed --write-contracts`; the difference is then part of the review.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from datetime import UTC, datetime
from hashlib import sha256
from pathlib import Path
from typing import Any

import msgspec
import pytest

from scoring import expected, expressions, real
from scoring.archives import members
from support.contracts import FOLDER, compare
from support.corpora import needs
from tidings.base.times import from_datetime
from tidings.content.errors import FeedError
from tidings.content.formats import parse_feed
from tidings.content.formats.entry_builder import MAX_ENTRIES
from tidings.content.model import ParsedEnclosure, ParsedEntry, ParsedFeed, PublisherHints

pytestmark = pytest.mark.slow

DOCUMENTS = Path(__file__).parent / "documents"
ADDRESS = "https://feeds.example.net/feed"
NOW = from_datetime(datetime(2026, 11, 20, tzinfo=UTC))
CORPUS = "parsed_corpus.json"


def parsed(body: bytes) -> ParsedFeed:
    return parse_feed(body, url=ADDRESS, now=NOW)


def as_json(value: object) -> Any:
    """Unlike msgspec.json alone: with fields that have their default."""
    fields = msgspec.structs.asdict(value) if isinstance(value, msgspec.Struct) else None
    if fields is not None:
        return {name: as_json(each) for name, each in fields.items()}
    if isinstance(value, frozenset):
        return sorted(value)
    return [as_json(each) for each in value] if isinstance(value, tuple) else msgspec.to_builtins(value)


def text(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, indent=1, sort_keys=True) + "\n"


def documents() -> dict[str, ParsedFeed]:
    return {path.name: parsed(path.read_bytes()) for path in sorted(DOCUMENTS.iterdir())}


def values_by_field(feed: ParsedFeed) -> Iterator[tuple[str, object]]:
    """Yield (name of the field, value) of a feed and of all its entries."""
    for name, value in as_json(feed).items():
        if name != "entries":
            yield f"feed.{name}", value
    for entry in feed.entries:
        for name, value in as_json(entry).items():
            yield f"entry.{name}", value


def summary(archive: str) -> dict[str, dict[str, object]]:
    """Return for each field in how many feeds or entries it is set, and 16 hex digits of a digest of all values."""
    set_in: Counter[str] = Counter()
    digests: dict[str, Any] = {}
    for name, body in members(archive):
        try:
            feed = parsed(body)
        except FeedError:
            continue
        for field, value in values_by_field(feed):
            set_in[field] += bool(value)
            digests.setdefault(field, sha256()).update(f"{name}\n{json.dumps(value, sort_keys=True)}\n".encode())
    return {field: {"set": set_in[field], "digest": digests[field].hexdigest()[:16]} for field in sorted(digests)}


def test_parsed_documents_are_the_reviewed_ones(pytestconfig: pytest.Config) -> None:
    found = {name: as_json(feed) for name, feed in documents().items()}
    compare("parsed_documents.json", text(found), write=pytestconfig.getoption("--write-contracts"))


@pytest.mark.parametrize("struct", [ParsedFeed, ParsedEntry, ParsedEnclosure, PublisherHints])
def test_each_parsed_field_is_set_in_some_document(struct: type[msgspec.Struct]) -> None:
    cut_off = parsed(b"<rss><channel>" + b"<item><title>t</title></item>" * (MAX_ENTRIES + 1) + b"</channel></rss>")
    feeds = [*documents().values(), cut_off]
    entries = [entry for feed in feeds for entry in feed.entries]
    enclosures = [enclosure for entry in entries for enclosure in entry.enclosures]
    values: list[msgspec.Struct] = [*feeds, *entries, *enclosures, *(feed.hints for feed in feeds)]
    of_struct = [value for value in values if type(value) is struct]

    never_set = [name for name in struct.__struct_fields__ if not any(getattr(each, name) for each in of_struct)]

    assert never_set == []


@pytest.mark.parametrize(
    "archive",
    [
        pytest.param(expected.ARCHIVE, marks=needs(expected.ARCHIVE)),
        pytest.param(expressions.ARCHIVE, marks=needs(expressions.ARCHIVE)),
        pytest.param(real.ARCHIVE, marks=needs(real.ARCHIVE)),
    ],
)
def test_the_parsed_corpus_is_the_reviewed_one(archive: str, pytestconfig: pytest.Config) -> None:
    found = summary(archive)
    path = FOLDER / CORPUS
    known = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
    if pytestconfig.getoption("--write-contracts"):
        path.write_text(text(known | {archive: found}), encoding="utf-8")
    else:
        assert found == known[archive]
