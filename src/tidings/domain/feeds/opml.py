"""Reads and writes subscriptions as OPML, the format in which feed readers exchange them (http://opml.org/spec2.opml).

bytes | decode | cut off the prolog | repair references | tree | outlines | subscriptions, and problems by line
"""

from __future__ import annotations

import contextlib
import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Final

from lxml import etree
from lxml.etree import _Element
from msgspec import Struct
from msgspec.structs import replace

from tidings.base.errors import InvalidInput
from tidings.base.messages import Message, msg
from tidings.base.times import Instant, to_datetime
from tidings.content.formats.charset import decode
from tidings.content.xml.elements import xml_parser
from tidings.content.xml.repair import References
from tidings.domain.feeds import feed_changes, freshrss_pages
from tidings.domain.feeds.categories import SEPARATOR, validate_title
from tidings.domain.feeds.feeds import EditedFeedField
from tidings.domain.feeds.opml_settings import (
    FIRST_CATEGORY,
    MINIFLUX_NAMESPACE,
    OWN_NAMESPACE,
    PAGE_SETTINGS,
    SETTINGS,
    WRITTEN,
    is_true,
    read_page_settings,
    read_setting,
    setting_attributes,
)

# All feeds are stored in one transaction, which takes a few seconds for this many.
MAX_FEEDS: Final = 50_000
# Beginnings and ends of elements: of that many feeds, each in a folder, and as many again.
MAX_TAGS: Final = 400_000
# Each is looked up by going through those before it. Readers write about twenty.
MAX_ATTRIBUTES: Final = 200

# A construct without an end takes the rest of the text, so that no part of it is searched twice.
_BEFORE_ROOT: Final = re.compile(
    r"<!--.*?(?:-->|\Z)|<\?.*?(?:\?>|\Z)|<!DOCTYPE[^\[>]*(?:\[.*?(?:\]\s*>|\Z)|>)"
    r"|<(?:[A-Za-z_][\w.-]*:)?(?P<root>[A-Za-z_][\w.-]*)",
    re.DOTALL | re.IGNORECASE,
)
# The second is the name of the root before OPML 1.0.
_ROOTS: Final = frozenset({"opml", "outlinedocument"})
_END: Final = re.compile(r"</(?:[A-Za-z_][\w.-]*:)?(?:opml|outlineDocument)\s*>", re.IGNORECASE)
# The parser counts lines from the root element.
_POSITION: Final = re.compile(r"(?:, line \d+, column \d+)?(?: \(<string>, line \d+\))?$")
_FEED: Final = re.compile(r"<outline\b[^<]*?\sxmlUrl\s*=", re.IGNORECASE)
_QUOTED: Final = re.compile(r"""=\s*(?:"[^"]*"|'[^']*')""")
_QUOTABLE: Final = re.compile(r"[&<>\"\x00-\x1f\ufffe\uffff\ud800-\udfff]")
_REFERENCES: Final = str.maketrans(
    {"&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "\t": "&#9;", "\n": "&#10;", "\r": "&#13;"}
)
_KIND, _SELECTORS = (list(WRITTEN).index(name) for name in PAGE_SETTINGS)
_FORBIDDEN: Final = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff\ud800-\udfff]")


class OpmlSubscription(Struct, frozen=True):
    """A feed to subscribe to."""

    line: int
    folders: tuple[str, ...]
    """The outermost first."""
    values: dict[str, Any]
    """Valid columns of the feed, at least URL and title."""
    kind: str = ""
    """What the document calls it, in lower case: "rss" for most, "" if it does not say."""
    is_in_first: bool = False
    """Whether its folder is the first category of the feed, as our documents say."""

    @property
    def category(self) -> str:
        """The path of its category as one text; "" if it is outside of all folders."""
        return SEPARATOR.join(self.folders)


class OpmlFeed(Struct, frozen=True):
    """A feed to write."""

    title: str
    feed_url: str
    site_url: str
    description: str
    settings: Sequence[Any]
    """Values of the fields in `opml_settings.WRITTEN`, in that order."""
    is_in_first: bool = False
    """Whether it is in several folders, and this one is its first category."""


class OpmlProblem(Struct, frozen=True):
    """A problem in a line of the document."""

    line: int
    name: str
    """The outline's name, "" if it has none."""
    reason: Message

    def __str__(self) -> str:
        name = f" ({self.name[:60]})" if self.name else ""
        return f"Line {self.line}{name}: {self.reason.english()}"


class OpmlDocument(Struct, frozen=True):
    """What an OPML document contains. All lists are in document order."""

    subscriptions: list[OpmlSubscription]
    unusable: list[OpmlProblem]
    """Feeds without a usable URL."""
    ignored_settings: list[OpmlProblem]
    """Invalid settings."""
    title: str = ""
    """The document's own, "" without one."""


