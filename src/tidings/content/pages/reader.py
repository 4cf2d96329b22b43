"""Reads a page or JSON into a feed: items | values of fields | capture, template | entry | hashes."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from datetime import datetime
from typing import Any, Final
from urllib.parse import urljoin

from msgspec import Struct

from tidings.base.messages import msg
from tidings.base.times import DAY, Instant, find_zone, from_datetime
from tidings.content import dates
from tidings.content.dates import DateOrder
from tidings.content.discovery.page_links import page_text
from tidings.content.errors import NoItems
from tidings.content.formats import text
from tidings.content.formats.entry_builder import EntryIdentity, UnhashedEntry, build_entries, unique_sorted
from tidings.content.formats.extensions import main_url, unique_by_url
from tidings.content.model import DocumentLimit, PageKind, ParsedEnclosure, ParsedEntry, ParsedFeed
from tidings.content.pages.picking import Pick
from tidings.content.pages.selectors import DEFAULT_SCRIPT, FieldSelector, PageSelectors, compile_capture
from tidings.content.pages.suggestions import repeated
from tidings.content.pages.trees import CssTree, PageTree, Value, XPathTree, json_in_page, json_tree, plain
from tidings.content.urls import absolute_url, tidy_url, web_url

# Items beyond are left out: a page has tens, and each field is searched in each.
MAX_ITEMS: Final = 1_000
# Characters of an example and of a message's list.
_MAX_EXAMPLE: Final = 200

# A zone at the end of a date: then the user's does not count.
_HAS_ZONE: Final = re.compile(r"(?:\d[Zz]|[+-]\d\d:?\d\d|\b[A-Z]{1,4}T|\bUTC)\s*$")
_GROUP: Final = re.compile(r"\{(value|[1-9])\}")


class PageDocument(Struct, frozen=True):
    """A fetched document with all that is needed to read it."""

    body: bytes
    url: str
    """The address it was finally fetched from, the base of relative addresses."""
    charset: str = ""
    """The one that the Content-Type names, if any."""
    selectors: PageSelectors | None = None
    """None: only suggestions are wanted."""
    wants_suggestions: bool = False
    wants_marks: bool = False
    """Whether the elements that the selectors find are numbered, as an outline of the page has them."""
    wants_outline: bool = False
    kind: PageKind = PageKind.CSS
    """How the outline is written, and what a pick finds."""
    script: str = DEFAULT_SCRIPT
    """As in `PageSelectors`, for an outline and a pick."""
    pick: Pick | None = None
    """An element for which selectors are wanted."""
    now: Instant | None = None
    """The time of fetching; later dates become `now`."""


class FieldReport(Struct, frozen=True):
    """How a field's selector did."""

    name: str
    hits: int
    """Number of items that have a value."""
    misses: int
    """Number of items without one; of dates, those with a text that is not a date, too."""
    example: str = ""
    """The first value, or the first text that is not a date."""
    instead: tuple[str, ...] = ()
    """Without hits: what the first item has."""


class PageReading(Struct, frozen=True):
    """What the selectors find."""

    feed: ParsedFeed
    items: int
    """Number of matches of the item's selector, before unusable and repeated ones are left out."""
    fields: tuple[FieldReport, ...]


def read_page(document: PageDocument) -> PageReading:
    """Return the feed of a page, which may be without items, and how each selector did.

    Raises PageUnreadable if the document is not what its kind says, and NoItems if the item's selector finds nothing:
    the message says what the page has.
    """
    selectors = document.selectors
    assert selectors is not None
    source = page_text(document.body, document.charset or None)
    tree = _tree(source, selectors)
    items = tree.items(selectors.item)
    if not items:
        raise _no_items(source, tree, selectors)
    reader = _Reader(document, tree, selectors)
    return reader.read(items)


def _tree(source: str, selectors: PageSelectors) -> PageTree:
    match selectors.kind:
        case PageKind.CSS:
            return CssTree(source)
        case PageKind.XPATH:
            return XPathTree(source)
        case PageKind.JSON:
            return json_tree(source)
        case PageKind.JSON_IN_HTML:
            return json_in_page(source, selectors.script)


def _no_items(source: str, tree: PageTree, selectors: PageSelectors) -> NoItems:
    missing, found = tree.without_items(selectors.item)
    if not selectors.kind.is_json:
        found = repeated(source)
    if found:
        return NoItems(
            msg(
                "item: nothing on the page matches {selector}. It has {found}.",
                selector=missing[:_MAX_EXAMPLE],
                found=", ".join(found)[:_MAX_EXAMPLE],
            )
        )
    return NoItems(msg("item: nothing on the page matches {selector}.", selector=missing[:_MAX_EXAMPLE]))


