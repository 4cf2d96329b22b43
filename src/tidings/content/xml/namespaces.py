"""One short name per element, however a document declares its namespaces."""

from __future__ import annotations

from collections.abc import Container
from typing import Any, Final, Self, TypeVar

from lxml.etree import _Element
from msgspec import Struct

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
