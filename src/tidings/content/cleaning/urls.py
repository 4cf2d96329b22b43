"""Resolves and checks URLs, by the rules of browsers."""

from __future__ import annotations

import re
from functools import lru_cache
from ipaddress import AddressValueError, IPv6Address

from tidings.base.url_schemes import WEB_SCHEMES

# URLs that need no normalization, as most are: recognized without splitting them. No user name, no port, no character
# that a browser would change; the host in lower case with a dot in it.
PLAIN_WEB = re.compile(
    r"""https?://((?:[a-z0-9][a-z0-9-]*+\.)+[a-z]{2,}+)(?:[/?#][^\x00-\x20"<>\\^`{|}\x7f-\xa0\ud800-\udfff]*+)?"""
)

# An absolute path that needs no normalization either.
_PLAIN_PATH = re.compile(r"(?:/(?![/.])[!#-.0-;=?-\[\]_a-z~]*+)++")

# Characters. Servers accept about as many. A base is repeated in every URL that is relative to it.
MAX_URL_CHARS = 8_000
MAX_BASE_CHARS = 2_000

_SCHEME = re.compile(r"([a-zA-Z][a-zA-Z0-9+.-]*+):")
# Browsers accept any number of slashes and backslashes before the host.
_WEB = re.compile(r"([hH][tT][tT][pP][sS]?):[/\\]*+([^/\\?#]*+)([^?#]*+)(\?[^#]*+)?(#.*)?", re.DOTALL)
_PARTS = re.compile(r"([^?#]*+)(\?[^#]*+)?(#.*)?", re.DOTALL)
_AUTHORITY = re.compile(r"(?:([^@]*+)@)?(\[[0-9a-fA-F:.]++\]|[^:\[\]]++)(?::([0-9]*+))?")
_FORBIDDEN_IN_HOST = re.compile(r"""[\x00-\x20"#%/:<>?@\[\\\]^`{|}\x7f-\xa0]|\.\.|^[.-]""")

# Browsers remove the first 33 only. The others are never intended, and can hide the scheme.
_IGNORED_AROUND = "".join(map(chr, (*range(0x21), *range(0x7F, 0xA1), 0x1680, *range(0x2000, 0x2010)))) + (
    "\u2028\u2029\u202f\u205f\u2060\u3000\ufeff"
)
_IGNORED_WITHIN = dict.fromkeys(map(ord, "\t\n\r"))
_UNSAFE = re.compile(r"""[\x00-\x20"<>`\x7f\ud800-\udfff]""")


def resolve_url(base: str, url: str) -> str:
    """Return `url` as a browser resolves it on the page `base`; "" if it cannot be resolved.

    base: absolute, http or https; any other base leaves relative URLs unresolved.
    The result can have any scheme; see `resolve_web_url` for http and https only.
    Source: WHATWG URL Standard, section 4.4, for the forms that publishers write.
    """
    if len(url) > MAX_URL_CHARS:
        return ""
    if url[:1] == "/":
        if _PLAIN_PATH.fullmatch(url):
            page = _split_base(base)
            return page[0] + url if page else ""
    elif PLAIN_WEB.fullmatch(url):
        return url
    url = url.strip(_IGNORED_AROUND).translate(_IGNORED_WITHIN)
    if not url:
        return ""
    scheme = _SCHEME.match(url)
    if scheme is None:
        return _relative(base, url)
    if scheme[1].lower() in WEB_SCHEMES:
        return _web_url(url)
    return scheme[1].lower() + _percent_encode(url[scheme.end() - 1 :])


def resolve_web_url(base: str, url: str) -> str:
    """Return the same as `resolve_url` for http and https URLs with a valid host, else ""."""
    absolute = resolve_url(base, url)
    return absolute if absolute.startswith(("http://", "https://")) else ""


def host_of(url: str) -> str:
    """Return the host of a resolved http(s) URL in lower case, without user name and port; "" if there is none."""
    plain = PLAIN_WEB.fullmatch(url)
    if plain is not None:
        return plain[1]
    parts = _WEB.fullmatch(url)
    authority = parts and _AUTHORITY.fullmatch(parts[2])
    return authority[2].lower() if authority else ""


def _web_url(url: str) -> str:
    parts = _WEB.fullmatch(url)
    if parts is None or not _is_valid_authority(parts[2]):
        return ""
    path = parts[3].replace("\\", "/")
    return f"{parts[1].lower()}://{parts[2]}{_percent_encode(path + (parts[4] or '') + (parts[5] or ''))}"


@lru_cache(maxsize=64)
def _is_valid_authority(authority: str) -> bool:
    """Return whether host, user name and port are valid. Cached, because a site has few."""
    parts = _AUTHORITY.fullmatch(authority)
    if parts is None:
        return False
    user, host, port = parts.groups()
    if (port and int(port[:6]) > 65_535) or (user and _UNSAFE.search(user)):
        return False
    if host.startswith("["):
        return _is_ipv6(host[1:-1])
    return len(host) <= 253 and _FORBIDDEN_IN_HOST.search(host) is None


def _is_ipv6(text: str) -> bool:
    try:
        IPv6Address(text)
    except AddressValueError:
        return False
    return True


def _relative(base: str, url: str) -> str:
    """Resolves a relative URL (RFC 3986, section 5.2.2); one that begins with a host gets https."""
    if url.startswith(("//", "\\\\", "/\\", "\\/")):
        return _web_url(f"https:{url}")
    page = _split_base(base)
    if page is None:
        return ""
    origin, folder, base_query = page
    parts = _PARTS.fullmatch(url)
    if parts is None:
        return ""
    path, query, fragment = parts[1].replace("\\", "/"), parts[2] or "", parts[3] or ""
    if not path:
        path, query = folder or "/", query or base_query
    elif not path.startswith("/"):
        path = folder.rpartition("/")[0] + "/" + path
    return origin + _percent_encode(_without_dots(path) + query + fragment)


@lru_cache(maxsize=64)
def _split_base(base: str) -> tuple[str, str, str] | None:
    """Return origin, path and query of a page; None if it cannot be a base. Cached, because a page has many URLs."""
    parts = _WEB.fullmatch(base) if len(base) <= MAX_BASE_CHARS else None
    if parts is None or not _is_valid_authority(parts[2]):
        return None
    return f"{parts[1].lower()}://{parts[2]}", parts[3], parts[4] or ""


def _without_dots(path: str) -> str:
    """Removes dot segments (RFC 3986, section 5.2.4)."""
    if "/." not in path:
        return path
    kept: list[str] = []
    segments = path.split("/")[1:]
    for segment in segments:
        if segment == "..":
            del kept[-1:]
        elif segment != ".":
            kept.append(segment)
    if segments[-1] in {".", ".."}:
        kept.append("")
    return "/" + "/".join(kept)


def _percent_encode(text: str) -> str:
    """Percent-encodes the characters that no URL may contain, and no others."""
    return _UNSAFE.sub(lambda unsafe: "".join(f"%{byte:02X}" for byte in unsafe[0].encode(errors="replace")), text)
