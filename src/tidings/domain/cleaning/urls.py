"""Addresses: made absolute, checked and disarmed, by the rules that browsers follow."""

from __future__ import annotations

import re
from functools import lru_cache
from ipaddress import AddressValueError, IPv6Address

from tidings.domain.cleaning.words import words

WEB_SCHEMES = frozenset({"http", "https"})

# Schemes an article may link to. None of them runs code in the page.
LINK_SCHEMES = WEB_SCHEMES | words("""
    apt bitcoin callto dav davs ed2k facetime feed ftp geo git gopher hack irc irc6 ircs itms itms-apps magnet
    mailto news nntp opener rtmp sftp shortcuts sip sips skype spotify ssh steam svn svn+ssh tel webcal xmpp
""")

# Nothing in such an address needs repair: most addresses of most feeds, recognised without taking them apart.
# No user name, no port, no letter that a browser would change; the host in lower case with a dot in it.
PLAIN_WEB = re.compile(
    r"""https?://((?:[a-z0-9][a-z0-9-]*+\.)+[a-z]{2,}+)(?:[/?#][^\x00-\x20"<>\\^`{|}\x7f-\xa0\ud800-\udfff]*+)?"""
)

# A path from the root of its site, no less plain: it only has to be put behind the host.
_PLAIN_PATH = re.compile(r"(?:/(?![/.])[!#-.0-;=?-\[\]_a-z~]*+)++")

# Characters. Servers give up at about as many; a base is repeated in every address that is relative to it.
MAX_ADDRESS = 8_000
MAX_BASE = 2_000

_SCHEME = re.compile(r"([a-zA-Z][a-zA-Z0-9+.-]*+):")
# Browsers take any number of slashes, leaning either way, as the start of the host.
_WEB = re.compile(r"([hH][tT][tT][pP][sS]?):[/\\]*+([^/\\?#]*+)([^?#]*+)(\?[^#]*+)?(#.*)?", re.DOTALL)
_PARTS = re.compile(r"([^?#]*+)(\?[^#]*+)?(#.*)?", re.DOTALL)
_AUTHORITY = re.compile(r"(?:([^@]*+)@)?(\[[0-9a-fA-F:.]++\]|[^:\[\]]++)(?::([0-9]*+))?")
_FORBIDDEN_IN_HOST = re.compile(r"""[\x00-\x20"#%/:<>?@\[\\\]^`{|}\x7f-\xa0]|\.\.|^[.-]""")

# Browsers take away the first 33 only; the others are never meant either, and hide what they precede.
_BLANKS_AROUND = "".join(map(chr, (*range(0x21), *range(0x7F, 0xA1), 0x1680, *range(0x2000, 0x2010)))) + (
    "\u2028\u2029\u202f\u205f\u2060\u3000\ufeff"
)
_BLANKS_WITHIN = dict.fromkeys(map(ord, "\t\n\r"))
_ODD = re.compile(r"""[\x00-\x20"<>`\x7f\ud800-\udfff]""")


def resolve(base: str, url: str) -> str:
    """`url` as a browser would read it on the page `base`; "" when there is no way to read it.

    base: absolute, http or https; anything else leaves relative addresses unreadable.
    The scheme of the result can be any: callers that need a web address ask `web_address`.
    Source: WHATWG URL Standard, section 4.4, for what real publishers write.
    """
    if len(url) > MAX_ADDRESS:
        return ""
    if url[:1] == "/":
        if _PLAIN_PATH.fullmatch(url):
            page = _page(base)
            return page[0] + url if page else ""
    elif PLAIN_WEB.fullmatch(url):
        return url
    url = url.strip(_BLANKS_AROUND).translate(_BLANKS_WITHIN)
    if not url:
        return ""
    scheme = _SCHEME.match(url)
    if scheme is None:
        return _relative(base, url)
    if scheme[1].lower() in WEB_SCHEMES:
        return _web(url)
    return scheme[1].lower() + _encode_odd(url[scheme.end() - 1 :])


def web_address(base: str, url: str) -> str:
    """As `resolve`, but "" for whatever is not http or https with a host that can exist."""
    address = resolve(base, url)
    return address if address.startswith(("http://", "https://")) else ""


def scheme_of(address: str) -> str:
    """address: as `resolve` returns it, so the scheme is in lower case."""
    return address.partition(":")[0]


def host_of(address: str) -> str:
    """The host of a resolved web address in lower case, without user name and port; "" if there is none."""
    plain = PLAIN_WEB.fullmatch(address)
    if plain is not None:
        return plain[1]
    parts = _WEB.fullmatch(address)
    authority = parts and _AUTHORITY.fullmatch(parts[2])
    return authority[2].lower() if authority else ""


def _web(url: str) -> str:
    parts = _WEB.fullmatch(url)
    if parts is None or not _can_exist(parts[2]):
        return ""
    path = parts[3].replace("\\", "/")
    return f"{parts[1].lower()}://{parts[2]}{_encode_odd(path + (parts[4] or '') + (parts[5] or ''))}"


@lru_cache(maxsize=64)
def _can_exist(authority: str) -> bool:
    """Whether a host, with the user name and port around it, is one that could be looked up. A site has one."""
    parts = _AUTHORITY.fullmatch(authority)
    if parts is None:
        return False
    user, host, port = parts.groups()
    if (port and int(port[:6]) > 65_535) or (user and _ODD.search(user)):
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
    """Source: RFC 3986, section 5.2.2; a reference that names only a host gets https."""
    if url.startswith(("//", "\\\\", "/\\", "\\/")):
        return _web(f"https:{url}")
    page = _page(base)
    if page is None:
        return ""
    origin, folder, asked = page
    parts = _PARTS.fullmatch(url)
    if parts is None:
        return ""
    path, query, fragment = parts[1].replace("\\", "/"), parts[2] or "", parts[3] or ""
    if not path:
        path, query = folder or "/", query or asked
    elif not path.startswith("/"):
        path = folder.rpartition("/")[0] + "/" + path
    return origin + _encode_odd(_without_dots(path) + query + fragment)


@lru_cache(maxsize=64)
def _page(base: str) -> tuple[str, str, str] | None:
    """Origin, path and query of a page; None when nothing can be relative to it. A page has many addresses."""
    parts = _WEB.fullmatch(base) if len(base) <= MAX_BASE else None
    if parts is None or not _can_exist(parts[2]):
        return None
    return f"{parts[1].lower()}://{parts[2]}", parts[3], parts[4] or ""


def _without_dots(path: str) -> str:
    """Source: RFC 3986, section 5.2.4."""
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


def _encode_odd(text: str) -> str:
    """Percent-encode what no address may hold, and nothing else: the rest is the publisher's business."""
    return _ODD.sub(lambda odd: "".join(f"%{byte:02X}" for byte in odd[0].encode(errors="replace")), text)
