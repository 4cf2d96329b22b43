"""Agreement with feedparser, entry by entry, on every feed of the corpora.

python -m scoring agreement      prints the table and what misses

Only what feedparser found counts as a claim, and every difference as a miss, also where we differ on purpose.
"""

from __future__ import annotations

import calendar
import io
import time
from collections.abc import Iterable, Iterator, Sequence
from hashlib import sha256
from typing import Any, Final
from urllib.parse import urljoin, urlsplit

import feedparser
from msgspec import Struct

from scoring import expected, expressions, real
from scoring.archives import members
from scoring.claims import Claim
from scoring.records import Markup, Plain
from tidings.base.times import SECOND, Instant
from tidings.content.errors import FeedError
from tidings.content.formats import parse_feed
from tidings.content.formats.text import html_to_text
from tidings.content.model import ParsedEntry

# Intended differences: the reason, by document.
REASONS: Final = {
    "feeds-expected/atom/atom_entry_1": "an address that is not for the web leads nowhere",
    "feeds-expected/atom/atom_example_1": "we leave out the div that XHTML content is wrapped in",
    "feeds-expected/rss2/rss_2.0_nbcny": "they read an hour of the afternoon as one of the morning",
    "feeds-expressions/illformed/chardet": "they do not guess the encoding without a further library",
    "feeds-real/021a787a782817fc": "line ends of a plain description become breaks",
    "feeds-real/1c17c9c37207f120": "year 1 is no date",
    "feeds-real/1d58ba8460bcc2d0": "blanks in addresses are percent-encoded, as browsers do",
    "feeds-real/3597ad3b5fc7ebdd": "line ends of a plain description become breaks",
    "feeds-real/5357198db71ce075": "the caption of a picture does not replace the description",
    "feeds-real/5532f16828c3b094": "line ends of a plain description become breaks",
    "feeds-real/78f77fae2e1ffc14": "the caption of a picture does not replace the description",
    "feeds-real/89fda57f8a03fbb6": "line ends of a plain description become breaks",
    "feeds-real/bd04b85676aee76e": "relative to the site, as the contract has it",
    "feeds-real/f9c17f360c71def1": "the keywords of a picture are not those of the entry",
}
ARCHIVES: Final = (expected.ARCHIVE, expressions.ARCHIVE, real.ARCHIVE)
REFUSED: Final = "refused"
_DATES: Final = ("published_parsed", "updated_parsed", "created_parsed")
_NOT_FEEDS: Final = ("LICENSE", "README.md", ".serde.json")


class Source(Struct, frozen=True):
    """A document as received from the network."""

    name: str
    body: bytes
    url: str
    charset: str | None = None


def sources() -> Iterator[Source]:
    for archive in ARCHIVES:
        for name, body in members(archive):
            if not name.endswith(_NOT_FEEDS):
                url, charset = expressions.where_from(body) if archive == expressions.ARCHIVE else (real.ADDRESS, None)
                yield Source(f"{archive}/{name}", body, url, charset)


def claims(found: Iterable[Source]) -> Iterator[Claim]:
    for source in found:
        yield from _document(source)


def _document(source: Source) -> Iterator[Claim]:
    is_feed, theirs = _theirs(source)
    found, outcome = _ours(source)
    yield Claim(source.name, "raises nothing", expected=True, found=outcome if outcome not in ("", REFUSED) else True)
    if is_feed:
        yield Claim(source.name, "is read", expected=True, found=outcome != REFUSED)
    ours = _pairs(found, theirs)
    for place, each in enumerate(theirs):
        name = f"{source.name} #{place}"
        entry = ours.get(place)
        yield Claim(name, "entry", expected=True, found=entry is not None)
        if entry is not None:
            yield from _entry(name, entry, each, source.url)


def _ours(source: Source) -> tuple[Sequence[ParsedEntry], str]:
    """Return the entries, and the error: none, a refusal, or an unexpected exception."""
    try:
        return parse_feed(source.body, url=source.url, charset=source.charset).entries, ""
    except FeedError:
        return (), REFUSED
    except Exception as error:  # noqa: BLE001 - to be told, not to end the comparison
        return (), repr(error)


