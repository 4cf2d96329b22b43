"""One short name per element, however a document spells its namespaces."""

from __future__ import annotations

from collections.abc import Container
from typing import Any, Final, Self, TypeVar

from lxml.etree import _Element
from msgspec import Struct

# By namespace without scheme, "www.", case and closing slash, which publishers get wrong in every way.
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
    "search.yahoo.com/mrss": "media",
    "search.yahoo.com/mrss/": "media",
    "video.search.yahoo.com/mrss": "media",
    "tools.search.yahoo.com/mrss": "media",
    "api.search.yahoo.com/mrss": "media",
    "rssnamespace.org/feedburner/ext/1.0": "feedburner",
    "wellformedweb.org/commentapi": "wfw",
    "w3.org/1999/xhtml": "xhtml",
    "webfeeds.org/rss/1.0": "webfeeds",
    "xml/1998/namespace": "xml",
}
# Prefixes that stand for themselves where a document forgot to declare them.
_WELL_KNOWN: Final = frozenset(_PREFIXES.values()) - {""}
_UNDECLARED: Final = {"a10": "atom", "a": "atom", "mrss": "media", "xh": "xhtml", "rss": ""}


class Orders(Struct, frozen=True):
    """Short names by what they say, each list in the order in which its names are heard: the defaults of a subclass."""

    def among(self, used: Container[str]) -> Self:
        """The same without names that nobody uses."""
        orders = [getattr(self, field) for field in self.__struct_fields__]
        return type(self)(*[tuple(filter(used.__contains__, order)) for order in orders])


AnyOrders = TypeVar("AnyOrders", bound=Orders)


class Names(dict[str, str]):
    """From a tag as lxml writes it to a short name in lower case: `dc:creator`, `pubdate`.

    Filled as tags are met, so that the mapping of an item costs one dictionary access per child.
    core: prefixes that mean the feed's own vocabulary, such as "atom" in an Atom document.
    """

    __slots__ = ("_core", "_heard", "_home", "_home_prefix", "_used")

    def __init__(self, root: _Element, core: frozenset[str] = frozenset()) -> None:
        self._used: set[str] = set()
        self._heard: dict[type[Orders], Any] = {}
        namespace, undeclared, _ = split(str(root.tag))
        own = _HOMELIKE | core
        self._home = {name for name in (namespace, root.nsmap.get(None)) if name and _prefix_of(name) in own}
        self._home_prefix = undeclared
        self._core = core

    def __missing__(self, tag: str) -> str:
        name = self[tag] = self._shorten(tag)
        self._used.add(name)
        self._heard.clear()
        return name

    def heard(self, orders: type[AnyOrders]) -> AnyOrders:
        """Without names that were not met so far: a document uses one of ten, and need not be asked for the others.

        To be asked when the `Fields` of an item are there. Names of what lies deeper may not be met by then.
        """
        found: AnyOrders | None = self._heard.get(orders)
        if found is None:
            found = self._heard[orders] = orders().among(self._used)
        return found

    def _shorten(self, tag: str) -> str:
        namespace, undeclared, local = split(tag)
        if namespace in self._home:
            return local
        if undeclared and undeclared == self._home_prefix:
            return local
        prefix = _prefix_of(namespace) if namespace else _UNDECLARED.get(undeclared, undeclared)
        return f"{prefix}:{local}" if prefix and prefix not in self._core else local


# What a document may say is its own vocabulary: the plain one, or a namespace nobody knows.
_HOMELIKE: Final = frozenset({"", "?", "atom"})


def _prefix_of(namespace: str) -> str:
    key = namespace.strip().lower().removeprefix("http://").removeprefix("https://").removeprefix("www.")
    return _PREFIXES.get(key.rstrip("/#"), "?")


def split(tag: str) -> tuple[str, str, str]:
    """Namespace, undeclared prefix (lower case), local name (lower case) of a tag as lxml writes it."""
    if tag.startswith("{"):
        namespace, _, local = tag[1:].partition("}")
        return namespace, "", local.lower()
    prefix, colon, local = tag.rpartition(":")
    return "", prefix.lower() if colon else "", local.lower()
