"""What response headers say about time and neighbours: freshness, Retry-After, Link.

Publishers write these by hand and badly. What cannot be understood counts as not said, with one exception:
freshness that was said but makes no sense counts as "stale now", as RFC 9111 asks (section 4.2.1).
"""

from __future__ import annotations

import math
import re
from datetime import UTC
from email.utils import parsedate_to_datetime
from urllib.parse import urljoin

from msgspec import Struct

from tidings.domain.times import SECOND, Instant, from_datetime

# RFC 9111, section 1.2.2: what is larger may be read as this; about 68 years.
LONGEST_S = 2**31

# Nobody honest writes more, and reading more could be made slow on purpose.
_LONGEST_HEADER = 4096

# name, name=token or name="quoted"; commas inside quotes do not separate.
_DIRECTIVE = re.compile(r'\s*([\w-]+)\s*(?:=\s*(?:"((?:[^"\\]|\\.)*)"|([^\s,"]*)))?[^,]*,?', re.ASCII)

_LINK = re.compile(r"<([^<>]*)>((?:[^,<\"]|\"(?:[^\"\\]|\\.)*\")*)")
_LINK_REL = re.compile(r";\s*rel\s*=\s*(?:\"([^\"]*)\"|([^\s;,\"]+))", re.IGNORECASE)


class Link(Struct, frozen=True):
    """One target of a Link header. url: absolute; rel: a single relation, lower case."""

    url: str
    rel: str


def freshness_s(
    *, cache_control: str = "", expires: str = "", age: str = "", date: str = "", now: Instant
) -> int | None:
    """For how many more seconds the publisher promises nothing new; None when it says nothing about it.

    max-age wins over Expires; Age is what already passed on the way here; no-cache and no-store promise
    nothing (0). Expires is measured from the publisher's own Date when there is one, so that a wrong clock on
    either side does no harm.
    `s-maxage` is not heard: it speaks to caches the publisher can empty, and ours it cannot.
    Source: RFC 9111, sections 4.2.1 and 5.2.2.
    """
    said = _directives(cache_control)
    if "no-cache" in said or "no-store" in said:
        return 0
    if "max-age" in said:
        lifetime = _delta_s(said["max-age"]) or 0
    elif expires.strip():
        lifetime = _lifetime_s(expires, date, now)
    else:
        return None
    return max(0, lifetime - (_delta_s(age) or 0))


def retry_after_s(value: str, now: Instant) -> int | None:
    """How many seconds a Retry-After asks us to stay away, 0 for a moment gone by; None for nothing usable.

    Source: RFC 9110, section 10.2.3. Some send fractions of a second: rounded up.
    """
    if (seconds := _delta_s(value)) is not None:
        return seconds
    moment = http_date(value)
    return None if moment is None else _seconds_between(now, moment)


def http_date(value: str) -> Instant | None:
    """All three forms of RFC 9110, section 5.6.7, and whatever else mail programs understand."""
    try:
        moment = parsedate_to_datetime(value.strip())
        return from_datetime(moment if moment.tzinfo else moment.replace(tzinfo=UTC))
    except (ValueError, TypeError, IndexError, OverflowError):
        return None


def wants_no_validators(expires: str) -> bool:
    """`Expires: 0` is how publishers ask that nothing is remembered (docs/polling.md)."""
    return expires.strip() == "0"


def links(value: str, base_url: str) -> tuple[Link, ...]:
    """The targets of a Link header, in order, one for each relation. Source: RFC 8288."""
    found = []
    for target, parameters in _LINK.findall(value[:_LONGEST_HEADER]):
        rel = _LINK_REL.search(parameters)
        url = _joined(base_url, target.strip())
        if rel and url:
            found += [Link(url, name) for name in (rel[1] or rel[2] or "").lower().split()]
    return tuple(found)


def _directives(cache_control: str) -> dict[str, str]:
    """Names in lower case. A repeated one keeps its first value, as RFC 9111 allows."""
    said: dict[str, str] = {}
    for name, quoted, token in _DIRECTIVE.findall(cache_control[:_LONGEST_HEADER]):
        said.setdefault(name.lower(), quoted or token)
    return said


def _delta_s(value: str) -> int | None:
    value = value.strip()
    if not re.fullmatch(r"\d+(\.\d*)?", value, re.ASCII):
        return None
    # No need to count so many digits, and Python refuses to beyond some thousand.
    return LONGEST_S if len(value) > 15 else min(math.ceil(float(value)), LONGEST_S)


def _lifetime_s(expires: str, date: str, now: Instant) -> int:
    moment = http_date(expires)
    if moment is None:
        return 0
    sent = http_date(date) if date else None
    return _seconds_between(now if sent is None else sent, moment)


def _seconds_between(start: Instant, end: Instant) -> int:
    return min(max(0, math.ceil((end - start) / SECOND)), LONGEST_S)


def _joined(base_url: str, target: str) -> str:
    try:
        return urljoin(base_url, target)
    except ValueError:
        return ""