def read(body: bytes) -> OpmlDocument:
    """Return the subscriptions of a document.

    Raises InvalidInput if it is not OPML, is truncated, or holds more than `MAX_FEEDS` feeds. Entities are never
    expanded and nothing is loaded: the DOCTYPE is cut off before the parser sees it.
    """
    text = _FORBIDDEN.sub("", decode(body))
    if not text.strip():
        raise InvalidInput(msg("The document is empty: send an OPML file."))
    if text.lower().count("xmlurl") > MAX_FEEDS:
        raise InvalidInput(msg("This document holds more than {max} feeds: import it in several parts.", max=MAX_FEEDS))
    if text.count("<") > MAX_TAGS:
        raise InvalidInput(msg("This document holds more than {max} tags: import it in several parts.", max=MAX_TAGS))
    start = _root_at(text)
    lines_before = text.count("\n", 0, start)
    tree = _tree(References({}).resolve(text[start:]), lines_before=lines_before)
    document = OpmlDocument([], [], [], _document_title(tree))
    reader = _OutlineReader(document, lines_before=lines_before)
    reader.walk(_top_outlines(tree), ())
    reader.put_into_folders()
    return document


class _Folder(Struct):
    """A folder to write."""

    feeds: list[OpmlFeed] = []
    folders: dict[str, _Folder] = {}
    """By title."""


def write(categories: Iterable[tuple[Sequence[str], Sequence[OpmlFeed]]], *, created_at: Instant) -> bytes:
    """Return an OPML document. categories: path and feeds of each; a folder without feeds in or below it is left out.

    Settings are written if they differ from a new feed's; credentials, cookies and proxies are never written.
    """
    created = f"{to_datetime(created_at):%a, %d %b %Y %H:%M:%S UTC}"
    top = _Folder()
    for path, feeds in categories:
        folder = top
        for title in path:
            folder = folder.folders.setdefault(title, _Folder())
        folder.feeds.extend(feeds)
    folders = _outlines_of(top, "    ")
    namespaces = f'xmlns:miniflux="{MINIFLUX_NAMESPACE}" xmlns:tidings="{OWN_NAMESPACE}"'
    if " frss:" in folders:
        namespaces += f' xmlns:frss="{freshrss_pages.NAMESPACE}"'
    head = f"  <head>\n    <title>Tidings</title>\n    <dateCreated>{created}</dateCreated>\n  </head>\n"
    body = f"  <body>\n{folders}  </body>\n" if folders else "  <body/>\n"
    declaration = "<?xml version='1.0' encoding='UTF-8'?>"
    return f'{declaration}\n<opml {namespaces} version="2.0">\n{head}{body}</opml>\n'.encode()


def _outlines_of(folder: _Folder, indent: str) -> str:
    """Return what is in a folder. Put together as text: a tree of 3,000 elements takes four times as long."""
    inside = ((title, _outlines_of(below, f"{indent}  ")) for title, below in folder.folders.items())
    folders = (
        f'{indent}<outline text="{_quoted(title)}">\n{text}{indent}</outline>\n' for title, text in inside if text
    )
    return "".join((*folders, *(f"{indent}<outline{_attributes(feed)}/>\n" for feed in folder.feeds)))


def _attributes(feed: OpmlFeed) -> str:
    title = _quoted(feed.title)
    urls = f'xmlUrl="{_quoted(feed.feed_url)}" htmlUrl="{_quoted(feed.site_url)}"'
    description = f' description="{_quoted(feed.description)}"' if feed.description else ""
    kind, settings = _settings(feed.settings) if any(feed.settings) else ("rss", "")
    first = f' tidings:{FIRST_CATEGORY}="true"' if feed.is_in_first else ""
    return f' title="{title}" text="{title}" {urls}{description} type="{kind}"{settings}{first}'


def _settings(values: Sequence[Any]) -> tuple[str, str]:
    """Return the type of a feed's outline, and the attributes of its settings, of which some are not a new feed's."""
    kind, page = freshrss_pages.page_attributes(values[_KIND], values[_SELECTORS])
    named = [*setting_attributes(values).items(), *((f"frss:{name}", value) for name, value in page.items())]
    return kind, "".join(f' {name}="{_quoted(value)}"' for name, value in named)


def _quoted(text: str) -> str:
    """Return the text for an attribute, without control characters, which XML cannot represent."""
    if not _QUOTABLE.search(text):
        return text
    return _FORBIDDEN.sub("", text).translate(_REFERENCES)


