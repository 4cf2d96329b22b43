"""Validates the changes that a user makes to an entry, and the entries that a user imports.

Content is cleaned like a publisher's, because pages show it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import msgspec
from msgspec import Struct

from tidings.base.errors import InvalidField
from tidings.base.messages import msg
from tidings.base.text import reject_nul
from tidings.base.times import LATEST, SECOND, Instant
from tidings.base.url_schemes import is_executable_url
from tidings.content import cleaning
from tidings.content.urls import resolve_url, resolve_web_url
from tidings.domain.accounts.users import User
from tidings.domain.entries.entries import STATUS_BY_NAME, EditedEntryField, Enclosure, Entry, EntryStatus, ReadyEntry
from tidings.domain.entries.reading_time import may_be_duration, reading_minutes

# Characters. The content is limited by the size of the request alone.
MAX_TEXT = 100_000
MAX_TAGS = 1_000


class EntryEdit(Struct, frozen=True):
    """The changes that a user made to an entry; None leaves the stored value."""

    title: str | None = None
    content: str | None = None
    reading_time: int | None = None
    edited: EditedEntryField = EditedEntryField(0)
    """The fields that no longer follow the publisher."""
    other_content: str | None = None
    """What the user can switch to."""


def minutes_after_switch(entry: Entry, user: User, content: str, attached: Sequence[Enclosure]) -> int:
    """Return the reading time with another content; an episode keeps the time that it plays. content: clean HTML."""
    return (
        entry.reading_time if may_be_duration(entry.reading_time, attached, entry.url) else _reading_time(content, user)
    )


def prepare_edit(
    entry: Entry,
    user: User,
    stored_content: str,
    *,
    title: str | None = None,
    content: str | None = None,
    policy: cleaning.CleaningPolicy = cleaning.DEFAULT_POLICY,
) -> EntryEdit:
    """Return the values to store. title, content: None leaves the stored value. Raises InvalidInput if empty.

    A value that equals the stored one is not an edit: clients send both back when their user changed one, or none, and
    the publisher's later changes would be ignored.
    """
    edited = EditedEntryField(0)
    reading_time = None
    if title is not None:
        if not title.strip():
            raise InvalidField("title", msg("an entry needs one."))
        _check(title, "title")
        if title == entry.title:
            title = None
        else:
            edited |= EditedEntryField.TITLE
    if content is not None:
        if not content:
            raise InvalidField("content", msg("send some, or leave the field out to keep what is there."))
        content = stored_content if content == stored_content else _clean(content, entry.url, user, policy)
        if content == stored_content:
            content = None
        else:
            reading_time = _reading_time(content, user)
            edited |= EditedEntryField.CONTENT
    return EntryEdit(title, content, reading_time, edited)


def prepare_import(
    fields: Mapping[str, Any], user: User, *, now: Instant, policy: cleaning.CleaningPolicy = cleaning.DEFAULT_POLICY
) -> ReadyEntry:
    """Return an entry that a user imports, without its hash; its status is "read" by default.

    fields: fields of the API, without those that were not sent. Raises InvalidInput, which names the field.
    """
    url = _article_url(fields.get("url", ""))
    author, external_id = fields.get("author", ""), fields.get("external_id", "")
    title = fields.get("title", "")
    for name, text in (("author", author), ("external_id", external_id), ("title", title)):
        _check(text, name)
    content = _clean(fields.get("content", ""), url, user, policy)
    status = import_status(fields)
    return ReadyEntry(
        # Set by the caller: the feed decides which hash identifies an entry.
        hash=b"",
        # Differs from every real fingerprint: if the feed publishes the same entry, its content replaces this one.
        fingerprint=b"",
        title=title if title.strip() else url,
        url=url,
        content=content,
        author=author,
        comments_url=_comments_url(fields.get("comments_url", "")),
        published_at=_published_at(fields.get("published_at", 0), now),
        reading_time=_reading_time(content, user),
        tags=_tags(fields.get("tags", [])),
        status=EntryStatus.READ if status is None else status,
        starred=fields.get("starred", False),
    )


def import_status(fields: Mapping[str, Any]) -> EntryStatus | None:
    """Return the status that was sent with an imported entry; None if there was none."""
    word = fields.get("status", "")
    if not word:
        return None
    status = STATUS_BY_NAME.get(word)
    if status not in (EntryStatus.READ, EntryStatus.UNREAD):
        raise InvalidField("status", msg("{word} is neither read nor unread.", word=repr(word[:40])))
    return status


def _clean(html: str, url: str, user: User, policy: cleaning.CleaningPolicy) -> str:
    own = msgspec.structs.replace(policy, new_tab=user.open_external_links_in_new_tab)
    return cleaning.clean(html, base_url=url, policy=own)


def _reading_time(content: str, user: User) -> int:
    return reading_minutes(content, words_per_minute=user.default_reading_speed, cjk_per_minute=user.cjk_reading_speed)


def _article_url(url: str) -> str:
    """Return the URL if it is absolute and not executable: other readers export `tag:` and `ftp:` URLs as well."""
    _check(url, "url")
    if not url:
        raise InvalidField("url", msg("give the address of the article."))
    resolved = resolve_url("", url)
    if not resolved or is_executable_url(resolved):
        raise InvalidField(
            "url",
            msg("give a complete address, such as one that begins with https://, and none that runs something."),
        )
    return resolved


def _comments_url(url: str) -> str:
    """Return the URL, or "" if it is not http(s): an invalid URL of comments does not prevent the import."""
    _check(url, "comments_url")
    return resolve_web_url("", url)


def _published_at(seconds: int, now: Instant) -> Instant:
    """Return the date of publication: now if none was sent, or one before 1970."""
    if seconds <= 0:
        return now
    if seconds > LATEST // SECOND:
        raise InvalidField("published_at", msg("send Unix seconds up to the year 9999."))
    return Instant(seconds * SECOND)


def _tags(tags: list[str]) -> tuple[str, ...]:
    if len(tags) > MAX_TAGS:
        raise InvalidField("tags", msg("too many, {max:,} at most.", max=MAX_TAGS))
    for tag in tags:
        _check(tag, "tags")
    return tuple(tags)


def _check(text: str, field: str) -> None:
    reject_nul(text, field=field)
    if len(text) > MAX_TEXT:
        raise InvalidField(field, msg("too long, {max:,} characters at most.", max=MAX_TEXT))
