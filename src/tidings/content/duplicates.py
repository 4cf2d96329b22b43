"""Recognizes the same article in several feeds: by its address, or by its title and text.

canonical_address   the URL of an article ─► the part that all its spellings share; "" for the front page of a site
place_on_page       a URL ─► the place of the page that it names, since not every entry is a whole page
title_key           a title ─► its words, without case, accents of width and punctuation
fingerprint         the words of a text ─► 64 bits that hardly change with the text (SimHash)
is_same_text        whether two texts are the same, except for a few words
digest              a key ─► 64 bits to store and look up
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from contextlib import suppress
from hashlib import blake2b
from typing import Final
from urllib.parse import unquote_to_bytes

from tidings.base.text import name_set
from tidings.content.urls import strip_tracking, without_dots

# Characters. Shorter texts, such as "Read more", are often the same by chance.
MIN_TEXT: Final = 200
# One text may be so many times as long as the other: an author's name or a list of tags is added.
MAX_LENGTH_RATIO: Final = 2
# Of 64 bits.
MAX_DISTANCE: Final = 3
# Only the beginning of longer texts is compared.
_MAX_WORDS: Final = 5_000
_WORDS_TOGETHER: Final = 3

_ADDRESS = re.compile(r"https?://(?:[^/?#@]*@)?([^/?#@]+)([^?#]*)(?:\?([^#]*))?(?:#(.*))?", re.IGNORECASE | re.DOTALL)
_DEFAULT_PORT = re.compile(r":(?:80|443)?$")
_MIRROR = re.compile(r"(?:www\d?|m|mobile|amp)\.(?=[^.]+\.)")
# As in en.m.wikipedia.org.
_MOBILE_LABEL = re.compile(r"(?<=[^.]\.)m\.(?=[^.]+\.[^.]+$)")
_ENCODED = re.compile(r"%([0-9a-fA-F]{2})")
_UNRESERVED = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~")
_AMP_CACHE = re.compile(
    r"https?://(?:(?:www\.)?google\.[a-z.]+/amp/(?:s/)?|[a-z0-9-]+\.cdn\.ampproject\.org/[a-z]/(?:s/)?)(?=[^/]+\.)",
    re.IGNORECASE,
)
_AMP_PATH = re.compile(r"^/amp(?=/.)|(?:/amp|\.amp|[./]amp\.html)/?$", re.IGNORECASE)
_AMP_PAIR = re.compile(r"amp(?:=(?:1|true)?)?|outputtype=amp", re.IGNORECASE)
# Parameters that say through which feed or campaign a visitor comes; `strip_tracking` removes others.
_ORIGIN_NAMES = name_set("""
    at_medium at_campaign at_custom1 at_custom2 at_custom3 at_custom4 at_link_origin at_link_type at_link_id at_format
    ns_mchannel ns_source ns_campaign ns_linkname ns_fee cmp cmpid ocid ncid smid emc feedtype feedname ftag xtor ito
    wt.mc_id wt.rss_f wt.rss_a wt.rss_ev rss guccounter