def _theirs(source: Source) -> tuple[bool, list[dict[str, Any]]]:
    """Return whether the document is a feed, and its entries. URLs in bodies stay unchanged, as ours do."""
    headers = {"content-location": source.url}
    if source.charset:
        headers["content-type"] = f"application/xml; charset={source.charset}"
    read = feedparser.parse(
        io.BytesIO(source.body), sanitize_html=False, resolve_relative_uris=False, response_headers=headers
    )
    return bool(read.version or read.entries), [dict(each) for each in read.entries]


def _pairs(found: Sequence[ParsedEntry], theirs: list[dict[str, Any]]) -> dict[int, ParsedEntry]:
    """Return our entry for each of theirs: by position, or by id, link and title where we merged duplicates."""
    if len(found) == len(theirs):
        return dict(enumerate(found))
    by_key: dict[str, ParsedEntry] = {}
    for entry in found:
        for key in (str(entry.hash), entry.url, f"title {entry.title}"):
            by_key.setdefault(key, entry)
    pairs = {}
    for place, each in enumerate(theirs):
        keys = (
            sha256(each.get("id", "").encode()).hexdigest(),
            each.get("link", ""),
            f"title {html_to_text(each.get('title', ''))}",
        )
        mate = next((by_key[key] for key in keys if key in by_key), None)
        if mate is not None:
            pairs[place] = mate
    return pairs


def _entry(name: str, entry: ParsedEntry, theirs: dict[str, Any], url: str) -> Iterator[Claim]:
    if title := html_to_text(theirs.get("title", "")):
        yield Claim(name, "title", title, title if Plain(entry.title) == title else entry.title)
    if link := theirs.get("link"):
        yield Claim(name, "link", _address(link, url), _address(entry.url, url))
    if moments := [moment for key in _DATES if (moment := theirs.get(key))]:
        yield Claim(name, "date", _instant(moments[0]), _whole_seconds(entry.published_at))
    if bodies := _bodies(theirs):
        ours = Markup(entry.content)
        ours.base = url
        agrees = any(ours == body for body in bodies)
        yield Claim(name, "content", bodies[0], bodies[0] if agrees else entry.content)
    if enclosures := _enclosures(theirs, url):
        found = {_address(each.url, url) for each in entry.enclosures}
        yield Claim(name, "enclosures", sorted(enclosures), sorted(found & enclosures))
    if tags := {label for each in theirs.get("tags", ()) if (label := _tag(each))}:
        yield Claim(name, "tags", sorted(tags), sorted(entry.tags))


def _bodies(theirs: dict[str, Any]) -> list[str]:
    """Return the body, of which they may have several; the summary if there is none."""
    contents = [each["value"] for each in theirs.get("content", ()) if each["value"].strip()]
    return contents or [body for body in [theirs.get("summary", "")] if body.strip()]


def _enclosures(theirs: dict[str, Any], url: str) -> set[str]:
    linked = [each.get("href", "") for each in theirs.get("links", ()) if each.get("rel") == "enclosure"]
    media = [each.get("url", "") for key in ("media_content", "media_thumbnail") for each in theirs.get(key, ())]
    return {_address(address, url) for address in (*linked, *media) if address}


def _tag(theirs: dict[str, Any]) -> str:
    return html_to_text(theirs.get("label") or theirs.get("term") or "")


def _instant(moment: time.struct_time) -> Instant:
    return Instant(calendar.timegm(moment) * SECOND)


def _whole_seconds(moment: Instant | None) -> Instant | None:
    """Return the time without fractions of a second, which feedparser lacks."""
    return None if moment is None else Instant(moment // SECOND * SECOND)


def _address(written: str, url: str) -> str:
    parts = urlsplit(urljoin(url, written.strip()))
    return parts._replace(netloc=parts.netloc.lower(), path=parts.path or "/").geturl()
