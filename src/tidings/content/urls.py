"""URLs from outside: resolved, checked, mended, and without tracking.

resolve_url       a URL in HTML ─► absolute, by the rules of browsers; "" if it cannot be resolved
resolve_web_url   the same, http and https only
absolute_url      a URL in a feed ─► absolute: also a host without a scheme, a broken scheme; "" for a refused scheme
web_url           the same, http and https only
tidy_url          an absolute URL ─► as its publisher meant it
strip_tracking    a URL ─► without the query parameters that only tell where a visitor comes from
"""

from __future__ import annotations

import re
from collections.abc import Collection
from functools import lru_cache
from ipaddress import AddressValueError, IPv6Address
from typing import Final
from urllib.parse import unquote, unquote_plus, urljoin, urlsplit

from tidings.base.text import name_set
from tidings.base.url_schemes import LINK_SCHEMES, WEB_SCHEMES, scheme_of, strip_ignored

# URLs in HTML

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
    return origin + _percent_encode(without_dots(path) + query + fragment)


@lru_cache(maxsize=64)
def _split_base(base: str) -> tuple[str, str, str] | None:
    """Return origin, path and query of a page; None if it cannot be a base. Cached, because a page has many URLs."""
    parts = _WEB.fullmatch(base) if len(base) <= MAX_BASE_CHARS else None
    if parts is None or not _is_valid_authority(parts[2]):
        return None
    return f"{parts[1].lower()}://{parts[2]}", parts[3], parts[4] or ""


def without_dots(path: str) -> str:
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


# URLs in feeds

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


# Tracking parameters

TRACKING_PREFIXES = ("utm_", "mtm_")

TRACKING_NAMES = name_set("""
    fbclid fb_action_ids fb_action_types fb_ref fb_source fb_comment_id
    hmb_campaign hmb_medium hmb_source itm_campaign itm_medium itm_source
    gclid dclid gbraid wbraid gclsrc srsltid
    campaign_id campaign_medium campaign_name campaign_source campaign_term campaign_content
    yclid ysclid _openstat twclid msclkid mc_cid mc_eid mc_tc wickedid
    hsa_cam _hsenc __hssc __hstc __hsfp _hsmi hsctatracking
    rb_clickid oly_anon_id oly_enc_id vero_id vero_conv mkt_tok sc_cid
    _bhlid _branch_match_id _branch_referrer
""")

# Characters. Longer names are not cached.
_MAX_CACHED_CHARS: Final = 60


def strip_tracking(url: str, *, hosts: Collection[str] = ()) -> str:
    """Return the URL without its tracking parameters; the rest stays byte for byte and in order.

    hosts: the hosts of the feed and its site, in lower case; a `ref` parameter with one of them is removed.
    """
    before_fragment, hash_mark, fragment = url.partition("#")
    path, question_mark, query = before_fragment.partition("?")
    if not question_mark:
        return url
    pairs, kept, has_ref = query.split("&"), [], False
    for pair in pairs:
        name = _kept_name(pair)
        if name is not None:
            kept.append(pair)
            has_ref |= name == "ref"
    if has_ref and hosts and _refers(kept, hosts):
        kept = [pair for pair in kept if _kept_name(pair) != "ref"]
    if len(kept) == len(pairs):
        return url
    return f"{path}?{'&'.join(kept)}{hash_mark}{fragment}" if kept else f"{path}{hash_mark}{fragment}"


def _kept_name(pair: str) -> str | None:
    """Return the name of a parameter as a server reads it, in lower case; None for a tracking parameter."""
    name = pair.partition("=")[0]
    return _decode_name(name) if len(name) <= _MAX_CACHED_CHARS else _decode_name.__wrapped__(name)


@lru_cache(maxsize=1_024)
def _decode_name(name: str) -> str | None:
    """Return the decoded name or None. Cached, because most URLs have the same few names."""
    name = name.lower()
    if "%" in name:
        name = unquote(name).lower()
    # Feeds that escape twice have `?a=1&amp;utm_source=x` in the URL.
    name = name.removeprefix("amp;")
    return None if name in TRACKING_NAMES or name.startswith(TRACKING_PREFIXES) else name


def _refers(pairs: list[str], hosts: Collection[str]) -> bool:
    values = (pair.partition("=")[2] for pair in pairs if _kept_name(pair) == "ref")
    return any(unquote_plus(value).lower() in hosts for value in values)
