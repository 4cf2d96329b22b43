"""URLs in feeds: resolved to absolute URLs; refused if a link must not use them."""

from __future__ import annotations

import re
from typing import Final
from urllib.parse import urljoin, urlsplit

from tidings.base.url_schemes import LINK_SCHEMES, scheme_of, strip_ignored
from tidings.content.cleaning.urls import MAX_BASE_CHARS, MAX_URL_CHARS

_WEB_PREFIXES: Final = ("http://", "https://")
_WITH_HOST: Final = re.compile("https?://[^/?#:]")
_WITH_HOST_NAME: Final = re.compile("(https?)://([^/?#:]+)", re.IGNORECASE)
# A host without a scheme looks like a relative path: it is taken for a host if it is the site's own, or `www`.
_BARE_HOST: Final = re.compile(r"((?:[a-z0-9-]+\.)+[a-z]{2,})(?=[:/?#]|$)", re.IGNORECASE)
_ESCAPED_AMPERSAND: Final = re.compile(r"&(?:(?:amp|#0*+38|#[xX]0*+26);)++")
_NOT_IN_URL: Final = re.compile(r"""[\x00-\x20"<>]""")
_ANY_HOST: Final = re.compile(r"https?://[^/?#\x00-\x20]++(?=[/?#])", re.IGNORECASE)
_BROKEN_SCHEME: Final = re.compile(r"(https?):/*(?=[^/])", re.IGNORECASE)


def absolute_url(url: str, base: str) -> str:
    """Return `url` as an absolute URL, relative to `base`, or "".

    "" stands for an empty or unparsable URL and for a scheme that is not in `LINK_SCHEMES`.
    base: an http(s) URL, or "" for none.
    """
    url = url.strip()
    if not url or len(url) > MAX_URL_CHARS:
        return ""
    if url.startswith(_WEB_PREFIXES) and "\n" not in url and "\t" not in url and "\r" not in url:
        return url
    url = strip_ignored(url.replace("\0", ""))
    if url.startswith("//"):
        return "https:" + url
    if scheme := scheme_of(url):
        return _BROKEN_SCHEME.sub(_repair_scheme, url, count=1) if scheme in LINK_SCHEMES else ""
    if len(base) > MAX_BASE_CHARS:
        return ""
    if match := _BARE_HOST.match(url):
        site = _WITH_HOST_NAME.match(base)
        if match[1].lower().startswith("www.") or (site and site[2].lower() == match[1].lower()):
            return f"{site[1] if site else 'https'}://{url}"
    try:
        return urljoin(base, url)
    except ValueError:
        return ""


def tidy_url(url: str) -> str:
    """Return an absolute URL as its publisher meant it.

    An ampersand that was escaped once too often is one, and blanks, quotes and angle brackets are percent-encoded. Not
    for the identity of an entry, which must not change.
    """
    if "&" in url:
        url = _ESCAPED_AMPERSAND.sub("&", url)
    if _NOT_IN_URL.search(url) and (host := _ANY_HOST.match(url)):
        rest = _NOT_IN_URL.sub(lambda character: f"%{ord(character[0]):02X}", url[host.end() :])
        return host[0] + rest
    return url


def relative_url(url: str, base: str) -> str:
    """Return `url` relative to a base that may itself be relative; `url` if either cannot be parsed."""
    try:
        return urljoin(base, url)
    except ValueError:
        return url


def web_url(url: str, base: str) -> str:
    """Return the same as `absolute_url` if that is an http(s) URL with a host, else ""."""
    absolute = absolute_url(url, base)
    if not _WITH_HOST.match(absolute):
        return ""
    # Only a URL with brackets can fail the full check, which is slow.
    return "" if "[" in absolute[:300] and not _is_splittable(absolute) else absolute


def is_web_url(url: str) -> bool:
    """Return whether the text is an absolute http(s) URL with a host."""
    return bool(web_url(url, "")) and " " not in url.strip()


def _is_splittable(url: str) -> bool:
    try:
        urlsplit(url)
    except ValueError:
        return False
    return True


def _repair_scheme(match: re.Match[str]) -> str:
    return f"{match[1].lower()}://"
