"""Reads XML from outside: the parser, children by short name, text, inner HTML, and inherited xml:base and xml:lang.

A document may declare any prefix for a namespace. `TagNames` gives every element one short name, `dc:creator`, by which
the parsers of the formats know it.
"""

from __future__ import annotations

import re
from collections.abc import Container
from copy import deepcopy
from typing import Any, Final, Self, TypeVar

from lxml import etree
from lxml.etree import _Element
from msgspec import Struct

from tidings.content.urls import relative_url, web_url

# The parser for documents from outside: feeds, OPML and SVG


def xml_parser(*, recover: bool = False, huge: bool = False) -> etree.XMLParser:
    """Return a new parser, because lxml parsers must not be shared between threads.

    It loads nothing external, expands no entities, and drops comments and processing instructions. Depth is limited to
    2,048 levels with `huge`, else to 256. recover: reads on after an error. huge: does not limit the length of texts.
    """
    return etree.XMLParser(
        encoding="utf-8",
        recover=recover,
        resolve_entities=False,
        no_network=True,
        load_dtd=False,
        huge_tree=huge,
        remove_comments=True,
        remove_pis=True,
    )


# Short names of elements

# Keys: namespaces in lower case without scheme, "www." and final slash, which publishers often get wrong.
_PREFIXES: Final = {
    "w3.org/2005/atom": "atom",
    "purl.org/atom/ns": "atom",
    "purl.org/rss/1.0": "",
    "my.netscape.com/rdf/simple/0.9": "",
    "channel.netscape.com/rdf/simple/0.9": "",
    "my.netscape.com/publish/formats/rss-0.91.dtd": "",
    "backend.userland.com/rss": "",
    "backend.userland.com/rss2": "",
    "backend.userland.com/rss091": "",
    "blogs.law.harvard.edu/tech/rss": "",
    "w3.org/1999/02/22-rdf-syntax-ns": "rdf",
    "purl.org/dc/elements/1.1": "dc",
    "purl.org/dc/elements/1.0": "dc",
    "purl.org/dc/terms": "dcterms",
    "purl.org/rss/1.0/modules/content": "content",
    "purl.org/rss/1.0/modules/syndication": "sy",
    "purl.org/rss/1.0/modules/slash": "slash",
    "purl.org/syndication/thread/1.0": "thr",
    "itunes.com/dtds/podcast-1.0.dtd": "itunes",
    "itunes.com/dtd/podcast-1.0.dtd": "itunes",
    "google.com/schemas/play-podcasts/1.0": "googleplay",
    "google.com/schemas/play-podcasts/1.0/play-podcasts.xsd": "googleplay",
    "podcastindex.org/namespace/1.0": "podcast",
    "github.com/podcastindex-org/podcast-namespace/blob/main/docs/1.0.md": "podcast",
    "podlove.org/simple-chapters": "psc",
    "search.yahoo.com/mrss": "media",
    "search.yahoo.com/mrss/": "media",
    "video.search.yahoo.com/mrss": "media",
    "tools.search.yahoo.com/mrss": "media",
    "api.search.yahoo.com/mrss": "media",
    "rssnamespace.org/feedburner/ext/1.0": "feedburner",
    "wellformedweb.org/commentapi": "wfw",
    "w3.org/1999/xhtml": "xhtml",
    "news.yandex.ru": "yandex",
    "webfeeds.org/rss/1.0": "webfeeds",
    "xml/1998/namespace": "xml",
}
# What prefixes mean in documents that do not declare them.
_UNDECLARED: Final = {"a10": "atom", "a": "atom", "mrss": "media", "xh": "xhtml", "rss": ""}


class NamePriorities(Struct, frozen=True):
    """Short names per value, the preferred name first. A subclass defines the lists as defaults of its fields."""

    def restrict_to(self, used: Container[str]) -> Self:
        """Return the lists without the names that are not in `used`."""
        priorities = [getattr(self, field) for field in self.__struct_fields__]
        return type(self)(*[tuple(filter(used.__contains__, order)) for order in priorities])