class _Reader:
    def __init__(self, document: PageDocument, tree: PageTree, selectors: PageSelectors) -> None:
        self._document = document
        self._tree = tree
        self._selectors = selectors
        self._base = urljoin_safely(document.url, tree.base)
        self._captures = {
            name: compile_capture(name, field.capture) for name, field in selectors.fields.items() if field.capture
        }

    def read(self, items: Sequence[Any]) -> PageReading:
        used = items[:MAX_ITEMS]
        values = [{name: self._values(item, name) for name in self._selectors.fields} for item in used]
        order = self._date_order(values)
        hits: Counter[str] = Counter()
        built = build_entries(self._entry(each, order, hits) for each in values)
        limits = built.limits_reached | ({DocumentLimit.ENTRIES} if len(items) > len(used) else set())
        feed = ParsedFeed(
            format=None,
            title=self._title(),
            site_url=tidy_url(self._document.url),
            entries=built.entries,
            other_hashes=built.other_hashes,
            skipped=built.skipped,
            limits_reached=frozenset(limits),
        )
        reports = tuple(self._report(name, used, values, hits[name]) for name in self._selectors.fields)
        return PageReading(feed, len(items), reports)

    def _title(self) -> str:
        if self._selectors.feed_title is not None:
            found = self._tree.page_values(self._selectors.feed_title)
            if found:
                return found[0].text
        return self._tree.title

    def _values(self, item: Any, name: str) -> list[Value]:
        field = self._selectors.fields[name]
        found = self._tree.values(item, name, field)
        if not (field.capture or field.template):
            return [value for value in found if value.text or value.markup]
        changed = (self._changed(value, name, field) for value in found)
        return [plain(each) for each in changed if each]

    def _changed(self, value: Value, name: str, field: FieldSelector) -> str:
        groups: dict[str, str] = {"value": value.text}
        if field.capture:
            match = self._captures[name].first_match(value.text)
            if match is None:
                return ""
            groups["value"] = match[1] if len(match) > 1 else match[0]
            groups |= {str(number): each for number, each in enumerate(match)}
        template = field.template or "{value}"
        return _GROUP.sub(lambda place: groups.get(place[1], ""), template)

    def _date_order(self, values: Sequence[dict[str, list[Value]]]) -> DateOrder | None:
        texts = [each["date"][0].text for each in values if each.get("date")]
        if any(map(dates.is_numeric, texts[:3])):
            return dates.find_order(texts, self._document.now)
        return None

    def _entry(
        self, values: dict[str, list[Value]], order: DateOrder | None, hits: Counter[str]
    ) -> UnhashedEntry | None:
        """Return the entry of an item, and count the fields that it has; None for an item without any identity."""
        first = {name: found[0].text for name, found in values.items() if found}
        url = web_url(first.get("link", ""), self._base)
        written_date = first.get("date", "")
        published_at = self._date(written_date, order) if written_date else None
        enclosures = unique_by_url(
            [
                *(ParsedEnclosure(absolute_url(one.text, self._base), "image/*") for one in values.get("image", ())),
                *(ParsedEnclosure(absolute_url(one.text, self._base)) for one in values.get("enclosure", ())),
            ]
        )
        usable = {**first, "link": url, "date": "" if published_at is None else written_date}
        hits.update(name for name in values if usable.get(name))
        content = "".join(one.markup for one in values.get("content", ()))
        title = text.title_to_text(first.get("title", ""))
        url = url or main_url(enclosures)
        if not (title or url or content):
            return None
        identity = EntryIdentity(
            id=first.get("id", ""), link=url, url=url, texts=(title or content,), date=written_date
        )
        entry = ParsedEntry(
            hash="",
            url=tidy_url(url),
            title=title or text.excerpt(content) or url or self._document.url,
            content=content,
            base_url=self._base,
            author=", ".join(dict.fromkeys(one.text for one in values.get("author", ()) if one.text)),
            published_at=published_at,
            tags=unique_sorted(one.text for one in values.get("tags", ())),
            enclosures=enclosures,
        )
        return UnhashedEntry(identity, entry)

    def _date(self, written: str, order: DateOrder | None) -> Instant | None:
        field, now = self._selectors.fields["date"], self._document.now
        if field.format:
            instant = _by_format(written, field.format, field.zone)
            return now if instant is not None and now is not None and instant > now + DAY else instant
        if field.zone and not _HAS_ZONE.search(written):
            try:
                # ISO 8601 has no place for the name of a zone.
                instant = _in_zone(datetime.fromisoformat(written), field.zone)
            except ValueError:
                return dates.parse_date(f"{written} {field.zone}", now, order)
            return now if now is not None and instant > now + DAY else instant
        return dates.parse_date(written, now, order)

    def _report(
        self, name: str, items: Sequence[Any], values: Sequence[dict[str, list[Value]]], hits: int
    ) -> FieldReport:
        example = next((each[name][0].text for each in values if each[name]), "")
        instead = () if hits or example else self._tree.instead(items[0])
        return FieldReport(name, hits, len(items) - hits, example[:_MAX_EXAMPLE], instead)


def urljoin_safely(url: str, base: str) -> str:
    """Return the base of a page's addresses. base: as its `base` element says, "" without one."""
    try:
        return web_url(urljoin(url, base), url) or url
    except ValueError:
        return url


def _by_format(written: str, date_format: str, zone: str) -> Instant | None:
    try:
        return _in_zone(datetime.strptime(written, date_format), zone)  # noqa: DTZ007 - `_in_zone` adds it
    except (ValueError, OverflowError, re.error):
        return None


def _in_zone(moment: datetime, zone: str) -> Instant:
    if moment.tzinfo is None:
        moment = moment.replace(tzinfo=find_zone(zone or "UTC"))
    return from_datetime(moment)
