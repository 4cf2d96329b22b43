"""Parsers of response headers: freshness (Cache-Control, Expires, Age, Date), Retry-After and Link.

Many publishers write these headers wrongly. A value that cannot be parsed counts as absent, with one exception:
freshness that is given but invalid counts as "stale now", as RFC 9111 asks (section 4.2.1).
"""

from __future__ import annotations

import math
import re
from datetime import UTC
from email.utils import parsedate_to_datetime
from urllib.parse import urljoin

from msgspec import Struct

from tidings.base.times import SECOND, Instant, from_datetime

# RFC 9111, section 1.2.2: larger values may be read as this one; about 68 years.
MAX_SECONDS = 2**31

# Characters. Real headers are shorter, and an attacker could make the parsing of longer ones slow.
_MAX_HEADER_CHARS = 4096

# name, name=token or name="quoted"; commas inside quotes do not separate.
_DIRECTIVE = re.compile(r'\s*([\w-]+)\s*(?:=\s*(?:"((?:[^"\\]|\\.)*)"|([^\s,"]*)))?[^,]*,?', re.ASCII)

_LINK = re.compile(r"<([^<>]*)>((?:[^,<\"]|\"(?:[^\"\\]|\\.)*\")*)")
_LINK_PARAMETER = re.compile(r";\s*(rel|type|title|sizes)\s*=\s*(?:\"((?:[^\"\\]|\\.)*)\"|([^\s;,\"]+))", re.IGNORECASE)
_ESCAPED = re.compile(r"\\(.)")


class Link(Struct, frozen=True):
    """One target of a Link header."""

    url: str
    """An absolute URL."""
    rel: str
    """A single relation, in lower case."""
    type: str = ""
    """The media type, as written."""
    title: str = ""
    sizes: str = ""
    """The sizes of an icon."""


def freshness_s(
    *, cache_control: str = "", expires: str = "", age: str = "", date: str = "", now: Instant
) -> int | None:
    """Return for how many more seconds the response is fresh; None if the headers do not say.

    max-age wins over Expires; Age is subtracted; no-cache and no-store mean 0. Expires is measured from the
    publisher's own Date if that is present, so that a wrong clock on either side does not matter.
    `s-maxage` is ignored: it is meant for caches that the publisher can purge.
    Source: RFC 9111, sections 4.2.1 and 5.2.2.
    """
    directives = _directives(cache_control)
    if "no-cache" in directives or "no-store" in directives:
        return 0
    if "max-age" in directives:
        lifetime = _delta_s(directives["max-age"]) or 0
    elif expires.strip():
        lifetime = _lifetime_s(expires, date, now)
    else:
        return None
    return max(0, lifetime - (_delta_s(age) or 0))


def retry_after_s(value: str, now: Instant) -> int | None:
    """Return the seconds to wait by a Retry-After header, 0 for a date in the past; None if it cannot be parsed.

    Source: RFC 9110, section 10.2.3. Fractions of a second, which some servers send, are rounded up.
    """
    if (seconds := _delta_s(value)) is not None:
        return seconds
    moment = http_date(value)
    return None if moment is None else _seconds_between(now, moment)


def http_date(value: str) -> Instant | None:
    """Return the parsed date; None if it cannot be parsed.

    Accepts all three formats of RFC 9110, section 5.6.7, and the variants that `email.utils` accepts.
    """
    try:
        moment = parsedate_to_datetime(value.strip())
        return from_datetime(moment if moment.tzinfo else moment.replace(tzinfo=UTC))
    except (ValueError, TypeError, IndexError, OverflowError):
        return None


def wants_no_validators(expires: str) -> bool:
    """Return whether the publisher asks for unconditional requests, by `Expires: 0` (docs/polling.md)."""
    return expires.strip() == "0"


def parse_links(value: str, base_url: str) -> tuple[Link, ...]:
    """Return the targets of a Link header, in order, one for each relation. Source: RFC 8288."""
    links = []
    for target, parameters in _LINK.findall(value[:_MAX_HEADER_CHARS]):
        values: dict[str, str] = {}
        for name, quoted, token in _LINK_PARAMETER.findall(parameters):
            # The first `rel` counts, RFC 8288 says.
            values.setdefault(name.lower(), _ESCAPED.sub(r"\1", quoted) or token)
        url = _resolve(base_url, target.strip())
        if url:
            relations = values.pop("rel", "").lower().split()
            links += [Link(url, relation, **values) for relation in relations]
    return tuple(links)


def _directives(cache_control: str) -> dict[str, str]:
    """Return the directives by name in lower case. A repeated one keeps its first value, as RFC 9111 allows."""
    directives: dict[str, str] = {}
    for name, quoted, token in _DIRECTIVE.findall(cache_control[:_MAX_HEADER_CHARS]):
        directives.setdefault(name.lower(), quoted or token)
    return directives


def _delta_s(value: str) -> int | None:
    """Return a number of seconds, at most MAX_SECONDS; None if the value is not a number."""
    value = value.strip()
    if not re.fullmatch(r"\d+(\.\d*)?", value, re.ASCII):
        return None
    # Longer numbers exceed the limit anyway, and Python refuses to convert several thousand digits.
    return MAX_SECONDS if len(value) > 15 else min(math.ceil(float(value)), MAX_SECONDS)


def _lifetime_s(expires: str, date: str, now: Instant) -> int:
    moment = http_date(expires)
    if moment is None:
        return 0
    sent = http_date(date) if date else None
    return _seconds_between(now if sent is None else sent, moment)


def _seconds_between(start: Instant, end: Instant) -> int:
    return min(max(0, math.ceil((end - start) / SECOND)), MAX_SECONDS)


def _resolve(base_url: str, target: str) -> str:
    try:
        return urljoin(base_url, target)
    except ValueError:
        return ""