def _root_at(text: str) -> int:
    """Return the position of the root element, after declarations, comments and any text before them."""
    for match in _BEFORE_ROOT.finditer(text):
        if match["root"]:
            if match["root"].lower() in _ROOTS:
                return match.start()
            raise InvalidInput(
                msg(
                    "Line {line}: this is not an OPML document, it begins with <{name}> instead of <opml>.",
                    line=_line_at(text, match.start()),
                    name=match["root"][:40],
                )
            )
    line = _line_at(text, len(text) - len(text.lstrip()))
    raise InvalidInput(msg("Line {line}: this is not an OPML document, there is no <opml> element.", line=line))


def _line_at(text: str, position: int) -> int:
    return text.count("\n", 0, position) + 1


def _tree(text: str, *, lines_before: int) -> _Element:
    """Return the tree of a document; small mistakes are accepted if no feed is lost to them.

    lines_before: number of lines cut off before the text. Raises InvalidInput, with the line of the first mistake.
    """
    try:
        return etree.fromstring(text.encode(), xml_parser())
    except etree.XMLSyntaxError as error:
        line, reason = lines_before + (error.lineno or 1), _POSITION.sub("", str(error.msg))
    if not _END.search(text):
        raise InvalidInput(
            msg(
                "Line {line}: the document breaks off before its end (</opml>). Export it again, and send all of it.",
                line=lines_before + _line_at(text, len(text.rstrip())),
            )
        )
    repaired = _QUOTED.sub(_without_open_tags, text)
    tree: _Element | None = None
    with contextlib.suppress(etree.XMLSyntaxError):
        tree = etree.fromstring(repaired.encode(), xml_parser(recover=True))
    if tree is None or _feed_count(tree) < len(_FEED.findall(repaired)):
        raise InvalidInput(msg("Line {line}: this OPML document cannot be read: {reason}.", line=line, reason=reason))
    return tree


def _feed_count(tree: _Element) -> int:
    return sum(1 for element in tree.iter() if any(str(name).lower() == "xmlurl" for name in element.attrib))


def _without_open_tags(match: re.Match[str]) -> str:
    """Escapes markup in an attribute value, unless the value runs into the next outline for lack of a quote."""
    return match[0] if "<outline" in match[0] else match[0].replace("<", "&lt;")


def _top_outlines(root: _Element) -> Iterator[_Element]:
    """Yield the outlines of the body, and those that some exports put after it."""
    for child in root:
        if _local(child.tag).lower() == "body":
            yield from _outlines(child)
        elif _local(child.tag).lower() == "outline":
            yield child


def _document_title(root: _Element) -> str:
    titles = (child for head in root if _local(head.tag).lower() == "head" for child in head)
    found = next((one.text for one in titles if _local(one.tag).lower() == "title"), "") or ""
    return " ".join(found.split())[: feed_changes.MAX_TEXT]


def _outlines(element: _Element) -> Iterator[_Element]:
    return (child for child in element if _local(child.tag).lower() == "outline")


def _local(name: object) -> str:
    """Return the name without its namespace or an undeclared prefix."""
    return str(name).rpartition("}")[2].rpartition(":")[2]


