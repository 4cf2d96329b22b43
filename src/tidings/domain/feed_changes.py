"""What a user may set on a feed, checked before anything is fetched or stored."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from urllib.parse import unquote, urlsplit, urlunsplit

from tidings.domain import retention
from tidings.domain.errors import InvalidInput
from tidings.domain.feeds import Edited
from tidings.domain.rules.validation import validate_feed_rules
from tidings.domain.scheduling import LONGEST_OWN_MINUTES, SHORTEST_OWN_MINUTES

RULES = (
    "scraper_rules",
    "rewrite_rules",
    "urlrewrite_rules",
    "blocklist_rules",
    "keeplist_rules",
    "block_filter_entry_rules",
    "keep_filter_entry_rules",
)
PROXY_SCHEMES = ("http", "https", "socks5", "socks5h")

# Bytes. An address is part of an index, which PostgreSQL limits to 2,704 bytes a row.
MAX_URL = 2_000
MAX_TEXT = 100_000

_EDITS = {"title": Edited.TITLE, "site_url": Edited.SITE_URL, "description": Edited.DESCRIPTION}


def checked(given: Mapping[str, Any]) -> dict[str, Any]:
    """Columns of a feed from what was sent: fields of the API, those that were not sent left out.

    Credentials in an address move to username and password, where they are not shown with it.
    InvalidInput names the field.
    """
    values = dict(given)
    for name, value in values.items():
        _check_text(name, value)
    for name in ("feed_url", "site_url"):
        if name in values:
            values[name] = web_address(values[name], field=name)
    if "feed_url" in values:
        values |= _without_credentials(values["feed_url"])
    if "title" in values and not values["title"].strip():
        raise InvalidInput("title: a feed needs one.", field="title")
    _check_numbers(values)
    if values.get("proxy_url"):
        _check_proxy(values["proxy_url"])
    validate_feed_rules(**{name: values[name] for name in RULES if name in values})
    if values.get("description") == "":
        del values["description"]
    return values


def edited_bits(values: Mapping[str, Any]) -> Edited:
    """Which fields are the user's own from now on."""
    bits = Edited(0)
    for name, bit in _EDITS.items():
        if name in values:
            bits |= bit
    return bits


def web_address(url: str, *, field: str) -> str:
    """InvalidInput unless absolute, http or https, and of a sensible length."""
    try:
        parts = urlsplit(url)
        is_usable = bool(parts.hostname) and (parts.port is None or parts.port > 0)
    except ValueError:
        is_usable = False
    if not is_usable or not url.startswith(("http://", "https://")) or any(letter.isspace() for letter in url):
        raise InvalidInput(f"{field}: send a complete address that begins with http:// or https://.", field=field)
    if len(url.encode()) > MAX_URL:
        raise InvalidInput(f"{field}: this address is too long, {MAX_URL} bytes at most.", field=field)
    return url


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
        raise InvalidInput(f"{name} holds a NUL character: remove it.", field=name)
    if len(value) > MAX_TEXT:
        raise InvalidInput(f"{name}: too long, {MAX_TEXT} characters at most.", field=name)


def _check_numbers(values: Mapping[str, Any]) -> None:
    if minutes := values.get("check_interval_minutes"):
        _check_interval(minutes)
    for name in ("keep_read_days", "keep_unread_days"):
        if values.get(name) is not None:
            retention.checked_days(values[name], field=name)


def _check_interval(minutes: int) -> None:
    if not SHORTEST_OWN_MINUTES <= minutes <= LONGEST_OWN_MINUTES:
        raise InvalidInput(
            f"check_interval_minutes: send {SHORTEST_OWN_MINUTES} to {LONGEST_OWN_MINUTES:,} minutes, or 0 to leave it "
            "to the feed.",
            field="check_interval_minutes",
        )


def _check_proxy(url: str) -> None:
    try:
        parts = urlsplit(url)
        is_usable = parts.scheme in PROXY_SCHEMES and bool(parts.hostname) and parts.port != 0
    except ValueError:
        is_usable = False
    if not is_usable:
        raise InvalidInput(
            "proxy_url: send a complete address that begins with http://, https://, socks5:// or socks5h://.",
            field="proxy_url",
        )