AnyNamePriorities = TypeVar("AnyNamePriorities", bound=NamePriorities)


class TagNames(dict[str, str]):
    """Maps a tag as lxml writes it to a short name in lower case: `dc:creator`, `pubdate`.

    Filled on first use of each tag, so that a look-up costs one dictionary access.
    core: prefixes that mean the feed's own vocabulary, such as "atom" in an Atom document.
    """

    __slots__ = ("_core", "_own_namespaces", "_own_prefix", "_priorities_in_use", "_used")

    def __init__(self, root: _Element, core: frozenset[str] = frozenset()) -> None:
        self._used: set[str] = set()
        self._priorities_in_use: dict[type[NamePriorities], Any] = {}
        namespace, undeclared, _ = split_tag(str(root.tag))
        own = _OWN_VOCABULARY | core
        self._own_namespaces = {name for name in (namespace, root.nsmap.get(None)) if name and _prefix_of(name) in own}
        self._own_prefix = undeclared
        self._core = core

    def __missing__(self, tag: str) -> str:
        name = self[tag] = self._shorten(tag)
        self._used.add(name)
        self._priorities_in_use.clear()
        return name

    def in_use(self, priorities: type[AnyNamePriorities]) -> AnyNamePriorities:
        """Return the priorities without names that the document has not used so far, which saves most look-ups.

        Call it after the `ElementFields` of an item exist. Names of deeper elements may not be included yet.
        """
        restricted: AnyNamePriorities | None = self._priorities_in_use.get(priorities)
        if restricted is None:
            restricted = self._priorities_in_use[priorities] = priorities().restrict_to(self._used)
        return restricted

    def _shorten(self, tag: str) -> str:
        namespace, undeclared, local = split_tag(tag)
        if namespace in self._own_namespaces:
            return local
        if undeclared and undeclared == self._own_prefix:
            return local
        prefix = _prefix_of(namespace) if namespace else _UNDECLARED.get(undeclared, undeclared)
        return f"{prefix}:{local}" if prefix and prefix not in self._core else local


# A document's own vocabulary: no namespace, an unknown one, or Atom.
_OWN_VOCABULARY: Final = frozenset({"", "?", "atom"})


def _prefix_of(namespace: str) -> str:
    key = namespace.strip().lower().removeprefix("http://").removeprefix("https://").removeprefix("www.")
    return _PREFIXES.get(key.rstrip("/#"), "?")


def split_tag(tag: str) -> tuple[str, str, str]:
    """Return namespace, undeclared prefix and local name (the latter two in lower case) of a tag as lxml writes it."""
    if tag.startswith("{"):
        namespace, _, local = tag[1:].partition("}")
        return namespace, "", local.lower()
    prefix, colon, local = tag.rpartition(":")
    return "", prefix.lower() if colon else "", local.lower()


# Writing

_MARK: Final = "<!--"
# More beginnings of comments in one attribute are not text that anybody wrote.
_MAX_MARKS: Final = 3
_VALUES_OF_MARKS: Final = etree.XPath(
    "descendant-or-self::*/@*[contains(substring-after(substring-after(., '<!--'), '<!--'), '<!--')]"
)


def to_html(element: _Element, *, with_tail: bool = True) -> str:
    """Return the element as HTML. Attributes with many beginnings of comments lose them: the tree is changed.

    libxml2 searches the rest of the value for the end of the comment at each of them, in case it is an instruction to
    a web server, which it must not escape. That takes quadratic time.
    """
    for value in _VALUES_OF_MARKS(element):
        if value.count(_MARK) > _MAX_MARKS:
            value.getparent().set(value.attrname, value.replace(_MARK, ""))
    return etree.tostring(element, encoding="unicode", method="html", with_tail=with_tail)


# Reading

