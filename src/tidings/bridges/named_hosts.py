"""Keeps users from reaching private networks through a bridge, which connects to what its address names.

text ── decoded until nothing changes ── words ── addresses in any spelling ── names: looked up ── refused or not

A bridge looks up names itself, later and perhaps in another network: what only it can resolve is not known here.
"""

from __future__ import annotations

import asyncio
import re
import unicodedata
from collections.abc import Iterable, Iterator
from ipaddress import IPv4Address, ip_address
from typing import Final
from urllib.parse import unquote

from tidings.base.messages import msg
from tidings.net.errors import AddressRefused, FetchTimeout
from tidings.net.guard import AddressGuard, Lookup

# How often an address may be encoded, one encoding in the other.
MAX_DECODINGS: Final = 6
MAX_NAMES: Final = 60
LOOKUP_TIMEOUT_S: Final = 10.0

# What may stand around a host in an address, or around an address in a text.
_BETWEEN: Final = re.compile(r"[\s/\\?#&=,;|\"'<>(){}+!*$^`~@]+")
_BRACKETED: Final = re.compile(r"\[([^\[\]]*)\]")
_AROUND_PORT: Final = re.compile(r"[:%\[\]]+")
_NAME: Final = re.compile(r"[\w-]+(?:\.[\w-]+)*")
_NUMBERS: Final = re.compile(r"(?:0x[0-9a-f]*|[0-9]+)(?:\.(?:0x[0-9a-f]*|[0-9]+)){0,3}")
# Dots of other scripts, which host names may have (UTS 46).
_DOTS: Final = str.maketrans(dict.fromkeys("\u3002\uff0e\uff61", "."))
# Controls, and what is invisible and no part of a host name (UTS 46, ignored).
_IGNORED: Final = re.compile(
    "[\x00-\x1f\x7f-\x9f\xad\u034f\u180b-\u180f\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufe00-\ufe0f\ufeff]"
)
# Names that no public name server knows (RFC 6761, RFC 6762, RFC 8375, ICANN's .internal).
_PRIVATE_NAMES: Final = re.compile(r"(?:.*\.)?(?:localhost|localdomain|local|internal|home\.arpa)")
# Nothing can be reached at 0.0.0.1 to 0.255.255.255, and small numbers are ids and counts.
_MAX_COUNT: Final = 0xFFFFFF


class NamedHosts:
    """Looks for hosts in texts that a bridge is sent."""

    def __init__(self, guard: AddressGuard, lookup: Lookup) -> None:
        self._guard = guard
        self._lookup = lookup

    async def ensure_public(self, texts: Iterable[str]) -> None:
        """Raise AddressRefused if one of the texts names a host that the guard refuses, however it is encoded.

        Raises FetchTimeout if the name servers do not answer in time.
        """
        if self._guard.allow_private_networks:
            return
        names: set[str] = set()
        for text in texts:
            for form in decodings(text):
                for word in _words(form):
                    names |= self._names_in(word)
        if len(names) > MAX_NAMES:
            raise AddressRefused(msg("The address names too many hosts, more than {max}.", max=MAX_NAMES))
        await asyncio.gather(*map(self._ensure_public_name, sorted(names)))

    def _names_in(self, word: str) -> set[str]:
        """Return the names in a word. Raises AddressRefused for an address that the guard refuses."""
        names: set[str] = set()
        for host in _hosts(word):
            address = address_of(host)
            if address:
                if not self._guard.allows(address):
                    raise self._guard.refusal(host)
            elif _NAME.fullmatch(host) and not _NUMBERS.fullmatch(host) and len(host) <= 253:
                if _PRIVATE_NAMES.fullmatch(host):
                    raise self._guard.refusal(host)
                # Only a name with a dot can have letters of other scripts.
                if host.isascii() or "." in host:
                    names.add(host)
        return names

    async def _ensure_public_name(self, name: str) -> None:
        try:
            async with asyncio.timeout(LOOKUP_TIMEOUT_S):
                addresses = await self._lookup(name)
        except TimeoutError as error:
            if "." not in name:
                # Most likely a word of the address. Not every name server answers for names of one word.
                return
            raise FetchTimeout(msg("{host} could not be looked up in time. Try again later.", host=name)) from error
        except OSError:
            return
        if not all(self._guard.allows(address) for address in addresses):
            raise self._guard.refusal(name)


def decodings(text: str) -> list[str]:
    """Return the text, and what its percent-encodings decode to until nothing changes; the last one has none left.

    Each is in one form of its letters and in lower case, once as it is and once without characters that parsers of
    addresses ignore. Raises AddressRefused if it is encoded more than MAX_DECODINGS times.
    """
    forms = [text]
    while (plain := unquote(forms[-1])) != forms[-1]:
        forms.append(plain)
        if len(forms) > MAX_DECODINGS:
            raise AddressRefused(msg("The address is encoded too many times, one encoding inside the other."))
    unified = [unicodedata.normalize("NFKC", form.translate(_DOTS)).lower() for form in forms]
    return [variant for form in unified for variant in (form, _IGNORED.sub("", form))]


def address_of(host: str) -> str:
    """Return the address that a host is, "" for a name and for a number that is no address anyone can reach.

    Numbers are read as browsers and the operating system do: 2130706433, 0x7f.1 and 0177.0.0.1 are 127.0.0.1.
    Source: WHATWG URL Standard, section 3.5, IPv4 parser.
    """
    if _NUMBERS.fullmatch(host):
        return _ipv4(host.split("."))
    try:
        return str(ip_address(host))
    except ValueError:
        return ""


def _ipv4(parts: list[str]) -> str:
    try:
        *head, last = (_number(part) for part in parts)
    except ValueError:
        return ""
    if any(number > 255 for number in head) or last >= 256 ** (4 - len(head)):
        return ""
    value = last + sum(number << 8 * (3 - place) for place, number in enumerate(head))
    return "" if 0 < value <= _MAX_COUNT else str(IPv4Address(value))


def _number(digits: str) -> int:
    if digits.startswith("0x"):
        return int(digits[2:] or "0", 16)
    return int(digits, 8 if digits.startswith("0") else 10)


def _words(text: str) -> Iterator[str]:
    return (word for word in _BETWEEN.split(text) if word)


def _hosts(word: str) -> Iterator[str]:
    """Yield what may be a host in a word: all of it, what is in brackets, and what is before or after a colon."""
    whole = [word.strip("[]"), *_BRACKETED.findall(word)]
    for one in [*whole, *_AROUND_PORT.split(word)]:
        host = one.strip(".")
        if host:
            yield host
