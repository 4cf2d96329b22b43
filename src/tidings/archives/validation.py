"""Checks the records of an archive before they are stored: a file from outside may contain anything.

Content is cleaned, and URLs are checked, like what publishers send.
"""

from __future__ import annotations

import re
from typing import Any, Final

import msgspec

from tidings.archives import records
from tidings.archives.records import ArchivedEntry, ArchivedFeed
from tidings.base.errors import InvalidInput
from tidings.base.messages import msg
from tidings.base.text import reject_nul
from tidings.base.times import from_datetime
from tidings.base.url_schemes import is_executable_url
from tidings.content import cleaning
from tidings.content.urls import resolve_url, resolve_web_url
from tidings.domain.accounts import user_changes
from tidings.domain.accounts.users import User
from tidings.domain.entries import labels
from tidings.domain.entries.entries import STATUS_BY_NAME
from tidings.domain.feeds import feed_changes
from tidings.domain.feeds.feeds import Feed

# Bytes.
_HASH_SIZE: Final = 32
_FINGERPRINT_SIZE: Final = 16
_SHARE_CODE: Final = re.compile("[A-Za-z0-9_-]{16,100}")
_TEXTS: Final = ("title", "author", "language", "share_code")


def _optional_fields(record: type[msgspec.Struct], names: frozenset[str]) -> type[msgspec.Struct]:
    """Return a struct that checks the types of some fields of a record, all of which may be absent."""
    fields = [field for field in msgspec.structs.fields(record) if field.name in names]
    return msgspec.defstruct(
        f"{record.__name__}Settings",
        [(field.name, field.type | msgspec.UnsetType, msgspec.UNSET) for field in fields],
    )


_FEED_SETTINGS: Final = _optional_fields(Feed, frozenset({*records.FEED_SETTINGS, *records.FEED_SECRETS}))
_USER_SETTINGS: Final = _optional_fields(
    User, frozenset(User.__struct_fields__) - {"id", "username", "is_admin", "last_login_at", *user_changes.FOREIGN_IDS}
)

SETTINGS_OF_USER: Final = frozenset(_USER_SETTINGS.__struct_fields__)


def user_settings(settings: dict[str, Any], zones: frozenset[str]) -> dict[str, Any]:
    """Return the columns of a user to set. Settings that this version does not have are left out.

    zones: the names in this machine's IANA database. Raises InvalidInput.
    """
    return user_changes.validate(_typed(settings, _USER_SETTINGS, records.SETTINGS), zones=zones)


def feed_values(feed: ArchivedFeed) -> dict[str, Any]:
    """Return the columns of a new feed, without its category and times. Raises InvalidInput."""
    settings = _typed(feed.settings, _FEED_SETTINGS, records.FEEDS)
    values = feed_changes.validate({"feed_url": feed.feed_url, "title": feed.title or feed.feed_url, **settings})
    texts = {"description": feed.description, "language": feed.language}
    for name, text in texts.items():
        reject_nul(text, field=name)
    site_url = resolve_web_url("", feed.site_url)[: feed_changes.MAX_URL]
    return texts | values | {"site_url": site_url, "edited": feed.edited & 7}


def check_entry(entry: ArchivedEntry) -> None:
    """Raise InvalidInput for an entry that cannot be stored."""
    for name in _TEXTS:
        reject_nul(getattr(entry, name), field=name)
    for text in (entry.content, entry.other_content or "", *entry.tags, *(one.title for one in entry.chapters)):
        reject_nul(text, field="content")
    for name in entry.labels:
        labels.validate_name(name)
    for enclosure in entry.enclosures:
        reject_nul(enclosure.url + enclosure.mime_type, field="enclosures")
    check_hash(entry.hash)
    _check_digits(entry.fingerprint, (0, _FINGERPRINT_SIZE))
    if entry.status not in STATUS_BY_NAME:
        raise InvalidInput(msg("{status} is not an entry status.", status=repr(entry.status[:40])))
    for moment in (entry.published_at, entry.created_at, entry.changed_at):
        if moment is not None:
            if moment.tzinfo is None:
                raise InvalidInput(msg("{time} has no time zone.", time=moment.isoformat()))
            from_datetime(moment)


def check_hash(digits: str) -> None:
    """Raise InvalidInput unless these are the hex digits of SHA-256."""
    _check_digits(digits, (_HASH_SIZE,))


def _check_digits(digits: str, sizes: tuple[int, ...]) -> None:
    try:
        is_valid = len(bytes.fromhex(digits)) in sizes
    except ValueError:
        is_valid = False
    if not is_valid:
        raise InvalidInput(
            msg("{digits} does not have {count} hexadecimal digits.", digits=repr(digits[:80]), count=2 * sizes[-1])
        )


class UncleanEntries(msgspec.Struct, frozen=True):
    """Entries to clean, as they are sent to a process that does so."""

    policy: cleaning.CleaningPolicy
    entries: list[ArchivedEntry]


def cleaned(entry: ArchivedEntry, policy: cleaning.CleaningPolicy) -> ArchivedEntry:
    """Return the entry with clean content, and without URLs that run code or open local content."""
    return msgspec.structs.replace(
        entry,
        url="" if is_executable_url(entry.url) else resolve_url("", entry.url),
        share_code=entry.share_code if _SHARE_CODE.fullmatch(entry.share_code) else "",
        comments_url=resolve_web_url("", entry.comments_url),
        content=cleaning.clean(entry.content, base_url=entry.url, policy=policy),
        other_content=entry.other_content and cleaning.clean(entry.other_content, base_url=entry.url, policy=policy),
        chapters=[msgspec.structs.replace(one, url=resolve_web_url("", one.url)) for one in entry.chapters],
        enclosures=[
            enclosure
            for enclosure in entry.enclosures
            if not is_executable_url(enclosure.url) and resolve_url("", enclosure.url)
        ],
    )


def _typed(settings: dict[str, Any], kind: type[msgspec.Struct], name: str) -> dict[str, Any]:
    try:
        typed = msgspec.convert(settings, kind)
    except msgspec.ValidationError as error:
        raise InvalidInput(
            msg("{name} in this archive cannot be read: {error}", name=name, error=str(error))
        ) from error
    return {field: value for field in typed.__struct_fields__ if (value := getattr(typed, field)) is not msgspec.UNSET}
