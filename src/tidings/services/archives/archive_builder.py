"""Builds an archive from an account of another reader, so that one import serves all of them.

What this service cannot store is left out and reported: one odd rule must not prevent the move of ten years.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import closing
from typing import IO, Any, Final

import msgspec
from msgspec import Struct

from tidings.domain.archives import records, validation
from tidings.domain.archives.records import ArchivedCategory, ArchivedEntry, ArchivedFeed, ArchivedLabel, Manifest
from tidings.domain.archives.sources import AccountSource
from tidings.domain.entries import labels
from tidings.domain.errors import InvalidInput
from tidings.domain.feeds.categories import validate_title
from tidings.domain.text import normalize_for_search
from tidings.domain.times import Instant, to_datetime
from tidings.services.accounts.users import known_zones
from tidings.services.archives.account_export import Progress
from tidings.services.archives.archive_file import ArchiveWriter

# Problems of this many entries are told one by one.
_TOLD: Final = 20
_STEP: Final = 500
_NO_CATEGORY: Final = "All"


class ArchiveBuilder(Struct, frozen=True):
    """source: read once. problems: what was left out, in words."""

    source: AccountSource
    problems: list[str]

    def write(self, file: IO[bytes], *, now: Instant, progress: Progress) -> Manifest:
        """Write an archive of the account. progress: called with the entries read and their total, 0 if unknown.

        Raises InvalidInput for a damaged source.
        """
        with closing(ArchiveWriter(file)) as archive:
            self._write(archive, progress)
            manifest = Manifest(
                format=records.FORMAT,
                version=records.VERSION,
                application=self.source.application,
                created_at=to_datetime(now),
                username=self.source.username,
                has_secrets=True,
                counts=archive.counts,
            )
            archive.write_document(records.MANIFEST, manifest)
        return manifest

    def _write(self, archive: ArchiveWriter, progress: Progress) -> None:
        archive.write_document(records.SETTINGS, self._settings())
        archive.write_document(records.INTEGRATIONS, {})
        categories = {normalize_for_search(each.title): each for each in self.source.categories()}
        feeds = [kept for feed in self.source.feeds() if (kept := self._feed(feed)) is not None]
        for feed in feeds:
            categories.setdefault(normalize_for_search(feed.category), ArchivedCategory(feed.category))
        archive.write_lines(records.CATEGORIES, (each for each in categories.values() if _is_title(each.title)))
        archive.write_lines(records.FEEDS, feeds)
        archive.write_lines(records.LABELS, self._labels())
        archive.write_lines(records.ENTRIES, self._entries({feed.number for feed in feeds}, progress))
        archive.write_lines(records.DELETED_ENTRIES, ())

    def _settings(self) -> dict[str, Any]:
        usable: dict[str, Any] = {}
        for name, value in self.source.settings().items():
            try:
                usable |= validation.user_settings({name: value}, known_zones())
            except InvalidInput as error:
                self.problems.append(f"setting {name}: {error.message}")
        return usable

    def _labels(self) -> Iterator[ArchivedLabel]:
        for label in self.source.labels():
            try:
                labels.validate_name(label.name)
            except InvalidInput as error:
                self.problems.append(f"label {label.name[:200]}: {error.message}")
            else:
                yield label

    def _feed(self, feed: ArchivedFeed) -> ArchivedFeed | None:
        """Returns the feed with the settings that can be used and a usable category, None if its URL cannot be used."""
        if not _is_title(feed.category):
            feed = msgspec.structs.replace(feed, category=_NO_CATEGORY)
        try:
            validation.feed_values(feed)
        except InvalidInput:
            return self._reduced(feed)
        return feed

    def _reduced(self, feed: ArchivedFeed) -> ArchivedFeed | None:
        bare = msgspec.structs.replace(feed, settings={})
        try:
            validation.feed_values(bare)
        except InvalidInput as error:
            self.problems.append(f"feed {feed.feed_url[:200]}: {error.message}")
            return None
        usable = {}
        for name, value in feed.settings.items():
            try:
                validation.feed_values(msgspec.structs.replace(bare, settings={name: value}))
                usable[name] = value
            except InvalidInput as error:
                self.problems.append(f"{name} of feed {feed.feed_url[:200]}: {error.message}")
        return msgspec.structs.replace(bare, settings=usable)

    def _entries(self, feeds: set[int], progress: Progress) -> Iterator[ArchivedEntry]:
        unusable = number = 0
        for number, entry in enumerate(self.source.entries(), 1):
            if number % _STEP == 0:
                progress(number, max(number, self.source.entry_count))
            # A feed that was added while the source is read, or that cannot be used.
            if entry.feed not in feeds:
                continue
            entry = _with_usable_labels(entry)
            try:
                validation.check_entry(entry)
            except InvalidInput as error:
                unusable += 1
                if unusable <= _TOLD:
                    self.problems.append(f"entry {entry.url[:200] or entry.title[:200]}: {error.message}")
                continue
            yield entry
        if unusable > _TOLD:
            self.problems.append(f"{unusable - _TOLD} more entries")
        progress(number, number)


def _with_usable_labels(entry: ArchivedEntry) -> ArchivedEntry:
    usable = [name for name in entry.labels if _is_usable(labels.validate_name, name)]
    return entry if len(usable) == len(entry.labels) else msgspec.structs.replace(entry, labels=usable)


def _is_title(title: str) -> bool:
    return _is_usable(validate_title, title)


def _is_usable(validate: Callable[[str], str], name: str) -> bool:
    try:
        validate(name)
    except InvalidInput:
        return False
    return True
