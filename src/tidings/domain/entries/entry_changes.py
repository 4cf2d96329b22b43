"""What a user may do to an entry by hand: change its words, or bring it along from elsewhere.

Content is cleaned as if a publisher had sent it: it will be shown in our pages.
"""

from __future__ import annotations

from collections.abc import Mapping
from hashlib import sha256
from typing import Any

import msgspec
from msgspec import Struct

from tidings.domain import cleaning
from tidings.domain.accounts.users import User
from tidings.domain.entries.entries import STATUS_BY_WORD, EditedEntryField, Entry, EntryStatus
from tidings.domain.entries.reading_time import reading_minutes
from tidings.domain.errors import InvalidField
from tidings.domain.messages import msg
from tidings.domain.polling.ingestion import ReadyEntry
from tidings.domain.text import reject_nul
from tidings.domain.times import LATEST, SECOND, Instant
from tidings.domain.url_schemes import is_executable_url

# Characters, of everything but the content, which the size of a request limits.
MAX_TEXT = 100_000
MAX_TAGS = 1_000


class EntryEdit(Struct, frozen=True):
    """Values to store; None stays as it is. edited: what is the user's own from now on."""

    title: str | None = None
    content: str | None = None
    reading_time: int | None = None
    edited: EditedEntryField = EditedEntryField(0)


def edit(
    entry: Entry,
    user: User,
    *,
    title: str | None = None,
    content: str | None = None,
    policy: cleaning.CleaningPolicy = cleaning.DEFAULT_POLICY,
) -> EntryEdit:
    """InvalidInput for a text that is empty: None is what leaves a value."""
    edited = EditedEntryField(0)
    reading_time = None
    if title is not None:
        if not title.strip():
            raise InvalidField("title", msg("an entry needs one."))
        _check(title, "title")
        edited |= EditedEntryField.TITLE
    if content is not None:
        if not content:
            raise InvalidField("content", msg("send some, or leave the field out to keep what is there."))
        content = _clean(content, entry.url, user, policy)
        reading_time = _reading_time(content, user) if user.show_reading_time else None
        edited |= EditedEntryField.CONTENT
    return EntryEdit(title, content, reading_time, edited)


def imported(
    given: Mapping[str, Any], user: User, *, now: Instant, policy: cleaning.CleaningPolicy = cleaning.DEFAULT_POLICY
) -> ReadyEntry:
    """An entry that its user brings along, read unless it says otherwise.

    given: fields of the API, those that were not sent left out. InvalidInput names the field.
    """
    url = _article_address(given.get("url", ""))
    author, external_id = given.get("author", ""), given.get("external_id", "")
    title = given.get("title", "")
    for name, text in (("author", author), ("external_id", external_id), ("title", title)):
        _check(text, name)
    content = _clean(given.get("content", ""), url, user, policy)
    status = state(given)
    return ReadyEntry(
        hash=sha256((external_id or given["url"]).encode("utf-8", "replace")).digest(),
        # As no publisher's is: should the feed bring the same entry, the publisher's words are taken.
        fingerprint=b"",
        title=title if title.strip() else url,
        url=url,
        content=content,
        author=author,
        comments_url=_comments_address(given.get("comments_url", "")),
        published_at=_published_at(given.get("published_at", 0), now),
        reading_time=_reading_time(content, user) if user.show_reading_time else 0,
        tags=_tags(given.get("tags", [])),
        status=EntryStatus.READ if status is None else status,
        starred=given.get("starred", False),
    )


def state(given: Mapping[str, Any]) -> EntryStatus | None:
    """The status that an imported entry was sent with, if any."""
    word = given.get("status", "")
    if not word:
        return None
    status = STATUS_BY_WORD.get(word)
    if status not in (EntryStatus.READ, EntryStatus.UNREAD):
        raise InvalidField("status", msg("{word} is not read or unread.", word=repr(word[:40])))
    return status


def _clean(html: str, url: str, user: User, policy: cleaning.CleaningPolicy) -> str:
    own = msgspec.structs.replace(policy, new_tab=user.open_external_links_in_new_tab)
    return cleaning.clean(html, base_url=url, policy=own)


def _reading_time(content: str, user: User) -> int:
    return reading_minutes(content, words_per_minute=user.default_reading_speed, cjk_per_minute=user.cjk_reading_speed)


def _article_address(url: str) -> str:
    """Absolute, of any scheme but those that run something: other readers export `tag:` and `ftp:` ones as well."""
    _check(url, "url")
    if not url:
        raise InvalidField("url", msg("send the address of the article."))
    address = cleaning.resolve_url("", url)
    if not address or is_executable_url(address):
        raise InvalidField(
            "url",
            msg("send a complete address, such as one that begins with https://, and none that runs something."),
        )
    return address


def _comments_address(url: str) -> str:
    """ "" for what is not http(s): an entry is worth more than the address of its comments."""
    _check(url, "comments_url")
    return cleaning.resolve_web_url("", url)


def _published_at(seconds: int, now: Instant) -> Instant:
    """Without a date, or one before 1970, it is published now."""
    if seconds <= 0:
        return now
    if seconds > LATEST // SECOND:
        raise InvalidField("published_at", msg("Unix seconds up to the year 9999, please."))
    return Instant(seconds * SECOND)


def _tags(tags: list[str]) -> tuple[str, ...]:
    if len(tags) > MAX_TAGS:
        raise InvalidField("tags", msg("too many, {most:,} at most.", most=MAX_TAGS))
    for tag in tags:
        _check(tag, "tags")
    return tuple(tags)


def _check(text: str, field: str) -> None:
    reject_nul(text, field=field)
    if len(text) > MAX_TEXT:
        raise InvalidField(field, msg("too long, {most:,} characters at most.", most=MAX_TEXT))