XML_BASE: Final = "{http://www.w3.org/XML/1998/namespace}base"
_CDATA_START: Final = re.compile(r"\s*+<!\[CDATA\[")
_CDATA_MARK: Final = re.compile(r"<!\[CDATA\[|\]\]>")
_URL_ATTRIBUTES: Final = ("href", "src", "poster")
_TAG: Final = re.compile(r"</?[a-z][a-z0-9]*[\s/>]", re.IGNORECASE)
# Listing attributes takes quadratic time in lxml; no element of a feed has this many.
_MAX_ATTRIBUTES: Final = 64


class ElementFields(dict[str, list[_Element]]):
    """The children of one element by short name, each list in document order."""

    __slots__ = ("element",)

    def __init__(self, element: _Element, names: TagNames) -> None:
        self.element = element
        # A slice is one call into lxml, which is cheaper than one call per child.
        for child in element[:]:
            name = names[child.tag]  # type: ignore[index]
            if name in self:
                self[name].append(child)
            else:
                self[name] = [child]

    def text(self, *names: str) -> str:
        """Return the trimmed text of the first name that has text; of repeated elements, the last one with text."""
        for name in names:
            # Most names are absent; this test is the cheapest.
            if name in self:
                for child in reversed(self[name]):
                    if text := text_of(child).strip():
                        return text
        return ""

    def raw_text(self, *names: str) -> str:
        """Return the same as `text`, not trimmed."""
        for name in names:
            if name in self:
                for child in reversed(self[name]):
                    text = text_of(child)
                    if text and not text.isspace():
                        return text
        return ""

    def body(self, *names: str) -> tuple[_Element | None, str]:
        """Return the element that `raw_text` reads, and its content as HTML.

        Some publishers do not escape their HTML.
        """
        for name in names:
            if name in self:
                for child in reversed(self[name]):
                    markup = unwrap_cdata(inner_html(child))
                    if markup and not markup.isspace():
                        return child, markup
        return None, ""

    def texts(self, *names: str) -> list[str]:
        """Return the trimmed non-empty texts of all elements with these names."""
        values = []
        for name in names:
            if name in self:
                for child in self[name]:
                    if text := text_of(child).strip():
                        values.append(text)  # noqa: PERF401 - twice as fast as two nested comprehensions
        return values

    def elements(self, *names: str) -> list[_Element]:
        """Return all elements with these names, grouped by name."""
        return [child for name in names for child in self.get(name, ())]

    def attribute(self, name: str, key: str) -> str:
        """Return the trimmed attribute of the first element of this name that has it, else ""."""
        for child in self.get(name, ()):
            if value := attribute(child, key):
                return value
        return ""


def text_of(element: _Element) -> str:
    """Return all text inside the element, without markup."""
    if len(element) == 0:
        return element.text or ""
    return "".join(map(str, element.itertext()))


def unwrap_cdata(text: str) -> str:
    """Return the text without the marks of CDATA sections if it begins with one: a publisher escaped or nested it.

    In HTML the section would be a comment.
    """
    return _CDATA_MARK.sub("", text).strip() if _CDATA_START.match(text) else text


def all_values(element: _Element) -> str:
    """Return all texts and attributes inside a small element, joined: its identity if it has no other."""
    values = (part for child in element.iter(etree.Element) for part in (*_attribute_values(child), child.text or ""))
    return "|".join(part.strip() for part in map(str, values) if part and not part.isspace())


def attribute(element: _Element, key: str) -> str:
    """Return an attribute, trimmed, in any case; "" if absent. key: lower case."""
    value = element.get(key)
    if value is not None:
        return value.strip()
    names = element.keys()
    # Usually all names are in lower case, so that no other spelling can match.
    return "" if not names or "".join(names).islower() else _attribute_ignoring_case(element, names, key)


def _attribute_ignoring_case(element: _Element, names: list[str], key: str) -> str:
    if len(names) > _MAX_ATTRIBUTES:
        return ""
    return next((value.strip() for name, value in element.items() if name.lower() == key), "")


