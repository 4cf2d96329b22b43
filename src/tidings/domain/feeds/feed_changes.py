"""Validates the values that a user sets on a feed, before anything is fetched or stored."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any
from urllib.parse import quote, unquote, urlsplit, urlunsplit

from tidings.base.errors import InvalidField, InvalidInput
from tidings.base.messages import msg
from tidings.base.text import reject_invisible
from tidings.base.url_schemes import strip_ignored
from tidings.content.model import PageKind
from tidings.content.pages import PageSelectors, parse_selectors, selectors_text, written_selectors
from tidings.content.rules.pipeline import validate_feed_rules
from tidings.domain.entries import retention
from tidings.domain.feeds.feed_settings import DAYS, RULES
from tidings.domain.feeds.feeds import (
    MAX_USER_INTERVAL_MINUTES,
    MIN_USER_INTERVAL_MINUTES,
    RSSHUB_SCHEME,
    EditedFeedField,
    Feed,
)

PROXY_SCHEMES = ("http", "https", "socks5", "socks5h")

# Settings of which one at most says how a feed is fetched.
WAYS = ("fetch_via_proxy", "fetch_via_flaresolverr")

# Bytes. A URL is part of an index, which PostgreSQL limits to 2,704 bytes a row.
MAX_URL = 2_000
MAX_TEXT = 100_000

_FEED_SCHEME = re.compile(r"feed:(?://)?(?=https?:)|feed:(?=//)", re.IGNORECASE)
_WEB_SCHEME = re.compile(r"(?:https?|rsshub):", re.IGNORECASE)
_RSSHUB_ROUTE = re.compile(rf"{RSSHUB_SCHEME}[A-Za-z0-9][\w.-]*(?:[/?][^\s#]*)?", re.ASCII)
_ANY_SCHEME = re.compile(r"[a-z][a-z0-9+.-]*://", re.IGNORECASE)
# Host, and what follows it.
_PARTS = re.compile(r"([^/?#]*//[^/?#]*)(.*)", re.DOTALL)
_BLANK = re.compile(r"\s")
# Invisible characters that are copied together with an address.
_ZERO_WIDTH = "\u200b\u200c\u200d\u200e\u200f\u2060\ufeff"

_EDITS = {
    "title": EditedFeedField.TITLE,
    "site_url": EditedFeedField.SITE_URL,
    "description": EditedFeedField.DESCRIPTION,
}


def validate(fields: Mapping[str, Any]) -> dict[str, Any]:
    """Return the columns of a feed to set. fields: fields of the API, without those that were not sent.

    Credentials in the feed's URL move to `username` and `password`, so that they are not shown with it.
    Raises InvalidInput, which names the field.
    """
    values = dict(fields)
    for name, value in values.items():
        _check_text(name, value)
    for name in ("user_agent", "cookie"):
        if name in values:
            values[name] = reject_invisible(values[name].strip(), field=name)
    for name in ("feed_url", "site_url"):
        if name in values:
            url = values[name]
            validate_url = _validate_feed_url if name == "feed_url" else validate_web_url
            values[name] = validate_url(normalize_scheme(url) if isinstance(url, str) else url, field=name)
    if "feed_url" in values:
        values |= _without_credentials(values["feed_url"])
    if "title" in values and not values["title"].strip():
        raise InvalidField("title", msg("a feed needs one."))
    _check_numbers(values)
    check_ways(values)
    _check_page(values)
    if values.get("proxy_url"):
        _check_proxy(values["proxy_url"])
    validate_feed_rules(**{name: values[name] for name in RULES if name in values})
    if values.get("description") == "":
        del values["description"]
    return values


def check_page(kind: str, selectors: str) -> PageSelectors | None:
    """Return the selectors of a feed from a page, and None for an ordinary one, whose kind is "".

    Raises InvalidField unless the selectors go with the kind.
    """
    if kind:
        return parse_selectors(kind, selectors)
    if selectors:
        raise InvalidField(
            "kind", msg("selectors need a kind: send one of {kinds} with them.", kinds=", ".join(PageKind))
        )
    return None


def check_ways(values: Mapping[str, Any]) -> None:
    """Raise InvalidField for a feed that is to be fetched in two ways. values: columns, not necessarily all."""
    if all(values.get(name) for name in WAYS):
        raise InvalidField(
            "fetch_via_flaresolverr", msg("a feed is fetched through the proxy or through FlareSolverr, not both.")
        )


def edited_fields(feed: Feed, values: Mapping[str, Any]) -> EditedFeedField:
    """Return which fields do not follow the publisher after these values are set.

    A value that equals the stored one is not an edit: many clients send every field of a feed to change one of them.
    """
    bits = EditedFeedField(feed.edited)
    for name, bit in _EDITS.items():
        if name in values and values[name] != getattr(feed, name):
            bits |= bit
    return bits


def normalize_scheme(url: str) -> str:
    """Return the URL that a browser would ask for: phones capitalize, and pasted addresses have blanks.

    Blanks and invisible characters around it and line breaks in it are removed, blanks behind the host are encoded, and
    http, https or rsshub is in lower case.
    `feed:`, which some sites put before the URL of a feed, is removed; `feed://host/path` becomes `https://host/path`.
    """
    unwrapped = _unwrap(url)
    if unwrapped.startswith("//") and _FEED_SCHEME.match(_trim(url)):
        return f"https:{unwrapped}"
    scheme = _WEB_SCHEME.match(unwrapped)
    return scheme[0].lower() + unwrapped[scheme.end() :] if scheme else unwrapped


def names_scheme(url: str) -> bool:
    """Return whether the user has typed how to connect. `feed://host` does not say it."""
    return bool(_ANY_SCHEME.match(_unwrap(url)))


def _unwrap(url: str) -> str:
    return _FEED_SCHEME.sub("", _trim(url), count=1)


def _trim(url: str) -> str:
    trimmed = strip_ignored(url.strip().strip(_ZERO_WIDTH))
    parts = _PARTS.fullmatch(trimmed)
    return parts[1] + _BLANK.sub(lambda blank: quote(blank[0]), parts[2]) if parts else trimmed


def validate_web_url(url: str, *, field: str) -> str:
    """Return the URL. Raises InvalidInput unless it is absolute, http or https, and at most MAX_URL bytes long."""
    try:
        parts = urlsplit(url)
        is_usable = bool(parts.hostname) and (parts.port is None or parts.port > 0)
    except ValueError:
        is_usable = False
    if not is_usable or not url.startswith(("http://", "https://")) or any(letter.isspace() for letter in url):
        raise InvalidField(field, msg("give a complete address that begins with http:// or https://."))
    if len(url.encode()) > MAX_URL:
        raise InvalidField(field, msg("this address is too long, {max} bytes at most.", max=MAX_URL))
    return url


def _validate_feed_url(url: Any, *, field: str) -> str:
    """Return the URL of a feed, as `validate_web_url` does, or the address of a route of RSSHub."""
    if not isinstance(url, str) or not url.startswith(RSSHUB_SCHEME):
        return validate_web_url(url, field=field)
    if not _RSSHUB_ROUTE.fullmatch(url) or len(url.encode()) > MAX_URL:
        raise InvalidField(field, msg("give a route of RSSHub, like rsshub://github/issue/DIYgod/RSSHub."))
    return url


def has_credentials(url: str) -> bool:
    """Return whether an absolute URL, valid or not, names a user before its host."""
    return "@" in url.partition("://")[2].partition("/")[0]


def _without_credentials(url: str) -> dict[str, str]:
    parts = urlsplit(url)
    if parts.username is None:
        return {"feed_url": url}
    host = parts.netloc.rpartition("@")[2]
    return {
        "feed_url": urlunsplit(parts._replace(netloc=host)),
        "username": unquote(parts.username),
        "password": unquote(parts.password or ""),
    }


def _check_text(name: str, value: Any) -> None:
    if not isinstance(value, str):
        return
    if "\0" in value:
        raise InvalidInput(msg("{name} holds a NUL character: remove it.", name=name), field=name)
    if len(value) > MAX_TEXT:
        raise InvalidField(name, msg("too long, {max} characters at most.", max=MAX_TEXT))


def _check_page(values: dict[str, Any]) -> None:
    """Check kind and selectors as far as they are given; a text of selectors gets the form in which it is stored."""
    if values.get("selectors") is not None:
        values["selectors"] = selectors_text(written_selectors(values["selectors"]))
    kind = values.get("kind")
    if kind == "":
        values["selectors"] = ""
    elif kind is not None and kind not in set(PageKind):
        raise InvalidField("kind", msg("send one of {kinds}, or nothing for a feed.", kinds=", ".join(PageKind)))
    elif kind and values.get("selectors"):
        check_page(kind, values["selectors"])


def _check_numbers(values: Mapping[str, Any]) -> None:
    if minutes := values.get("check_interval_minutes"):
        _check_interval(minutes)
    for name in DAYS:
        if values.get(name) is not None:
            retention.validate_days(values[name], field=name)


def _check_interval(minutes: int) -> None:
    if not MIN_USER_INTERVAL_MINUTES <= minutes <= MAX_USER_INTERVAL_MINUTES:
        raise InvalidField(
            "check_interval_minutes",
            msg(
                "give {min} to {max:,} minutes.",
                min=MIN_USER_INTERVAL_MINUTES,
                max=MAX_USER_INTERVAL_MINUTES,
            ),
        )


def _check_proxy(url: str) -> None:
    try:
        parts = urlsplit(url)
        is_usable = parts.scheme in PROXY_SCHEMES and bool(parts.hostname) and parts.port != 0
    except ValueError:
        is_usable = False
    if not is_usable:
        raise InvalidField(
            "proxy_url", msg("give a complete address that begins with http://, https://, socks5:// or socks5h://.")
        )