class _OutlineReader:
    """Adds the outlines of a tree to a document. lines_before: number of lines cut off before the parsed text."""

    def __init__(self, document: OpmlDocument, *, lines_before: int) -> None:
        self._document = document
        self._lines_before = lines_before
        # Positions of the subscriptions that are outside of all folders.
        self._outside: list[int] = []

    def walk(self, outlines: Iterable[_Element], folders: tuple[str, ...]) -> None:
        """Read outlines and those in them. The parser allows 256 levels, so recursion is safe."""
        for outline in outlines:
            if len(outline.attrib) > MAX_ATTRIBUTES:
                raise InvalidInput(
                    msg(
                        "Line {line}: this outline has more than {max} attributes.",
                        line=self._line(outline),
                        max=MAX_ATTRIBUTES,
                    )
                )
            name = _first(outline, "title", "text")
            children = list(_outlines(outline))
            if _text(outline, "xmlUrl"):
                self._add(outline, folders)
            elif not children and _text(outline, "type").lower() in ("rss", "atom"):
                self._document.unusable.append(
                    self._problem(outline, msg("it has no xmlUrl, the address of the feed."))
                )
            self.walk(children, (*folders, name) if name else folders)

    def put_into_folders(self) -> None:
        """Give feeds outside of all folders the folder in which they are listed as well, or their category.

        Some readers write all feeds, and then the folders with feeds in them again.
        """
        found = self._document.subscriptions
        outside = set(self._outside)
        folders = {
            one.values["feed_url"]: one.folders for at, one in reversed([*enumerate(found)]) if at not in outside
        }
        for at in self._outside:
            if found[at].folders:
                folders.setdefault(found[at].values["feed_url"], found[at].folders)
        for at in self._outside:
            found[at] = replace(found[at], folders=folders.get(found[at].values["feed_url"], ()))

    def _add(self, outline: _Element, folders: tuple[str, ...]) -> None:
        try:
            values = feed_changes.validate({"feed_url": feed_changes.normalize_scheme(_text(outline, "xmlUrl"))})
            _check_category(SEPARATOR.join(folders))
        except InvalidInput as error:
            self._document.unusable.append(
                self._problem(outline, error.with_field("xmlUrl").text if error.field else error.text)
            )
            return
        feed_url = values["feed_url"]
        values["site_url"] = self._site_url(outline) or feed_url
        values["title"] = _first(outline, "title", "text")
        # A title in the document was chosen by the user; without one the feed gets the publisher's.
        values["edited"] = int(EditedFeedField.TITLE if values["title"] else 0)
        values["title"] = values["title"] or _text(outline, "htmlUrl") or feed_url
        values["description"] = _text(outline, "description")[: feed_changes.MAX_TEXT]
        values |= self._settings(outline) | self._page(outline)
        if not folders:
            self._outside.append(len(self._document.subscriptions))
            folders = self._category(outline)
        self._document.subscriptions.append(
            OpmlSubscription(
                self._line(outline), folders, values, _text(outline, "type").lower(), _is_in_first(outline)
            )
        )

    def _category(self, outline: _Element) -> tuple[str, ...]:
        """Return the first category of an outline as folders: "/Boston/Weather,/Harvard" (OPML 2.0, Attributes)."""
        first = _text(outline, "category").partition(",")[0]
        folders = tuple(part for each in first.split("/") if (part := each.strip()))
        try:
            if folders:
                validate_title(SEPARATOR.join(folders))
        except InvalidInput as error:
            reason = msg("{name} was left out: {reason}", name="category", reason=error.text)
            self._document.ignored_settings.append(self._problem(outline, reason))
            return ()
        return folders

    def _site_url(self, outline: _Element) -> str:
        try:
            return feed_changes.validate_web_url(_text(outline, "htmlUrl"), field="htmlUrl")
        except InvalidInput:
            return ""

    def _settings(self, outline: _Element) -> dict[str, str | int]:
        settings: dict[str, str | int] = {}
        for name, text in outline.items():
            field = SETTINGS.get(_local(name))
            if field is None or field in PAGE_SETTINGS:
                continue
            try:
                settings[field] = read_setting(field, str(text))
            except InvalidInput as error:
                self._document.ignored_settings.append(
                    self._problem(outline, msg("{name} was left out: {reason}", name=_local(name), reason=error.text))
                )
        return settings

    def _page(self, outline: _Element) -> dict[str, str]:
        """Return kind and selectors of a feed that is made from a page: ours, or else FreshRSS's."""
        attributes = {_local(name): str(text) for name, text in outline.items()}
        ours = {_local(name): str(text) for name, text in outline.items() if _is_ours(str(name))}
        try:
            if ours.get("kind"):
                return read_page_settings(ours["kind"], ours.get("selectors", ""))
            return freshrss_pages.read_page(_text(outline, "type"), attributes)
        except InvalidInput as error:
            reason = msg("{name} was left out: {reason}", name="selectors", reason=error.text)
            self._document.ignored_settings.append(self._problem(outline, reason))
            return {}

    def _problem(self, outline: _Element, reason: Message) -> OpmlProblem:
        return OpmlProblem(self._line(outline), _first(outline, "title", "text", "xmlUrl"), reason)

    def _line(self, outline: _Element) -> int:
        return self._lines_before + (outline.sourceline or 1)


def _text(outline: _Element, name: str) -> str:
    """Return an attribute without blanks around it, "" without one. Case matters only where two names differ by it."""
    value = outline.get(name)
    if value is None:
        lower = name.lower()
        value = next((str(text) for key, text in outline.items() if str(key).lower() == lower), "")
    return value.strip()


def _is_in_first(outline: _Element) -> bool:
    return any(_local(name) == FIRST_CATEGORY and is_true(str(text)) for name, text in outline.items())


def _is_ours(name: str) -> bool:
    """Return whether an attribute is in our namespace: other readers may have one with the same name."""
    return name.startswith((f"{{{OWN_NAMESPACE}}}", "tidings:"))


def _first(outline: _Element, *names: str) -> str:
    texts = (_text(outline, name) for name in names)
    return next((text for text in texts if text), "")[: feed_changes.MAX_TEXT]


def _check_category(title: str) -> None:
    if title:
        try:
            validate_title(title)
        except InvalidInput as error:
            raise InvalidInput(
                msg("the folders around it have names too long to make one category of them.")
            ) from error