def _attribute_values(element: _Element) -> list[str]:
    return [str(value) for value in element.values()] if len(element.attrib) <= _MAX_ATTRIBUTES else []


def inner_html(element: _Element, *, is_xhtml: bool = False) -> str:
    """Return the content as HTML. Text without child elements already is HTML, as in RSS.

    Text next to child elements is HTML as well if it holds tags: the publisher escaped only a part of the content.
    is_xhtml: the element is declared as XHTML, where text is never markup.
    """
    if len(element) == 0:
        return element.text or ""
    box = _copy_without_namespaces(element)
    if not is_xhtml and _holds_tags(box):
        return "".join([box.text or "", *(_outer_html(child) + (child.tail or "") for child in box)])
    return to_html(box)[len("<div>") : -len("</div>")]


def _holds_tags(element: _Element) -> bool:
    texts = (element.text, *(child.tail for child in element))
    return any("<" in text and _TAG.search(text) for text in texts if text)


def _outer_html(element: _Element) -> str:
    return to_html(element, with_tail=False)


def _resolve_urls(element: _Element, base: str) -> None:
    """Applies an `xml:base` inside of content, which HTML does not have. Source: XML Base, section 4."""
    for each in element.iter(etree.Element):
        for name in _URL_ATTRIBUTES:
            if (written := each.get(name)) is not None and not written.startswith("#"):
                each.set(name, relative_url(written.strip(), base.strip()))


def _copy_without_namespaces(element: _Element) -> _Element:
    """Return a `div` with a copy of the content in which prefixed and XHTML names are plain HTML names."""
    box = deepcopy(element)
    box.tag, box.tail = "div", None
    box.attrib.clear()
    for child in box.iterdescendants(etree.Element):
        try:
            child.tag = str(child.tag).rpartition("}")[2].rpartition(":")[2]
        except ValueError:
            # A repaired document may hold `a:1`, and `1` is not a valid name.
            child.tag = "span"
        for name in [name for name in child.attrib if str(name).startswith("{")]:
            if name == XML_BASE:
                _resolve_urls(child, str(child.attrib[name]))
            del child.attrib[name]
    etree.cleanup_namespaces(box)
    return box


# Attributes

_LANG: Final = "{http://www.w3.org/XML/1998/namespace}lang"
_REGISTRIES: Final = ("http://www.iana.org/assignments/", "https://www.iana.org/assignments/")
_LANGUAGE: Final = re.compile(r"[a-z0-9-]{1,50}")


def declared_base(element: _Element, inherited: str, url: str) -> str:
    """Return the base URL that `xml:base` sets inside an element, "" if there is none.

    inherited: the base URL of the parent. url: the URL of the document, the base of the outermost `xml:base`.
    Source: XML Base, section 4.
    """
    # Most elements have no attributes; testing that first is several times faster.
    value = element.get(XML_BASE) if element.keys() else None
    return (web_url(value, inherited or url) or inherited) if value else inherited


def element_language(element: _Element, inherited: str = "") -> str:
    """Return the language inside an element. inherited: the language of its parent."""
    value = element.get(_LANG) if element.keys() else None
    return inherited if value is None else normalize_language(value)


def link_relations(link: _Element) -> tuple[str, ...]:
    """Return the values of `rel`, in lower case, () if it has none. An IRI of the registry counts as its short name.

    Source: RFC 4287, section 4.2.7.2; HTML, section 4.6.7, for several values.
    """
    written = attribute(link, "rel").lower()
    if written.isalpha():
        return (written,)
    return tuple(value.rpartition("/")[2] if value.startswith(_REGISTRIES) else value for value in written.split())


def normalize_language(text: str) -> str:
    """Return a language code such as `de-at`; "" for a text that cannot be one."""
    if not text:
        return ""
    code = text.strip().lower().replace("_", "-")
    return code if _LANGUAGE.fullmatch(code) else ""
