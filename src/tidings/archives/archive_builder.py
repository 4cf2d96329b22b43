"""Builds an archive from an account of another reader, so that one import serves all of them.

What this service cannot store is left out and reported: one odd rule must not prevent the move of ten years.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from typing import IO, Final

from msgspec import Struct

from tidings.archives import records, salvage, validation
from tidings.archives.account_export import Progress
from tidings.archives.archive_file import ArchiveWriter
from tidings.archives.records import ArchivedCategory, ArchivedEntry, ArchivedLabel, Manifest
from tidings.archives.source import AccountSource
from tidings.base.errors import InvalidInput
from tidings.base.text import normalize_for_search
from tidings.base.times import Instant, to_datetime
from tidings.domain.entries import labels
from tidings.services.accounts.users import known_zones

_STEP: Final = 500


class ArchiveBuilder(Struct, frozen=True):
    """Writes an archive from an account of another reader."""

    source: AccountSource
    """Read only once."""
    problems: list[str]
    """What was left out, in words."""

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
        note = self.problems.append
        settings = salvage.settings_of_user(self.source.settings(), known_zones(), note)
        archive.write_document(records.SETTINGS, settings)
        archive.write_document(records.INTEGRATIONS, {})
        categories = {normalize_for_search(each.title): each for each in self.source.categories()}
        feeds = [kept[0] for feed in self.source.feeds() if (kept := salvage.feed(feed, note)) is not None]
        for feed in feeds:
            for title in (feed.category, *feed.further_categories):
                categories.setdefault(normalize_for_search(title), ArchivedCategory(title))
        archive.write_lines(
            records.CATEGORIES, (each for each in categories.values() if salvage.is_category(each.title))
        )
        archive.write_lines(records.FEEDS, feeds)
        archive.write_lines(records.LABELS, self._labels())
        archive.write_lines(records.ENTRIES, self._entries({feed.number for feed in feeds}, progress))
        archive.write_lines(records.DELETED_ENTRIES, ())

    def _labels(self) -> Iterator[ArchivedLabel]:
        for label in self.source.labels():
            try:
                labels.validate_name(label.name)
            except InvalidInput as error:
                self.problems.append(f"label {label.name[:200]}: {error.message}")
            else:
                yield label

    def _entries(self, feeds: set[int], progress: Progress) -> Iterator[ArchivedEntry]:
        number = 0
        unusable = salvage.Problems()
        for number, entry in enumerate(self.source.entries(), 1):
            if number % _STEP == 0:
                progress(number, max(number, self.source.entry_count))
            # A feed that was added while the source was read, or that cannot be used.
            if entry.feed not in feeds:
                continue
            entry = salvage.with_usable_labels(entry)
            try:
                validation.check_entry(entry)
            except InvalidInput as error:
                unusable.note(f"entry {salvage.entry_name(entry)}: {error.message}")
                continue
            yield entry
        self.problems.extend(unusable.texts("entries"))
        progress(number, number)
