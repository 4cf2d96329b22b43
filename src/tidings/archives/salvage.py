"""Removes what this version or this machine cannot use from the records of an archive, and reports what that was.

A time zone of another year, a theme or a rule of a newer Tidings, a damaged tag: the rest of ten years is imported.
What identifies a record (its hash, its feed, its times) is never replaced: without it, the archive is damaged.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final, TypeVar, get_args, get_origin

import msgspec
from msgspec import Struct

from tidings.archives import records, validation
from tidings.archives.records import ArchivedEntry, ArchivedFeed, ArchivedLabel
from tidings.base.errors import InvalidInput
from tidings.domain.entries import labels
from tidings.domain.entries.entries import STATUS_BY_NAME, EntryStatus
from tidings.domain.feeds.categories import SEPARATOR, validate_title

R = TypeVar("R", bound=Struct)
# Called with a description of what cannot be used.
Note = Callable[[str], None]

# The category of feeds whose own category cannot be used.
NO_CATEGORY: Final = "All"
_FEED_NAMES: Final = frozenset({*records.FEED_SETTINGS, *records.FEED_SECRETS})
_MAX_NAME_CHARS: Final = 200
# Characters of a value's name that a report repeats.
_MAX_SETTING_CHARS: Final = 60
# Maximum number of problems that are reported one by one for each member of an archive.
MAX_TOLD: Final = 20


class Problems:
    """What cannot be used in a member of an archive, in words: the first problems, and the number of the others."""

    def __init__(self, most: int = MAX_TOLD) -> None:
        self._most = most
        self._told: list[str] = []
        self._more = 0

    def note(self, problem: str) -> None:
        if len(self._told) < self._most:
            self._told.append(problem)
        else:
            self._more += 1

    def texts(self, what: str) -> list[str]:
        """Return the problems. what: a plural for the number of unreported ones, as in "5 more entries"."""
        return [*self._told, f"{self._more} more {what}"] if self._more else self._told


def is_category(title: str) -> bool:
    return _is_usable(validate_title, title)


def is_path(names: Sequence[str]) -> bool:
    """Whether categories can have these names, one under the other."""
    return all(map(is_category, names)) and (not names or is_category(SEPARATOR.join(names)))


def is_label(name: str) -> bool:
    return _is_usable(labels.validate_name, name)


def label(archived: ArchivedLabel) -> ArchivedLabel:
    """Return the label without a colour that this version does not have."""
    usable = _is_usable(labels.validate_color, archived.color)
    return archived if usable else msgspec.structs.replace(archived, color="")


def settings_of_user(
    settings: dict[str, Any], zones: frozenset[str], note: Note, *, names_unknown: bool = False
) -> dict[str, Any]:
    """Return the columns of a user to set, without values that cannot be used.

    names_unknown: name settings that this version does not have as well.
    """
    usable: dict[str, Any] = {}
    for name, value in settings.items():
        if name not in validation.SETTINGS_OF_USER:
            if names_unknown:
                note(f"setting {name[:_MAX_SETTING_CHARS]}: this version does not have it")
            continue
        try:
            usable |= validation.user_settings({name: value}, zones)
        except InvalidInput as error:
            note(f"setting {name}: {_without_name(error, name)}")
    return usable


def feed(
    archived: ArchivedFeed, note: Note, *, names_unknown: bool = False
) -> tuple[ArchivedFeed, dict[str, Any]] | None:
    """Return the feed with a usable category and without settings that cannot be used, and its columns.

    None without a usable URL. names_unknown: as in `settings_of_user`.
    """
    if not is_category(archived.category):
        archived = msgspec.structs.replace(archived, category=NO_CATEGORY)
    for name in archived.settings if names_unknown else ():
        if name not in _FEED_NAMES:
            note(f"{name[:_MAX_SETTING_CHARS]} of feed {_feed_name(archived)}: this version does not have it")
    try:
        return archived, validation.feed_values(archived)
    except InvalidInput:
        return _reduced_feed(archived, note)


def _reduced_feed(archived: ArchivedFeed, note: Note) -> tuple[ArchivedFeed, dict[str, Any]] | None:
    bare = msgspec.structs.replace(archived, settings={})
    try:
        validation.feed_values(bare)
    except InvalidInput as error:
        note(f"feed {_feed_name(archived)}: {error.message}")
        return None
    usable = {}
    for name, value in archived.settings.items():
        try:
            validation.feed_values(msgspec.structs.replace(bare, settings={name: value}))
            usable[name] = value
        except InvalidInput as error:
            note(f"{name} of feed {_feed_name(archived)}: {_without_name(error, name)}")
    reduced = msgspec.structs.replace(bare, settings=usable)
    return reduced, validation.feed_values(reduced)


def _feed_name(archived: ArchivedFeed) -> str:
    return archived.feed_url[:_MAX_NAME_CHARS]


def with_usable_labels(entry: ArchivedEntry) -> ArchivedEntry:
    usable = [name for name in entry.labels if is_label(name)]
    return entry if len(usable) == len(entry.labels) else msgspec.structs.replace(entry, labels=usable)


def entry(archived: ArchivedEntry) -> tuple[ArchivedEntry, list[str]]:
    """Return the entry without what cannot be used, and what that was; an entry with an unknown status is unread.

    Raises InvalidInput for an entry that cannot be stored without a part of it.
    """
    try:
        validation.check_entry(archived)
    except InvalidInput:
        pass
    else:
        return archived, []
    reduced = msgspec.structs.replace(
        archived,
        status=archived.status if archived.status in STATUS_BY_NAME else EntryStatus.UNREAD.api_name,
        labels=[name for name in archived.labels if is_label(name)],
        tags=[tag for tag in archived.tags if "\0" not in tag],
        enclosures=[one for one in archived.enclosures if "\0" not in one.url + one.mime_type],
        chapters=[one for one in archived.chapters if "\0" not in one.title],
    )
    left = [
        f"{name} of entry {entry_name(archived)}: {_reason(archived, name)}"
        for name in ("status", "labels", "tags", "enclosures", "chapters")
        if getattr(reduced, name) != getattr(archived, name)
    ]
    validation.check_entry(reduced)
    return reduced, left


def entry_name(archived: ArchivedEntry) -> str:
    """Return what a report calls an entry."""
    return archived.url[:_MAX_NAME_CHARS] or archived.title[:_MAX_NAME_CHARS] or archived.hash[:64]


def record(document: Any, kind: type[R]) -> tuple[R, list[str]]:
    """Return a record without the optional fields whose values have another type or are out of range, and their names.

    document: what JSON of a record holds. Raises msgspec.ValidationError if a required field cannot be used.
    """
    if not isinstance(document, dict):
        # The message says which type was expected.
        return msgspec.convert(document, kind), []
    kept: dict[str, Any] = {}
    left: list[str] = []
    for field in msgspec.structs.fields(kind):
        if field.name not in document:
            if field.required:
                raise msgspec.ValidationError(f"Object missing required field `{field.name}`")
            continue
        value = document[field.name]
        try:
            kept[field.name] = msgspec.convert(value, field.type)
        except msgspec.ValidationError as error:
            if field.required:
                raise
            left.append(f"{field.name}: {error}")
            if get_origin(field.type) is list and isinstance(value, list):
                kept[field.name] = _usable_items(value, get_args(field.type)[0])
    return kind(**kept), left


def _usable_items(values: list[Any], kind: Any) -> list[Any]:
    usable = []
    for value in values:
        try:
            is_record = isinstance(kind, type) and issubclass(kind, Struct)
            usable.append(record(value, kind)[0] if is_record else msgspec.convert(value, kind))
        except msgspec.ValidationError:
            continue
    return usable


def _reason(archived: ArchivedEntry, name: str) -> str:
    """Return why a part of an entry cannot be used."""
    alone = msgspec.structs.replace(
        archived, **{other: [] for other in ("labels", "tags", "enclosures", "chapters") if other != name}
    )
    if name != "status":
        alone = msgspec.structs.replace(alone, status=EntryStatus.UNREAD.api_name)
    try:
        validation.check_entry(alone)
    except InvalidInput as error:
        return error.message
    return ""


def _without_name(error: InvalidInput, name: str) -> str:
    """Return the message of an error without the leading name of the field, which the report already has."""
    return error.message.removeprefix(f"{name}: ")


def _is_usable(validate: Callable[[str], str], name: str) -> bool:
    try:
        validate(name)
    except InvalidInput:
        return False
    return True