""")
_ORIGIN_VALUES = name_set("rss rss1 rss2 rss2.0 atom feed rssfeed rss_feed rss-feed")
# Routes of an application, which are no places on a page.
_ROUTE = ("!", "/")
# Fragments that every article of a site has.
_NO_PLACE = re.compile(r"(?:comments|respond|more(?:-\d+)?|top|main|content|disqus_thread|rss|feed)", re.IGNORECASE)
# Scripts without blanks between words: each character counts as a word.
_WORD = re.compile(
    r"[\u0e00-\u0e7f\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff]|[^\W_\u0e00-\u0e7f\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff]+"
)
_BITS = [bytes((byte >> bit) & 1 for byte in range(256)) for bit in range(8)]


def canonical_address(url: str) -> str:
    """Return the part of an http(s) URL that all spellings of an article's address share; "" if there is none.

    It is in the normal form of RFC 3986, section 6.2, without scheme, user name, default port, `www.`, `m.` and
    similar hosts, AMP, tracking parameters, fragment and a slash at the end. The front page of a site is no article.
    """
    url = url.strip()
    if cached := _AMP_CACHE.match(url):
        url = f"https://{url[cached.end() :]}"
    parts = _ADDRESS.fullmatch(url)
    if parts is None:
        return ""
    path = _AMP_PATH.sub("", without_dots(_normal(parts[2]))).rstrip("/")
    query = _article_query(parts[3] or "")
    route = _normal(parts[4] or "") if (parts[4] or "").startswith(_ROUTE) else ""
    if not path and not query and len(route) <= len("!/"):
        return ""
    return f"//{_host(parts[1])}{path}{query and '?'}{query}{route and '#'}{route}"


def host_of_article(url: str) -> str:
    """Return the host in a canonical address; "" if the URL is not http(s)."""
    parts = _ADDRESS.fullmatch(url.strip())
    return _host(parts[1]) if parts else ""


def place_on_page(url: str) -> str:
    """Return the place of a page to which a URL leads, such as one of its comments; "" if it is the page itself."""
    fragment = url.partition("#")[2]
    if not fragment or fragment.startswith(_ROUTE) or _NO_PLACE.fullmatch(fragment):
        return ""
    return _article_query(fragment) if "=" in fragment else fragment


def title_key(title: str) -> str:
    """Return the words of a title in the form in which titles are compared, separated by blanks."""
    return " ".join(_words(title))


def fingerprint(words: Sequence[str]) -> int:
    """Return the SimHash of a text: 64 bits, of which few change when few words change.

    Each three words in a row are one feature. Source: Charikar, Similarity Estimation Techniques from Rounding
    Algorithms, 2002.
    """
    triples = {" ".join(words[at : at + _WORDS_TOGETHER]) for at in range(max(1, len(words) - _WORDS_TOGETHER + 1))}
    digests = b"".join([blake2b(triple.encode("utf-8", "replace"), digest_size=8).digest() for triple in triples])
    bits = 0
    for position in range(8):
        column = digests[position::8]
        for bit, is_set in enumerate(_BITS):
            if column.translate(is_set).count(1) * 2 > len(triples):
                bits |= 1 << (8 * position + bit)
    return bits


def is_same_text(first: str, second: str) -> bool:
    """Return whether two plain texts are the same, except for a few words. Short texts never are.

    One may have words before or after the whole of the other one, such as the name of a site.
    """
    shorter, longer = sorted((first, second), key=len)
    if len(shorter) < MIN_TEXT or len(longer) > len(shorter) * MAX_LENGTH_RATIO:
        return False
    words, more_words = _words(shorter)[:_MAX_WORDS], _words(longer)[:_MAX_WORDS]
    if f" {' '.join(words)} " in f" {' '.join(more_words)} ":
        return True
    return (fingerprint(words) ^ fingerprint(more_words)).bit_count() <= MAX_DISTANCE


def digest(key: str) -> int:
    """Return 64 bits of a hash of the key, as a signed number."""
    return int.from_bytes(blake2b(key.encode("utf-8", "replace"), digest_size=8).digest(), "big", signed=True)


def _words(text: str) -> list[str]:
    return _WORD.findall(unicodedata.normalize("NFKC", text).casefold())


def _host(authority: str) -> str:
    host = _DEFAULT_PORT.sub("", authority).rstrip(".").lower()
    if not host.isascii():
        with suppress(UnicodeError):
            host = host.encode("idna").decode("ascii")
    return _MOBILE_LABEL.sub("", _MIRROR.sub("", host))


def _normal(text: str) -> str:
    """Return a part of a URL with the percent-encoding that its characters need, in capital letters."""
    if not text.isascii():
        text = "".join(
            each if each.isascii() else "".join(f"%{byte:02X}" for byte in each.encode("utf-8", "replace"))
            for each in text
        )
    return _ENCODED.sub(_decode_unreserved, text) if "%" in text else text


def _decode_unreserved(encoded: re.Match[str]) -> str:
    character = chr(unquote_to_bytes(encoded[0])[0])
    return character if character in _UNRESERVED else encoded[0].upper()


def _article_query(query: str) -> str:
    if not query:
        return ""
    stripped = strip_tracking(f"?{query}")[1:]
    return "&".join(pair for pair in map(_normal, stripped.split("&")) if pair and not _is_origin(pair))


def _is_origin(pair: str) -> bool:
    name, _, value = pair.lower().removeprefix("amp;").partition("=")
    return name in _ORIGIN_NAMES or value in _ORIGIN_VALUES or _AMP_PAIR.fullmatch(pair) is not None
