"""Which URL schemes are accepted from outside, and which of them pages link to.

WEB_SCHEMES         http and https: URLs that are fetched, and the URLs of feeds, entries and comments
LINK_SCHEMES        schemes that an article may link to or enclose
EXECUTABLE_SCHEMES  run code or open local content when followed: refused everywhere, even in imports
safe_href           http, https and mailto: the only URLs that pages write into `href` or `src`
"""

from __future__ import annotations

import re
from typing import Final

WEB_SCHEMES: Final = frozenset({"http", "https"})

# None of them runs code in the page. The names are registered with IANA or in common use for applications.
LINK_SCHEMES: Final = WEB_SCHEMES | {
    "apt", "bitcoin", "callto", "dav", "davs", "ed2k", "facetime", "feed", "ftp", "geo", "git", "gopher", "hack",
    "irc", "irc6", "ircs", "itms", "itms-apps", "magnet", "mailto", "news", "nntp", "opener", "rtmp", "sftp",
    "shortcuts", "sip", "sips", "skype", "spotify", "ssh", "steam", "svn", "svn+ssh", "tel", "webcal", "xmpp",
}  # fmt: skip
EXECUTABLE_SCHEMES: Final = frozenset({"blob", "data", "file", "javascript", "vbscript"})
_PAGE_SCHEMES: Final = WEB_SCHEMES | {"mailto"}

_WEB: Final = ("http://", "https://")
_SCHEME: Final = re.compile(r"([a-z][a-z0-9+.-]*+):", re.IGNORECASE)
# `feed:` may precede another URL; some browsers follow the inner one.
_WRAPPING: Final = re.compile(r"(?:feed:)+", re.IGNORECASE)
# Characters that a URL parser removes: at both ends of a URL, and anywhere in it.
_IGNORED_AROUND: Final = "".join(map(chr, range(0x21)))
_IGNORED_WITHIN: Final = dict.fromkeys(map(ord, "\t\n\r"))


def strip_ignored(url: str) -> str:
    """Return the URL without the characters that browsers ignore.

    Ignored are controls and blanks at both ends, and tabs and line ends anywhere.
    Source: WHATWG URL Standard, section 4.4, steps 1 to 3.
    """
    return url.strip().strip(_IGNORED_AROUND).translate(_IGNORED_WITHIN)


def scheme_of(url: str) -> str:
    """Return the scheme that a browser finds, in lower case; "" for a relative URL.

    `feed:` in front of an executable scheme, as in `feed:javascript:…`, does not hide it.
    """
    parsed = strip_ignored(url)
    wrapping = _WRAPPING.match(parsed)
    wrapped = _scheme(strip_ignored(parsed[wrapping.end() :])) if wrapping else ""
    return wrapped if wrapped in EXECUTABLE_SCHEMES else _scheme(parsed)


def _scheme(parsed: str) -> str:
    match = _SCHEME.match(parsed)
    return match[1].lower() if match else ""


def is_executable_url(url: str) -> bool:
    """Return whether following the URL can run code or open local content."""
    return scheme_of(url) in EXECUTABLE_SCHEMES


def safe_href(url: str) -> str:
    """Return the URL if a page may link to it, else "".

    A relative URL is refused, because it would lead into Tidings itself.
    """
    return url if url.startswith(_WEB) or scheme_of(url) in _PAGE_SCHEMES else ""
