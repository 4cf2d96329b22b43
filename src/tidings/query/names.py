"""How the fields match short texts, alike for an entry in memory and for the names that a database is asked about."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterable, Sequence
from functools import cached_property, lru_cache
from urllib.parse import urlsplit

from tidings.base.text import normalize_for_search
from tidings.content.search import Phrase, alternatives, terms
from tidings.query.model import Text, TextField
from tidings.query.parser import ASCII_LOWER

# Databases index this many characters of tags, authors and languages: the rest is not compared.
MAX_TAG = 200
MAX_AUTHOR = 100
MAX_LANGUAGE = 100


class Terms:
    """The terms of a text in its order. Many rules may look for words in the same text."""

    def __init__(self, terms: Iterable[str]) -> None:
        self.found: Sequence[str] = tuple(terms)

    def __len__(self) -> int:
        return len(self.found)

    @cached_property
    def known(self) -> frozenset[str]:
        return frozenset(self.found)

    @cached_property
    def in_order(self) -> list[str]:
        """The terms by alphabet, so that those with a prefix are next to each other."""
        return sorted(self.known)

    def has(self, term: str, *, is_prefix: bool) -> bool:
        """Return whether the text has a term, or one that begins with it."""
        if not is_prefix:
            return term in self.known
        at = bisect_left(self.in_order, term)
        return at < len(self.in_order) and self.in_order[at].startswith(term)


def contains(any_of: Sequence[Phrase], text: Terms) -> bool:
    """Return whether one of the phrases is in the terms of a text."""
    for phrase in any_of:
        if len(phrase.terms) == 1 and not phrase.ends_with_prefix:
            # As most are, and most are not there.
            if phrase.terms[0] in text.known:
                return True
        elif _contains(phrase, text):
            return True
    return False


def is_in_words(leaf: Text, text: str) -> bool:
    """Return whether a name contains the words of a leaf, next to each other."""
    return contains(phrases(leaf.words, "", is_prefix=leaf.is_prefix), _terms(text))


def is_name(leaf: Text, name: str) -> bool:
    """Return whether a tag or a label is the one of a leaf, or begins with it."""
    key, wanted = normalize_for_search(name)[:MAX_TAG], leaf.words[:MAX_TAG]
    return bool(key) and (key.startswith(wanted) if leaf.is_prefix else key == wanted)


def is_site(leaf: Text, url: str) -> bool:
    """Return whether an address is on the site of a leaf or one of its subdomains."""
    host = _host(url)
    return host == leaf.words or host.endswith(f".{leaf.words}")


def is_in_url(leaf: Text, url: str) -> bool:
    """Return whether a URL contains what a leaf has, whatever the case of ASCII letters."""
    return leaf.words in url.translate(ASCII_LOWER)


def is_language(leaf: Text, language: str) -> bool:
    """Return whether a language is the one of a leaf: pt stands for pt-BR as well."""
    lowered = language[:MAX_LANGUAGE].translate(ASCII_LOWER)
    return lowered == leaf.words or lowered.startswith(f"{leaf.words}-")


def feed_test(leaf: Text) -> Callable[[str], bool]:
    """Return the test of a leaf of the fields feed, category or site.

    It is applied to a feed's title, to the paths of its categories, or to the URLs of its site and itself.
    """
    if leaf.field is TextField.SITE:
        return lambda url: is_site(leaf, url)
    any_of = phrases(leaf.words, "", is_prefix=leaf.is_prefix)
    return lambda name: contains(any_of, _terms(name))


@lru_cache(maxsize=4096)
def phrases(words: str, group: str, *, is_prefix: bool) -> tuple[Phrase, ...]:
    """Return the phrases of words, as `content.search.alternatives` does."""
    return alternatives(words, group, is_prefix=is_prefix)


@lru_cache(maxsize=1 << 14)
def _terms(text: str) -> Terms:
    return Terms(terms(text))


@lru_cache(maxsize=1 << 12)
def _host(url: str) -> str:
    try:
        return (urlsplit(url).hostname or "").removeprefix("www.")
    except ValueError:
        return ""


def _contains(phrase: Phrase, text: Terms) -> bool:
    *before, last = phrase.terms
    if not text.has(last, is_prefix=phrase.ends_with_prefix) or not text.known.issuperset(before):
        return False
    if not before:
        return True
    length, found = len(before), text.found
    for at in range(len(found) - length):
        ends = found[at + length]
        if (ends == last or (phrase.ends_with_prefix and ends.startswith(last))) and all(
            found[at + number] == term for number, term in enumerate(before)
        ):
            return True
    return False
